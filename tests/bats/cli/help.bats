#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock prints about itself: alone, with version and help on every level, and by zklock help, which shows
# the manual. project/docs.bats tests what each --help has to look like.

load ../helpers

setup() { setup_place; }

teardown() { end_all; }

@test "zklock alone: 64, two examples, and where to go on" {
  expect_status 64 zklock
  assert_equal "$output" ""
  assert_regex "$stderr" $'^zklock: no command named\nUsage: zklock COMMAND [^\n]+\n  zklock run [^\n]+\n  zklock show [^\n]+\nzklock help '
}

@test "version on every level" {
  local words
  expect_status 0 zklock -V
  local version=$output
  for words in version --version "queue version" "group --version" "run -V" "queue push --version" "value version"; do
    # shellcheck disable=SC2086
    expect_status 0 zklock $words
    assert_equal "$output" "$version"
  done
  expect_error 64 "bad path 'version'" zklock run version
}

# Makes a man that has only the page of zklock-run, and prints how it was called.
some_man() {
  mkdir bin
  printf '%s\n' '#!/bin/sh' '[ "$1" != -w ] || { shift; echo path; [ "$1" = zklock-run ]; exit; }' \
    'echo "man: $*"; grep SigIgn /proc/$$/status' >bin/man
  chmod +x bin/man
}

# shown PATH WORD…: sets $shown to what a terminal shows of `zklock WORD…`.
shown() {
  rm -f screen
  background pty screen env PATH="$1" "$ZKLOCK_BIN" "${@:2}" </dev/null
  expect_end 0 $! || return
  shown=$(tr -d '\r' <screen)
}

@test "help of a command opens its manual at a terminal; without that page, or man, it prints the text of --help" {
  need_terminal
  some_man
  shown "$PWD/bin:$PATH" help run
  # man has the signals as zklock found them.
  assert_equal "$shown" $'man: zklock-run\n'"$(grep SigIgn /proc/self/status)"
  shown "$PWD/bin:$PATH" help queue pull
  assert_equal "$shown" "$(zklock queue pull --help)"
  mkdir empty
  shown "$PWD/empty" help run
  assert_equal "$shown" "$(zklock run --help)"
  # The output is a pipe or a file.
  PATH=$PWD/bin:$PATH expect_status 0 zklock help run
  assert_equal "$output" "$(zklock run --help)"
}

@test "help of a topic is its manual; without that page it says so: 1, without man 127" {
  some_man
  sed -i 's/zklock-run/zklock-recipes/' bin/man
  PATH=$PWD/bin:$PATH expect_status 0 zklock help recipes
  assert_line --index 0 "man: zklock-recipes"
  PATH=$PWD/bin:$PATH expect_error 1 "the manual page zklock-protocol is not installed here" zklock help protocol
  mkdir empty
  expect_error 127 "man" env PATH="$PWD/empty" "$ZKLOCK_BIN" help recipes
}

@test "each topic has its page" {
  local topic
  for topic in recipes compare protocol compatibility sandbox; do
    compgen -G "$repo/man/zklock-$topic.[17]" >/dev/null || fail "no page of $topic"
  done
}
