#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --restart: after a loss it takes the lock and runs the command again.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# serve NAME ARG…: starts a service. Each start adds a line with its process id and token to NAME.runs.
serve() {
  # shellcheck disable=SC2016
  background ended "$1.end" "$ZKLOCK_BIN" run --restart "${@:2}" /l -- sh -c 'echo $$ $ZKLOCK_TOKEN >>$0.runs
    until [ -e $0.go ]; do sleep 0.02; done; exit 5' "$1" 2>"$1.err"
  wait_for pid "$1.end"
  pid[$1]=$(awk '/pid/ { print $2 }' "$1.end")
}

runs() { wc -l <"$1.runs"; }

# has_run NAME N: it has started for the Nth time.
has_run() { [[ -e $1.runs ]] && (($(runs "$1") == $2)); }

await_run() { wait_until "$1 runs for the ${2}th time" has_run "$1" "$2"; }

lines_of() { grep -c . "$1.err" || true; }

lose() { znode rm "$(its_node)"; }

@test "its node is deleted: the command is stopped, and after a second runs again under a new lock" {
  local began
  serve a
  await_run a 1
  began=$(now_us)
  lose
  await_run a 2
  assert [ $(($(now_us) - began)) -ge 1000000 ]
  assert_equal "$(<a.err)" \
    "zklock: lost /l: its node was deleted; the command was stopped; trying again in 1.0s"
  assert is_gone "$(awk 'NR == 1 { print $1 }' a.runs)"
  assert [ "$(awk 'NR == 2 { print $2 }' a.runs)" -gt "$(awk 'NR == 1 { print $2 }' a.runs)" ]
  assert has_nodes /l 1
  # If it ends by itself, it does not run again.
  touch a.go
  wait_for "exit 5" a.end
  assert_no_nodes /l
}

@test "the pause grows; TERM ends it at once, and zklock dies of that" {
  serve a
  await_run a 1
  lose
  await_run a 2
  lose
  wait_for "trying again in 2.0s" a.err
  local began
  began=$(now_us)
  kill -TERM "${pid[a]}"
  wait_for "signal TERM" a.end
  assert [ $(($(now_us) - began)) -lt 1500000 ]
  assert_equal "$(runs a) $(lines_of a)" "2 2"
  assert_no_nodes /l
}

@test "an end of the command's own is the end, whatever its status" {
  local status
  for status in 0 1 69 75 76; do expect_status "$status" zklock run --restart /l -c "echo ran >>ran; exit $status"; done
  assert_equal "$(wc -l <ran)" 5
  expect_status 137 zklock run --restart /l -c 'kill -KILL $$'
}

@test "what ends before there was a loss is not tried again: busy, no server, no such command" {
  hold h /l
  expect_error 75 "held by" zklock run --restart -n /l -- touch ran
  expect_error 69 "127.0.0.1:1" zklock run --restart -S 127.0.0.1:1 --connect-timeout 100ms /l -- touch ran
  expect_error 127 "no-such" zklock run --restart /l -- ./no-such
  assert [ ! -e ran ]
  let_all_go h
}

@test "-n: it waits for its own node, which is there until the lost session ends" {
  local port
  start_relay "${ZKLOCK_SERVERS%/*}"
  port=$(relayed_ports)
  serve a -n --session-timeout 6s -S "$port/${ZKLOCK_SERVERS#*/}"
  await_run a 1
  kill -STOP "${pid[relay]}"
  wait_for "no quorum confirmed the lock for" a.err
  # What the relay has not passed on is lost, so only the servers end the session.
  kill -KILL "${pid[relay]}"
  start_relay -l "$port" "${ZKLOCK_SERVERS%/*}"
  await_run a 2
  touch a.go
  wait_for "exit 5" a.end
}

@test "TERM while the command runs, and while it waits for its turn" {
  serve a
  await_run a 1
  serve b
  wait_until "b stands by" has_nodes /l 2
  kill -TERM "${pid[b]}"
  wait_for "signal TERM" b.end
  kill -TERM "${pid[a]}"
  wait_for "signal TERM" a.end
  assert is_gone "$(awk '{ print $1 }' a.runs)"
  assert [ ! -e b.runs ]
  assert_no_nodes /l
}

@test "TERM while the command is being stopped after a loss: it does not run again, 76" {
  background ended end "$ZKLOCK_BIN" run --session-timeout 10s --restart /l -- critical -i life a 2>stderr
  wait_until "it runs" lives a
  lose
  # A command that ignores TERM has a second's grace.
  wait_for TERM life
  kill -TERM "$(awk '/pid/ { print $2 }' end)"
  wait_for "exit 76" end
  assert lives a 1
  assert_equal "$(<stderr)" "zklock: lost /l: its node was deleted; the command was stopped"
}

@test "active and standby: when the active one loses the lock the other takes over, and the first stands by" {
  local active
  serve a
  await_run a 1
  active=$(its_node)
  serve b
  wait_until "b stands by" has_nodes /l 2
  znode rm "$active"
  await_run b 1
  wait_gone "$(awk '{ print $1 }' a.runs)"
  wait_until "a stands by" has_nodes /l 2
  assert_equal "$(runs a) $(lines_of b)" "1 0"
  kill -KILL "$(awk '{ print $1 }' b.runs)"
  await_run a 2
  wait_for "exit 137" b.end
}

@test "no server answers for a while, and it only stands by: it stands by again" {
  hold h /l
  start_relay "${ZKLOCK_SERVERS%/*}"
  serve b --session-timeout 500ms --connect-timeout 1s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}"
  wait_until "it stands by" has_nodes /l 2
  kill -STOP "${pid[relay]}"
  wait_for "trying again in 1.0s" b.err
  wait_until "its session is over" has_nodes /l 1
  kill -CONT "${pid[relay]}"
  wait_until "it stands by again" has_nodes /l 2
  let_all_go h
  await_run b 1
}

@test "no server answers for a while: it goes on when one does" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  serve a --session-timeout 600ms --connect-timeout 1s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}"
  await_run a 1
  kill -STOP "${pid[relay]}"
  wait_for "no quorum confirmed the lock for" a.err
  assert is_gone "$(awk '{ print $1 }' a.runs)"
  # The first try has failed too.
  local silence="no server answered"
  if over_tls; then silence="does not answer in the TLS handshake"; fi
  wait_for "$silence" a.err
  refute grep -v "; trying again in [12].0s\$" a.err
  kill -CONT "${pid[relay]}"
  await_run a 2
  touch a.go
  wait_for "exit 5" a.end
}
