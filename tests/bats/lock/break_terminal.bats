#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock break at a terminal: it shows which holders it would hit, and asks.

load ../helpers

setup() {
  setup_zk
  mkfifo keys
  exec 7<>keys # so that neither end waits for the other
}

teardown() {
  exec 7>&-
  end_all
}

# ask ARG…: starts `zklock break ARG…` at a terminal, with `press` for its keys and the file screen. Its process id is
# ${pid[ask]}. Returns when it asks.
ask() {
  need_terminal
  background pty screen ended end "$ZKLOCK_BIN" break "$@" <keys 7>&-
  local asking=$!
  wait_for "[y/N]" screen
  pid[ask]=$asking
}

press() { printf '%s' "$1" >&7; }

@test "it shows whom it hits, a line each, and asks; y does it" {
  hold a -s --label "nightly run" /l
  hold b -s /l
  stand w /l
  ask /l
  local row
  row=$(tr -d '\r' <screen)
  assert_regex "$row" $'^HOST +PID +COMMAND +SINCE +LABEL\n'
  assert_regex "$row" "$(hostname) +${pid[a]} +sh +20[0-9TZ:-]+ +nightly run"
  assert_regex "$row" "$(hostname) +${pid[b]} +sh +20[0-9TZ:-]+ +-"
  refute_regex "$row" " ${pid[w]} "
  assert_regex "$row" "zklock: have these holders let go of /l\\? \\[y/N\\] \$"
  assert has_nodes /l 3
  press $'y\n'
  wait_for "exit 0" end
  expect_end 76 "${pid[a]}"
  expect_end 76 "${pid[b]}"
  let_all_go w
}

@test "anything but y or yes leaves the lock alone: 1" {
  local answer
  hold h /l
  for answer in $'\n' $'n\n' $'yep\n' $'\x04'; do
    ask /l
    press "$answer"
    wait_for "exit 1" end
    assert_equal "$(tr -d '\r' <screen | tail -n 1)" "zklock: /l was left alone"
    rm screen end
  done
  ask /l
  press $'YES\n'
  wait_for "exit 0" end
  expect_end 76 "${pid[h]}"
}

@test "Ctrl-C at the question leaves the lock alone" {
  hold h /l
  ask /l
  press $'\x03'
  wait_for "signal INT" end
  let_all_go h
}

@test "who gets the lock while it asks is not hit" {
  hold shown /l
  stand next /l
  ask /l
  let_all_go shown
  wait_until "the next one holds the lock" test -s next.held
  press $'y\n'
  wait_for "exit 0" end
  refute grep -q zklock: next.err
  let_all_go next
}

@test "it may be thought about for longer than a session lasts, and than -w" {
  local began
  hold h /l
  began=$(now_us)
  ask --session-timeout 500ms -w 2s /l
  wait_until "the time of -w is over" is_past $((began + 2000000))
  press $'y\n'
  wait_for "exit 0" end
  expect_end 76 "${pid[h]}"
}

@test "--yes does not ask, and a free lock needs no question" {
  need_terminal
  hold h /l
  background pty screen "$ZKLOCK_BIN" break --yes /l <keys 7>&-
  expect_end 0 $!
  expect_end 76 "${pid[h]}"
  background pty screen "$ZKLOCK_BIN" break /l <keys 7>&-
  expect_end 0 $!
  assert_equal "$(<screen)" ""
}
