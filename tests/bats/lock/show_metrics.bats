#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock show --format prometheus: it has holders, waiters, since when, and the last success.

load ../helpers
load ../metrics

setup() { setup_zk; }

teardown() { end_all; }

@test "a lock that is held and waited for: how many, and since when by the servers' clock" {
  hold h /l
  stand v /l
  stand w /l
  exposes show /l
  assert_equal "$(sampled lock_held lock_holders lock_waiters)" $'{lock="/l"} 1\n{lock="/l"} 1\n{lock="/l"} 2'
  local first second
  { read -r first && read -r second; } < <(znode ls /l | sort -t- -k6)
  assert_equal "$(sampled lock_first_holder_timestamp_seconds)" "{lock=\"/l\"} $(timestamp "/l/$first" ctime)"
  assert_equal "$(sampled lock_first_waiter_timestamp_seconds)" "{lock=\"/l\"} $(timestamp "/l/$second" ctime)"
  assert_equal "$(sampled lock_last_success_timestamp_seconds)" ""
  let_all_go h v w
}

@test "one that is free, or not there, has zeros, and no moments" {
  expect_status 0 zklock run /free -- true
  exposes show /free /none /none
  assert_equal "$(sampled lock_held lock_holders lock_waiters)" \
    "$(printf '{lock="/free"} 0\n{lock="/none"} 0\n%.0s' {1..3})"
  refute_output --partial timestamp
}

@test "slots: who waits at the gate has come there, not when it got a node for the slot" {
  hold a --slots 2 /s
  hold b --slots 2 /s
  begin c --slots 2 /s
  wait_until "c has a node for a slot" has_nodes /s/leases 3
  exposes show /s
  assert_equal "$(sampled lock_held lock_holders lock_waiters)" $'{lock="/s"} 1\n{lock="/s"} 2\n{lock="/s"} 1'
  assert_equal "$(sampled lock_first_waiter_timestamp_seconds)" \
    "{lock=\"/s\"} $(timestamp "/s/locks/$(znode ls /s/locks)" ctime)"
  let_all_go a b c
}

@test "names with quotes, backslashes and what is not ASCII are labels that promtool reads" {
  local path='/a"b\c ü{x="y"} #'
  hold h "$path"
  exposes show -r /
  assert_equal "$(sampled lock_held)" '{lock="/a\"b\\c ü{x=\"y\"} #"} 1'
  let_all_go h
}

@test "-r has the last success of locks that are free, too; also in the table and as JSON" {
  expect_status 0 zklock run --once-per 1h /jobs/nightly -- true
  expect_status 0 zklock run --once-per 1h /jobs/hourly -- true
  znode rm /jobs/hourly
  exposes show -r /
  assert_equal "$(sampled lock_held)" $'{lock="/jobs/hourly"} 0\n{lock="/jobs/nightly"} 0'
  assert_equal "$(sampled lock_last_success_timestamp_seconds)" \
    "{lock=\"/jobs/hourly\"} $(timestamp /jobs/hourly.last mtime)
{lock=\"/jobs/nightly\"} $(timestamp /jobs/nightly.last mtime)"
  expect_status 0 zklock show -r /jobs/nightly
  assert_equal "$(column LOCK)/$(column STATE)" /jobs/nightly/free
  assert_equal "$(zklock show -r --json /jobs | jq -r '.path + " " + .state')" $'/jobs/hourly free\n/jobs/nightly free'
  hold h /jobs/nightly
  exposes show -r /jobs
  assert_equal "$(sampled lock_held)" $'{lock="/jobs/hourly"} 0\n{lock="/jobs/nightly"} 1'
  assert_equal "$(sampled lock_last_success_timestamp_seconds | wc -l)" 2
  let_all_go h
}

@test "-r: a value that is called like a last success makes no lock, nor does one next to a queue or a group" {
  znode create /app/config text
  znode create /app/config.last '{"since":"yesterday"}'
  znode create /app/other.last text
  znode create /.last '{"host":"h"}'
  expect_status 0 zklock queue push /q item
  znode create /q.last '{"host":"h"}'
  expect_status 0 zklock group create /g
  znode create /g.last '{"host":"h"}'
  exposes show -r /
  assert_equal "$output" ""
}

@test "a session that ends while it looks is no lack of locks: no server, no text" {
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms expect_error 69 127.0.0.1:1 \
    zklock show -r --format prometheus /
  assert_equal "$output" ""
}

@test "-q prints nothing in this format, too, and --follow does not have it" {
  expect_status 1 zklock show -q --format prometheus /l
  assert_equal "$output$stderr" ""
  expect_error 64 "write text or json" zklock show --follow --format prometheus /l
}
