#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what a server refuses by its settings, or by an ACL: one line names the reason, the status is 77, and nothing
# looks like an empty tree.

load ../helpers
load ../queue_nodes

setup_file() {
  ensemble --tick 250 --set localSessionsEnabled=true --java-property zookeeper.enforceQuota=true
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

zklock() { timeout 20 "$ZKLOCK_BIN" "$@"; }

server() { echo "${ZKLOCK_SERVERS%%/*}"; }

@test "a session that the server keeps local may have no ephemeral nodes: 77, with the setting's name" {
  local command
  for command in "run /l --" "run --slots 2 /l --" "run --any /l /m --" "group join /g --"; do
    # shellcheck disable=SC2086 # words
    expect_error 77 "localSessionsUpgradingEnabled=true" zklock $command true
  done
}

# A follower passes on what its leader reports of a transaction: that the session expired.
@test "a local session, whichever server keeps it: 77 for what makes its ephemeral nodes in transactions" {
  local number chroot=${ZKLOCK_SERVERS#*/} address
  queue_of one two
  for number in 1 2 3; do
    address=$(zk_sandbox address "$number")
    export ZKLOCK_SERVERS=$address/$chroot
    expect_error 77 "localSessionsUpgradingEnabled=true" zklock queue push /q <<<item
    expect_error 77 "localSessionsUpgradingEnabled=true" zklock queue pull -N 2 /q
  done
}

# limit COUNT: allows so many nodes below the chroot.
limit() {
  local quota=/zookeeper/quota/${ZKLOCK_SERVERS#*/}
  ZKLOCK_SERVERS=$(server) znode create "$quota/zookeeper_limits" "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=$1" \
    "$quota/zookeeper_stats" "count=1,bytes=0"
}

@test "a quota that the server enforces: 77, and it is called one" {
  znode create /there
  limit 3
  expect_status 0 zklock value set /one 1
  expect_error 77 "quota" zklock value set /two 2
  expect_error 77 "quota" zklock value set /some/where 2
  expect_error 77 "quota" zklock group create /g
  expect_error 77 "quota" zklock queue push /q <<<item
}

@test "a tree that may not be listed is no empty one: 77" {
  local command
  znode create /secret/l /secret/q
  znode allow /secret ''
  for command in "top --once" show "show -r" "show --json" "show --format prometheus" "value list" "value get" \
    "value watch" "group list" "group watch" "group wait --at-least 1" "queue list" "queue count" "queue pull" \
    "value delete -r --yes" "break --yes"; do
    # shellcheck disable=SC2086 # words
    expect_error 77 "the ACL there does not allow it" zklock $command /secret
    assert_equal "$output" ""
  done
}

@test "a chroot below a node that is ours is made, though nothing may be made at the top" {
  znode create /apps
  znode allow / r
  expect_status 0 zklock -S "$ZKLOCK_SERVERS/apps/a/b" value set /v text
  expect_status 0 zklock -S "$ZKLOCK_SERVERS/apps/a/b" value get /v
  assert_output text
  expect_error 77 "cannot make the chroot /${ZKLOCK_SERVERS#*/}/other" zklock -S "$ZKLOCK_SERVERS/other/a" value set /v text
}
