#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock group, value watch and run if the servers have lost their data. They refuse any client that has seen more
# than they have, for ever and without a word. Uses a server of this file's own.

load ../helpers
load ../group

setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=2s
  local n
  for n in {1..30}; do znode create "/seen$n" "$n"; done
}

teardown() { end_all; }

lose_data() {
  zk_sandbox kill 1
  rm -rf -- "$ZKLOCK_SANDBOX/1/data/version-2"
  zk_sandbox restart 1
}

told() { [[ $(sed 's/-[0-9]\{10\}$//' changes) == "$(printf '%s\n' "$@")" ]]; }

@test "a member joins again, and a watch goes on" {
  member a /g
  background zklock group watch /g >changes
  watcher=$!
  wait_until "a was told" told +a
  lose_data
  wait_names /g a
  member b /g
  wait_for +b changes
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
}

@test "the watch of a value tells that it is gone, and what comes then" {
  znode create /v old
  background zklock value watch /v >states
  wait_for old states
  lose_data
  wait_for '"exists":false' states
  znode create /v new
  wait_for new states
  assert_equal "$(jq -r .value states | uniq)" $'old\nnull\nnew'
}

@test "who waits in line takes a new place" {
  hold h /l
  background zklock run /l -c 'echo turn >>turns'
  waiter=$!
  wait_until "it stands in line" has_nodes /l 2
  lose_data
  expect_end 0 "$waiter"
  assert_equal "$(<turns)" turn
  expect_end 76 "${pid[h]}"
}

@test "the connect timeout ends no wait at servers that accept new sessions" {
  # The session is known to be refused after 12.5 s at the earliest: a quarter of T, and two attempts of 2.5 s.
  export ZKLOCK_SESSION_TIMEOUT=30s ZKLOCK_CONNECT_TIMEOUT=12s
  hold h /l
  background zklock run /l -c 'echo turn >>turns'
  waiter=$!
  wait_until "it stands in line" has_nodes /l 2
  lose_data
  expect_end 0 "$waiter"
  assert_equal "$(<turns)" turn
}
