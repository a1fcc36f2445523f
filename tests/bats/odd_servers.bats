#!/usr/bin/env bats
# Servers that answer unlike Apache ZooKeeper's: tests/helpers/odd_server.py is a proxy that makes one of a real server.

load helpers

setup() { setup_zk; }

teardown() { end_all; }

# odd ARG…: from here on zklock talks to such a server; what the proxy says is in the file said.
odd() {
  local servers=${ZKLOCK_SERVERS%%/*}
  : >said
  background "$repo/tests/helpers/odd_server.py" "$@" "${servers%%,*}" >said
  wait_for port said
  ODD=127.0.0.1:$(sed -n 's/^port //p' said)/${ZKLOCK_SERVERS#*/}
}

# A hang is a failure, not the end of the test run.
zklock() { timeout 60 "$ZKLOCK_BIN" -S "$ODD" "$@"; }

background_zklock() { background "$ZKLOCK_BIN" -S "$ODD" "$@"; }

# What users do, each with what it must end with.
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

# Somebody holds a lock, and is in a group.
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
