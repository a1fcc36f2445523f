#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push --wait while its session expires, answers are lost, or it is killed.

load ../helpers
load ../queue
load ../awaited

setup() { setup_zk; }

teardown() { end_all; }

# freeze NAME: stops it until its session is over.
freeze() {
  kill -STOP "${pid[$1]}"
  wait_until "its session is over" has_nodes /q/pushing 0
}

# No item is doubtful, so it has not warned.
assert_sure() { refute grep -F twice "$1.err"; }

@test "the session expires while it pushes: each item is in once, and it waits for all" {
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  push_wait a --session-timeout 1s /q <lines 4>&-
  exec 4>lines
  printf 'one\ntwo\n' >&4
  wait_until "two are in" eval '[[ $(listed /q) == $'\''one\ntwo'\'' ]]'
  freeze a
  do_one
  echo three >&4
  kill -CONT "${pid[a]}"
  wait_until "the third is in" eval '[[ $(listed /q) == $'\''two\nthree'\'' ]]'
  exec 4>&-
  do_all
  expect_said 0 a "/q: 3 of 3 items done"
  assert_sure a
  assert_clean
}

@test "the session expires while it waits, and items end meanwhile" {
  await a --session-timeout 1s /q one two three
  freeze a
  do_one
  bury_one
  kill -CONT "${pid[a]}"
  wait_until "it has another session" has_nodes /q/pushing 1
  freeze a
  zklock queue requeue /q
  do_all
  kill -CONT "${pid[a]}"
  expect_said 0 a "/q: 3 of 3 items done"
  assert_sure a
  assert_clean
}

@test "-w is one deadline, however often the session expires: 75" {
  local ends_at=$(($(now_us) + 4000000))
  await a --session-timeout 500ms -w 4s /q one
  until is_past $((ends_at - 1000000)); do
    freeze a
    kill -CONT "${pid[a]}"
    wait_until "it has another session" has_nodes /q/pushing 1
  done
  expect_said 75 a "not all is done after 4.0s; 1 of 1 item is left in /q"
  is_past $ends_at
  ! is_past $((ends_at + 4000000)) || fail "it began to wait again"
}

@test "killed while it waits: its items stay, and are acked as others" {
  await a --session-timeout 1s /q one two
  kill -KILL "${pid[a]}"
  wait_until "its session is over" has_nodes /q/pushing 0
  assert_equal "$(listed /q)" $'one\ntwo'
  bury_one
  do_one
  has_counted dead 1
  has_counted "done" 1
}

@test "the news that an item has ended is lost with the connection" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  await a --session-timeout 30s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /q one
  kill -USR2 "${pid[relay]}"
  do_one
  expect_said 0 a "/q: 1 of 1 item done"
  has_text lost relayed
  assert_clean
}

# lose WAY N: starts a push of three items. That answer (WAY a) or request (r) is lost with the connection, and then the
# network is silent.
lose() {
  local name=$1$2 port
  background relay "-$1" "$2" "${ZKLOCK_SERVERS%/*}" >"$name.relayed"
  pid[relay_$name]=$!
  wait_for port "$name.relayed" || return
  read -r _ port <"$name.relayed"
  push_wait "$name" -S "127.0.0.1:$port/${ZKLOCK_SERVERS#*/}" --session-timeout 1s /q "$name-"{1,2,3}
}

is_lost() { is_stopped "${pid[relay_$1]}"; }

is_lost_or_waits() { is_lost "$1" || has_text "zklock: pushed " "$1.err"; }

# If NAME has lost a message, freezes it, so that it does not connect again before its session is over.
freeze_if_lost() {
  wait_until "a message is lost, or it waits" is_lost_or_waits "$1" || return
  if ! is_lost "$1"; then return; fi
  kill -STOP "${pid[$1]}"
  frozen+=("${pid[$1]}")
  kill -CONT "${pid[relay_$1]}"
}

@test "any request or answer is lost, and the session expires: each item is in once, and all are waited for" {
  local name names=({a,r}{1..16}) frozen=()
  export ZKLOCK_CONNECT_TIMEOUT=60s
  for name in "${names[@]}"; do lose "${name:0:1}" "${name:1}"; done
  for name in "${names[@]}"; do freeze_if_lost "$name"; done
  note "${#frozen[@]} of ${#names[@]} have lost a message"
  ((${#frozen[@]} > 12)) || fail "too few messages were lost"
  wait_until "their sessions are over" is_past $(($(now_us) + 2500000))
  kill -CONT "${frozen[@]}"
  for name in "${names[@]}"; do
    wait_for "zklock: pushed 3 items" "$name.err"
    # It may lose a message while it waits.
    kill -CONT "${pid[relay_$name]}"
  done
  assert_equal "$(listed /q | sort)" "$(printf '%s\n' {a,r}{1..16}-{1,2,3} | sort)"
  do_all
  for name in "${names[@]}"; do
    kill -CONT "${pid[relay_$name]}"
    expect_said 0 "$name" "/q: 3 of 3 items done"
    assert_sure "$name"
  done
}
