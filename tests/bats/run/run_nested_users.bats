#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run as root inside zklock run of another user, through a setuid program such as sudo. The outer one may
# not look at the inner one's descriptors.

load ../helpers

setup() {
  setup_zk
  ((UID == 0)) || skip "only root can make a setuid program"
  place=$(mktemp -d)
  cp "$ZKLOCK_BIN" "$(command -v setpriv)" "$place"
  chmod 755 "$place"
  chmod 4755 "$place/setpriv"
  mkdir work && chmod 777 work
  mv work "$place" && cd "$place/work" || return
  [[ $(as_nobody "$place/setpriv" --reuid=0 id -u) == 0 ]] || skip "setuid programs do not work here"
  as_nobody test -d /proc/1 || skip "/proc hides the processes of other users here (hidepid)"
}

teardown() {
  end_all
  rm -rf "${place:?}"
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# left_behind LOCK: a command under /l leaves a zklock of root's with LOCK, and ends. It is in left until left.go.
left_behind() {
  background setpriv --reuid=65534 --regid=65534 --clear-groups "$place/zklock" run /l -c "echo \$\$ >it
    $place/setpriv --reuid=0 $place/zklock run $1 -- \
      sh -c 'echo \$\$ >left; until [ -e left.go ]; do sleep 0.02; done' & until [ -s left ]; do sleep 0.02; done"
  pid[a]=$!
  wait_until "it is there" test -s left
  wait_gone "$(<it)"
}

@test "a zklock of root's that was left behind under the same lock keeps it until it ends" {
  left_behind /l
  assert_equal "$(stat -c %u "/proc/$(<left)")" 0
  expect_error 75 "pid ${pid[a]}" zklock run -w 2500ms /l -- true
  refute is_gone "${pid[a]}"
  refute is_gone "$(<left)"
  touch left.go
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
}

@test "one under another lock does not keep it" {
  left_behind /other
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
  refute is_gone "$(<left)"
  touch left.go
  wait_gone "$(<left)"
}
