#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests ZKLOCK_TRACE: what zklock does, as events, and whether its models allow that.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# loop NAME: takes the lock three times.
loop() {
  # shellcheck disable=SC2016
  background sh -c 'for n in 1 2 3; do "$ZKLOCK_BIN" run --session-timeout 5s /locks/l -- sleep 0.02 || exit; done'
  pid[$1]=$!
}

@test "trace: what contenders for a lock have done is what the models allow" {
  declare -A pid
  export ZKLOCK_TRACE=$PWD/trace
  for name in a b c; do loop "$name"; done
  for name in a b c; do expect_end 0 "${pid[$name]}"; done
  assert_equal "$(grep -c '"event":"granted"' trace)" 9
  line_model --replay trace >said || fail "$(cat said)"
  lease_model --replay trace >said || fail "$(cat said)"
}

@test "trace: an event is a line, of JSON" {
  ZKLOCK_TRACE=trace zklock run /locks/l -- true
  /usr/bin/python3 -c 'import json, sys; print(*(json.loads(line)["event"] for line in sys.stdin))' <trace >events
  assert_equal "$(cat events)" "began session heard creating creating created proved seen granted started ended \
deleting deleted released closing closed"
}

@test "trace: a file that cannot be opened is 64, and nothing is done" {
  export ZKLOCK_TRACE=nowhere/trace
  expect_error 64 "cannot write to 'nowhere/trace' (ZKLOCK_TRACE): No such file or directory" \
    zklock run /locks/l -- touch ran
  assert [ ! -e ran ]
}
