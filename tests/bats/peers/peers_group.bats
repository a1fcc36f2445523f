#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock group and the groups of other programs: Curator's GroupMember, Kazoo's Party and ShallowParty.

load ../helpers
load ../peers
load ../group

setup_file() {
  start_driver kazoo
  start_driver curator
}

teardown_file() { stop_drivers; }

setup() {
  setup_peers
  export driver=curator
}

teardown() { end_all; }

@test "GroupMember: zklock sees it come and go, and it sees zklock's members by their names" {
  background zklock group watch /g >changes
  take first GroupMember.java1 /g
  wait_for "+java1" changes
  member a /g --unique
  wait_for "+a" changes
  expect_status 0 zklock group list --json /g
  assert_equal "$(jq -r '.name + " " + .data' <<<"$output" | xargs)" "a java1 curator"
  peer see looker /g a
  await seen looker
  leave first
  wait_for "-java1" changes
}

@test "GroupMember: its name is taken for zklock, as long as it is in" {
  take first GroupMember.java1 /g
  # GroupMember's start() does not wait for its node.
  expect_status 0 zklock group wait --at-least 1 -w 20s /g
  expect_error 75 "the name is taken" zklock group join --unique --name java1 /g -- true
  expect_error 75 "1 member in it" zklock group delete /g
  background zklock group join --unique --name java1 -w 20s /g -- echo in >out
  leave first
  expect_end 0 $!
  assert_equal "$(<out)" in
}

@test "Kazoo's Party and ShallowParty: zklock lists them, counts them and joins them" {
  driver=kazoo
  take party Party /g
  take shallow ShallowParty /g
  member a /g
  wait_until "all three are in" has_nodes /g 3
  expect_status 0 zklock group list --json /g
  assert_equal "$(jq -r .data <<<"$output" | sort | xargs)" "kazoo1 kazoo1"
  expect_status 0 zklock group wait --at-least 3 -w 5s /g
  leave party
  leave shallow
  expect_status 0 zklock group list /g
  assert_equal "$output" "$(node_of /g a)"
}
