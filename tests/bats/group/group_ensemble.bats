#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests groups on an ensemble of this file's own: many members, and servers that fail.

load ../helpers
load ../group

setup_file() { ensemble --tick 500; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

# Starts members with these numbers, or starts them again.
start_members() {
  local n
  for n in "$@"; do member "m$n" /g --session-timeout 6s; done
}

# end_members SIGNAL N…: ends members with these numbers.
end_members() {
  local n signal=$1
  for n in "${@:2}"; do
    kill -s "$signal" "${pid[m$n]}"
    unset "pid[m$n]"
  done
}

living() { printf '%s\n' "${!pid[@]}" | LC_ALL=C sort; }

# Each process is in once, and no other is.
is_true_membership() {
  zklock group list /g >listed && [[ $(sed 's/-[0-9]\{10\}$//' listed | LC_ALL=C sort) == "$(living)" ]]
}

is_told() { [[ $(replay changes) == "$(zklock group list /g)" ]]; }

@test "100 members are killed and started again, and the leader is killed: every line is a true change" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  # On a busy machine, 100 TLS handshakes take three Java servers that have just started more than 15 s.
  export ZKLOCK_CONNECT_TIMEOUT=${ZKLOCK_TEST_WAIT}s
  background zklock group watch --session-timeout 6s /g >changes 2>watch.err
  start_members {1..100}
  wait_until "all 100 are in" is_true_membership || fail "$(sort m*.err | uniq -c)"
  end_members KILL {1..30}
  start_members {1..15}
  zk_sandbox kill "$(zk_sandbox leader)"
  end_members TERM {31..50}
  end_members KILL {51..60}
  start_members {101..110} {31..35}
  wait_until "the dead are out and the others in" is_true_membership
  wait_until "the watch says the same" is_told
  # No name comes twice.
  assert_equal "$(sort changes | uniq -d)" ""
  assert_equal "$(<watch.err)" ""
  note "$(grep -c '^+' changes) joins and $(grep -c '^-' changes) leaves told"
}
