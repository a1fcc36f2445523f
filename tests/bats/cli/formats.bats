#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests --format in all subcommands that have --json.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# Makes a queue, a group, a value, and a lock without a holder.
make_some() {
  zklock queue push /q one two
  zklock group create /g
  zklock value set /v bytes
  zklock run /l -- true
}

# These end by themselves.
looks=("show /l" "queue list /q" "queue count /q" "group list /g" "value get /v" "value list -r /v" ruok)
watches=("group watch /g" "value watch /v")

# Replaces what differs each time.
settled() { sed -E 's/"milliseconds":[0-9.]+/"milliseconds":0/; s/ [0-9.]+m?s +/ AGE /; s/ +/ /g'; }

@test "--format json is --json, and --format text is neither" {
  make_some
  local words
  for words in "${looks[@]}"; do
    # shellcheck disable=SC2086 # words
    assert_equal "$words: $(zklock $words --format json | settled)" "$words: $(zklock $words --json | settled)"
    # shellcheck disable=SC2086
    assert_equal "$words: $(zklock $words --format=text | settled)" "$words: $(zklock $words | settled)"
    # shellcheck disable=SC2086
    if [[ $words != "group list"* ]]; then zklock $words --json --format json | jq -e . >/dev/null; fi
  done
}

@test "value get --format text is the bytes as they are" {
  printf 'a\0\xff\n' | zklock value set /v
  zklock value get --format text /v | cmp - <(printf 'a\0\xff\n')
}

@test "group watch and value watch have it too, for the command" {
  make_some
  expect_status 7 zklock group watch --format json --halt /g -- sh -c '[ -z "$(cat)" ] && exit 7'
  expect_status 7 zklock value watch --format json --halt /v -- sh -c 'grep -q "^{\"path\":\"/v\"" && exit 7'
  expect_status 7 zklock value watch --format text --halt /v -- sh -c '[ "$(cat)" = bytes ] && exit 7'
}

@test "what is no format, or is not what --json says, is refused before a server is asked" {
  local words
  for words in "${looks[@]}" "${watches[@]}"; do
    # shellcheck disable=SC2086 # words
    ZKLOCK_SERVERS=127.0.0.1:1 expect_error 64 "for --format: write text" zklock $words --format yaml
    # shellcheck disable=SC2086
    ZKLOCK_SERVERS=127.0.0.1:1 expect_error 64 "for --format: write text" zklock $words --format ""
    # shellcheck disable=SC2086
    ZKLOCK_SERVERS=127.0.0.1:1 expect_error 64 "not both" zklock $words --format text --json
  done
  expect_error 64 "not both" zklock group list -l --format json /g
  expect_error 64 "one of" zklock value list -l --format json /v
  expect_error 64 "not both" zklock value watch -0 --format json /v
}
