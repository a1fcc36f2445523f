#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock run costs the server. Uses one of this file's own, whose counters nothing else changes.

load ../helpers
load ../counters

setup_file() { counted_server; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  # With this, many waiters send little within a test.
  export ZKLOCK_SESSION_TIMEOUT=600s
}

teardown() { end_all; }

# watches PATH: prints the number of sessions that watch it.
watches() {
  word wchp | awk -v path="/${ZKLOCK_SERVERS#*/}$1" \
    '/^\// { on = $0 == path; next } on && NF { ++n } END { print n + 0 }'
}

# waiters N: starts so many in line for /l, behind those that are there.
waiters() {
  local n before
  before=$(count_nodes /l)
  for ((n = 0; n < $1; ++n)); do background zklock run /l -c 'echo turn >>turns; exec await_file go'; done
  wait_until "$1 waiters stand in line" has_nodes /l $((before + $1))
}

has_watches() { (($(count watch_count) == $1)); }

@test "one uncontended run is one create and one delete, and no other write" {
  expect_status 0 zklock run /l -- true # the parents
  # Two of them are the session's begin and end.
  assert_equal "$(cost_of writes zklock run /l -- true)" 4
}

@test "one uncontended run asks for create, list and delete, and watches its node" {
  expect_status 0 zklock run /l -- true
  # They are: connect, create, list, read with a watch, delete, close.
  assert_equal "$(cost_of requests zklock run /l -- true)" 6
}

@test "a service manager that is told who waits behind whom costs the server nothing" {
  hold h /l
  local before with=() socket
  for socket in '' /no/such/manager; do
    before=$(requests)
    NOTIFY_SOCKET=$socket expect_status 75 zklock run -w 2s /l -- true
    with+=($(($(requests) - before)))
  done
  assert_equal "${with[1]}" "${with[0]}"
  let_all_go h
}

@test "one uncontended run of two locks, and of slots, costs twice that" {
  expect_status 0 zklock run /a /b -- true
  expect_status 0 zklock run --slots 2 /s -- true
  # It checks the first before it asks for the second, and both before the start.
  assert_equal "$(cost_of requests zklock run /a /b -- true)" 12
  # The gate and a lease take a create, a list and a delete each. It looks for a lock and for other leases before it
  # makes its own, and for a lock again behind that.
  assert_equal "$(cost_of requests zklock run --slots 2 /s -- true)" 12
}

@test "--any costs what one lock costs where the first is free, and for each that it passes by its place more" {
  expect_status 0 zklock run /a /b /c -- true
  assert_equal "$(cost_of requests zklock run --any /a /b /c -- true)" 6
  hold h /a /b
  # Each lock needs a create, a list and a delete.
  assert_equal "$(cost_of requests zklock run --any /a /b /c -- true)" 12
  let_all_go h
}

@test "--any, all are busy: a release wakes the first alone, and that one the next when it leaves the other lines" {
  hold h1 --any /a /b /c
  hold h2 --any /a /b /c
  hold h3 --any /a /b /c
  begin w1 --any /a /b /c
  wait_until "w1 waits" has_watches 9
  begin w2 --any /a /b /c
  wait_until "w2 waits" has_watches 15
  local received
  received=$(requests)
  let_all_go h2
  wait_until "w1 holds it" test -s w1.held
  # w1 has its own watches and those on h1 and h3, which it no longer needs.
  wait_until "w2 has looked" has_watches 11
  # h2: delete, close. w1: a list or a check before it, two deletes. w2: in three lines the same, and three watches.
  assert [ "$(($(requests) - received))" -le 13 ]
  let_all_go h1 h3 w1 w2
}

@test "a lock that is new costs its nodes, once" {
  expect_status 0 zklock run /first -- true # the chroot
  local before
  before=$(writes)
  expect_status 0 zklock run /a/b/l -- true
  # These are /a, /a/b, /a/b/l and the usual four. A create that fails is a transaction too.
  assert [ "$(($(writes) - before))" -ge 7 ]
  assert [ "$(($(writes) - before))" -le 14 ]
}

@test "a busy -n leaves after one create and one delete" {
  hold h /l
  local before
  before=$(writes)
  expect_status 75 zklock run -n /l -- true
  assert_equal "$(($(writes) - before))" 4
  let_all_go h
}

@test "a waiter watches the node before its own, and its own" {
  hold h /l
  local holder
  holder=/l/$(znode ls /l)
  waiters 10
  wait_until "all watch" has_watches 21 # each its own, and each waiter the one before it
  assert_equal "$(watches "$holder")" 2
  assert_equal "$(word wchp | grep -c '^/.*-lock-')" 11
  touch go
  let_all_go h
}

@test "thirty waiters and one release: one of them wakes" {
  hold h /l
  waiters 30
  wait_until "all watch" has_watches 61
  local sent received
  sent=$(answers)
  received=$(requests)
  let_all_go h
  wait_until "the first has its turn" test -s turns
  wait_until "it watches its own node" has_watches 59
  # two events; answers to delete, close, list; a long answer to a word, which counts for more
  assert [ "$(($(answers) - sent))" -le 8 ]
  assert [ "$(($(requests) - received))" -le 3 ]
  assert_equal "$(wc -l <turns)" 1
}

@test "twenty changes of the node before it cost a waiter a few requests each" {
  hold h /l
  local n node received
  node=/l/$(znode ls /l)
  stand w /l
  received=$(requests)
  for n in {1..20}; do znode set "$node" "change $n"; done
  # Three of them are znode's own each; the waiter and the holder look again.
  assert [ "$(($(requests) - received))" -le $((20 * 10)) ]
  received=$(requests)
  expect_status 75 zklock run -w 1s /l -- true
  assert [ "$(($(requests) - received))" -le 9 ] # connect, create, list, two watches; list, read; delete, close
  let_all_go h w
}

@test "a wait at no terminal costs nothing while nothing happens" {
  hold h /l
  stand w /l
  wait_until "both watch" has_watches 3
  local received
  received=$(requests)
  expect_error 69 "127.0.0.1:1" zklock run -S 127.0.0.1:1 -w 2s /l -- true # two seconds go by
  assert_equal "$(requests)" "$received"
  let_all_go h w
}

# in_line COUNT: so many contend for /l: the holder and those that wait. This costs no request.
in_line() { has_watches $((2 * $1 - 1)); }

# cost_of_waiting WHAT FIRST: one zklock has the lock, and others come one by one. Prints WHAT each of these costs.
cost_of_waiting() {
  local n waiting=6 before
  before=$("$1")
  begin h /l
  wait_until "one holds the lock" in_line 1
  for ((n = 1; n <= waiting; ++n)); do
    background zklock run /l -- true
    pid[w$n]=$!
    wait_until "$n wait" in_line $((n + 1))
  done
  let_go h
  for n in "${!pid[@]}"; do expect_end 0 "${pid[$n]}" || return; done
  rm h.go
  awk -v all="$(($("$1") - before))" -v first="$2" -v n="$waiting" 'BEGIN { print (all - first) / n }'
}

@test "a section that has to be waited for is eight requests, four of them transactions" {
  expect_status 0 zklock run /l -- true # the parents
  # They are: connect, create, list; read the one before it, read its own node, list; delete, close. The first to wait
  # needs no second list.
  assert_equal "$(cost_of_waiting requests $((6 - 1)))" 8
  assert_equal "$(cost_of_waiting writes 4)" 4
}

# Prints how many watches have fired because a node or a list of children had changed.
events() { word mntr | awk '/^zk_sum_node_.*_watch_count/ { n += $2 } END { print n }'; }

# This neither costs a request nor sets a watch.
has_leases() { (($(word dump | grep -c "/${ZKLOCK_SERVERS#*/}/s/leases/") == $1)); }

# full_slots N: three hold all slots of /s, and N wait.
full_slots() {
  local n
  for n in 1 2 3; do hold "h$n" --slots 3 /s; done
  for ((n = 0; n < $1; ++n)); do
    background zklock run --slots 3 /s -c 'echo turn >>turns; exec await_file go'
  done
  wait_until "one waits in the gate, all others before it" has_nodes /s/locks "$1"
  # A holder watches its lease, the one in the gate the list of leases, any other its node and the one before it.
  wait_until "all watch" has_watches $((3 + 1 + 2 * ($1 - 1)))
}

# one_slot_freed N: checks what that costs while N wait.
one_slot_freed() {
  full_slots "$1"
  local fired received
  fired=$(events)
  received=$(requests)
  let_all_go h1
  wait_until "one has its turn" test -s turns
  wait_until "the next one has a lease" has_leases 4
  # It still watches its node at the gate.
  wait_until "it watches the leases" has_watches $((3 + 2 + 2 * ($1 - 2)))
  # They are: the one in the gate; the next one, when that leaves; the holder's own; what the new holder watched there.
  assert_equal "$(($(events) - fired))" 4
  # delete, close; check, list, leave the gate, read; list; a lease, list, look around, check, list
  assert [ "$(($(requests) - received))" -le 14 ]
  assert_equal "$(wc -l <turns)" 1
}

@test "a slot that is given back lets one in and one into the gate, while 5 wait" { one_slot_freed 5; }

@test "a slot that is given back costs the same while 15 wait" { one_slot_freed 15; }
