#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if the server in use falls silent right after an answer. A `relay` stands for the servers, so that
# the one that is tried next is dead too, whichever it is.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

ports_used() { awk '/request/ { print $3 }' relayed | uniq | wc -l; }

moved_on() { (($(ports_used) >= 2)); }

# falls_silent N DEAD: of N addresses, the one in use falls silent, and the next DEAD are dead.
falls_silent() {
  start_relay -n "$1" "${ZKLOCK_SERVERS%/*}"
  enter -i a -v --session-timeout 9s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l
  wait_until "a runs" lives a
  local node
  node=$(znode ls /l)
  kill -USR1 "${pid[relay]}"
  wait_until "a heartbeat is answered and then nothing" grep -q silent relayed
  wait_until "another server is in use" moved_on
  wait_until "it answers" answered_last
  wait_until "a says so" grep -q reconnected a.err
  assert_equal "$(grep -c silent relayed)" $((1 + $2))
  assert_equal "$(znode ls /l)" "$node"
  wait_until "the command lives after that" lives_after "$(tail -n 1 relayed | cut -d ' ' -f 1)"
  let_go a
  expect_end 0 "${pid[a]}"
  refute grep -q TERM life
  assert lives a
  refute grep -q "^zklock: lost" a.err
  note "$1 addresses: $(sed -n 's/.*reconnected.*; //p' a.err)"
}

answered_last() { [[ $(tail -n 1 relayed) == *answer* ]]; }

lives_after() { (($(last_of a) > $1)); }

@test "the server in use falls silent, two addresses: the command never notices" {
  falls_silent 2 0
}

@test "the server in use falls silent and the next one is dead, three addresses: the command never notices" {
  falls_silent 3 1
}

@test "the server in use falls silent and the next one is dead, four addresses: the command never notices" {
  falls_silent 4 1
}

@test "the server in use falls silent and the next one is dead, five addresses: the command never notices" {
  falls_silent 5 1
}
