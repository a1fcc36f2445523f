#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests shared and exclusive locks, and the names of other programs.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

@test "two shared holders are in together, an exclusive one has to wait" {
  hold a -s /l
  hold b --shared /l
  expect_error 75 "held by" zklock run -n /l -- true
  expect_status 0 zklock run -ns /l -- true
  let_all_go a b
  expect_status 0 zklock run -x /l -- true
}

@test "an exclusive holder keeps shared ones out" {
  hold h /l
  expect_error 75 "held by" zklock run -ns /l -- true
  let_all_go h
}

@test "a shared contender that comes behind a waiting exclusive one waits" {
  hold a -s /l
  stand w /l
  expect_error 75 "" zklock run -ns /l -- true
  let_all_go a w
}

@test "of -s and -x the last one counts, as in flock" {
  hold a -s /l
  expect_status 0 zklock run -nxs /l -- true
  expect_status 75 zklock run -nqsx /l -- true
}

@test "the names of the peers" {
  local hex='[0-9a-f]{32}' uuid='[0-9a-f-]{36}' number='[0-9]{10}$' row
  for row in "/d|-x|^_c_$uuid-lock-$number" "/d|-s|^_c_$uuid-shared-lock-$number" \
    "/c|--peer curator-rw|^_c_$uuid-__WRIT__$number" "/c|--peer curator-rw -s|^_c_$uuid-__READ__$number" \
    "/e|--peer kazoo-extra|^_c_$uuid-lock-$number" "/e|--peer kazoo-extra -s|^_c_$uuid-shared-lock-$number" \
    "/k|--peer kazoo|^${hex}__lock__$number" "/k|--peer kazoo -s|^${hex}__rlock__$number"; do
    IFS='|' read -r path options pattern <<<"$row"
    # shellcheck disable=SC2086
    expect_status 0 zklock run $options "$path" -- sh -c 'echo "${ZKLOCK_NODE##*/}"'
    [[ $output =~ $pattern ]] || fail "with $options: $output"
  done
}

@test "another family in the line: 65, the peer to use is named, and no node stays" {
  hold a --peer kazoo /l
  expect_error 65 "use --peer kazoo" zklock run -n /l -- true
  expect_error 65 "use --peer kazoo" zklock run --peer curator-rw /l -- true
  assert_equal "$(count_nodes /l)" 1
}

@test "an unknown peer: 64, and the known ones are named" {
  expect_error 64 "curator-rw, kazoo or kazoo-extra" zklock run --peer zookeeper /l -- true
}

@test "--peer kazoo-extra waits for Kazoo's contenders; without it: 65, and both ways are named" {
  local options one=c4aa8eb50fc84cfc8eb3000000000000
  background znode stand "/l/${one}__lock__"
  local stranger=$!
  wait_until "a Kazoo stands in line" has_nodes /l 1
  for options in -x -s; do
    expect_error 65 "use --peer kazoo, or --peer kazoo-extra if it has extra_lock_patterns=[\"-lock-\"]" \
      zklock run -n $options /l -- true
    expect_error 75 "held by another program" zklock run -n $options --peer kazoo-extra /l -- true
  done
  stand w /l --peer kazoo-extra
  kill "$stranger"
  wait_until "it has its turn" test -s w.held
  let_all_go w
}

@test "--peer kazoo-extra: shared beside a Kazoo that reads, exclusive behind it" {
  background znode stand /l/c4aa8eb50fc84cfc8eb3000000000000__rlock__
  wait_until "a Kazoo stands in line" has_nodes /l 1
  expect_status 0 zklock run -ns --peer kazoo-extra /l -- true
  expect_error 75 "held by another program" zklock run -n --peer kazoo-extra /l -- true
}
