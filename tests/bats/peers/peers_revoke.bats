#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests requests to let go: to zklock by Curator's Revoker, and to peers by zklock break.

load ../helpers
load ../peers

setup_file() {
  start_driver kazoo
  start_driver curator
}

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

@test "zklock break stops a revocable Curator holder" {
  take p InterProcessMutex.revocable /l
  expect_status 0 zklock break --yes /l
  assert_no_nodes /l
  await asked p
  await released p
}

# taken_away KIND: such a holder does not hear the request; the lock has to be taken away.
taken_away() {
  take p "$1" /l
  expect_error 75 "has not let go" zklock break --yes -w 1 /l
  leave p
  assert_no_nodes /l
  take q "$1" /l
  expect_status 0 zklock break --yes --force -w 1 /l
  assert_regex "$stderr" "^zklock: took /l away from .*, which may still be running$"
  assert_no_nodes /l
  expect_status 0 zklock run -n "${@:2}" /l -- true
  leave q
}

@test "a Curator holder that is not revocable keeps its lock, unless --force takes it away" {
  taken_away InterProcessMutex
}

@test "a Kazoo holder keeps its lock, unless --force takes it away" {
  driver=kazoo taken_away Lock --peer kazoo
}
