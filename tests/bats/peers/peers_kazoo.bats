#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests which of Kazoo's locks and zklock exclude each other.

load ../helpers
load ../peers

setup_file() { start_driver kazoo; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "Lock: --peer kazoo -x" { exclude Lock --peer kazoo; }

@test "Lock: zklock waits for it with --peer kazoo -s, but it does not wait for zklock" {
  peer_first Lock --peer kazoo -s
  passes Lock --peer kazoo -s
}

@test "Lock: other names are refused" { refused Lock "use --peer kazoo" -x -s "--peer curator-rw" "--peer curator-rw -s"; }

@test "WriteLock: --peer kazoo -x" { exclude WriteLock --peer kazoo; }

@test "WriteLock: --peer kazoo -s" { exclude WriteLock --peer kazoo -s; }

@test "WriteLock: other names are refused" {
  refused WriteLock "use --peer kazoo" -x -s "--peer curator-rw" "--peer curator-rw -s"
}

@test "ReadLock: --peer kazoo -x" { exclude ReadLock --peer kazoo; }

@test "ReadLock: both are in with --peer kazoo -s" { share ReadLock --peer kazoo -s; }

@test "ReadLock: other names are refused" {
  refused ReadLock "use --peer kazoo" -x -s "--peer curator-rw" "--peer curator-rw -s"
}

@test "Lock, WriteLock: run --any passes by one that is held, and waits for it where all are" {
  local kind
  for kind in Lock WriteLock; do
    take "a$kind" "$kind" "/a$kind"
    hold "z$kind" --peer kazoo --any "/a$kind" "/b$kind"
    assert has_nodes "/b$kind" 1
    begin "w$kind" --peer kazoo --any "/a$kind" "/b$kind"
    wait_until "zklock stands in both lines" has_nodes "/b$kind" 2
    leave "a$kind"
    wait_until "zklock holds a lock" test -s "w$kind.held"
    assert_equal "$(count_nodes "/a$kind") $(count_nodes "/b$kind")" "1 1"
    peer try "hasty$kind" "$kind" "/a$kind"
    await busy "hasty$kind"
    let_all_go "z$kind" "w$kind"
  done
}

@test "where Kazoo has a lock, slots are refused" {
  local kind
  for kind in Lock WriteLock ReadLock; do
    take "$kind" "$kind" "/$kind"
    expect_error 65 "in use as a lock" zklock run -n --slots 2 "/$kind" -- true
  done
}

@test "Kazoo's locks do not wait for slots, which are refused beside them" {
  local kind
  for kind in Lock WriteLock ReadLock; do
    hold "z$kind" --slots 2 "/$kind"
    take "$kind" "$kind" "/$kind"
    expect_error 65 "in use as a lock" zklock run --slots 2 "/$kind" -- true
    let_all_go "z$kind"
  done
}
