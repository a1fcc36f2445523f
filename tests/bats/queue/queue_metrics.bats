#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue count --format prometheus: what is in the queue, in work and given up on, and how old it is.

load ../helpers
load ../metrics
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

in_work() { [[ $(zklock queue count --exact /q) == *"in_work $1" ]]; }
oldest() { sampled queue_oldest_item_timestamp_seconds; }

@test "items by priority, those in work, the dead, and when the oldest was pushed" {
  expect_status 0 zklock queue push /q first second
  expect_status 0 zklock queue push -p 7 /q urgent
  dead /q 100-0000000000 tttttttttttt-0000000009 text why
  exposes queue count /q
  assert_equal "$(sampled queue_items queue_items_in_work queue_dead_items)" \
    $'{queue="/q",priority="7"} 1\n{queue="/q",priority="100"} 2\n{queue="/q"} 1'
  local path
  path=/q/items/100-0000000000
  path+=/$(znode ls $path | sort -t- -k2 | head -1)
  assert_equal "$(oldest)" "{queue=\"/q\"} $(timestamp "$path" ctime)"
}

@test "--exact: in work" {
  expect_status 0 zklock queue push /q one two three
  background zklock queue pull -j 2 --all /q -- sh -c 'until [ -e go ]; do sleep 0.02; done'
  wait_until "two are in work" in_work 2
  exposes queue count --exact /q
  assert_equal "$(sampled queue_items queue_items_in_work)" $'{queue="/q",priority="100"} 3\n{queue="/q"} 2'
  touch go
  expect_end 0 $!
}

@test "one that is empty, or is not there, has zeros, and no oldest item" {
  exposes queue count --exact /none
  assert_equal "$(sampled queue_items queue_items_in_work queue_dead_items)" \
    $'{queue="/none",priority="100"} 0\n{queue="/none"} 0\n{queue="/none"} 0'
  assert_equal "$(oldest)" ""
  expect_status 0 zklock queue push -p 3 /q item
  expect_status 0 zklock queue pull /q
  exposes queue count /q
  assert_equal "$(sampled queue_items queue_dead_items)" $'{queue="/q",priority="3"} 0\n{queue="/q"} 0'
  assert_equal "$(oldest)" ""
}

@test "the oldest is found behind segments that are empty, and the sums are those of all" {
  seq 2500 | zklock queue push /q
  expect_status 0 zklock queue pull --count 1700 /q
  exposes queue count /q
  assert_equal "$(sampled queue_items)" '{queue="/q",priority="100"} 800'
  assert_equal "$(oldest)" "{queue=\"/q\"} $(zklock queue list -N 1 --json /q | jq -r .id |
    { read -r id && timestamp "/q/items/100-0000000001/$id" ctime; })"
  # One more segment is empty, and no consumer has found that out.
  expect_status 0 zklock queue pull --count 300 /q
  assert_equal "$(znode ls /q/items/100-0000000001)" ""
  exposes queue count /q
  assert_equal "$(oldest)" "{queue=\"/q\"} $(zklock queue list -N 1 --json /q | jq -r .id |
    { read -r id && timestamp "/q/items/100-0000000002/$id" ctime; })"
}

@test "names with quotes, backslashes and what is not ASCII" {
  expect_status 0 zklock queue push '/a"b\ü' item
  exposes queue count '/a"b\ü'
  assert_equal "$(sampled queue_items)" '{queue="/a\"b\\ü",priority="100"} 1'
}

@test "a path that is no queue is refused" {
  znode create /l text
  expect_error 65 "not as a queue" zklock queue count --format prometheus /l
}
