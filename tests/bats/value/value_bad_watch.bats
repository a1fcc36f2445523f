#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock value watch and wait refuse with one line and the documented status.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

@test "a bad path, or words that do not belong there: 64, before there is a connection" {
  local verb path
  for verb in watch wait; do
    for path in "" app /app/ //app /app/../limit $'/app\nlimit'; do
      expect_error 64 "bad path '" zklock value "$verb" "$path"
    done
    expect_error 64 "no node named" zklock value "$verb"
    expect_error 64 "unknown option '--bogus'" zklock value "$verb" --bogus /a
    expect_error 64 "'b'" zklock value "$verb" /a b
  done
  expect_error 64 "unexpected argument 'b'" zklock value wait /a -- b
  assert_untouched
}

@test "options that exclude each other, values that are none, values that are missing: 64" {
  expect_error 64 "one of" zklock value wait --gone --equals v /a
  expect_error 64 "one of" zklock value wait --gone --newer-than 1 /a
  expect_error 64 "one of" zklock value wait --equals v --newer-than 1 /a
  expect_error 64 "--halt" zklock value watch --halt /a
  local number words
  for number in "" x 1x -1 +1 1.5 2147483648 99999999999999999999; do
    expect_error 64 "bad number '$number' for --newer-than" zklock value wait --newer-than "$number" /a
  done
  expect_error 64 "bad duration 'soon' for --timeout" zklock value wait -w soon /a
  for words in "wait /a --equals" "wait /a --newer-than" "wait /a --timeout"; do
    # shellcheck disable=SC2086
    expect_error 64 "${words##* }" zklock value $words
  done
  expect_error 64 "not both" zklock value watch -0 --json /a
  expect_error 64 "-0" zklock value watch -0 /a -- true
  assert_untouched
}

@test "a command that cannot be run: 127, 126; an empty one 64" {
  expect_error 127 "no-such-program" zklock value watch /a -- no-such-program
  echo text >file
  expect_error 126 "file" zklock value watch /a -- ./file
  expect_error 64 "command" zklock value watch /a --
  assert_untouched
}

@test "wait for what is not so: 75 in time; for what is so: 0, whatever the bytes" {
  expect_error 75 "cannot wait for /v any longer" zklock value wait -w 0 /v
  expect_status 75 zklock value wait -q -w 0 /v
  assert_equal "$output$stderr" ""
  local text
  for text in "" " " $'\n' $'two\nlines\n' "--json" "-5" "ä"; do
    expect_status 0 zklock value set /v -- "$text"
    expect_status 0 zklock value wait -w 0 --equals="$text" /v
    expect_error 75 "cannot wait for /v any longer" zklock value wait -w 0 --equals="$text " /v
  done
  expect_error 75 "cannot wait for /v any longer" zklock value wait -w 0 --gone /v
  expect_error 75 "cannot wait for /v any longer" zklock value wait -w 0 --newer-than 6 /v
  expect_status 0 zklock value wait -w 0 --newer-than 5 /v
}

@test "standard output that is full or closed: 74; a wait needs none" {
  znode create /a v
  expect_error 74 "cannot write to standard output: No space left on device" \
    sh -c '"$ZKLOCK_BIN" value watch /a >/dev/full'
  expect_error 74 "cannot write to standard output: " sh -c '"$ZKLOCK_BIN" value watch /a >&-'
  expect_status 0 sh -c '"$ZKLOCK_BIN" value wait /a >&-'
}

@test "no server: 69; a node that we may not read: 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock value set --acl creator /mine/a v
  local verb
  for verb in watch "wait --equals v" "wait -w 0 --equals v" "watch --list"; do
    # shellcheck disable=SC2086
    expect_error 77 "the ACL there does not allow it" zklock value $verb /mine/a
  done
  # Any client may know whether it is there, and which version it has.
  expect_status 0 zklock value wait /mine/a
  expect_error 75 "it has version 0" zklock value wait -w 0 --newer-than 0 /mine/a
  export ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms
  for verb in watch wait; do
    expect_error 69 127.0.0.1:1 zklock value "$verb" /a
  done
}
