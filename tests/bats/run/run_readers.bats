#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests shared and exclusive holders of one lock, readers and writers.

load ../helpers
load ../history

setup() { setup_zk; }

teardown() { end_all; }

# come_again NAME ARG…: comes in four times, in the background.
come_again() {
  # shellcheck disable=SC2016
  background sh -c 'name=$1; shift
    for n in 1 2 3 4; do
      "$ZKLOCK_BIN" run "$@" -c "echo in $name >>history; sleep 0.02; echo out $name >>history" || echo "status $?"
    done' sh "$@" >"$1.said" 2>&1
  pid[$1]=$!
}

@test "20 readers and 5 writers, again and again: a writer is alone, readers are together" {
  local n
  hold h /l
  for n in {1..20}; do
    come_again "r$n" -s /l
    ((n % 4)) || come_again "w$n" -x /l
  done
  wait_until "all stand in line" has_nodes /l 26
  let_all_go h
  for n in "${!pid[@]}"; do expect_end 0 "${pid[$n]}"; done
  assert_equal "$(cat ./*.said)" ""
  assert_equal "$(grep -c in history) $(grep -c out history)" "100 100"
  assert_writers_alone
  assert [ "$(most_inside)" -ge 2 ]
  assert_no_nodes /l
}

# in_turns LOCK [OPTION…]: a writer comes, and after it two readers, a writer and a reader, in this order.
in_turns() {
  local lock=$1
  shift
  rm -f ./*.go history
  visit w1 "$lock" "$@"
  await_in w1
  queue_up r1 "$lock" -s "$@"
  queue_up r2 "$lock" -s "$@"
  queue_up w2 "$lock" "$@"
  queue_up r3 "$lock" -s "$@"
  refute_in r1 r2 w2 r3
  let_all_go w1
  await_in r1 r2
  refute_in w2 r3
  let_all_go r2 r1
  await_in w2
  refute_in r3
  let_all_go w2
  await_in r3
  let_all_go r3
  assert_writers_alone
}

@test "behind a writer all readers up to the next writer go together, later ones after that" {
  in_turns /l
}

@test "the same in the names of other programs" {
  in_turns /c --peer curator-rw
  in_turns /k --peer kazoo
}

@test "a writer that gives up lets in the readers behind it, beside those that are in" {
  local end
  visit r1 -s /l
  await_in r1
  for end in TERM KILL; do
    queue_up "w$end" /l --session-timeout 500ms
    queue_up "r$end" /l -s
    refute_in "r$end"
    kill -s "$end" "${pid[w$end]}"
    await_in "r$end"
  done
  queue_up w3 /l -w 3s
  queue_up r3 /l -s
  await_in r3
  expect_end 75 "${pid[w3]}"
  assert_equal "$(most_inside)" 4
  let_all_go r1 rTERM rKILL r3
  refute_in wTERM wKILL w3
}

@test "a writer waits for all readers before it, in whatever order they leave" {
  local name
  for name in r1 r2 r3; do
    visit "$name" -s /l
    await_in "$name"
  done
  queue_up w /l
  for name in r3 r1; do
    let_all_go "$name"
    # The writer had the time to come in.
    expect_status 75 zklock run -nq /l -- true
    refute_in w
  done
  let_all_go r2
  await_in w
  let_all_go w
  assert_writers_alone
}
