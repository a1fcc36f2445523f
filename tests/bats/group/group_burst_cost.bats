#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that many changes in a row of a large group cost its watchers few lists.

load ../helpers
load ../counters

setup_file() { counted_server; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  zklock group create /g
  coproc crowd { exec bare crowd /g 3>&-; }
  change +3000
}

teardown() { end_all; }

# change N: has so many join, or leave.
change() {
  local answer
  echo "$1" >&"${crowd[1]}"
  read -r -t 60 answer <&"${crowd[0]}"
  assert_equal "$answer" ok
}

# Prints the most lists allowed: one when the first joins, then one every 300 ms, because of three thousand names.
most_lists() { echo $((2 + ($(now_us) - begun) / 300000)); }

lines_in() { (($(wc -l <"$2") == $1)); }

@test "group watch: a hundred that join one after the other cost as many lists as there are rests" {
  background zklock group watch --session-timeout 600s /g >changes
  wait_until "the whole group was told" lines_in 3000 changes
  sleep 0.4
  before=$(requests)
  begun=$(now_us)
  for ((i = 0; i < 100; ++i)); do change +1; done
  wait_until "all were told" lines_in 3100 changes
  most=$(most_lists)
  # Each new member costs two: it is made, and looked at.
  lists=$(($(requests) - before - 200))
  ((lists >= 1 && lists <= most)) || fail "$lists lists, $most at most"
}

@test "group wait: likewise" {
  before=$(requests)
  background zklock group wait --at-least 3100 --session-timeout 600s /g
  waiter=$!
  # It connects, reads the group, lists it, and reads each member.
  wait_until "it has looked" eval '(($(requests) >= before + 3005))'
  before=$(requests)
  begun=$(now_us)
  for ((i = 0; i < 100; ++i)); do change +1; done
  expect_end 0 "$waiter"
  most=$(most_lists)
  # It has also closed its session.
  lists=$(($(requests) - before - 201))
  ((lists >= 1 && lists <= most)) || fail "$lists lists, $most at most"
}
