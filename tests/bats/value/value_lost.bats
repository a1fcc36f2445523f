#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value set with lost requests and answers.
#
# shellcheck disable=SC2317 # `relay_dies` is called by name

load ../helpers
load ../value_lost

setup() { setup_zk; }

teardown() { end_all; }

@test "set: it is done once, and 69 says that others have written since" {
  with_old
  in_turn times_set nobody set /v mine
  only 0
  in_turn times_set they_set set /v mine
  only 0 69
}

@test "set of what is not there: it is done" {
  with_none
  made_once() { if [[ $1 == "mine 0" ]]; then echo 1; else echo "$1"; fi; }
  in_turn made_once nobody set /v mine
  only 0
}

@test "set --if-version: never twice, and never said to be refused when it was done" {
  with_old
  in_turn times_set nobody set --if-version 0 /v mine
  only 0 69
  in_turn times_set they_set set --if-version 0 /v mine
  only 75 69 0
}

@test "set --if-missing: never over another's, and never said to be refused when it was done" {
  with_none
  in_turn times_made nobody set --if-missing /v mine
  only 0 69
  in_turn times_made they_make set --if-missing /v mine
  only 75 69 0
}

@test "no server after the write was sent: 69, and that it is not known; before: 69 alone" {
  with_old
  prepare
  relay_dies() {
    kill -KILL "${pid[relay]}"
    background sleep 100
    pid[relay]=$!
  }
  # A handshake, a sync, a read, and one of the node above are answered first; the next answer is the transaction's.
  lose a 5 relay_dies set --connect-timeout 2s "$v" mine
  assert_equal "$ended" 69
  assert_regex "$(<said)" "^zklock: cannot reach ZooKeeper .*; whether it was done is not known\$"
  assert_equal "$(there)" "mine 1"
  lose r 2 relay_dies set --connect-timeout 2s "$v" mine
  assert_equal "$ended" 69
  refute grep -F "not known" said
}

@test "set --fenced: it is done once while the lock is held, and 76 is said only of what was not written" {
  with_lock
  in_turn times_set nobody set --fenced /v mine
  only 0
  in_turn times_set they_remove_the_lock set --fenced /v mine
  only 76 0 69
}

@test "no server comes back: 69, whether it was done or not" {
  with_old
  prepare
  start_relay -a 99 "${ZKLOCK_SERVERS%/*}"
  kill -STOP "${pid[relay]}"
  through set --connect-timeout 1s "$v" mine
  expect_end 69 "${pid[value]}"
  assert_equal "$(there)" "old 0"
}
