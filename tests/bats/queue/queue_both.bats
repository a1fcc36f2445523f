#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push and pull at the same time.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# pushers N COUNT: starts N at once, each with so many lines "PUSHER NUMBER".
pushers() {
  local n
  for ((n = 1; n <= $1; ++n)); do
    seq -f "$n %.0f" "$2" >"push$n.in"
    background zklock queue push /q <"push$n.in"
    pid[push$n]=$!
  done
}

@test "eight pushers and eight consumers, segments roll over: each item once" {
  local n
  zklock queue push /q start
  pushers 8 1000
  for n in {1..8}; do
    background zklock queue pull --follow /q >"got$n"
    pid[pull$n]=$!
  done
  for n in {1..8}; do expect_end 0 "${pid[push$n]}"; done
  wait_until "all is taken" eval '(($(cat got* | wc -l) == 8001))'
  for n in {1..8}; do
    kill -TERM "${pid[pull$n]}"
    expect_end 0 "${pid[pull$n]}"
  done
  cmp <(sort got*) <(cat push*.in <(echo start) | sort)
  expect_error 75 "no items" zklock queue pull /q
}

@test "one consumer sees the items of each of eight pushers in their order, across segments" {
  local n
  zklock queue push /q start
  pushers 8 500
  background zklock queue pull --follow /q >got
  pid[pull]=$!
  for n in {1..8}; do expect_end 0 "${pid[push$n]}"; done
  wait_until "all is taken" eval '(($(wc -l <got) == 4001))'
  for n in {1..8}; do cmp <(grep "^$n " got) "push$n.in"; done
}

@test "consumers are killed again and again: nothing is lost" {
  local round
  seq 20000 | zklock queue push /q
  for round in {1..6}; do
    background zklock queue pull --session-timeout 500ms --all /q >"got$round"
    wait_until "it gets items" test -s "got$round"
    kill -KILL $!
    wait_gone $!
  done
  zklock queue pull --all /q >got7
  # Items that were written but not removed come again.
  cmp <(cat got* | sort -nu) <(seq 20000)
}

@test "three consumers at once have each a part, and no item twice" {
  local n
  seq 3000 | zklock queue push /q
  for n in 1 2 3; do
    background zklock queue pull --all /q >"got$n"
    pid[pull$n]=$!
  done
  for n in 1 2 3; do expect_end 0 "${pid[pull$n]}"; done
  cmp <(cat got* | sort -n) <(seq 3000)
}
