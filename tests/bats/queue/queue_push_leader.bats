#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push while servers fail, on an ensemble of this file's own.

load ../helpers
load ../queue

setup_file() { ensemble --tick 500 --set maxSessionTimeout=60000 --heap 600m; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=30s ZKLOCK_CONNECT_TIMEOUT=120s # servers may start slowly
  # A server that the test before has restarted may still be joining. Without it, the next kill is one too many.
  ZKLOCK_TEST_WAIT=120 wait_until "all are in sync" well
}

teardown() { end_all; }

well() { zk_sandbox word "$(zk_sandbox leader)" mntr | grep -qx $'zk_synced_followers\t2'; }

holds_some() { (($(zklock queue count --json /q | jq .items) > 0)); }

# begin_push: lines 1, 2, 3 … go into /q until there is a file `last`, and then 5,000 more. So it is in the midst of it
# when servers fail, however fast it is. What went is in the file lines.
begin_push() {
  mkfifo input
  {
    exec 3>&-
    n=0
    until [[ -e last ]]; do
      seq $((n + 1)) $((n += 500))
      pause 0.02
    done
    seq $((n + 1)) $((n + 5000))
  } | tee lines >input &
  background zklock queue push /q <input 2>err
  pusher=$!
  wait_until "some are in" holds_some
}

# end_push: all lines went in, in order.
end_push() {
  touch last
  ZKLOCK_TEST_WAIT=120 expect_end 0 "$pusher" || return
  assert_equal "$(<err)" ""
  cmp lines <(listed /q)
}

@test "the leader is killed in mid-push: nothing is lost, nothing doubled" {
  local leader
  leader=$(zk_sandbox leader)
  begin_push
  zk_sandbox kill "$leader"
  end_push
  zk_sandbox restart "$leader"
}

@test "all servers are killed and restarted in mid-push: nothing is lost, nothing doubled" {
  local server
  begin_push
  for server in 1 2 3; do zk_sandbox kill "$server"; done
  for server in 1 2 3; do zk_sandbox restart --no-wait "$server"; done
  end_push
}

@test "the leader is killed while items are taken out: each arrives once, in order" {
  local leader
  leader=$(zk_sandbox leader)
  seq 15000 | zklock queue push /q
  background zklock queue pull --all /q >got 2>err
  local consumer=$!
  wait_until "some are out" eval '(($(wc -l <got) > 1000))'
  zk_sandbox kill "$leader"
  ZKLOCK_TEST_WAIT=120 expect_end 0 "$consumer"
  assert_equal "$(<err)" ""
  diff got <(seq 15000)
  zk_sandbox restart "$leader"
}
