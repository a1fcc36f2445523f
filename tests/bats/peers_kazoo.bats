#!/usr/bin/env bats
# Kazoo's locks and zklock: who excludes whom. Lock.extra is Lock with extra_lock_patterns=["-lock-"].

load helpers
load peers

setup_file() { start_driver kazoo; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "Lock: --peer kazoo -x" { exclude Lock --peer kazoo; }

@test "Lock: zklock waits for it with --peer kazoo -s, but it does not wait for zklock" {
  peer_first Lock --peer kazoo -s
  passes Lock --peer kazoo -s
}

@test "Lock: other names are refused" { refused Lock kazoo -x -s "--peer curator-rw" "--peer curator-rw -s"; }

@test "WriteLock: --peer kazoo -x" { exclude WriteLock --peer kazoo; }

@test "WriteLock: --peer kazoo -s" { exclude WriteLock --peer kazoo -s; }

@test "WriteLock: other names are refused" {
  refused WriteLock kazoo -x -s "--peer curator-rw" "--peer curator-rw -s"
}

@test "ReadLock: --peer kazoo -x" { exclude ReadLock --peer kazoo; }

@test "ReadLock: both are in with --peer kazoo -s" { share ReadLock --peer kazoo -s; }

@test "ReadLock: other names are refused" {
  refused ReadLock kazoo -x -s "--peer curator-rw" "--peer curator-rw -s"
}

@test "Lock.extra: --peer kazoo -x" { exclude Lock.extra --peer kazoo; }

@test "Lock.extra: zklock waits for it with --peer kazoo -s, but it does not wait for zklock" {
  peer_first Lock.extra --peer kazoo -s
  passes Lock.extra --peer kazoo -s
}

@test "Lock.extra: other names are refused" { refused Lock.extra kazoo "--peer curator-rw" "--peer curator-rw -s"; }

@test "Lock.extra: it waits for zklock's default names, -x" { zklock_first Lock.extra; }

@test "Lock.extra: it waits for zklock's default names, -s" { zklock_first Lock.extra -s; }

@test "Lock.extra: zklock's default names are refused beside it" {
  take e Lock.extra /l
  expect_error 65 "use --peer kazoo" zklock run -n /l -- true
  expect_error 65 "use --peer kazoo" zklock run -ns /l -- true
  leave e
}
