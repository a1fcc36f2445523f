#!/usr/bin/env bats
# Asked to let go: zklock, by Curator's Revoker.

load helpers
load peers

setup_file() { start_driver curator; }

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

@test "Curator's Revoker stops a zklock holder, whose command is dead before the node goes" {
  enter -f h --session-timeout 4s /l
  wait_until "all of the command runs" lives h 4
  peer revoke r /l
  expect_end 76 "${pid[h]}"
  assert_equal "$(wc -l <h.err)" 1
  assert_regex "$(<h.err)" "^zklock: .*/l"
  await gone r
  assert_order "the command's end and the node's" "$(last_of h)" "$(moment_of gone r)"
}

@test "a peer that waits gets in after Curator's Revoker has stopped zklock" {
  enter -i h --session-timeout 4s /l
  wait_until "the command runs" lives h
  peer take p InterProcessMutex /l
  wait_until "the peer stands in line" has_nodes /l 2
  peer revoke r /l
  await held p
  assert_order "leaving and entering" "$(last_of h)" "$(moment_of held p)"
  expect_end 76 "${pid[h]}"
}

@test "Curator's Revoker stops a shared zklock holder in its read-write lock" {
  enter h --session-timeout 4s --peer curator-rw -s /l
  wait_until "the command runs" lives h
  peer revoke r /l
  expect_end 76 "${pid[h]}"
  await gone r
  assert_order "the command's end and the node's" "$(last_of h)" "$(moment_of gone r)"
}
