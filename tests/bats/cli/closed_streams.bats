#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock without standard input or output: what is not there cannot be read, and nothing is written to it.

load ../helpers
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

# refused WORDS…: `zklock WORDS…` fails with standard output closed.
refused() { expect_error 74 "cannot write to standard output: " sh -c '"$ZKLOCK_BIN" "$@" >&-' sh "$@"; }

@test "queue push without standard input: 74, and no item is in" {
  local flag
  for flag in "" -0 --whole; do
    # shellcheck disable=SC2086
    expect_error 74 "cannot read standard input: Bad file descriptor; 0 items are in /q" \
      sh -c '"$ZKLOCK_BIN" queue push "$@" <&-' sh $flag /q
  done
  assert_equal "$(zklock queue count /q)" $'items 0\ndead 0'
  expect_status 0 sh -c '"$ZKLOCK_BIN" queue push /q item <&-'
  assert_equal "$(items_of /q)" item
}

@test "what only prints, without standard output: 74" {
  local words
  for words in --version -V --help help "help run" "run --help" "queue push --help"; do
    # shellcheck disable=SC2086
    refused $words
  done
}

@test "what shows nodes, without standard output: 74" {
  zklock queue push /q a b
  background zklock group join /g --name web
  wait_until "somebody is in the group" has_nodes /g 1
  hold h /l
  zklock value set /v text
  local words
  for words in "show /l" "show --json /l" "show -r /" "queue list /q" "queue list --json /q" "queue count /q" \
    "queue pull /q" "group list /g" "group list --json /g" "group watch /g" "value get /v" "value list /q" \
    "value watch /v" "value watch --list /v"; do
    # shellcheck disable=SC2086
    refused $words
  done
  assert_equal "$(items_of /q)" $'a\nb'
  let_all_go h
}

@test "what asks servers, without standard output: 74, and health its own 3" {
  local words
  for words in ruok srvr stat mntr "4lw conf" "srvr --json"; do
    # shellcheck disable=SC2086
    refused $words
  done
  for words in health "health --json" "health --format prometheus"; do
    # shellcheck disable=SC2086
    expect_error 3 "cannot write to standard output: " sh -c '"$ZKLOCK_BIN" "$@" >&-' sh $words
  done
}

@test "where there is nothing to write, a standard output that is closed is no error" {
  expect_status 0 sh -c '"$ZKLOCK_BIN" run /l -- true >&-'
  expect_status 1 sh -c '"$ZKLOCK_BIN" show -q /l >&-' # it is free
  expect_status 0 sh -c '"$ZKLOCK_BIN" queue push /q item >&-'
  expect_status 0 sh -c '"$ZKLOCK_BIN" queue list --dead /q >&-'
  expect_status 0 sh -c '"$ZKLOCK_BIN" queue pull /q -- true >&-'
}
