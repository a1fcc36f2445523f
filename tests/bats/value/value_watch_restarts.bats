#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value watch on an ensemble of this file's own, whose servers fail.

load ../helpers

setup_file() { ensemble --tick 500; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

# write N: tries as often as it takes while servers go and come.
write() {
  until zklock value set /v "$1" 2>>write.err; do :; done
}

# write_all FROM TO
write_all() {
  local n
  for ((n = $1; n <= $2; ++n)); do write "$n"; done
}

# forward FILE: each line is a later number than the one before it.
forward() { sort -nuc "$1" || fail "a state was told twice, or taken back: $(sort -nuc "$1" 2>&1)"; }

@test "1,000 changes and three restarts of servers: watches end with the last state, and the command saw it" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  local last=1000 watchers=() server command
  # shellcheck disable=SC2016
  command='echo "$ZKLOCK_VALUE_VERSION $(cat)" >>ran; sleep 0.3'
  write 0
  background zklock value watch --session-timeout 6s /v >states 2>states.err
  watchers+=($!)
  background zklock value watch --session-timeout 6s /v -- sh -c "$command" 2>ran.err
  watchers+=($!)
  wait_until "the first was told" test -s states -a -s ran
  background bash -c "$(declare -f zklock write write_all); write_all 1 $last; echo >written"
  for server in 1 2 3; do
    wait_until "writing goes on" eval "(($(wc -l <states) + 50 < \$(wc -l <states)))"
    # The last one is the leader.
    if ((server == 3)); then server=$(zk_sandbox leader); fi
    zk_sandbox kill "$server"
    zk_sandbox restart "$server"
  done
  wait_until "all is written" test -e written
  wait_until "the watch has told the last" eval '[[ $(tail -n 1 states | jq -r .value) == "$last" ]]'
  wait_until "the command saw the last" eval '[[ $(tail -n 1 ran) == *" $last" ]]'
  jq -r .value states >told
  forward told
  cut -d ' ' -f 1 ran >versions
  forward versions
  assert_equal "$(cat states.err ran.err)" ""
  kill -TERM "${watchers[@]}"
  expect_end 143 "${watchers[0]}"
  expect_end 143 "${watchers[1]}"
  note "$(wc -l <told) states told, $(wc -l <versions) runs"
}
