#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests Lock.extra, which is Kazoo's Lock with extra_lock_patterns=["-lock-"] and waits for the default names too. Also
# tests Kazoo's other locks if zklock takes them for that.

load ../helpers
load ../peers

setup_file() { start_driver kazoo; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "Lock.extra: --peer kazoo-extra -x" { exclude Lock.extra --peer kazoo-extra; }

@test "Lock.extra: --peer kazoo-extra -s" { exclude Lock.extra --peer kazoo-extra -s; }

@test "Lock.extra: --peer kazoo -x" { exclude Lock.extra --peer kazoo; }

@test "Lock.extra: zklock waits for it with --peer kazoo -s, but it does not wait for zklock" {
  peer_first Lock.extra --peer kazoo -s
  passes Lock.extra --peer kazoo -s
}

@test "Lock.extra: it waits for the default names, -x" { zklock_first Lock.extra; }

@test "Lock.extra: it waits for the default names, -s" { zklock_first Lock.extra -s; }

@test "Lock.extra: the default names are refused beside it" {
  take e Lock.extra /l
  expect_error 65 "--peer kazoo-extra" zklock run -n /l -- true
  expect_error 65 "--peer kazoo-extra" zklock run -ns /l -- true
}

@test "Lock.extra: other names are refused" { refused Lock.extra "use --peer kazoo" "--peer curator-rw" "--peer curator-rw -s"; }

@test "a zklock with the default names and one with --peer kazoo-extra exclude each other" {
  hold a /l
  expect_error 75 "held by" zklock run -n --peer kazoo-extra /l -- true
  let_all_go a
  hold b --peer kazoo-extra /l
  expect_error 75 "held by" zklock run -n /l -- true
  let_all_go b
}

# zklock cannot tell them from Lock.extra.
@test "without the patterns: zklock waits for them with --peer kazoo-extra, but they do not wait for zklock" {
  local kind
  for kind in Lock WriteLock ReadLock; do
    take "$kind" "$kind" "/$kind"
    expect_error 75 "held by" zklock run -n --peer kazoo-extra "/$kind" -- true
    hold "z$kind" --peer kazoo-extra -s "/z$kind"
    take "z$kind" "$kind" "/z$kind"
    let_all_go "z$kind"
  done
}
