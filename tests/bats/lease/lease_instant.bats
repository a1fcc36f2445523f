#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# zklock run: the command ends in the same instant in which the lock is lost. Its status or 76: exactly one outcome.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# one_outcome REASON: of the run that has just been: 7 and nothing said, or 76 and one line. What is found to be deleted
# when it is given back may have been so before the command had ended.
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

# race REASON LOSE: many times, a command does LOSE and counts for a while before it exits: longer the next time if it
# was quicker than the loss, shorter if not, so that most rounds are close to the instant. Both ends have to be seen.
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
