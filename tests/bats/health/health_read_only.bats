#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock health and the four-letter words on three servers that allow only srvr, and that serve readers without a
# quorum.

load ../helpers
load ../words

setup_file() {
  ensemble --tick 250 --set 4lw.commands.whitelist= --java-property readonlymode.enabled=true
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

@test "an empty whitelist: words are 77 with the setting, and not mistaken for a dead server" {
  local word
  for word in ruok stat mntr; do
    expect_status 77 zklock $word
    assert_equal "$output" ""
    assert_equal "$(grep -c "$word is not in its whitelist: set 4lw.commands.whitelist=srvr,$word in its zoo.cfg" <<<"$stderr")" 3
  done
  expect_status 77 zklock 4lw conf --json
  assert_equal "$(json .state)" "not-in-whitelist not-in-whitelist not-in-whitelist"
  expect_status 0 zklock srvr
  expect_status 0 zklock 4lw isro
}

@test "an empty whitelist: health rests on srvr, and says what it cannot know" {
  local leader
  leader=$(zk_sandbox address "$(zk_sandbox leader)")
  wait_until "it is well" state_is 0 "ok: quorum: $leader leads, 2 follow"
  assert_line "how many are in sync is not known: $leader: mntr is not in its whitelist"
  expect_status 0 zklock health --json
  assert_equal "$(json '.status, .quorum, .following, .in_sync, .voters')" "ok true 2 null null"
}

@test "read-only mode: a server without a quorum that serves readers is a state of its own" {
  local n last
  last=$(zk_sandbox leader)
  for n in $(followers); do zk_sandbox kill "$n"; done
  wait_until "it serves readers" state_is 2 "read-only: $(zk_sandbox address "$last")"
  assert_output --partial "critical: no quorum: only 1 of 3 up"
  expect_status 2 zklock health --json -w 2s
  assert_equal "$(json '.status, .quorum, (.servers[] | select(.mode == "read-only") | .state)')" "critical false read-only"
  expect_status 0 zklock srvr --json "$(zk_sandbox address "$last")"
  assert_equal "$(json '.state, .reply.read_only, .reply.mode')" "answered true read-only"
  expect_status 0 zklock 4lw isro "$(zk_sandbox address "$last")"
  assert_output ro
}
