#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if the kernel is old, a filter denies system calls, or the command removes what zklock looks at. The
# command is ended all the same, with TERM first, or zklock refuses at the start.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# The command writes its id, and whether TERM has come. Its child has left its group, and lost its parent.
tree='trap "echo TERM >>told; exit 3" TERM; (setsid sh -c "trap \"echo CHILD >>told; exit\" TERM
  echo \$\$ >child; while :; do sleep 0.05; done" &); until [ -s child ]; do sleep 0.02; done
  echo $$ >parent; while :; do sleep 0.05; done'

# expect_ended CMD…: CMD runs `zklock run`. TERM to it reaches all of the tree, and then nothing of that lives.
expect_ended() {
  local zklock
  rm -f told child parent
  background "$@" run --grace 1s --session-timeout 10s /l -- sh -c "$tree"
  zklock=$!
  wait_until "the command runs" test -s parent
  kill -TERM "$zklock"
  expect_end 3 "$zklock"
  assert is_gone "$(<parent)"
  assert is_gone "$(<child)"
  assert grep -qx TERM told
  assert grep -qx CHILD told
}

@test "system calls that old kernels lack, or a filter denies: TERM comes all the same" {
  local error call
  for error in ENOSYS EPERM; do
    for call in pidfd_open pidfd_send_signal clone3 close_range; do
      echo "$error $call"
      expect_ended deny "$error" "$call" -- "$ZKLOCK_BIN"
    done
    expect_ended deny "$error" pidfd_open pidfd_send_signal clone3 close_range -- "$ZKLOCK_BIN"
  done
}

@test "where whoever loses its parent cannot become our child, nothing is started: 70" {
  local error
  for error in ENOSYS EPERM; do
    expect_error 70 "cannot become the parent of all that a command starts" \
      deny "$error" subreaper -- "$ZKLOCK_BIN" run /l -- touch ran
    expect_error 70 "cannot become the parent" deny "$error" subreaper -- "$ZKLOCK_BIN" group join /g -- touch ran
    expect_error 70 "cannot become the parent" deny "$error" subreaper -- "$ZKLOCK_BIN" queue pull /q -- touch ran
  done
  assert [ ! -e ran ]
}

@test "a nested zklock that can make no mark does not run under a lock that could go" {
  # shellcheck disable=SC2016
  expect_error 70 "cannot tell the zklock that runs us" zklock run /l -- deny ENOSYS memfd_create -- "$ZKLOCK_BIN" run /l -- touch ran
  assert [ ! -e ran ]
}

@test "a command that unmounts /proc, or mounts another one over it, is ended all the same" {
  local way
  unshare -m true 2>/dev/null || skip "it takes root, and mounts of our own"
  for way in "umount -l /proc" "mount -t tmpfs none /proc"; do
    cat >root.sh <<END
$way || exit 9
$tree
END
    rm -f told child parent
    background unshare -m --propagation private "$ZKLOCK_BIN" run --grace 1s --session-timeout 10s /l -- sh root.sh
    pid[zklock]=$!
    wait_until "the command runs" test -s parent
    kill -TERM "${pid[zklock]}"
    expect_end 3 "${pid[zklock]}"
    assert is_gone "$(<parent)"
    assert is_gone "$(<child)"
    assert grep -qx CHILD told
  done
}

@test "who signals all processes called zklock leaves the guard, which then ends the command" {
  local signal
  for signal in KILL STOP; do
    rm -f h.held h.go
    hold h --session-timeout 4s /l
    assert_equal "$(ps -o comm= --ppid "${pid[h]}")" zk-guard
    kill -s "$signal" "${pid[h]}"
    wait_until "the command is gone" is_gone "$(<h.held)"
    expect_status 0 zklock run -w 20s /l -- true
    kill -s KILL "${pid[h]}" 2>/dev/null || true
  done
}
