#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock top on three servers: one is down, all are, and they come back.

load ../helpers
load ../tmux

setup_file() { ensemble --tick 500 --set maxSessionTimeout=60000; }

setup() { setup_zk; }

teardown() { end_all; }

teardown_file() { stop_ensemble; }

each_server() {
  local number
  for number in 1 2 3; do zk_sandbox "$@" "$number"; done
}

@test "who is missing is in the first line; without servers it stays, says so, q ends it at once; it goes on after" {
  hold h --session-timeout 60s /top/l
  on_tmux 100 24 "$ZKLOCK_BIN" top --interval 200ms /top
  wait_screen "^ok: 3 of 3 serve, .* leads"
  zk_sandbox kill 3
  ZKLOCK_TEST_WAIT=40 wait_screen "^warning: 2 of 3 serve, missing $(zk_sandbox address 3)"
  wait_screen "^/top/l "
  zk_sandbox restart 3
  ZKLOCK_TEST_WAIT=40 wait_screen "^ok: 3 of 3 serve, .* leads"
  each_server pause
  wait_screen "^no connection for .*; figures of 20"
  wait_screen "^/top/l "
  wait_screen "^critical"
  # Keys work.
  press s
  wait_screen "s sort \(name\)"
  press Enter
  wait_screen "reading"
  press q
  wait_screen "q quit"
  each_server continue
  ZKLOCK_TEST_WAIT=40 wait_screen "^1 lock"
  ZKLOCK_TEST_WAIT=40 wait_screen "^ok: 3 of 3 serve, .* leads"
  # A leader of ZooKeeper 3.8.0 that has stood still with a transaction under way may never commit again. It takes its
  # acknowledgement for that of a new leader, and serves reads, and words. A new leader commits.
  each_server kill
  each_server restart
  zklock queue push --connect-timeout 1m /top/q a b
  ZKLOCK_TEST_WAIT=40 wait_screen "^/top/q +2 "
  each_server pause
  wait_screen "^no connection for"
  press q
  wait_for 0 end
  assert_terminal_as_before
  each_server continue
}
