#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock show -r lists the locks in a tree, and only those.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# lists PATHS ARG…: `zklock show -r ARG…` lists exactly these, a line each, and prints nothing else.
lists() {
  expect_status 0 zklock show -r "${@:2}"
  assert_equal "$(listed)" "$1"
  assert_equal "$stderr" ""
}

listed() { awk 'NR > 1 { printf "%s%s", sep, $1; sep = " " }' <<<"$output"; }

@test "all locks at and below a path, in the order of their paths" {
  hold a /jobs/nightly
  hold b /jobs/hourly/feed
  hold c /jobs/hourly
  hold d /other
  stand w /jobs/nightly
  lists "/jobs/hourly /jobs/hourly/feed /jobs/nightly /jobs/nightly /other" /
  lists "/jobs/hourly /jobs/hourly/feed" /jobs/hourly
  lists "/jobs/hourly /jobs/hourly/feed /jobs/nightly /jobs/nightly /other" /jobs/hourly / /other
  expect_status 0 zklock show -r --json /jobs
  assert_equal "${#lines[@]}" 3
  let_all_go a b c d w
}

@test "what is no lock, or is free, is not listed; without any there is nothing to print" {
  znode create /config/a-b/c text
  znode create /left/job-0000000001 text
  expect_status 0 zklock run /free/lock -- true
  lists "" /
  lists "" /none
  assert_equal "$output" ""
}

@test "locks below a node that only looks like a contender are found" {
  hold h /apps/app-0000000001/lock
  lists "/apps/app-0000000001/lock" /
  let_all_go h
}

@test "slots are one lock, and a folder called locks is none" {
  hold a --slots 2 /s
  hold b --slots 2 /s
  hold c /app/locks/x
  znode create /app/leases/10.0.0.1
  lists "/app/locks/x /s /s" /
  let_all_go a b c
  lists "/s" /s
}

@test "a node with a child called items is no queue" {
  hold h /app/items/x
  lists "/app/items/x" /
  expect_status 0 zklock show /app
  expect_status 0 zklock run /app -- true
  expect_status 0 zklock run --slots 2 /app/items -- true
  let_all_go h
}

@test "the inside of a queue is left out" {
  hold h /q/waiting
  znode set /q "zklock queue 1"
  znode create /q/items/100-0000000001/x-0000000001
  hold i /l
  lists "/l" /
  lists "" /q
  expect_status 0 zklock show /q/waiting
  let_all_go h i
}

@test "the server's own tree is left out, and the root needs no chroot" {
  hold h /l
  local chroot=/${ZKLOCK_SERVERS##*/}
  expect_status 0 zklock show -r -S "${ZKLOCK_SERVERS%/*}" /
  assert_regex " $(listed) " " $chroot/l "
  refute_output --partial /zookeeper
  let_all_go h
}

@test "what may not be read is left out, unless it was named" {
  znode create /open
  ZKLOCK_AUTH=digest:me:secret hold h --acl creator /closed/l
  ZKLOCK_AUTH=digest:me:secret hold j --acl creator /locks/l
  hold i /open/l
  lists "/open/l" /
  expect_error 77 "cannot list /closed" zklock show -r /open /closed
  ZKLOCK_AUTH=digest:me:secret lists "/closed/l /locks/l /open/l" /
  let_all_go h i j
}

@test "trees that grow and shrink while it looks do no harm" {
  hold h /z/l
  local n
  for n in 1 2; do
    # shellcheck disable=SC2016
    background sh -c 'until [ -e enough ]; do "$ZKLOCK_BIN" run /z/'"$n"'/l -- true; znode rm /z/'"$n"'; done'
  done
  for _ in {1..25}; do
    expect_status 0 zklock show -r /
    assert_regex "$(listed)" "^(/z/[12]/l )*/z/l\$"
    assert_equal "$stderr" ""
  done
  touch enough
  let_all_go h
}

@test "a lock that is called locks is one, and hides nothing" {
  hold a /locks
  hold b /locks/deeper
  hold c /app/locks
  lists "/app/locks /locks /locks/deeper" /
  assert_equal "$(column STATE)" "holding holding holding"
  expect_status 0 zklock top --once
  assert_regex "$output" "3 locks \(3 held, 0 waited for\)"
  let_all_go a b c
}
