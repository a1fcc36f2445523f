#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock run is for: nothing is done twice at once, on one server and on three, whatever happens to these.

load ../helpers

setup_file() {
  export ONE_SERVER=$ZKLOCK_SERVERS
  ensemble --tick 250
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

# count_up PROCESSES TIMES: starts them in the background. Each adds one to f, again and again, under the lock.
count_up() {
  local n
  echo 0 >f
  for ((n = 0; n < $1; ++n)); do
    # shellcheck disable=SC2016
    background sh -c 'for n in $(seq "$1"); do
        "$ZKLOCK_BIN" run /locks/counter -- sh -c "n=\$(cat f); echo \$((n+1)) >f" || echo "status $?"
      done' sh "$2" >"problems$n" 2>&1
    pid["$n"]=$!
  done
}

await_counters() {
  local n
  for ((n = 0; n < $1; ++n)); do expect_end 0 "${pid[$n]}"; done
  assert_equal "$(cat problems*)" ""
}

reaches() { (($(<f) >= $1)); } 2>/dev/null

@test "8 processes count 12 times each, on one server: 96" {
  ZKLOCK_SERVERS=$ONE_SERVER setup_zk
  count_up 8 12
  await_counters 8
  assert_equal "$(<f)" 96
  assert_no_nodes /locks/counter
}

@test "8 processes count 12 times each, on three servers: 96" {
  count_up 8 12
  await_counters 8
  assert_equal "$(<f)" 96
  assert_no_nodes /locks/counter
}

@test "8 processes count 12 times each while the leader is killed and restarted: 96" {
  count_up 8 12
  wait_until "they count" reaches 20
  local leader
  leader=$(zk_sandbox leader)
  zk_sandbox kill "$leader"
  wait_until "another server leads" zk_sandbox leader
  zk_sandbox restart "$leader"
  await_counters 8
  assert_equal "$(<f)" 96
  assert_no_nodes /locks/counter
}

@test "a lock is free when zklock has ended, twenty times over, through whichever of three servers" {
  local n
  for n in {1..20}; do
    expect_status 0 zklock run /l -- true
    expect_status 0 zklock run -n /l -- echo "$n"
    assert_output "$n"
  done
}

@test "on three servers tokens grow from holder to holder, through whichever server" {
  local n before=0
  for n in {1..15}; do
    # shellcheck disable=SC2016
    expect_status 0 zklock run /l -c 'echo $ZKLOCK_TOKEN'
    assert [ "$output" -gt "$before" ]
    before=$output
  done
}
