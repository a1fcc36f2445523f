#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kazoo's locks and zklock: who excludes whom.

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
