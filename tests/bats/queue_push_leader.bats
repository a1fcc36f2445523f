#!/usr/bin/env bats
# zklock queue push: servers fail on the way. On an ensemble of this file's own.

load helpers
load queue

setup_file() { ensemble --tick 500 --heap 600m; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

holds_some() { (($(zklock queue count --json /q | jq .items) > 0)); }

@test "the leader is killed in mid-push: nothing is lost, nothing doubled (scenario 55)" {
  local leader
  leader=$(zk_sandbox leader)
  seq 150000 >lines
  background zklock queue push /q <lines 2>err
  local pusher=$!
  wait_until "some are in" holds_some
  zk_sandbox kill "$leader"
  refute is_gone "$pusher"
  expect_end 0 "$pusher"
  assert_equal "$(<err)" ""
  diff <(listed /q) lines
  zk_sandbox restart "$leader"
}

@test "all servers are killed and restarted in mid-push: nothing is lost, nothing doubled (scenario 55)" {
  local server
  seq 150000 >lines
  background zklock queue push /q <lines 2>err
  local pusher=$!
  wait_until "some are in" holds_some
  for server in 1 2 3; do zk_sandbox kill "$server"; done
  refute is_gone "$pusher"
  for server in 1 2 3; do zk_sandbox restart --no-wait "$server"; done
  expect_end 0 "$pusher"
  assert_equal "$(<err)" ""
  diff <(listed /q) lines
}

@test "the leader is killed while items are taken out: each arrives once, in order" {
  local leader
  leader=$(zk_sandbox leader)
  seq 30000 | zklock queue push /q
  background zklock queue pull --all /q >got 2>err
  local consumer=$!
  wait_until "some are out" eval '(($(wc -l <got) > 1000))'
  zk_sandbox kill "$leader"
  expect_end 0 "$consumer"
  assert_equal "$(<err)" ""
  diff got <(seq 30000)
  zk_sandbox restart "$leader"
}
