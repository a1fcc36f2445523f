#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests which of Curator's locks, ZooKeeper's own recipe and zklock exclude each other.

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

@test "LeaderSelector, which uses the mutex: -x" { exclude LeaderSelector; }

# leads OPTION… LOCK: zklock finds the leader there, and names its program.
leads() {
  expect_error 65 "belongs to Curator's LeaderLatch, which would not wait for us" zklock run "$@" -- touch ran
  assert [ ! -e ran ]
}

@test "LeaderLatch: its nodes do not count for zklock, and zklock's do not for it, so zklock is refused" {
  refused LeaderLatch "Curator's LeaderLatch" -x -s "--peer curator-rw" "--peer kazoo" "--peer kazoo-extra"
}

@test "LeaderLatch: whoever comes behind the leader is refused, 50 times, and nothing of zklock's is left" {
  take leader LeaderLatch /l
  peer take second LeaderLatch /l
  wait_until "two latches are there" has_nodes /l 2
  for _ in {1..50}; do leads -n /l; done
  leads -w 5s /l
  leads --slots 2 /l
  leads --any /l
  assert has_nodes /l 2
  leave leader
  await held second
  leads -n /l
  leave second
  expect_status 0 zklock run -n /l -- true
}

@test "LeaderLatch: who waits in line when it comes ends with 65" {
  hold h /l
  # Behind one holder alone, zklock need not list the line again (zklock-run(1)), but behind two.
  stand v /l /l
  stand w /l /l
  take leader LeaderLatch /l
  let_all_go h v
  expect_end 65 "${pid[w]}"
  leave leader
}

@test "LeaderLatch: show names it, and does not list it as waiting; break has nothing to do" {
  hold h /l
  take leader LeaderLatch /l
  expect_status 0 zklock show /l
  assert_equal "$(column STATE)" "holding foreign"
  assert_regex "${lines[2]}" "Curator's LeaderLatch"
  let_all_go h
  expect_status 0 zklock show --json /l
  assert_equal "$(jq -r '[.state, .others[0].state, .others[0].program] | join(" ")' <<<"$output")" \
    "foreign foreign Curator's LeaderLatch"
  assert_equal "$(jq '.contenders | length' <<<"$output")" 0
  expect_error 65 "belongs to Curator's LeaderLatch" zklock show -q /l
  expect_error 65 "belongs to Curator's LeaderLatch" zklock break --yes --force /l
  assert has_nodes /l 1
  leave leader
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

@test "InterProcessReadWriteLock: a reader gets in between two writers, on both sides" {
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
