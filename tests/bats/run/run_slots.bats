#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --slots: so many may hold it at a time.

load ../helpers
load ../history

setup() { setup_zk; }

teardown() { end_all; }

some() { inside | shuf -n "$1"; }

@test "30 contenders on 3 slots: never more than 3 are in, and always 3, in whatever order they leave" {
  local n one
  for n in {1..30}; do visit "$n" --slots 3 /l; done
  for n in {1..28}; do
    wait_until "three are in" are_inside 3
    one=$(some 1)
    let_go "$one"
    expect_end 0 "${pid[$one]}"
    unset "pid[$one]"
  done
  let_all_go "${!pid[@]}"
  assert_equal "$(most_inside)" 3
  assert_equal "$(grep -c in history) $(sort -u history | wc -l) $(cat ./*.err)" "30 60 "
  assert_slots 0 0
}

@test "several leave at the same time: as many come in" {
  local n one
  for n in {1..20}; do visit "$n" --slots 4 /l; done
  for n in {1..4}; do
    wait_until "four are in" are_inside 4
    for one in $(some 4); do touch "$one.go"; done
    wait_until "they have left" has_left $((n * 4))
  done
  let_all_go "${!pid[@]}"
  assert_equal "$(most_inside) $(grep -c in history)" "4 20"
}

has_left() { (($(grep -c out history) >= $1)); }

@test "-n: 75 only when all slots are taken, and nothing of ours is left" {
  hold a --slots 2 /l
  hold b -n --slots 2 /l
  assert_slots 2 0
  expect_error 75 "cannot take /l: its 2 slots are taken" zklock run -n --slots 2 /l -- touch ran
  assert_slots 2 0
  let_all_go a
  expect_status 0 zklock run -n --slots 2 /l -- true
  assert [ ! -e ran ]
  let_all_go b
}

@test "-n while others stand at the gate: 75 if they may take all that is free, else it waits for them" {
  hold a --slots 3 /l
  background znode stand /l/locks/x-1-
  local first=$!
  wait_until "one stands at the gate" slots_are 1 1
  begin b -n --slots 3 /l
  wait_until "it stands at the gate too" slots_are 1 2
  expect_error 75 "" zklock run -n --slots 3 /l -- true
  assert_slots 1 2
  kill "$first"
  wait_until "the slot is taken" test -s b.held
  let_all_go a b
}

@test "the slots' node is a lease of Curator's, and its number grows" {
  local node="^/l/leases/_c_[0-9a-f-]{36}-lease-[0-9]{10}\$" before=0 n
  for n in 1 2; do
    # shellcheck disable=SC2016
    expect_status 0 zklock run --slots 2 /l -c 'printf "%s\n" "$ZKLOCK_PATH" "$ZKLOCK_NODE" "$ZKLOCK_TOKEN"; znode get "$ZKLOCK_NODE"'
    assert_equal "${lines[0]}" /l
    assert_regex "${lines[1]}" "$node"
    assert [ "${lines[2]}" -gt "$before" ]
    assert_regex "${lines[3]}" '"slots":2'
    before=${lines[2]}
  done
}

@test "another number of slots: 65, both are named, and nothing of ours is left" {
  hold a --slots 2 /l
  expect_error 65 "it is in use with --slots 2, not 3" zklock run --slots 3 /l -- touch ran
  expect_error 65 "it is in use with --slots 2, not 1" zklock run -n --slots 1 /l -- touch ran
  assert_slots 1 0
  hold b --slots 2 /l
  expect_error 65 "--slots 2, not 4" zklock run --slots 4 /l -- touch ran
  let_all_go a b
  expect_status 0 zklock run --slots 4 /l -- true
  assert [ ! -e ran ]
}

@test "a path is a lock of one or has slots, never both at a time: 65" {
  hold a --slots 2 /s
  expect_error 65 "in use for slots, not as a lock; use --slots" zklock run -n /s -- touch ran
  expect_error 65 "in use for slots" zklock run -s /s -- touch ran
  hold b /l
  expect_error 65 "in use as a lock of one" zklock run -n --slots 2 /l -- touch ran
  assert_equal "$(znode ls /s)" $'leases\nlocks'
  assert_no_nodes /l/leases
  assert_no_nodes /l/locks
  let_all_go a b
  # The earlier use of a path does not matter.
  expect_status 0 zklock run -n /s -- true
  expect_status 0 zklock run -n --slots 2 /l -- true
  znode create /q "zklock queue 1"
  znode create /q/items
  expect_error 65 "in use as a queue" zklock run --slots 2 /q -- touch ran
  assert [ ! -e ran ]
}

@test "whose lease was deleted stops, 76, and the next one comes in" {
  hold a --slots 1 /l
  local lease
  lease=/l/leases/$(znode ls /l/leases)
  wait_in_gate b --slots 1
  znode rm "$lease"
  expect_end 76 "${pid[a]}"
  wait_until "the next one is in" test -s b.held
  assert_equal "$(<a.err)" "zklock: lost /l: its node was deleted; the command was stopped"
  let_all_go b
}
