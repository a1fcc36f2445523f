#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock run prints of a loss and of a connection that goes and comes, and what a loss leaves. Uses a server
# of this file's own, which forgets a session.

load ../helpers

setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  address=${ZKLOCK_SERVERS%/*}
  chroot=/${ZKLOCK_SERVERS#*/}
}

teardown() {
  zk_sandbox continue 1
  zk_sandbox pid 1 >/dev/null 2>&1 || zk_sandbox restart 1
  end_all
}

# through_relay NAME ARG…: it runs, and its command lives.
through_relay() {
  start_relay "$address"
  enter "$1" -S "$(relayed_ports)$chroot" "${@:2}" /l
  wait_until "$1 runs" lives "$1"
}

# expect_loss REASON: a reports it in one line and prints nothing else; the reason is a pattern.
expect_loss() {
  expect_end 76 "${pid[a]}"
  assert_equal "$(wc -l <a.err)" 1
  assert_regex "$(<a.err)" "^zklock: lost /l: $1; the command was stopped\$"
  assert_equal "$(<a.out)" ""
}

@test "its node is deleted: said in one line" {
  enter a /l
  wait_until "a runs" lives a
  znode rm "/l/$(znode ls /l)"
  expect_loss "its node was deleted"
}

@test "the guard is killed: said in one line" {
  enter a /l
  wait_until "a runs" lives a
  kill -KILL "$(guard_of "${pid[a]}")"
  expect_loss "the guard was killed"
}

@test "no quorum confirmed the lock: said in one line, with how long" {
  through_relay a --session-timeout 2s
  kill -STOP "${pid[relay]}"
  expect_loss "no quorum confirmed the lock for [0-9.]+m?s"
}

@test "the session expired: said in one line" {
  # A server that was restored from nothing, and has since come further than the one before, knows no session.
  enter a --session-timeout 30s /l
  wait_until "a runs" lives a
  zk_sandbox pause 1
  zk_sandbox kill 1
  rm -rf "$ZKLOCK_SANDBOX/1/data/version-2"
  zk_sandbox restart 1
  local n
  for n in {1..200}; do
    is_gone "${pid[a]}" && break
    znode create "/n$n"
  done
  expect_loss "the session expired"
}

@test "-q keeps no loss secret" {
  enter a -q /l
  wait_until "a runs" lives a
  znode rm "/l/$(znode ls /l)"
  expect_loss "its node was deleted"
}

@test "-v says each disconnect, each reconnect, and how much of the lease was left" {
  start_relay -n 2 "$address"
  enter a -v --session-timeout 12s -S "$(relayed_ports)$chroot" /l
  wait_until "a runs" lives a
  kill -USR1 "${pid[relay]}"
  wait_for "reconnected" a.err
  let_go a
  expect_end 0 "${pid[a]}"
  local port lines
  port=$(awk '/request/ { print $3 }' relayed | tail -n 1)
  lines=$(grep -vE '^zklock: (client:|took) ' a.err)
  assert_equal "$(wc -l <<<"$lines")" 2
  assert_regex "${lines%$'\n'*}" '^zklock: the connection was lost; [0-9.]+m?s of the lease left$'
  assert_regex "${lines#*$'\n'}" "^zklock: reconnected to 127\.0\.0\.1:$port; [0-9.]+m?s of the lease left\$"
}

# traced EVENT: prints when it was, in ms.
traced() { jq "select(.event == \"$1\").at / 1000000 | floor" trace; }

@test "-v says a disconnect that ends in a loss, and that a reconnect gives the lease nothing by itself" {
  ZKLOCK_TRACE=$PWD/trace through_relay a -v --session-timeout 4s
  kill -STOP "${pid[relay]}"
  expect_end 76 "${pid[a]}"
  assert_order "the command's end, that nobody is waited for, a sixth of the session later" \
    "$(traced ended)" $(($(traced released) + 1)) $(($(traced ended) + 667))
  assert_equal "$(grep -c 'the connection was lost; .* of the lease left' a.err)" 1
  refute grep -q reconnected a.err
  assert_equal "$(grep -c '^zklock: lost /l: no quorum' a.err)" 1
}

@test "without -v a disconnect in time is not worth a word" {
  start_relay -n 2 "$address"
  enter a --session-timeout 6s -S "$(relayed_ports)$chroot" /l
  wait_until "a runs" lives a
  kill -USR1 "${pid[relay]}"
  wait_until "a has moved on" has_moved
  let_go a
  expect_end 0 "${pid[a]}"
  assert_equal "$(<a.err)" ""
}

has_moved() { (($(awk '/request/ { print $3 }' relayed | uniq | wc -l) == 2)); }

@test "the link falls silent as the command ends: its status, and the next one has the lock in time" {
  through_relay a --session-timeout 3s
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
  kill -STOP "${pid[relay]}"
  local began
  began=$(now_us)
  let_go a
  expect_end 0 "${pid[a]}"
  note "zklock ended after $((($(now_us) - began) / 1000)) ms"
  wait_until "b has begun" lives b
  assert_alone
  assert_order "silence, end of a, begin of b" "$began" "$(last_of a)" "$(first_of b)"
  note "the next holder began after $((($(first_of b) - began) / 1000)) ms of a session of 3000 ms"
  assert_equal "$(<a.err)" ""
  let_go b
  expect_end 0 "${pid[b]}"
}

@test "the link breaks and stays broken as the command ends: its status, and the next one has the lock in time" {
  through_relay a --session-timeout 3s
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
  kill -KILL "${pid[relay]}"
  let_go a
  expect_end 0 "${pid[a]}"
  assert_equal "$(<a.err)" ""
  wait_until "b has begun" lives b
  assert_alone
  let_go b
  expect_end 0 "${pid[b]}"
}

@test "the link falls silent as the command ends, and comes back: the lock is free when zklock has ended" {
  through_relay a --session-timeout 6s
  kill -STOP "${pid[relay]}"
  let_go a
  # shellcheck disable=SC2046
  wait_gone $(pids_of a)
  wait_until "the connection is cut, a sixth of the session later" is_past $(($(now_us) + 1500000))
  kill -CONT "${pid[relay]}"
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
  assert_equal "$(<a.err)" ""
}

@test "the link falls silent behind the answer to the release: the lock is free when zklock has ended" {
  start_relay -n 2 "$address"
  enter a --session-timeout 30s -S "$(relayed_ports)$chroot" /l
  wait_until "a runs" lives a
  kill -USR1 "${pid[relay]}"
  let_go a
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
}
