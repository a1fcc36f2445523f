#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that a zklock that stands still between reading the clock and sending does not make up for its silence.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

@test "a pause in the middle of a beat ends the connection, before an answer on it is believed" {
  hold holder /l
  ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 ZKLOCK_TRACE=$PWD/trace TEST_PAUSE=$PWD/pause \
    LD_PRELOAD=${PATH%%:*}/preload_pause.so stand waiter /l --session-timeout 6s /l
  # Its beats are 0.75 s apart, and it notices any silence of more than 1 s.
  echo 1500 >pause
  wait_until "it has paused" is_missing pause
  wait_until "it has given up the connection" grep -q disconnected trace
  wait_until "it has another one" has_heard_twice
  let_all_go holder waiter
}

has_heard_twice() { (($(grep -c '"heard"' trace) == 2)); }

is_missing() { [[ ! -e $1 ]]; }
