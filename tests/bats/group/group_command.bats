#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock group join -- COMMAND: signals, tree and surroundings are as under zklock run.

load ../helpers
load ../group

setup() { setup_zk; }

teardown() { end_all; }

# catch END: runs print_signals as a member; its lines are in a.out.
catch() {
  member a /g -- print_signals "$@"
  wait_for ready a.out
}

got() { tail -n +2 a.out | xargs; }

@test "a signal sent to zklock alone reaches the command once" {
  catch TERM
  local name
  for name in INT HUP QUIT USR1 USR2 WINCH CONT TSTP; do
    kill -s "$name" "${pid[a]}"
    wait_for "$name" a.out
  done
  kill -TERM "${pid[a]}"
  expect_end 0 "${pid[a]}"
  assert_equal "$(got)" "INT HUP QUIT USR1 USR2 WINCH CONT TSTP TERM"
  assert_no_nodes /g
}

@test "a command that dies of TERM has zklock die of TERM, one that dies of another signal gives 128 + N" {
  member a /g -- sh -c 'echo on; exec sleep 60'
  wait_for on a.out
  kill -TERM "${pid[a]}"
  expect_end 143 "${pid[a]}"
  expect_status 137 zklock group join /g -- sh -c 'kill -KILL $$'
  assert_no_nodes /g
}

@test "after a signal what the command left behind is ended too, before the member leaves" {
  member a /g --session-timeout 2s -- sh -c 'sh -c "trap \"\" TERM; echo \$\$; while :; do sleep 0.05; done" & wait'
  wait_until "it runs" test -s a.out
  kill -TERM "${pid[a]}"
  expect_end 143 "${pid[a]}"
  assert is_gone "$(<a.out)"
}

@test "after an ordinary end what the command left behind runs on" {
  member a /g -- sh -c 'until [ -e go ]; do sleep 0.02; done & echo $!'
  expect_end 0 "${pid[a]}"
  refute is_gone "$(<a.out)"
  touch go
  wait_gone "$(<a.out)"
}

@test "zklock killed: its command's tree goes at once" {
  member a /g -- sh -c 'setsid sh -c "echo \$\$; sleep 60" & wait'
  wait_until "it runs" test -s a.out
  kill -KILL "${pid[a]}"
  wait_gone "$(<a.out)"
}

@test "the guard killed: the command is dead, 76, and the member leaves" {
  member a /g -- sh -c 'echo $$; exec sleep 60'
  wait_until "it runs" test -s a.out
  kill -KILL "$(guard_of "${pid[a]}")"
  expect_end 76 "${pid[a]}"
  wait_for "lost /g: the guard was killed; the command was stopped" a.err
  assert is_gone "$(<a.out)"
  assert_no_nodes /g
}

@test "standard input and the environment are the command's" {
  expect_status 0 env COLOUR=blue "$ZKLOCK_BIN" group join /g -- sh -c 'cat; echo $COLOUR' <<<in
  assert_equal "$output" $'in\nblue'
}

@test "a command that cannot be executed: 126, and nobody stays in" {
  echo '#!/no/such/interpreter' >broken
  chmod +x broken
  expect_error 127 "interpreter was not found" zklock group join /g -- ./broken
  assert_no_nodes /g
}

@test "under a lock, in a group, under the same lock: it is held already" {
  expect_status 0 zklock run /l -- "$ZKLOCK_BIN" group join /g -- "$ZKLOCK_BIN" run -n /l -- echo in
  assert_equal "$output" in
}
