#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue at a terminal: the progress of push, the questions of purge and delete, signals in a push.

load ../helpers
load ../queue

setup() {
  setup_zk
  mkfifo keys lines
  exec 7<>keys 8<>lines # so that neither end waits for the other
}

teardown() {
  exec 7>&- 8>&-
  end_all
}

# on_terminal CMD…: runs CMD with `press` for its keys and the file screen; the file end has how it ended.
on_terminal() {
  need_terminal
  rm -f screen end
  background pty screen ended end "$@" <keys 7>&- 8>&-
}

press() { printf '%s' "$1" >&7; }

has_items() { (($(zklock queue count --json "$1" | jq .items) == $2)); }

@test "push that reads from the terminal says so" {
  on_terminal "$ZKLOCK_BIN" queue push /q
  wait_for "zklock: reading items, a line each; Ctrl-D ends" screen
  press $'one\ntwo\n\x04'
  wait_for "exit 0" end
  has_items /q 2
}

@test "push shows how many are in, and wipes the line" {
  # shellcheck disable=SC2016
  on_terminal sh -c 'exec "$ZKLOCK_BIN" queue push -v /q <lines'
  printf 'a\nb\n' >&8
  wait_for "zklock: 2 items are in /q, " screen
  press $'\x03'
  wait_for "signal INT" end
  assert_equal "$(tr '\r\033' '\n' <screen | grep . | tail -n 1)" "[Kzklock: interrupted: 2 items are in /q"
}

@test "push shows a percentage where the size of its input is known" {
  seq 400000 >input
  # shellcheck disable=SC2016
  on_terminal sh -c 'exec "$ZKLOCK_BIN" queue push /q <input'
  wait_until "there is a percentage" grep -qE 'items are in /q, [0-9]+/s, [0-9]+%' screen
  press $'\x03'
  wait_for "signal INT" end
}

@test "purge says how many and asks; y does it, anything else does not: 1" {
  zklock queue push /q one two
  on_terminal "$ZKLOCK_BIN" queue purge /q
  wait_for "zklock: delete 2 items of /q? [y/N]" screen
  press $'n\n'
  wait_for "exit 1" end
  has_items /q 2
  on_terminal "$ZKLOCK_BIN" queue purge /q
  wait_for "[y/N]" screen
  press $'y\n'
  wait_for "exit 0" end
  has_items /q 0
}

@test "delete asks; Ctrl-C at the question leaves the queue alone" {
  zklock queue push /q
  on_terminal "$ZKLOCK_BIN" queue delete /q
  wait_for "zklock: delete /q? [y/N]" screen
  press $'\x03'
  wait_for "signal INT" end
  assert_equal "$(znode get /q)" "zklock queue 1"
  on_terminal "$ZKLOCK_BIN" queue delete /q
  wait_for "[y/N]" screen
  press $'yes\n'
  wait_for "exit 0" end
  expect_status 1 znode get /q
}

@test "a second INT ends a push that waits for a server, and says what may be in" {
  start_relay "${ZKLOCK_SERVERS%%/*}"
  background zklock queue push -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /q <lines 2>err
  local pusher=$!
  printf 'a\n' >&8
  wait_until "it is in" has_items /q 1
  kill -STOP "${pid[relay]}"
  printf 'b\nc\n' >&8
  sleep 0.3
  kill -INT "$pusher"
  sleep 0.3
  refute is_gone "$pusher"
  kill -INT "$pusher"
  expect_end 130 "$pusher"
  assert_equal "$(<err)" "zklock: interrupted: 1 item is in /q, and items 2 to 3 may be"
  kill -CONT "${pid[relay]}"
}
