#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock health and the four-letter words on three servers, while some are killed, frozen or electing.

load ../helpers
load ../words

setup_file() { ensemble --tick 250; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  revive
}

teardown() { end_all; }

# Revives all servers: a test that failed must not fail the others.
revive() {
  local n
  for n in 1 2 3; do
    if zk_sandbox pid "$n" >/dev/null 2>&1; then zk_sandbox continue "$n"; else zk_sandbox restart "$n"; fi
  done
}

# well: all three serve, and the leader knows it.
well() { [[ $(zklock health --json -w 2s | jq '.status == "ok" and .in_sync == 3') == true ]]; }

address() { zk_sandbox address "$1"; }

states() { json '[.servers[].state] | join(" ")'; }

@test "three servers: who leads, that two follow and are in sync" {
  wait_until "all are in sync" well
  expect_status 0 zklock health
  assert_equal "$(grep -cE '^127[.0-9:]+ +serving +(leader|follower) +' <<<"$output")" 3
  assert_output --partial "ok: quorum: $(address "$(zk_sandbox leader)") leads, 2 follow, 2 in sync; voters 3"
  expect_status 0 zklock health --json
  assert_equal "$(json '.status, .quorum, .leader, .voters, .following, .in_sync, (.missing | length)')" \
    "ok true $(address "$(zk_sandbox leader)") 3 2 3 0"
}

@test "three servers: every known word has a proper reply, as it is and as JSON" {
  local word
  for word in ruok stat srvr mntr; do
    expect_status 0 zklock $word
    assert_equal "$(grep -c '^==> ' <<<"$output")" 3
    expect_status 0 zklock $word --json
    assert_equal "$(json '.state, (.reply != null)')" "answered true answered true answered true"
  done
  for word in conf cons crst dirs dump envi gtmk isro srst wchc wchp wchs; do
    expect_status 0 zklock 4lw $word
    expect_status 0 zklock 4lw --json $word
    assert_equal "$(json .state)" "answered answered answered"
  done
  expect_status 0 zklock mntr --json
  assert_equal "$(json '.reply.zk_quorum_size + 0')" "3 3 3"
}

@test "--probe takes a lock and gives it back, below the chroot, and leaves nothing" {
  expect_status 0 zklock health --json --probe /probes/lock
  assert_equal "$(json '.probe.path, (.probe.taken_ms > 0), (.probe.released_ms > 0)')" "/probes/lock true true"
  assert_no_nodes /probes/lock
  expect_status 0 zklock health --format nagios --probe /probes/lock
  assert_output --regexp " 'probe'=0\.[0-9]+s;;;0$"
}

@test "one of three killed is a warning that names it; the words show the other two" {
  local n gone
  wait_until "all are in sync" well
  n=$(followers | head -n 1)
  gone=$(address "$n")
  zk_sandbox kill "$n"
  wait_until "the leader has noticed" state_is 1 "1 follows, 1 in sync"
  wait_until "its port is closed" state_is 1 "warning: missing: $gone (connection refused)"
  expect_status 1 zklock health --json --probe /probes/lock
  assert_equal "$(json '.status, .quorum, .missing[]')" "warning true $gone"
  assert_equal "$(json '.servers[] | select(.state != "serving") | .state, .reason')" "refused connection refused"
  expect_status 2 zklock health --min-servers 3
  expect_status 69 zklock srvr
  assert_equal "$(grep -c '^Mode: ' <<<"$output")" 2
  assert_said "$gone: connection refused"
  zk_sandbox restart "$n"
}

@test "one of three frozen is a warning, told from a dead one, and the others do not wait for it" {
  local n frozen
  wait_until "all are in sync" well
  n=$(followers | head -n 1)
  frozen=$(address "$n")
  zk_sandbox pause "$n"
  expect_status 1 zklock health --json -w 3s
  assert_equal "$(json '.status, .quorum, .missing[]')" "warning true $frozen"
  assert_equal "$(json '.servers[] | select(.state != "serving") | .state')" no-answer
  assert_equal "$(json '[.servers[] | select(.state == "serving" and .milliseconds < 2500)] | length')" 2
  expect_status 69 zklock ruok -w 1s
  assert_equal "$(grep -c '^imok$' <<<"$output")" 2
  assert_said "$frozen: no answer in "
  zk_sandbox continue "$n"
}

@test "two of three killed: no quorum, critical, though the last one says imok" {
  local n last
  wait_until "all are in sync" well
  last=$(zk_sandbox leader)
  for n in $(followers); do zk_sandbox kill "$n"; done
  wait_until "the last one has noticed" state_is 2 "critical: no quorum: only 1 of 3 up"
  assert_line "warning: not serving: $(address "$last")"
  expect_status 2 zklock health --json --probe /probes/lock -w 2s
  assert_equal "$(json '.status, .quorum, .leader, (.missing | length), (.probe.error | length > 0)')" "critical false null 3 true"
  assert_equal "$(states | tr ' ' '\n' | sort | paste -sd' ')" "not-serving refused refused"
  expect_error 69 "up, but not serving" zklock srvr "$(address "$last")"
  expect_status 0 zklock ruok "$(address "$last")"
  assert_output imok
  for n in 1 2 3; do ((n == last)) || zk_sandbox restart "$n"; done
}

@test "during an election all that are up serve nobody, which is critical and told from a lost quorum" {
  local old
  wait_until "all are in sync" well
  old=$(zk_sandbox leader)
  background zklock health --json --interval 100ms -w 1s >looks
  pid[watch]=$!
  wait_until "it looks" test -s looks
  zk_sandbox kill "$old"
  wait_until "there is a new leader" state_is 1 "leads, 1 follows"
  kill -TERM "${pid[watch]}"
  output=$(<looks)
  [[ $(json 'select(.summary | test("2 of 3 are up, but they are starting, electing")) | .status, .quorum' | sort -u) == "critical false"* ]]
  zk_sandbox restart "$old"
}
