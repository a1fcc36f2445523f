#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run while servers of this file's own ensemble are killed and started again: the command never notices.

load ../helpers

setup_file() { ensemble --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=20s
  leader=$(zk_sandbox leader)
  mapfile -t followers < <(printf '%s\n' 1 2 3 | grep -vx "$leader")
}

teardown() {
  local n
  for n in 1 2 3; do zk_sandbox pid "$n" >/dev/null 2>&1 || zk_sandbox restart "$n"; done
  end_all
}

# hold_on N: runs a command whose zklock is connected to server N first, and knows the others too.
hold_on() {
  begin_on "$1" a
  wait_until "a runs" test -s a.pids
  node=$(znode ls /l)
}

# Tries again until the right server is picked, because the pick is random.
begin_on() {
  local try
  for try in {1..40}; do
    rm -f "$2.pids"
    background zklock run -v /l -- sh -c 'echo $$ >'"$2"'.pids; trap "echo TERM >>'"$2"'.pids" TERM
      until [ -e '"$2"'.go ]; do sleep 0.02; done; echo $$ >>'"$2"'.pids; exit 5' 2>"$2.err"
    pid[$2]=$!
    wait_until "it runs, try $try" test -s "$2.pids"
    if is_connected_to "$1"; then return; fi
    touch "$2.go"
    expect_end 5 "${pid[$2]}"
    rm "$2.go"
  done
  fail "never connected to server $1"
}

# is_connected_to N: server N reports the session that holds the lock.
is_connected_to() {
  local session
  session=$(znode stat "/l/$(znode ls /l)" | sed -n 's/^ephemeralOwner=//p')
  zk_sandbox word "$1" cons | grep -qF "$(printf 'sid=0x%x,' "$session")"
}

# The command keeps its node, its process and its status, and gets no TERM.
never_noticed() {
  wait_until "the lock is held" is_held
  wait_until "it is the same node" is_same # a server may still be away
  touch a.go
  expect_end 5 "${pid[a]}"
  assert_equal "$(sort -u a.pids | wc -l) $(wc -l <a.pids)" "1 2"
  refute grep -q "zklock: lost" a.err
  expect_status 0 zklock run -n /l -- true
}

is_same() { [[ $(znode ls /l) == "$node" ]]; }

is_held() { expect_status 75 zklock run -q -w 500ms /l -- true; }

@test "the leader is killed, zklock connected to it: the command never notices" {
  hold_on "$leader"
  zk_sandbox kill "$leader"
  wait_for "reconnected to" a.err
  never_noticed
}

@test "the leader is killed, zklock on a follower: the command never notices" {
  hold_on "${followers[0]}"
  zk_sandbox kill "$leader"
  never_noticed
}

@test "another follower is killed: the command never notices, nor does zklock" {
  hold_on "${followers[0]}"
  zk_sandbox kill "${followers[1]}"
  never_noticed
  refute grep -q "connection was lost" a.err
}

@test "all three servers restarted one after the other: the command never notices" {
  hold_on "$leader"
  local n
  for n in "$leader" "${followers[@]}"; do
    zk_sandbox kill "$n"
    zk_sandbox restart "$n"
    wait_until "the lock is held" is_held
  done
  wait_for "reconnected to" a.err
  never_noticed
}
