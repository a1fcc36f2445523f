#!/usr/bin/env bats
# Curator's locks, ZooKeeper's own recipe, and zklock: who excludes whom.

load helpers
load peers

setup_file() { start_driver curator; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "InterProcessMutex: -x" { exclude InterProcessMutex; }

@test "InterProcessMutex: -s" { exclude InterProcessMutex -s; }

@test "InterProcessMutex: --peer kazoo-extra" { exclude InterProcessMutex --peer kazoo-extra; }

@test "InterProcessMutex: other names are refused" {
  refused InterProcessMutex standard "--peer curator-rw" "--peer curator-rw -s" "--peer kazoo" "--peer kazoo -s"
}

@test "WriteLock: -x" { exclude WriteLock; }

@test "WriteLock: -s" { exclude WriteLock -s; }

@test "WriteLock: --peer kazoo-extra" { exclude WriteLock --peer kazoo-extra; }

@test "WriteLock: other names are refused" {
  refused WriteLock standard "--peer curator-rw" "--peer curator-rw -s" "--peer kazoo" "--peer kazoo -s"
}

@test "InterProcessReadWriteLock, to write: --peer curator-rw -x" {
  exclude InterProcessReadWriteLock.write --peer curator-rw
}

@test "InterProcessReadWriteLock, to write: --peer curator-rw -s" {
  exclude InterProcessReadWriteLock.write --peer curator-rw -s
}

@test "InterProcessReadWriteLock, to write: other names are refused" {
  refused InterProcessReadWriteLock.write curator-rw -x -s "--peer kazoo" "--peer kazoo -s" "--peer kazoo-extra"
}

@test "InterProcessReadWriteLock, to read: --peer curator-rw -x" {
  exclude InterProcessReadWriteLock.read --peer curator-rw
}

@test "InterProcessReadWriteLock, to read: both are in with --peer curator-rw -s" {
  share InterProcessReadWriteLock.read --peer curator-rw -s
}

@test "InterProcessReadWriteLock, to read: other names are refused" {
  refused InterProcessReadWriteLock.read curator-rw -x -s "--peer kazoo" "--peer kazoo -s" "--peer kazoo-extra"
}
