#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests compare and set by many zklock values at once.

load ../helpers
load ../values

setup() { setup_zk; }

teardown() { end_all; }

# twenty ARG…: runs `zklock value ARG…` twenty times at once, with "@" in ARG as the number of each. $statuses says how
# often each status came. The file first has the number of the one that ended with 0.
twenty() {
  local n status pids=()
  for n in {1..20}; do
    background zklock value "${@//@/$n}" 2>"said.$n"
    pids+=($!)
  done
  for n in {1..20}; do
    status=0
    wait "${pids[n - 1]}" || status=$?
    echo "$status"
    if ((status == 0)); then echo "$n" >first; fi
  done >ended
  statuses=$(sort -n ended | uniq -c | awk '{ printf "%s%s × %s", sep, $1, $2; sep = ", " }')
}

@test "two hundred increments by four loops of processes lose none" {
  count_up /counter 4 50
  await_counters || return
  assert_equal "$(counted 69) unknown" "0 unknown"
  assert_equal "$(zklock value get /counter)" 200
  assert_equal "$(written | wc -l)" 200
  assert_equal "$(written | uniq -d)" ""
  note "$(counted 75) of $(counted) attempts met another version"
}

@test "--if-missing, twenty at once: one has made it, and to the others it is there" {
  twenty set --if-missing /deep/marker "by @"
  assert_equal "$statuses" "1 × 0, 19 × 75"
  assert_equal "$(zklock value get --json /deep/marker | jq -r '"\(.value) \(.version)"')" "by $(<first) 0"
  assert_equal "$(cat said.* | grep -c 'version 0')" 19
}

@test "set --if-version, twenty at once: one" {
  znode create /v old
  twenty set --if-version 0 /v "by @"
  assert_equal "$statuses" "1 × 0, 19 × 75"
  assert_equal "$(zklock value get --json /v | jq -r '"\(.value) \(.version)"')" "by $(<first) 1"
}

@test "delete --if-version, twenty at once: one" {
  znode create /v old
  twenty delete --if-version 0 /v
  assert_equal "$statuses" "1 × 0, 19 × 75"
  expect_status 1 znode stat /v
}

@test "delete, twenty at once: one, and for the others there is nothing" {
  znode create /v old
  twenty delete /v
  assert_equal "$statuses" "1 × 0, 19 × 1"
}

@test "set and delete at once, again and again: all say that they have done it, and it is there or not" {
  local n writers=()
  for n in {1..10}; do
    background sh -c 'for n in 1 2 3; do "$ZKLOCK_BIN" value set /a/v "$0 $n" || exit; done' "$n"
    writers+=($!)
    background sh -c 'for n in 1 2 3; do "$ZKLOCK_BIN" value delete /a/v || [ $? = 1 ] || exit; done' 2>/dev/null
    writers+=($!)
  done
  for n in "${writers[@]}"; do expect_end 0 "$n"; done
  expect_status 0 zklock value set /a/v last
  assert_equal "$(zklock value get /a/v)" last
}
