#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests the control group of the command of zklock run, if one can be had.

load ../helpers

setup() {
  setup_zk
  own=$(groups_at)$(group_of self)
  own=${own%/}
  need_groups
}

teardown() { end_all; }

group_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

# Prints the mount of control groups, version 2.
groups_at() {
  awk '{ for (i = 7; i < NF; ++i) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo
}

need_groups() {
  mkdir "$own/probe-$$" 2>/dev/null || skip "no control group may be made here"
  local kill=$own/probe-$$/cgroup.kill found=0
  [[ -e $kill ]] || found=1
  rmdir "$own/probe-$$"
  ((found == 0)) || skip "control groups cannot be killed here"
}

# start SCRIPT: runs it under /l, in the background; its control group is $group.
start() {
  background zklock run /l -- sh -c "sed -n 's/^0:://p' /proc/\$\$/cgroup >group; echo \$\$ >started; $1" 2>stderr
  pid[a]=$!
  wait_until "it has started" test -s started
  group=$(groups_at)$(<group)
  assert_regex "$group" "^$own/zklock-[^/]*\$"
  assert [ -d "$group" ]
}

group_is_gone() { [[ ! -e $group ]]; }

@test "the command has a group of its own below zklock's, which goes with it" {
  start 'until [ -e go ]; do sleep 0.02; done; exit 3'
  assert_equal "$(groups_at)$(group_of "${pid[a]}")" "$(groups_at)$(group_of self)"
  touch go
  expect_end 3 "${pid[a]}"
  assert group_is_gone
}

@test "what the command leaves behind goes on in zklock's group" {
  start 'until [ -e go ]; do sleep 0.02; done; sleep 600 & echo $! >left'
  touch go
  expect_end 0 "${pid[a]}"
  assert group_is_gone
  assert_equal "$(group_of "$(<left)")" "$(group_of self)"
}

@test "zklock, or its guard, is killed: the other one ends the command and removes the group" {
  local who
  for who in zklock guard; do
    start 'trap "" TERM; setsid sleep 600 & sleep 600'
    case $who in
      zklock) kill -KILL "${pid[a]}" ;;
      guard) kill -KILL "$(guard_of "${pid[a]}")" ;;
    esac
    wait_gone "$(<started)" "${pid[a]}"
    wait_until "the group is gone" group_is_gone
    rm started
  done
}

@test "the empty group of a guard that is no more is removed by the next zklock, that of a living one is not" {
  local dead ours
  dead=$(sh -c 'echo $$')
  ours=$(printf %x "$(stat -Lc %i /proc/self/ns/pid)")
  mkdir "$own/zklock-$dead-1-$ours" "$own/zklock-$dead-1-$ours/zklock-$dead-2-$ours" "$own/zklock-$$-1-$ours"
  expect_status 0 zklock run /l -- true
  assert [ ! -e "$own/zklock-$dead-1-$ours" ]
  rmdir "$own/zklock-$$-1-$ours"
}

@test "the group of one in another PID namespace, whom nobody here can see, is not removed" {
  local dead
  dead=$(sh -c 'echo $$')
  mkdir "$own/zklock-$dead-1-1"
  expect_status 0 zklock run /l -- true
  rmdir "$own/zklock-$dead-1-1"
}

@test "a zklock below has a group of its own there; left behind, it removes all" {
  # shellcheck disable=SC2016
  start '"$ZKLOCK_BIN" run /other -- sh -c "echo \$\$ >inner; until [ -e inner.go ]; do sleep 0.02; done" &
    until [ -s inner ]; do sleep 0.02; done'
  wait_until "the inner one runs" test -s inner
  assert_regex "$(groups_at)$(group_of "$(<inner)")" "^$group/zklock-[^/]*\$"
  expect_end 0 "${pid[a]}"
  refute is_gone "$(<inner)"
  touch inner.go
  wait_gone "$(<inner)"
  wait_until "the group is gone" group_is_gone
}

@test "each command of a consumer, and none is left" {
  printf '%s\n' 1 2 3 | zklock queue push /q
  # shellcheck disable=SC2016
  expect_status 0 zklock queue pull --all -j 2 /q -- sh -c 'sed -n "s/^0:://p" /proc/$$/cgroup; sleep 600 >/dev/null 2>&1 &'
  assert_equal "${#lines[@]}" 3
  local line
  for line in "${lines[@]}"; do
    group=$(groups_at)$line
    assert_regex "$group" "^$own/zklock-[^/]*\$"
    assert group_is_gone
  done
}
