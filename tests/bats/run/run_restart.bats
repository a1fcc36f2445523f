#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if its server goes away and comes back. Uses a server of this file's own.

load ../helpers

setup_file() {
  ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000 --java-property znode.container.checkIntervalMs=100
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() {
  zk_sandbox continue 1
  zk_sandbox pid 1 >/dev/null 2>&1 || zk_sandbox restart 1
  end_all
}

restart() {
  zk_sandbox kill 1
  zk_sandbox restart 1
}

answers() { expect_status 75 zklock run -q -w 100ms /l -- true; }

@test "a restart shorter than the session: the command never notices" {
  # shellcheck disable=SC2016
  background zklock run --session-timeout 30s /l -- sh -c 'echo $$ >pids
    until [ -e go ]; do sleep 0.02; done; echo $$ >>pids; exit 5' 2>stderr
  wait_until "it runs" test -s pids
  local node
  node=$(znode ls /l)
  restart
  wait_until "the lock is still held" answers
  assert_equal "$(znode ls /l)" "$node"
  touch go
  expect_end 5 $!
  assert_equal "$(uniq pids | wc -l) $(<stderr)" "1 "
  expect_status 0 zklock run -n /l -- true
}

@test "a waiter outlives a restart, and gets its turn" {
  hold h /l --session-timeout 30s
  stand w /l --session-timeout 30s
  restart
  let_all_go h
  wait_until "the waiter has its turn" test -s w.held
  let_all_go w
  assert_equal "$(cat h.err w.err)" ""
}

@test "the command ends while no server is there: its status comes back, and the lock is free then" {
  hold h /l --session-timeout 30s
  zk_sandbox kill 1
  let_go h
  wait_until "the first try is over, an eighth of the session later" is_past $(($(now_us) + 4000000))
  refute is_gone "${pid[h]}"
  zk_sandbox restart 1
  expect_end 0 "${pid[h]}"
  expect_status 0 zklock run -n /l -- true
}

@test "the command ends and no server comes back: zklock ends within the session timeout" {
  hold h /l --session-timeout 2s
  zk_sandbox kill 1
  local began
  began=$(now_us)
  let_go h
  expect_end 0 "${pid[h]}"
  assert [ $(($(now_us) - began)) -lt 4500000 ]
}

@test "what the command left behind runs on, though the lock cannot be given back for long" {
  # shellcheck disable=SC2016
  background zklock run --session-timeout 2s /l -- sh -c 'sleep 600 & echo $! >left; until [ -e go ]; do sleep 0.02; done'
  wait_until "it runs" test -s left
  zk_sandbox kill 1
  touch go
  expect_end 0 $!
  refute is_gone "$(<left)"
}

@test "a server that falls silent: a waiter gives up in time, and its node goes with its session" {
  hold h /l --session-timeout 60s
  stand w /l -w 1s --session-timeout 2s
  zk_sandbox pause 1
  wait_gone "${pid[w]}"
  zk_sandbox continue 1
  wait_until "only the holder stands there" has_nodes /l 1
  let_all_go h
  assert [ ! -e w.held ]
}

@test "the server goes away for good while it waits: 69" {
  hold h /l --session-timeout 60s --connect-timeout 1m
  stand w /l --session-timeout 2s --connect-timeout 500ms
  zk_sandbox kill 1
  expect_end 69 "${pid[w]}"
  assert_equal "$(grep -c '^zklock: cannot reach ZooKeeper at ' w.err) $(grep -c . w.err)" "1 1"
  zk_sandbox restart 1
  assert [ ! -e w.held ]
  let_go h
  expect_end 0 "${pid[h]}"
}

@test "a signal while it waits and its server is gone: it ends within the session timeout" {
  hold h /l --session-timeout 60s
  stand w /l --session-timeout 2s
  zk_sandbox kill 1
  local began
  began=$(now_us)
  kill -TERM "${pid[w]}"
  expect_end 143 "${pid[w]}"
  assert [ $(($(now_us) - began)) -lt 3500000 ]
  zk_sandbox restart 1
  wait_until "only the holder stands there" has_nodes /l 1
  let_all_go h
  assert [ ! -e w.held ]
}

@test "the lock's node goes by itself when nobody uses it, those above it stay" {
  expect_status 0 zklock run /a/b/l -- true
  wait_until "the server has removed it" expect_status 1 znode ls /a/b/l
  assert_equal "$(znode ls /a)" b
  expect_status 0 zklock run -n /a/b/l -- true
}

@test "a server that removes unused nodes all the time is not in the way" {
  local n
  for n in {1..8}; do
    # shellcheck disable=SC2016
    background sh -c 'for n in $(seq 20); do "$ZKLOCK_BIN" run /a/l -c "echo >>ran" || exit; done' 2>"err$n"
    pid["$n"]=$!
  done
  for n in {1..8}; do expect_end 0 "${pid[$n]}"; done
  assert_equal "$(cat err*)" ""
  assert_equal "$(wc -l <ran)" 160
}
