#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock health on two servers of this file's own that are set up oddly.

load ../helpers

setup_file() {
  ensemble --tick 500 --servers 2 --set maxClientCnxns=10
  sed -i 's/^syncLimit=.*/syncLimit=9/' "$ZKLOCK_SANDBOX/2/zoo.cfg"
  zk_sandbox kill 2
  zk_sandbox restart 2
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

# stay N: opens so many connections to server 1.
stay() {
  local servers=$ZKLOCK_SERVERS
  if over_tls; then servers=$ZKLOCK_PLAIN_SERVERS/${ZKLOCK_SERVERS#*/}; fi
  local n
  for ((n = 0; n < $1; ++n)); do
    ZKLOCK_SERVERS=${servers%%,*}/${servers#*/} background znode stand /l/x- >"stays.$n"
    wait_until "connection $n is there" test -s "stays.$n"
  done
}

# advised TEXT: health gives this advice, and all is well.
advised() {
  expect_status 0 zklock health
  [[ $output == *"advice: "*"$1"* ]]
}

@test "an even number of voters and settings that differ are advice, and the status is 0" {
  expect_status 0 zklock health
  assert_line "advice: 2 voters are an even number: no more of them may fail than of 1"
  assert_line --regexp "^advice: syncLimit differs: [0-9]+ on .*, 9 on .*"
  expect_status 0 zklock health --json
  assert_equal "$(jq -r '.status, (.advice | length), (.findings | length)' <<<"$output" | xargs)" "ok 2 0"
  expect_status 0 zklock health --format nagios
  refute_output --partial even
  expect_status 0 zklock health -q
  assert_equal "$output$stderr" ""
}

@test "a client near maxClientCnxns, and then connections that were turned away, are advice" {
  stay 8
  advised "127.0.0.1 has 9 connections, and maxClientCnxns is 10 for each client's address"
  stay 2
  expect_error 69 "cannot reach ZooKeeper" zklock show -S "${ZKLOCK_SERVERS%%,*}" --connect-timeout 300ms /l
  end_all
  wait_until "they are gone" advised "it has turned away"
  refute_output --partial "127.0.0.1 has"
}
