#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that colours are used at a terminal without NO_COLOR, and nowhere else.

load ../helpers

setup() {
  setup_zk
  unset NO_COLOR
  export TERM=xterm
}

teardown() { end_all; }

red=$'\e[1m\e[31m' green=$'\e[1m\e[32m' yellow=$'\e[1m\e[33m' plain=$'\e[0m'

# at_terminal STATUS CMD…: runs CMD at a terminal, and sets $shown to what that shows.
at_terminal() {
  need_terminal
  rm -f screen
  background pty screen "${@:2}"
  expect_end "$1" $! || return
  shown=$(tr -d '\r' <screen)
}

assert_shown() { [[ $shown == *"$1"* ]] || fail "not on the screen: $(printf %q "$1"), but $(printf %q "$shown")"; }

assert_no_escapes() { refute_regex "$1" $'\e'; }

@test "an error's name is red at a terminal" {
  at_terminal 64 "$ZKLOCK_BIN" run lock -- true
  assert_equal "$shown" "${red}zklock:${plain} bad path 'lock': a path begins with /, as in /locks/job"
}

@test "NO_COLOR, if it is not empty, --no-color and a dumb terminal have none" {
  local setting
  for setting in NO_COLOR=1 NO_COLOR=0 TERM=dumb TERM=; do
    at_terminal 64 env "$setting" "$ZKLOCK_BIN" run lock -- true
    assert_equal "$shown" "zklock: bad path 'lock': a path begins with /, as in /locks/job"
  done
  at_terminal 64 "$ZKLOCK_BIN" run --no-color lock -- true
  assert_no_escapes "$shown"
  at_terminal 64 "$ZKLOCK_BIN" --no-color run lock -- true
  assert_no_escapes "$shown"
  at_terminal 64 env NO_COLOR= "$ZKLOCK_BIN" run lock -- true
  assert_shown $'\e'
}

@test "show: who holds is green, who waits is yellow, and the columns stay where they are" {
  hold h /l
  stand w /l
  # shellcheck disable=SC2016
  at_terminal 0 sh -c 'stty cols 400 <&1; exec "$ZKLOCK_BIN" show /l'
  assert_shown "  ${green}holding${plain}  exclusive  "
  assert_shown "  ${yellow}waiting${plain}  exclusive  "
  local without
  # shellcheck disable=SC2001
  without=$(sed $'s/\e\\[[0-9;]*m//g' <<<"$shown")
  expect_status 0 zklock show /l
  assert_equal "$without" "$output"
  let_all_go h w
}

@test "health: the states and the levels have colours" {
  at_terminal 2 "$ZKLOCK_BIN" health -w 2s "${ZKLOCK_SERVERS%%/*}" 127.0.0.1:1 --min-servers 2
  assert_shown " ${green}serving${plain}  "
  assert_shown " ${red}refused${plain}  "
  assert_shown $'\n'"${red}critical${plain}: "
  assert_shown $'\n'"${yellow}warning${plain}: missing: 127.0.0.1:1"
  at_terminal 0 "$ZKLOCK_BIN" health "${ZKLOCK_SERVERS%%/*}"
  assert_shown $'\n'"${green}ok${plain}: "
}

@test "no escape for programs, also at a terminal" {
  local format
  hold h /l
  at_terminal 0 "$ZKLOCK_BIN" show --json /l
  assert_no_escapes "$shown"
  for format in json nagios prometheus; do
    at_terminal 2 "$ZKLOCK_BIN" health -w 2s --format $format --min-servers 2 "${ZKLOCK_SERVERS%%/*}" 127.0.0.1:1
    assert_no_escapes "$shown"
  done
  let_all_go h
}

@test "no escape in pipes and files" {
  hold h /l
  expect_status 0 zklock show /l
  assert_no_escapes "$output"
  expect_status 75 zklock run -n /l -- true
  assert_no_escapes "$stderr"
  expect_status 2 zklock health -w 2s --min-servers 2 "${ZKLOCK_SERVERS%%/*}" 127.0.0.1:1
  assert_no_escapes "$output"
  # Only one of the two is a terminal: zklock checks each by itself.
  # shellcheck disable=SC2016
  at_terminal 0 sh -c '"$ZKLOCK_BIN" show /l >shown; "$ZKLOCK_BIN" run lock -- true 2>said; exit 0'
  assert_no_escapes "$(<shown)$(<said)"
  let_all_go h
}

@test "a dumb terminal gets no line that is kept up to date, and no screen" {
  hold h /l
  at_terminal 75 env TERM=dumb "$ZKLOCK_BIN" run -v -w 1500ms /l -- true
  assert_shown "zklock: waiting for /l: "
  assert_no_escapes "$shown"
  refute grep -q $'\r[^\n]' screen
  at_terminal 0 env TERM=dumb "$ZKLOCK_BIN" queue push /q a
  assert_no_escapes "$shown"
  background pty screen env TERM=dumb "$ZKLOCK_BIN" health --interval 100ms
  wait_until "it has looked twice" eval '(($(grep -c "every 100ms" screen) > 1))'
  kill "$(pgrep -P $!)"
  assert_no_escapes "$(<screen)"
  let_all_go h
}
