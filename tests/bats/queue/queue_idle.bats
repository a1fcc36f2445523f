#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests consumers that stand in line while servers go away. Uses a server of this file's own, which it kills.
#
# shellcheck disable=SC2034

load ../helpers
load ../queue_nodes
load ../counters

# The servers close the connection after a packet of 100 kB.
setup_file() { counted_server --set maxSessionTimeout=60000 --java-property jute.maxbuffer=100000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_CONNECT_TIMEOUT=60s
}

teardown() { end_all; }

# work ARG…: pulls from /q in the background. Each command writes its item to `begun`, and ends when a file is named so.
work() {
  # shellcheck disable=SC2016
  background zklock queue pull "$@" /q -- sh -c 'read -r item; echo "$item" >>begun; until [ -e "$item" ]; do sleep 0.02; done' 2>err
  pid[work]=$!
}

@test "a place in line whose delete the servers never got is left when they are back: nobody sleeps behind it" {
  queue_of one
  work --follow -j 2 --session-timeout 12s
  wait_for one begun
  wait_until "the second job waits" has_nodes /q/waiting 1
  zk_sandbox kill 1
  touch one
  # The delete was given a third of the session timeout.
  wait_until "the place is given up" is_past $(($(now_us) + 5000000))
  zk_sandbox restart 1
  wait_until "what was done is removed" has_nodes "$segment" 0
  put "$segment" 1 two
  wait_for two begun
  wait_until "the other job waits, once" has_nodes /q/waiting 1
}

# wait_behind_a_ghost DUR: two consumers wait, one behind the other. The first is killed while the server is away.
wait_behind_a_ghost() {
  local ghost
  queue_of
  background zklock queue pull -w 60s --session-timeout 60s /q
  ghost=$!
  wait_until "the first waits" has_nodes /q/waiting 1
  background zklock queue pull -w "$1" --session-timeout 6s /q >out 2>err
  pid[behind]=$!
  wait_until "the other one stands behind it" has_nodes /q/waiting 2
  zk_sandbox kill 1
  kill_both "$ghost"
  wait_gone "$ghost"
  zk_sandbox restart 1
}

@test "nobody sleeps for long behind the place of a process that ended while the servers were away" {
  wait_behind_a_ghost 60s
  zklock queue push /q new
  expect_end 0 "${pid[behind]}"
  assert_equal "$(<out)" new
  has_nodes /q/waiting 1
}

@test "-w counts from the last item, however often the place in line is taken anew" {
  wait_behind_a_ghost 12s
  expect_end 75 "${pid[behind]}"
  wait_for "no items" err
}

# claimed QUEUE N: it has N hundred items, and all are in work. Larger batches would not fit.
claimed() {
  for ((n = 0; n < $2; n++)); do seq 100 | zklock queue push "$1"; done
  background znode claim "$1" >claimed
  pid[claimed]=$!
  wait_for "${2}00" claimed
}

long_path() { printf '/%080d' 1 2; }

# wait_idly QUEUE: starts a consumer that finds nothing there, and has set all its watches.
wait_idly() {
  background zklock queue pull -w 60s --session-timeout 60s "$1" >out 2>err
  pid[idle]=$!
  wait_until "it waits" has_nodes "$1/waiting" 1
  wait_until "it sleeps" sleeps
}

@test "an idle consumer is awake again after an outage, however much is in work" {
  local queue
  queue=$(long_path)
  claimed "$queue" 11
  wait_idly "$queue"
  zk_sandbox kill 1
  zk_sandbox restart 1
  zklock queue push "$queue" new
  expect_end 0 "${pid[idle]}"
  assert_equal "$(<out)" new
}

watches() { zk_sandbox word 1 mntr | awk '$1 == "zk_watch_count" { print $2 }'; }

# It has set all its watches.
sleeps() {
  local before
  before=$(watches)
  sleep 0.3
  ((before > 100 && before == $(watches)))
}

@test "an idle consumer finds an item that is given back, though there is no watch on it" {
  local queue item
  queue=$(long_path)
  claimed "$queue" 11
  wait_idly "$queue"
  (($(watches) < 1000))
  item=$queue/items/100-0000000001
  item+=/$(znode ls "$item" | tail -1)
  znode rm "$item/claim"
  expect_end 0 "${pid[idle]}"
  expect_status 1 znode get "$item"
}

@test "a new item costs an idle consumer as much as if nothing were in work" {
  local before cost
  claimed /q 4
  wait_idly /q
  before=$(requests)
  zklock queue push /q new
  expect_end 0 "${pid[idle]}"
  cost=$(($(requests) - before))
  note "requests, the push among them: $cost"
  ((cost < 60)) || fail "$cost requests"
}
