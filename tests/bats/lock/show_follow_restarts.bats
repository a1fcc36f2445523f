#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock show --follow on an ensemble of this file's own, whose servers fail.

load ../helpers

setup_file() { ensemble --tick 500; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

# Selects each report of a holder: one that holds when the following begins is reported as holding.
has_it='select(.event == "acquired" or .event == "holding")'

# Makes one run after the other, until the file enough is there. Each holds the lock until that was reported, so none is
# too short to be reported, however busy the machine is.
contend() {
  # shellcheck disable=SC2016
  until [[ -e enough ]]; do
    zklock run --session-timeout 10s /l -- sh -c 'echo "$ZKLOCK_NODE" >>held
      until grep -Eq "\"event\":\"(acquired|holding)\".*\"node\":\"$ZKLOCK_NODE\"" told; do sleep 0.01; done'
  done
  echo >>over
}

# had_it N: so many have had the lock.
had_it() { (($(wc -l <held) >= $1)); }

@test "200 hand-overs and three restarts of servers: each is told once, in its order" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  local server
  touch held over
  background zklock show --follow --json --session-timeout 10s /l >told 2>told.err
  local follower=$!
  for _ in 1 2 3 4 5; do
    background bash -c "$(declare -f zklock contend); contend" 2>>contend.err
  done
  for server in 1 2 3; do
    wait_until "hand-overs go on" had_it $(($(wc -l <held) + 30))
    # The last one is the leader.
    if ((server == 3)); then server=$(zk_sandbox leader); fi
    zk_sandbox kill "$server"
    zk_sandbox restart "$server"
  done
  wait_until "hand-overs go on" had_it $(($(wc -l <held) + 30))
  wait_until "there were 200" had_it 200
  touch enough
  wait_until "all had it" eval '(($(wc -l <over) == 5))'
  wait_until "the last end was told" eval '(($(grep -c released told) == $(wc -l <held)))'
  assert_equal "$(jq -r "$has_it.node" told)" "$(<held)"
  # They hold one after the other: each is released before the next.
  assert_equal "$(jq -r 'select(.event == "released").node' told)" "$(<held)"
  assert_equal "$(jq -r "$has_it, select(.event == \"released\") | .event" told | sed s/holding/acquired/ | uniq -c | awk '$1 > 1')" ""
  assert_equal "$(jq -r 'select(.event == "left").node' told)" ""
  # No waiter is reported twice.
  assert_equal "$(jq -r 'select(.event == "waiting").node' told | sort | uniq -d)" ""
  assert_equal "$(<told.err)" ""
  kill -TERM "$follower"
  expect_end 143 "$follower"
  note "$(wc -l <held) hand-overs"
}

# crowd: makes one run after the other; each ends at once.
crowd() {
  # shellcheck disable=SC2016
  until [[ -e enough ]]; do zklock run --slots 2 /s -- sh -c 'echo "$ZKLOCK_NODE" >>held'; done
  echo >>over
}

@test "slots that change hands faster than a look: never more holders than slots, and nobody who leaves gets one" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  local most
  touch held over
  background zklock show --follow --json /s >told
  for _ in 1 2 3 4 5 6; do background bash -c "$(declare -f zklock crowd); crowd"; done
  wait_until "there were 300" had_it 300
  touch enough
  wait_until "all had it" eval '(($(wc -l <over) == 6))'
  begin last --slots 2 /s
  wait_until "the last one was told" grep -q "acquired.*\"pid\":${pid[last]}," told
  let_all_go last
  wait_until "its end was told" grep -q "released.*\"pid\":${pid[last]}," told
  most=$(jq -r .event told | awk '/acquired|holding/ && ++n > most { most = n } /released/ { --n } END { print most + 0, n + 0 }')
  assert_equal "$most" "2 0"
  assert_equal "$(comm -12 <(jq -r 'select(.event == "left").session' told | sort -u) <(jq -r "$has_it.session" told | sort -u))" ""
  # Without a slot, none is reported as a holder.
  assert_equal "$(comm -23 <(jq -r "$has_it.node" told | sort) <(cat held <(
    jq -r "select(.pid == ${pid[last]}).node" told) | sort))" ""
}
