#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock queue costs the server. Uses one of this file's own, whose counters nothing else changes.

load ../helpers
load ../counters

setup_file() { counted_server; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=60s
  zklock queue push /q first
}

teardown() { end_all; }

# Makes a queue with one item.
new_queue() {
  zklock queue purge --yes /q
  zklock queue delete --yes /q
  zklock queue push /q first
}

# push_costs REQUESTS WRITES LINES: the least of three tries counts, because an answer that is late on a busy machine has
# a request sent behind it.
push_costs() {
  local cost='' try
  seq 1 "$3" >lines
  for try in 1 2 3; do
    new_queue
    cost=$(cost_of requests zklock queue push /q <lines)
    note "try $try: $cost requests"
    if [ "$cost" = "$1" ]; then break; fi
  done
  assert_equal "$cost" "$1"
  new_queue
  assert_equal "$(cost_of writes zklock queue push /q <lines)" "$2"
}

@test "a push costs the same for 1 line and for 500, and one request more for the next 500" {
  # The requests are: connect; sync, read the queue's mark, list the segments, look at the node above; the batch; close.
  # The three writes are the session's begin and end, and the batch.
  push_costs 7 3 1
  push_costs 7 3 500
  push_costs 8 4 501
}

@test "a first push makes the queue with its segment in one write, the items are another" {
  assert_equal "$(cost_of writes zklock queue push /new one)" 4
  assert_equal "$(znode ls /new/items)" 100-0000000000
}

@test "pushes of one item each seal the segment that they have filled, once" {
  seq 1 998 | zklock queue push /q
  assert_equal "$(znode ls /q/items | wc -l)" 1
  assert_equal "$(cost_of writes zklock queue push /q one)" 4
  assert_equal "$(znode ls /q/items | wc -l)" 2
  assert_equal "$(cost_of writes zklock queue push /q another)" 3
}

# pull_costs ARG…: checks the cost of a pull that takes one item.
pull_costs() {
  assert_equal "$(cost_of requests zklock queue pull "$@")" 12
  # Two of them are the session's begin and end.
  assert_equal "$(cost_of writes zklock queue pull "$@")" 4
}

@test "a pull of one item writes its claim and its removal, and no more; a command costs nothing" {
  seq 1 9 | zklock queue push /q
  pull_costs /q
  pull_costs /q -- true
}

@test "a list of the first ten items looks at ten, however many are in their segment" {
  seq 1 900 | zklock queue push /q
  local asked
  asked=$(cost_of requests zklock queue list -N 10 /q)
  note "$asked requests"
  assert [ "$asked" -ge 10 ]
  assert [ "$asked" -le 30 ]
  assert_equal "$(zklock queue list --json -N 10 /q | jq -r .begins | xargs)" "first 1 2 3 4 5 6 7 8 9"
}

@test "a pull of 500 items costs little more than a read each" {
  seq 1 1100 | zklock queue push /q
  local asked written
  asked=$(cost_of requests zklock queue pull -N 500 /q)
  written=$(cost_of writes zklock queue pull -N 500 /q)
  note "$asked requests, $written writes"
  assert [ "$asked" -ge 500 ]
  assert [ "$asked" -le 560 ]
  assert [ "$written" -le 30 ]
}
