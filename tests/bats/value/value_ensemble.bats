#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value on an ensemble of this file's own, whose servers are killed.

load ../helpers
load ../values

setup_file() { ensemble --tick 500; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

are_over() {
  local one
  for one in "${counters[@]}"; do is_gone "$one" || return; done
}

have_counted() { (($(counted 0) >= $1)) || are_over; }

@test "two hundred increments while servers are killed and started again: none is lost, none made twice" {
  local round=0 server
  count_up /counter 4 50
  until are_over; do
    # The leader and another server take turns, so two are always left.
    server=$(zk_sandbox leader)
    if ((round++ % 2)); then server=$((server % 3 + 1)); fi
    wait_until "they count on" have_counted $((15 * round)) || return
    zk_sandbox kill "$server"
    wait_until "a leader is there without it" zk_sandbox leader
    zk_sandbox restart "$server"
  done
  await_counters || return
  local last acknowledged unknown
  last=$(zklock value get /counter) acknowledged=$(counted 0) unknown=$(counted 69)
  note "$round servers killed: $acknowledged acknowledged, $unknown unknown, $(counted 75) refused; the counter is $last"
  ((round > 1 && acknowledged + unknown == 200 && acknowledged <= last && last <= acknowledged + unknown)) ||
    fail "$round killed, $acknowledged acknowledged, $unknown unknown, but $last" || return
  assert_equal "$(written | uniq -d)" ""
}
