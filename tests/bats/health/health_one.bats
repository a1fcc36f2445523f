#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock health and the four-letter words on one server.

load ../helpers
load ../words

setup() { setup_zk; }

teardown() { end_all; }

@test "one server: standalone is well, in text, as JSON and by status" {
  expect_status 0 zklock health
  assert_equal "$(column MODE | cut -d' ' -f1)" standalone
  assert_line "ok: standalone: a server without an ensemble"
  expect_status 0 zklock health --json
  assert_equal "$(json '.status, .quorum, .servers[].mode, .servers[].state')" "ok true standalone serving"
  expect_status 0 zklock ruok
  assert_output imok
  expect_status 0 zklock srvr
  assert_line "Mode: standalone"
}

@test "a word that this release does not know is told from a dead server" {
  expect_error 69 "closed without a word: it does not know the word" zklock 4lw zzzz
}

@test "--probe below a chroot makes its nodes there; without --probe nothing is made" {
  expect_status 0 zklock health
  assert_untouched
  expect_status 0 zklock health --probe /probe
  assert_line --regexp "^probe: /probe taken in [0-9.]+m?s, given back in [0-9.]+m?s$"
  assert_no_nodes /probe
}

@test "a probe whose lock somebody holds waits for it, and is critical when it is not had in time" {
  hold a /probe
  expect_status 2 zklock health --probe /probe -w 3s
  assert_output --partial "critical: probe: cannot take /probe: held by "
  wait_until "the probe's place is gone" has_nodes /probe 1
  background zklock health --probe /probe -w 20s >probed
  wait_until "it stands in line" has_nodes /probe 2
  let_all_go a
  expect_end 0 $!
  grep -q '^probe: /probe taken in' probed
}

@test "a probe that is ended by a signal leaves no node" {
  hold a /probe
  background zklock health --probe /probe -w 20s
  pid[probe]=$!
  wait_until "it stands in line" has_nodes /probe 2
  kill -TERM "${pid[probe]}"
  expect_end 143 "${pid[probe]}"
  has_nodes /probe 1
  let_all_go a
}

@test "a probe that may not write is critical" {
  need_no_identity
  ZKLOCK_AUTH=digest:a:b expect_status 0 zklock run --acl creator /mine/l -- true
  expect_status 2 zklock health --probe /mine/l/below
  assert_output --partial "critical: probe: cannot "
}
