#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock top leaves the terminal as it was, however it ends. Without one, or on a dumb one, it is text.

load ../helpers
load ../tmux

setup() { setup_zk; }

teardown() { end_all; }

start_top() {
  on_tmux 80 24 "$ZKLOCK_BIN" top --interval 200ms
  wait_screen "^/l "
  assert_equal "alternate $(pane alternate_on), cursor $(pane cursor_flag)" "alternate 1, cursor 0"
}

ended_with() {
  wait_until "it has ended" test -s end
  assert_equal "$(<end)" "$1"
  assert_terminal_as_before
}

has_looks() { (($(grep -c "^1 lock" "$1") >= $2)); }

@test "q: 0, and the terminal as it was" {
  hold h /l
  start_top
  press q
  ended_with 0
}

@test "Ctrl-C: 130, and the terminal as it was" {
  hold h /l
  start_top
  press C-c
  ended_with 130
}

@test "TERM: 143, HUP: 129, INT: 130, and the terminal as it was" {
  local signal
  hold h /l
  for signal in TERM:143 HUP:129 INT:130; do
    start_top
    kill -"${signal%:*}" "$(<pid)"
    ended_with "${signal#*:}"
    tm kill-server
  done
}

@test "TERM during a closer look, and while a filter is typed: the terminal as it was" {
  local key
  hold h /l
  for key in Enter /; do
    start_top
    press $key
    wait_no_screen "q quit"
    kill -TERM "$(<pid)"
    ended_with 143
    tm kill-server
  done
}

@test "a terminal that goes away ends it" {
  hold h /l
  start_top
  tm kill-server
  wait_gone "$(<pid)"
}

@test "Ctrl-Z: the terminal as it was; fg shows it again, at another size too" {
  local round
  hold h /l
  shell_on_tmux 80 24
  wait_screen '^[$]'
  press "stty -a >before" Enter
  press "$ZKLOCK_BIN top --interval 200ms" Enter
  wait_screen "^/l "
  for round in 1 2; do
    press C-z
    wait_screen "Stopped"
    assert_equal "alternate $(pane alternate_on), cursor $(pane cursor_flag)" "alternate 0, cursor 1"
    press "stty -a >after.$round" Enter
    wait_for extproc "after.$round"
    assert_equal "$(<"after.$round")" "$(<before)"
    if ((round == 2)); then resize 60 20; fi
    press "clear; fg" Enter
    wait_screen "^/l "
    wait_screen "q quit"
    assert_equal "$(pane alternate_on)" 1
  done
  press q
  wait_until "it has ended" eval '[[ $(pane alternate_on) == 0 ]]'
  press "echo status \$?; stty rows 24 cols 80; stty -a >after" Enter
  wait_screen "^status 0"
  wait_for extproc after
  assert_equal "$(<after)" "$(<before)"
}

@test "--once is text: one look, whole" {
  local path=/a/path/that/is/long/enough/for/many/a/terminal/and/then/some
  hold h --label "a label" $path
  expect_status 0 zklock top --once
  assert_equal "$stderr" ""
  assert_line --regexp "^20[0-9-]+T[0-9:]+Z  ok: standalone"
  assert_line --regexp "^1 lock \(1 held, 0 waited for\), 0 queues \(0 items, 0 dead\), 0 groups"
  assert_line --regexp "^$path +.* 'a label' "
  refute_output --partial $'\033'
}

@test "to a pipe: look after look; a reader who goes ends it" {
  hold h /l
  background zklock top --interval 100ms >looks
  local top=$!
  wait_until "there are three" has_looks looks 3
  kill -TERM $top
  expect_end 143 $top
  refute grep -q $'\033' looks
  assert_equal "$(grep -B 1 '^20.* ok:' looks | grep -c '^$')" "$(($(grep -c '^20.* ok:' looks) - 1))"
  background zklock top --interval 100ms > >(head -n 1 >first)
  expect_end 141 $!
}

@test "TERM=dumb, or of a kind that nobody knows: text too" {
  local kind
  hold h /l
  for kind in dumb no-such-terminal; do
    rm -f shown end
    background env TERM="$kind" pty shown ended end "$ZKLOCK_BIN" top --interval 100ms
    wait_until "there are two with $kind" has_looks shown 2
    refute grep -q $'\033' shown
    kill -INT "$(sed -n 's/^pid //p' end)"
    wait_for "signal INT" end
  done
}

@test "no server at the start: 69, in one line, without a screen" {
  expect_error 69 "no server answered in" zklock top -S 127.0.0.1:1 --connect-timeout 1s
}

@test "bad usage: 64" {
  expect_error 64 "--interval 1ms is too short" zklock top --interval 1ms
  expect_error 64 "no-slash" zklock top no-slash
  expect_error 64 "/b" zklock top /a /b
}
