#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests servers that answer unlike Apache ZooKeeper's. The proxy tests/helpers/odd_server.py makes one of a real server.

load ../helpers

setup() {
  setup_zk
  # All subcommands begin at the same time, and each may take a minute.
  export ZKLOCK_TEST_WAIT=${ZKLOCK_TEST_WAIT:-90}
}

teardown() { end_all; }

# odd ARG…: from here on zklock uses such a server; what the proxy prints is in the file said.
odd() {
  local servers=${ZKLOCK_SERVERS%%/*}
  rm -f said # an earlier proxy may still write to that file
  : >said
  background "$repo/tests/helpers/odd_server.py" "$@" "${servers%%,*}" >said
  wait_for port said
  ODD=127.0.0.1:$(sed -n 's/^port //p' said)/${ZKLOCK_SERVERS#*/}
}

# A hang is a failure, not the end of the test run.
zklock() { timeout 60 "$ZKLOCK_BIN" -S "$ODD" "$@"; }

background_zklock() { background "$ZKLOCK_BIN" -S "$ODD" "$@"; }

# Does what users do, and checks how each command ends.
main_things() {
  expect_status 0 zklock run /l -- true
  expect_status 3 zklock run /l -- sh -c 'exit 3'
  # shellcheck disable=SC2016  # it is for the shell under the lock
  expect_status 0 zklock run /l -- sh -c 'echo "$ZKLOCK_TOKEN"'
  assert [ "$output" -gt 0 ]
  expect_status 0 zklock run -s /s -- true
  expect_status 0 zklock run --slots 2 /slots -- true
  expect_status 0 zklock run /a /b -- true
  printf 'one\ntwo\n' >items
  expect_status 0 zklock queue push /q <items
  expect_status 0 zklock queue pull -w 1s /q
  assert_output one
  expect_status 0 zklock queue pull /q -- cat
  expect_status 0 zklock group join /g -- true
}

# Holds a lock and joins a group, and views both.
main_views() {
  background_zklock run /held -- sleep 60
  wait_until "the lock is held" has_nodes /held 1
  background_zklock group join --name me /team -- sleep 60
  wait_until "the group has a member" has_nodes /team 1
  expect_status 0 zklock show /held
  assert_line --partial /held
  expect_status 75 zklock run -n /held -- true
  expect_status 0 zklock group list /team
  assert_output --partial me
  expect_status 0 zklock break --yes /held
  wait_until "nobody holds it" has_nodes /held 0
}

@test "locks, slots, queues and groups do without create2 and containers, which the server closes on" {
  odd --close 15,19
  main_things
  main_views
  assert grep -qx "closed 15" said
  assert grep -qx "closed 19" said
}

@test "locks, slots, queues and groups do without create2 and containers, which the server calls unimplemented" {
  odd --unimplemented 15,19
  main_things
  main_views
  assert grep -qx "refused 15" said
  assert grep -qx "refused 19" said
}

# Begins each subcommand in the file commands in the background, with its status in NUMBER.status.
begin_each() {
  local line number=0
  echo "an item" >input # otherwise a push would read the commands that are still to begin
  while read -r line; do
    number=$((number + 1))
    # shellcheck disable=SC2016,SC2086 # words, as they stand there
    background sh -c 'timeout -k 20 60 "$@" >"$0.out" 2>"$0.err"; echo $? >"$0.status"' $number "$ZKLOCK_BIN" -S "$ODD" $line <input
  done <commands
}

is_over() {
  local number all
  mapfile -t all <commands
  for ((number = 1; number <= ${#all[@]}; ++number)); do
    [[ -s $number.status ]] || return
  done
}

# A command that hangs is ended after a minute, and its status names it.
await_each() { wait_until "all have ended" is_over; }

# each_ends_with STATUS TEXT: each ends so, with one line of zklock's, which names what it was to do and contains TEXT.
each_ends_with() {
  local line number=0 err
  while read -r line; do
    number=$((number + 1))
    err=$(<$number.err)
    [[ $(<$number.status) == "$1" && $err == "zklock: cannot "*"$2"* && $err != *"cannot go on"* && $err != *$'\n'* ]] ||
      fail "$line: ended with $(<$number.status), not $1: $err" || return
  done <commands
}

all_subcommands() {
  cat <<'END'
run -n /l -- true
run /l -- true
run -s /l -- true
run --slots 2 /l -- true
run --once-per 1h /l -- true
show /l
show -r /
break --yes /l
queue push /q
queue pull /q
queue pull -w 30s /q
queue pull /q -- true
queue list /q
queue count /q
queue requeue /q
queue purge --yes /q
queue delete --yes /q
group create /g
group join /g -- true
group list /g
group wait --at-least 1 /g
group delete /g
END
}

@test "a server that closes the connection on every request costs the connect timeout, and a line" {
  export ZKLOCK_CONNECT_TIMEOUT=2s
  odd --close all
  all_subcommands >commands
  begin_each
  await_each
  each_ends_with 69 "the server may not know that request"
}

@test "a server that answers nothing but pings costs the connect timeout, and a line" {
  export ZKLOCK_CONNECT_TIMEOUT=3s ZKLOCK_SESSION_TIMEOUT=6s
  odd --mute
  all_subcommands >commands
  begin_each
  await_each
  each_ends_with 69 "is too slow, or does not answer that request"
}

# The server's setting is sessionRequireClientSASLAuth, or enforce.auth.enabled.
@test "a server that wants another authentication says so at once: 77, for what waits and what only looks, too" {
  export ZKLOCK_CONNECT_TIMEOUT=50s
  odd --turn-away
  {
    all_subcommands
    cat <<'END'
run -w 30s /l -- true
run --any /l /m -- true
group wait -w 30s --at-least 1 /g
group watch /g
value get /v
value set /v text
value list /
value wait -w 30s /v
value watch /v
value delete -r --yes /v
top --once
top --once /l
show --follow /l
END
  } >commands
  begin_each
  await_each
  each_ends_with 77 "ZooKeeper wants another authentication"
}

@test "a shorter -w comes first: 75" {
  odd --close all
  expect_error 75 "cannot take /l" zklock run -w 1s /l -- true
}

@test "a request that is too large for the server is named, with its size" {
  export ZKLOCK_CONNECT_TIMEOUT=2s
  odd --largest 2000
  expect_error 69 "create a node below /g (3000 bytes)" zklock group join --data "$(printf '%03000d' 0)" /g -- true
  assert_regex "$stderr" "jute.maxbuffer may be smaller"
}

@test "whoever watches goes on, and says so once" {
  local server port watcher
  export ZKLOCK_CONNECT_TIMEOUT=1s
  odd
  server=$!
  port=${ODD%%/*}
  background_zklock group join --name a /g -- sleep 60
  wait_until "the group has a member" has_nodes /g 1
  background_zklock group watch /g >out 2>err
  watcher=$!
  wait_for +a out
  kill "$server"
  wait_gone "$server"
  odd --port "${port##*:}" --close 12
  background "$ZKLOCK_BIN" group join --name b /g -- sleep 60
  wait_for "trying on" err
  refute is_gone "$watcher"
  assert_equal "$(grep -c "trying on" err)" 1
}

@test "an answer that takes longer than the session timeout to arrive is waited for" {
  seq 4000 | expect_status 0 "$ZKLOCK_BIN" queue push /q
  export ZKLOCK_CONNECT_TIMEOUT=1s ZKLOCK_SESSION_TIMEOUT=2s
  odd --rate 30000
  expect_status 0 zklock queue pull /q
  assert_output 1
}

@test "a port for TLS, or for HTTP, is named as such" {
  export ZKLOCK_CONNECT_TIMEOUT=1s
  odd --say tls
  expect_error 69 "it speaks TLS: give --tls" zklock show /l
  odd --say http
  expect_error 69 "it speaks HTTP" zklock show /l
}

# No command crashes (128 and more), has an inner error, or prints more than a line. It may also have succeeded.
no_harm() {
  local line number=0 err
  while read -r line; do
    number=$((number + 1))
    err=$(<$number.err)
    (($(<$number.status) < 99)) && [[ -z $err || ($err == "zklock: "* && $err != *$'\n'*) ]] ||
      fail "$line: ended with $(<$number.status): $err" || return
  done <commands
}

@test "hostile answers neither crash nor hold up any subcommand" {
  export ZKLOCK_CONNECT_TIMEOUT=2s
  local seed
  # A hostile server can hide that the lock is free.
  all_subcommands | sed -E '/ -n /!s/^(run|group wait|break)/& -w 5s/; s/-w 30s/-w 5s/' >commands
  for seed in ${ODD_SEEDS:-1 2 3}; do
    odd --forge "$seed"
    rm -f ./*.status
    begin_each
    await_each
    no_harm || fail "with seed $seed" || return
    assert grep -q "^forged" said
  done
}
