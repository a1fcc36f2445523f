#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Curator's locks, ZooKeeper's own recipe, and zklock: who excludes whom.

load ../helpers
load ../peers

setup_file() { start_driver curator; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "InterProcessMutex: -x" { exclude InterProcessMutex; }

@test "InterProcessMutex: -s" { exclude InterProcessMutex -s; }

@test "InterProcessMutex: run --any passes by one that is held, and waits for it where all are" {
  take mutex InterProcessMutex /a
  hold z --any /a /b
  assert has_nodes /b 1
  begin w --any /a /b
  wait_until "zklock stands in both lines" has_nodes /b 2
  leave mutex
  wait_until "zklock holds a lock" test -s w.held
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  peer try hasty InterProcessMutex /a
  await busy hasty
  let_all_go z w
}

@test "InterProcessMutex: --peer kazoo-extra" { exclude InterProcessMutex --peer kazoo-extra; }

@test "InterProcessMutex: other names are refused" {
  refused InterProcessMutex "leave out --peer" "--peer curator-rw" "--peer curator-rw -s" "--peer kazoo" "--peer kazoo -s"
}

@test "WriteLock: -x" { exclude WriteLock; }

@test "WriteLock: -s" { exclude WriteLock -s; }

@test "WriteLock: --peer kazoo-extra" { exclude WriteLock --peer kazoo-extra; }

@test "WriteLock: other names are refused" {
  refused WriteLock "leave out --peer" "--peer curator-rw" "--peer curator-rw -s" "--peer kazoo" "--peer kazoo -s"
}

@test "InterProcessReadWriteLock, to write: --peer curator-rw -x" {
  exclude InterProcessReadWriteLock.write --peer curator-rw
}

@test "InterProcessReadWriteLock, to write: --peer curator-rw -s" {
  exclude InterProcessReadWriteLock.write --peer curator-rw -s
}

@test "InterProcessReadWriteLock, to write: other names are refused" {
  refused InterProcessReadWriteLock.write "use --peer curator-rw" -x -s "--peer kazoo" "--peer kazoo -s" "--peer kazoo-extra"
}

@test "InterProcessReadWriteLock, to read: --peer curator-rw -x" {
  exclude InterProcessReadWriteLock.read --peer curator-rw
}

@test "InterProcessReadWriteLock, to read: both are in with --peer curator-rw -s" {
  share InterProcessReadWriteLock.read --peer curator-rw -s
}

@test "InterProcessReadWriteLock, to read: other names are refused" {
  refused InterProcessReadWriteLock.read "use --peer curator-rw" -x -s "--peer kazoo" "--peer kazoo -s" "--peer kazoo-extra"
}

@test "InterProcessReadWriteLock: a reader gets in between two writers, on both sides (scenario 26)" {
  hold w1 --peer curator-rw /l
  peer take r1 InterProcessReadWriteLock.read /l
  wait_until "the peer stands in line" has_nodes /l 2
  stand w2 /l --peer curator-rw
  let_all_go w1
  await held r1
  peer take w3 InterProcessReadWriteLock.write /l
  wait_until "the peer stands in line" has_nodes /l 3
  stand r2 /l --peer curator-rw -s
  leave r1
  let_all_go w2
  await held w3
  leave w3
  let_all_go r2
}
