#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run under a service manager: it sends STATUS= of sd_notify(3), and nothing else.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# manager ADDRESS: listens at a socket there, "@name" for an abstract one. What it is sent is in the file `told`, a line
# for each datagram.
manager() {
  export NOTIFY_SOCKET=$1
  background python3 -uc 'import socket, sys
receiving = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiving.bind(sys.argv[1].replace("@", "\0", 1))
print("ready")
while True: print(receiving.recv(65536).decode().replace("\n", "|"))' "$1" >told
  wait_for ready told
}

# was_told PATTERN…: exactly these statuses were sent.
was_told() {
  local wanted
  wanted=$(printf 'STATUS=%s\n' "$@")
  # shellcheck disable=SC2053
  [[ $(tail -n +2 told) == $wanted ]]
}
assert_told() { wait_until "it was told: $*" was_told "$@" || fail "$(<told)"; }

readonly since='active since 20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z'

host() { hostname; }

@test "standing by, active, after a loss, and standing by again" {
  hold h --label nightly /l
  manager "$PWD/notify"
  background zklock run --restart /l -- sleep 600 2>stderr
  local service=$! behind
  behind="standby behind $(host) (pid ${pid[h]}, nightly)"
  assert_told "waiting for /l" "$behind"
  let_all_go h
  assert_told "waiting for /l" "$behind" "$since"
  znode rm "$(its_node)"
  NOTIFY_SOCKET='' hold k /l
  local lost="lost /l: its node was deleted; the command was stopped; trying again in 1.0s"
  assert_told "waiting for /l" "$behind" "$since" "$lost" "waiting for /l" "standby behind $(host) (pid ${pid[k]})"
  let_all_go k
  assert_told "waiting for /l" "$behind" "$since" "$lost" "waiting for /l" "standby behind $(host) (pid ${pid[k]})" \
    "$since"
  kill "$service"
  expect_end 143 "$service"
  refute grep -E 'READY|MAINPID' told
}

@test "an abstract socket; the command has the variable as it came" {
  manager "@zklock-$SRANDOM"
  expect_status 0 zklock run /l -- printenv NOTIFY_SOCKET
  assert_equal "$output" "$NOTIFY_SOCKET"
  assert_told "waiting for /l" "$since"
}

@test "what stands on the node of who is before us adds no line" {
  NOTIFY_SOCKET='' hold h /l
  znode set "$(its_node)" $'x\nREADY=1\n'
  manager "$PWD/notify"
  begin w /l
  assert_told "waiting for /l" "standby behind 'x\\\\x0aREADY=1\\\\x0a'"
  let_all_go h w
}

@test "who is before us changes: behind the next one" {
  NOTIFY_SOCKET='' hold h /l
  NOTIFY_SOCKET='' stand b /l
  manager "$PWD/notify"
  begin w /l
  assert_told "waiting for /l" "standby behind $(host) (pid ${pid[b]})"
  kill "${pid[b]}"
  assert_told "waiting for /l" "standby behind $(host) (pid ${pid[b]})" "standby behind $(host) (pid ${pid[h]})"
  let_all_go h w
}

@test "several, slots, and any of several: for what it waits" {
  NOTIFY_SOCKET='' hold h /a /b
  NOTIFY_SOCKET='' hold s --slots 1 /s
  manager "$PWD/notify"
  begin w --any /a /b
  assert_told "waiting for any of /a, /b"
  let_all_go h w
  assert_told "waiting for any of /a, /b" "$since"
  rm -f w.*
  begin w --slots 1 /s
  wait_until "it has a lease" has_nodes /s/leases 2
  let_all_go s w
  assert_told "waiting for any of /a, /b" "$since" "waiting for /s" "$since"
}

@test "a manager that takes nothing, is gone, or never was, is in nobody's way" {
  manager "$PWD/notify"
  kill -STOP $!
  local n
  for n in {1..30}; do expect_status 0 zklock run /l -- true; done
  kill -KILL $!
  expect_status 0 zklock run /l -- true
  for n in /no/such/socket relative "@" "$(printf '/%.0s' {1..200})" vsock:2:1; do
    NOTIFY_SOCKET=$n expect_status 0 zklock run /l -- true
    assert_equal "$stderr" ""
  done
}
