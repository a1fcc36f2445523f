#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests trees that a backup has brought back, with all nodes persistent: nothing in them is taken for ever, and each
# command names what was left, and can remove it.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# The names of contenders, of slots and of places in line begin with this.
readonly id=_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60

@test "a lock: run, with and without -n, show and break agree that it is free" {
  local n options
  for n in 0 1 2; do znode create "/l/$id-lock-000000000$n" '{"host":"old","pid":7}'; done
  for options in -n "-w 0" "-n -s" "-n --any" "-w 5s" "-n --once-per 1d"; do
    # shellcheck disable=SC2086
    expect_status 0 zklock run $options /l -- true
  done
  expect_status 1 zklock show -q /l
  expect_status 0 zklock show /l
  assert_equal "$(column STATE)" "free leftover leftover leftover"
  assert_line --partial "  old   7 "
  expect_status 0 zklock show --json /l
  assert_equal "$(jq -r '[.state, (.contenders | length), .others[].state] | join(" ")' <<<"$output")" \
    "free 0 leftover leftover leftover"
  expect_status 0 zklock show -r /
  assert_equal "$(column LOCK)" "/l /l /l /l"
  expect_status 0 zklock break --dry-run /l
  assert_line --partial "old"
  expect_status 0 zklock break --yes /l
  assert_equal "$stderr" "zklock: removed from /l 3 nodes that were in no session"
  assert has_nodes /l 0
}

@test "a lock that is held: its holder is named, and break leaves it alone when it removes what was left" {
  znode create "/l/$id-lock-0000000000" '{"host":"old","pid":7}'
  hold h /l
  expect_error 75 "held by $(hostname)" zklock run -n /l -- true
  expect_error 75 "held by $(hostname)" zklock run -w 1s /l -- true
  expect_status 0 zklock show /l
  assert_equal "$(column STATE)" "holding leftover"
  let_all_go h
  expect_status 0 zklock break --yes /l
  assert has_nodes /l 0
}

@test "a lock of Kazoo's may be meant to stay: it is held, for run -n too, until break --force" {
  local options
  znode create /l/3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__0000000000
  expect_status 0 zklock show -q /l
  expect_error 75 "held by another program" zklock run -n --peer kazoo /l -- true
  expect_status 0 zklock break --yes --force -w 0 /l
  expect_status 0 zklock run -n --peer kazoo /l -- true
}

@test "slots: those of a backup are free, and so is its gate" {
  local n
  for n in 0 1 2 3; do
    znode create "/s/leases/$id-lease-000000000$n" '{"host":"old","pid":7,"slots":3}'
    znode create "/s/locks/$id-lock-000000000$n"
  done
  expect_status 0 zklock run -n --slots 2 /s -- true
  hold a --slots 2 /s
  hold b -n --slots 2 /s
  expect_error 75 "its 2 slots are taken, the first by $(hostname)" zklock run -n --slots 2 /s -- true
  expect_status 0 zklock show /s
  assert_equal "$(column STATE | tr ' ' '\n' | sort | uniq -c | xargs)" "2 holding 8 leftover"
  let_all_go a b
  expect_status 0 zklock break --yes /s
  assert_equal "$(znode ls /s/leases; znode ls /s/locks)" ""
}

@test "a path that was a lock can have slots now, and the other way round" {
  znode create "/l/leases/$id-lease-0000000000"
  znode create "/s/$id-lock-0000000000"
  expect_status 0 zklock run -n /l -- touch lock
  expect_status 0 zklock run -n --slots 2 /s -- touch slots
  assert [ -e lock ] && assert [ -e slots ]
}

@test "slots of a backup beside a lock that is held: show names the holder, as run -n does" {
  znode create "/l/leases/$id-lease-0000000000" '' "/l/locks/$id-lock-0000000000" ''
  hold h /l
  expect_error 75 "held by $(hostname)" zklock run -n /l -- true
  expect_status 0 zklock show -q /l
  expect_status 0 zklock show /l
  assert_equal "$(column STATE | xargs)" "holding leftover leftover"
  expect_status 0 zklock show -r /
  assert_equal "$(awk 'NR > 1 { print $1 }' <<<"$output" | sort -u)" /l
  let_all_go h
}
