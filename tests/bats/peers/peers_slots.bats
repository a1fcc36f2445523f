#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests Curator's InterProcessSemaphoreV2 and zklock --slots: never more are inside than there are slots.

load ../helpers
load ../peers

setup_file() { start_driver curator; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

readonly semaphore=InterProcessSemaphoreV2

all_taken() {
  expect_error 75 "" zklock run -n --slots 3 /l -- true
  peer try "$1" "$semaphore.3" /l
  await busy "$1"
}

@test "three from both sides are inside, a fourth is not, from either" {
  take a "$semaphore.3" /l
  hold b --slots 3 /l
  take c "$semaphore.3" /l
  all_taken d
  leave a
  hold e --slots 3 /l
  all_taken f
  let_all_go b e
  take g "$semaphore.3" /l
  take h "$semaphore.3" /l
  all_taken i
}

@test "zklock waits, and gets the slot that a peer gives back" {
  take a "$semaphore.2" /l
  take b "$semaphore.2" /l
  enter z -v --slots 2 /l
  wait_for "waiting for /l" z.err
  leave b
  wait_until "zklock has a slot" lives z
  let_all_go z
  assert_order "leaving and entering" "$(moment_of leaves b)" "$(first_of z)"
}

@test "a peer waits, and gets the slot that zklock gives back" {
  enter z --slots 2 /l
  hold y --slots 2 /l
  wait_until "zklock has a slot" lives z
  peer take a "$semaphore.2" /l
  wait_until "the peer waits for a slot" has_nodes /l/leases 3
  let_all_go z
  await held a
  assert_order "leaving and entering" "$(last_of z)" "$(moment_of held a)"
  let_all_go y
}

@test "a peer waits behind a zklock that waits" {
  hold y --slots 1 /l
  begin z --slots 1 /l
  wait_until "zklock waits for a slot" has_nodes /l/leases 2
  peer take a "$semaphore.1" /l
  wait_until "the peer waits at the gate" has_nodes /l/locks 2
  let_all_go y z
  await held a
}

# Prints the greatest number that were inside at once.
most_inside() { awk '{ now += $1 == "in" ? 1 : -1; if (now > most) most = now } END { print most }' visits; }

@test "two zklocks and two peers visit 50 times each: there are two inside, never three" {
  local n
  for n in 1 2; do
    peer visit "p$n" "$semaphore.2" /l "$PWD/visits" 50
    # shellcheck disable=SC2016
    background sh -c 'for n in $(seq 50); do
        "$ZKLOCK_BIN" run --slots 2 /l -- sh -c "echo in >>visits; sleep 0.005; echo out >>visits" || echo "status $?"
      done' >"problems$n" 2>&1
    pid["$n"]=$!
  done
  for n in 1 2; do
    expect_end 0 "${pid[$n]}"
    await visited "p$n"
  done
  assert_equal "$(cat problems*)" ""
  assert_equal "$(most_inside)" 2
  assert_equal "$(grep -c in visits)" 200
}

@test "where a peer uses slots, a lock of one is refused" {
  local options
  take a "$semaphore.2" /l
  for options in -x -s "--peer curator-rw" "--peer curator-rw -s" "--peer kazoo" "--peer kazoo -s"; do
    # shellcheck disable=SC2086
    expect_error 65 "use --slots" zklock run -n $options /l -- true
  done
}

@test "a peer's slots do not wait for a lock of one, which is refused beside them" {
  hold z /l
  take a "$semaphore.2" /l
  expect_error 65 "use --slots" zklock run /l -- true
  let_all_go z
}

@test "a peer's lock of one does not wait for slots, which are refused beside it" {
  local kind
  for kind in InterProcessMutex InterProcessReadWriteLock.read InterProcessReadWriteLock.write WriteLock; do
    hold "z$kind" --slots 2 "/$kind"
    take "$kind" "$kind" "/$kind"
    expect_error 65 "in use as a lock" zklock run --slots 2 "/$kind" -- true
    let_all_go "z$kind"
    expect_error 65 "in use as a lock" zklock run -n --slots 2 "/$kind" -- true
  done
}

@test "slots that are refused leave a lock of one as it was" {
  take a InterProcessMutex /l
  expect_error 65 "in use as a lock" zklock run --slots 2 /l -- true
  expect_error 75 "held by" zklock run -n /l -- true
  assert has_nodes /l 1
}
