#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests a command that ends in the instant in which the lock is lost: the status is its own or 76, never both.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# one_outcome REASON: the last run ended with 7 and printed nothing, or with 76 and one line. A node that is found
# deleted at the release may have been deleted before the command ended.
one_outcome() {
  case $status in
    7) assert_equal "$stderr" "" && own=$((own + 1)) ;;
    76)
      assert_regex "$stderr" "^zklock: lost /l: ($1; the command was stopped|its node was deleted, maybe before the command had ended)\$"
      lost=$((lost + 1))
      ;;
    *) fail "neither the command's status nor 76: $status $stderr" ;;
  esac
}

# race REASON LOSE: many times, a command does LOSE and counts for a while before it exits. If it was quicker than the
# loss, it counts longer the next time, or else shorter. So most rounds are close to the instant. Both ends must occur.
race() {
  local own=0 lost=0 count=0
  for _ in {1..60}; do
    run --separate-stderr zklock run /l -- \
      bash -c "{ $2; } 2>/dev/null & until ((n++ > $count)); do :; done; exit 7"
    one_outcome "$1"
    assert_no_nodes /l
    count=$((status == 7 ? count + 600 : count / 2))
  done
  note "$own times the command's status, $lost times 76"
  assert [ "$own" -gt 0 ]
  assert [ "$lost" -gt 0 ]
}

@test "its node is deleted while the command exits: its status or 76, exactly one of them" {
  race "its node was deleted" 'znode rm /l/${ZKLOCK_NODE##*/}'
}

@test "the guard is killed while the command exits: its status or 76, exactly one of them" {
  race "the guard was killed" 'kill -KILL $PPID'
}

@test "zklock is frozen while the command exits by itself, and wakes up without its session: the command's status" {
  background zklock run --session-timeout 1s /l -- sh -c 'echo $$ >pids; until [ -e go ]; do :; done; exit 7' 2>stderr
  wait_until "it runs" test -s pids
  kill -STOP $!
  touch go
  wait_gone "$(<pids)"
  wait_until "its session is over" has_nodes /l 0
  kill -CONT $!
  local status=0
  wait $! || status=$?
  stderr=$(<stderr) own=0 lost=0
  one_outcome "no quorum confirmed the lock for 1[.]0s"
}
