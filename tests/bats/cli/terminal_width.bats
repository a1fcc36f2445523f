#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests tables at a terminal: no line of them is wider than it is.

load ../helpers
load ../queue
load ../words

setup() {
  setup_zk
  export TERM=xterm
}

teardown() { end_all; }

# at_width STATUS COLUMNS CMD...: CMD ends with STATUS. $shown has what a terminal of that width shows of it, without
# the verdict of health.
at_width() {
  rm -f screen
  # shellcheck disable=SC2016
  background pty screen sh -c 'stty cols "$0" <&1; exec "$@"' "${@:2}"
  expect_end "$1" $! || return
  shown=$(tr -d '\r' <screen | sed '/^$/,$d')
}

# widest: prints the length of the longest line of $shown.
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

@test "show: narrower, who it is stays as long as there is room, and nothing wraps" {
  hold h --label "a label that says at length what this is all about" /production/locks/of/all/hosts/nightly
  at_width 0 60 "$ZKLOCK_BIN" show -r /
  assert_fits 60
  assert_regex "$(heads)" "^LOCK STATE (SINCE )?HOST"
  at_width 0 40 "$ZKLOCK_BIN" show -r /
  assert_fits 40
  assert_regex "$(heads)" "^LOCK .*STATE"
  at_width 0 20 "$ZKLOCK_BIN" show -r /
  assert_fits 20
  let_all_go h
}

@test "show: a column in which nothing stands goes first" {
  hold h /production/locks/of/all/hosts/nightly
  at_width 0 80 "$ZKLOCK_BIN" show -r /
  assert_fits 80
  assert_regex "$(heads)" "STATE SINCE HOST .*COMMAND"
  refute_regex "$(heads)" "LABEL|USER"
  let_all_go h
}

@test "-l has all columns, however narrow the terminal is" {
  local path=/production/locks/of/all/hosts/nightly
  hold h --label "a label that says at length what this is all about" $path
  at_width 0 40 "$ZKLOCK_BIN" show -l $path
  assert_equal "$shown" "$(zklock show $path)"
  assert_equal "$(zklock show -l $path)" "$shown"
  let_all_go h
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)"
  at_width 1 40 "$ZKLOCK_BIN" health -l "${addresses[@]}"
  assert_equal "$(heads)" "SERVER STATE MODE VERSION AVG-MS MAX-MS CONNECTIONS OUTSTANDING ZXID NODES"
  zklock queue push /q "an item that is long enough for many a terminal, and more"
  at_width 0 40 "$ZKLOCK_BIN" queue list -l /q
  assert_equal "$(heads)" "POS ID PRIORITY AGE ATTEMPTS IN-WORK ITEM"
  assert_regex "$shown" "an item that is long enough for many a terminal, and more"
}

@test "-l is about tables: with another format it is refused" {
  expect_error 64 "give either --long or --format json, not both" zklock show -l --json /l
  expect_error 64 "give either --long or --format json, not both" zklock queue list -l --json /q
  expect_error 64 "give either --long or --format json, not both" zklock group list -l --json /g
  expect_error 3 "give either --long or --format nagios, not both" zklock health -l --format nagios
}

@test "break: the table of those whom it hits fits" {
  local path=/production/locks/of/all/hosts/nightly columns
  hold h --label "a label that says at length what this is all about" $path
  for columns in 80 60 40; do
    at_width 1 $columns "$ZKLOCK_BIN" break $path <<<n
    shown=$(grep -A 1 ^HOST <<<"$shown")
    assert_equal "$(wc -l <<<"$shown")" 2
    assert_fits $columns
  done
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

@test "health: narrower, what is wrong stays" {
  local columns
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)"
  for columns in 60 40 20; do
    at_width 1 $columns "$ZKLOCK_BIN" health "${addresses[@]}"
    assert_fits $columns
  done
  at_width 1 60 "$ZKLOCK_BIN" health "${addresses[@]}"
  assert_regex "$(heads)" "^SERVER STATE MODE AVG-MS"
}

@test "queue list: fits, the items last of all, and the same columns in all pieces" {
  local columns item="an item that is long enough for many a terminal, grün wie der Wald, and more"
  zklock queue push /q "$item"
  seq 1 1500 | zklock queue push /q
  zklock queue push /q "$item"
  for columns in 80 60 40 20; do
    at_width 0 $columns "$ZKLOCK_BIN" queue list /q
    assert_fits $columns
    assert_equal "$(wc -l <<<"$shown")" 1503
    assert_regex "$shown" "an item that?.*…"
  done
  at_width 0 80 "$ZKLOCK_BIN" queue list /q
  assert_regex "$(heads)" "AGE ATTEMPTS .*ITEM"
  at_width 0 40 "$ZKLOCK_BIN" queue list /q
  assert_regex "$(heads)" "^(POS )?AGE .*ITEM$"
  assert_equal "$(awk '{ print (NF > 1) }' <<<"$shown" | uniq)" 1
}

@test "group list -l and value list -l fit: what a member is called and a value's name stay" {
  local columns
  background zklock group join --name "a-member-with-a-name-that-goes-on-and-on" --data "some data that go on and on and on" /g
  wait_until "it is in" zklock group list -q /g
  zklock value set /v/a-value-with-a-name-that-goes-on-and-on-and-on-and-on-and-on 1
  for columns in 80 60 40 20; do
    at_width 0 $columns "$ZKLOCK_BIN" group list -l /g
    assert_fits $columns
    assert_regex "$shown" "MEMBER.*a-member-with-a-"
    at_width 0 $columns "$ZKLOCK_BIN" value list -l /v
    assert_fits $columns
    assert_regex "$shown" "NAME.*a-value-with-a-"
  done
}
