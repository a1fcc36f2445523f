#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tables at a terminal: no line of them is wider than it is.

load ../helpers
load ../words

setup() {
  setup_zk
  export TERM=xterm
}

teardown() { end_all; }

# at_width STATUS COLUMNS CMD...: it ends with STATUS; what a terminal of that width shows of it, without the verdict of
# health, is in $shown.
at_width() {
  rm -f screen
  # shellcheck disable=SC2016
  background pty screen sh -c 'stty cols "$0" <&1; exec "$@"' "${@:2}"
  expect_end "$1" $! || return
  shown=$(tr -d '\r' <screen | sed '/^$/,$d')
}

# widest: the most characters that a line of $shown has.
widest() {
  local line most=0
  while read -r line; do ((${#line} <= most)) || most=${#line}; done <<<"$shown"
  echo "$most"
}

assert_fits() { (($(widest) <= $1)) || fail "wider than $1: $shown"; }

heads() { head -n 1 <<<"$shown" | tr -s ' '; }

@test "show: columns are left out, and long cells end with an ellipsis" {
  local path=/production/locks/of/all/hosts/nightly
  hold h --label "a label that says at length what this is all about" $path
  at_width 0 80 "$ZKLOCK_BIN" show $path
  assert_fits 80
  assert_regex "$(heads)" "^LOCK STATE SINCE HOST .*LABEL$"
  assert_regex "$shown" "/production/locks/[^ ]*… +holding +20[0-9TZ:-]+ "
  assert_regex "$shown" "…"
  at_width 0 110 "$ZKLOCK_BIN" show $path
  assert_fits 110
  at_width 0 1000 "$ZKLOCK_BIN" show $path
  assert_equal "$shown" "$(zklock show $path)"
  let_all_go h
}

@test "show: what goes to a pipe is whole, whatever the terminal is" {
  hold h --label "a label that says at length what this is all about" /l
  # shellcheck disable=SC2016
  at_width 0 80 sh -c '"$ZKLOCK_BIN" show /l | cat >piped'
  assert_equal "$(<piped)" "$(zklock show /l)"
  let_all_go h
}

@test "health: the table fits, with rates too" {
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)"
  at_width 1 80 "$ZKLOCK_BIN" health "${addresses[@]}"
  assert_fits 80
  assert_regex "$(heads)" "^SERVER STATE MODE .*AVG-MS .*OUTSTANDING"
  at_width 1 1000 "$ZKLOCK_BIN" health "${addresses[@]}"
  assert_equal "$(heads)" "SERVER STATE MODE VERSION AVG-MS MAX-MS CONNECTIONS OUTSTANDING ZXID NODES"
  rm -f screen
  background pty screen "$ZKLOCK_BIN" health --interval 100ms "${addresses[@]}"
  wait_for "RECEIVED/S" screen
  end_all
  shown=$(tr -d '\r' <screen | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' | grep -E '^(SERVER|[0-9.]+:)')
  assert_fits 80
}
