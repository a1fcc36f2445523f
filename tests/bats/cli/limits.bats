#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock under limits of its process: few descriptors (ulimit -n), files that may not grow (ulimit -f).

load ../helpers

setup() {
  setup_zk
  # limited LIMIT N CMD…: runs CMD under `ulimit LIMIT N`, with three more descriptors of the caller's.
  # shellcheck disable=SC2016
  printf '#!/bin/sh\n%s\n' 'exec 3</dev/null 4</dev/null 5</dev/null; ulimit "$1" "$2"; shift 2; exec "$@"' >limited
  chmod +x limited
}

teardown() { end_all; }

# Begins `zklock ARG…` with the fewest descriptors with which it works; its command has made the file started. There are
# no control groups, so all depends on what zklock finds in /proc.
begin_with_fewest() {
  local n hidden=()
  # shellcheck disable=SC2016
  if unshare --mount true 2>/dev/null; then
    hidden=(unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"' sh)
  fi
  for n in {7..24}; do
    background "${hidden[@]}" ./limited -n "$n" "$ZKLOCK_BIN" "$@" 2>stderr
    wait_until "it works or ends" is_decided $! || return
    [[ ! -e started ]] || return 0
    assert_regex "$(<stderr)" "Too many open files"
  done
  fail "24 descriptors are not enough"
}

is_decided() { [[ -e started ]] || is_gone "$1"; }

# This command ignores TERM, as does a descendant in a session of its own; their ids are in pids.
# shellcheck disable=SC2016
stubborn='trap "" TERM; setsid sh -c "echo \$\$ >>pids; while :; do sleep 0.05; done" & echo $$ >>pids
  until [ "$(grep -c . pids)" = 2 ]; do sleep 0.02; done; touch started; while :; do sleep 0.05; done'

assert_pids_go() {
  local one
  while read -r one; do wait_gone "$one"; done <pids
}

@test "a small stack: it works, or ends with 70 and one line before anything is made" {
  expect_error 70 "see ulimit -s" ./limited -s 32 "$ZKLOCK_BIN" run /l -- true
  assert_untouched
  expect_status 0 ./limited -s 64 "$ZKLOCK_BIN" run /l -- true
}

@test "few descriptors: it works, or ends with 70 and one line before anything is made" {
  local n said
  zklock queue push /q item
  for n in {7..20}; do
    for said in "run /l -- true" "queue pull -j 2 --max-attempts 99 /q -- false" "group join /g -- true"; do
      # shellcheck disable=SC2086
      run --separate-stderr ./limited -n "$n" "$ZKLOCK_BIN" $said
      case $status in
        0 | 1) assert_equal "$n, $said: $stderr" "$n, $said: " ;;
        *) assert_regex "$n, $said: $status $stderr" ": 70 zklock: cannot [a-z ]*: Too many open files, see ulimit -n$" ;;
      esac
      znode ls /l >nodes 2>&1 || true
      refute grep -F lock- nodes
    done
  done
  assert none_marked
  assert_equal "$status" 0 # so the last ones did work
}

@test "zklock is killed, and its guard has not one descriptor more than it needs: the command ends with all descendants" {
  begin_with_fewest run /l -- sh -c "$stubborn"
  kill -KILL $!
  assert_pids_go
}

@test "the same for a guard that has all the descriptors of the caller's for the next command" {
  zklock queue push /q item
  begin_with_fewest queue pull /q -- sh -c "$stubborn"
  kill -KILL $!
  assert_pids_go
}

@test "the guard is killed, and zklock has no descriptor left: 76, and the command ends with all descendants" {
  begin_with_fewest run /l -- sh -c "$stubborn"
  kill -KILL "$(guard_of $!)"
  expect_end 76 $!
  assert_pids_go
}

@test "files that may not grow: items come in and go out, and commands have the limit" {
  head -c 200000 /dev/zero | tr '\0' x >large
  expect_status 0 zklock queue push --whole /q <large
  expect_status 0 ./limited -f 0 "$ZKLOCK_BIN" queue push /q two three four
  expect_status 0 ./limited -f 0 "$ZKLOCK_BIN" queue pull /q -- wc -c
  assert_equal "$output" 200000
  expect_status 0 ./limited -f 0 "$ZKLOCK_BIN" queue pull -I {} /q -- echo "item {}"
  assert_equal "$output" "item two"
  # shellcheck disable=SC2016
  expect_status 0 ./limited -f 0 "$ZKLOCK_BIN" queue pull /q -- sh -c 'cat; echo; ulimit -f'
  assert_equal "$output" $'three\n0'
  expect_status 0 ./limited -f 0 "$ZKLOCK_BIN" queue pull /q
  assert_equal "$output" four
  # SIGXFSZ ends it, as without zklock.
  expect_status 153 ./limited -f 0 "$ZKLOCK_BIN" run /l -- sh -c 'echo text >file'
}

@test "a file that may not grow as standard output or error: 74, and the status is what it was" {
  zklock queue push /q item
  head -c 100000 /dev/zero >file
  # shellcheck disable=SC2016
  expect_error 74 "cannot write to standard output: File too large" \
    ./limited -f 8 sh -c '"$ZKLOCK_BIN" queue pull /q >>file'
  assert_equal "$(zklock queue list --json /q | jq -r .begins)" item
  # shellcheck disable=SC2016
  expect_status 64 ./limited -f 0 sh -c '"$ZKLOCK_BIN" run l -- true 2>>file'
}
