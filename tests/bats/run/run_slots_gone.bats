#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --slots: contenders that go away leave nothing behind, wherever they stand.

load ../helpers
load ../history

setup() { setup_zk; }

teardown() { end_all; }

# the_next_comes_in NAME…: these hold the slots; when they leave, another one is let in.
the_next_comes_in() {
  begin next /l --slots 2
  let_all_go "$@"
  wait_until "the next one is in" test -s next.held
  let_all_go next
  assert_slots 0 0
}

@test "TERM, INT or -w in the gate, with a lease made: it is gone, and so is the place at the gate" {
  local end
  hold a --slots 2 /l
  hold b --slots 2 /l
  for end in TERM INT HUP; do
    wait_in_gate "w$end" --slots 2
    kill -s "$end" "${pid[w$end]}"
    wait_gone "${pid[w$end]}"
    assert_slots 2 0
    assert [ ! -e "w$end.held" ]
  done
  expect_error 75 "cannot take /l: its 2 slots are taken" zklock run -w 2s --slots 2 /l -- touch ran
  assert_slots 2 0
  assert [ ! -e ran ]
  the_next_comes_in a b
}

@test "killed in the gate, with a lease made: both go with its session, and the next one comes in" {
  hold a --slots 2 /l
  hold b --slots 2 /l
  wait_in_gate w --slots 2 --session-timeout 500ms
  kill -KILL "${pid[w]}"
  begin next --slots 2 /l
  wait_until "the next one waits in the gate" slots_are 3 1
  let_all_go b
  wait_until "the next one is in" test -s next.held
  let_all_go a next
  assert [ ! -e w.held ]
  assert_slots 0 0
}

@test "killed while it holds a slot: it is free when the session ends" {
  hold a --slots 1 /l --session-timeout 500ms
  wait_in_gate b --slots 1
  kill -KILL "${pid[a]}"
  wait_until "the next one is in" test -s b.held
  assert_slots 1 0
  let_all_go b
}

@test "TERM at any moment of its way in: no lease is left, and no command" {
  local n moment way
  hold a --slots 2 /l
  way=$(now_us)
  expect_status 0 zklock run --slots 2 /l -- true
  way=$(($(now_us) - way))
  for n in {1..24}; do
    background zklock run --slots 2 /l -- sh -c 'echo $$ >>commands; exec sleep 600'
    # Waits until the shell has become zklock.
    until [[ $(<"/proc/$!/comm") == zklock ]]; do :; done
    moment=$(($(now_us) + n * way / 20))
    until is_past "$moment"; do :; done
    kill -TERM $!
    expect_end 143 $!
    assert_slots 1 0
  done
  if [[ -s commands ]]; then for n in $(<commands); do assert is_gone "$n"; done; fi
  let_all_go a
}

# wait_at_gate NAME ARG…: starts one behind others that wait there.
wait_at_gate() {
  local before
  before=$(count_nodes /l/locks)
  begin "$1" /l "${@:2}"
  wait_until "$1 waits at the gate" has_nodes /l/locks $((before + 1))
}

@test "the first at the gate goes away, and one in the middle: the others come in" {
  local name
  hold a --slots 1 /l
  wait_in_gate b --slots 1
  for name in c d e; do wait_at_gate "$name" --slots 1; done
  kill -TERM "${pid[d]}" "${pid[b]}"
  wait_gone "${pid[d]}" "${pid[b]}"
  wait_until "the next one waits in the gate" slots_are 2 2
  for name in a c; do
    assert [ ! -e e.held ]
    let_all_go "$name"
  done
  wait_until "the last one is in" test -s e.held
  let_all_go e
  assert [ ! -e b.held ]
  assert [ ! -e d.held ]
  assert_slots 0 0
}

@test "a session that ends in the gate: a new place, behind those who came meanwhile" {
  hold a --slots 1 /l
  wait_in_gate w -v --slots 1 --session-timeout 500ms
  kill -STOP "${pid[w]}"
  wait_until "its session is over" slots_are 1 0
  wait_in_gate b --slots 1
  kill -CONT "${pid[w]}"
  wait_for "the session expired while waiting; taking a new place in line" w.err
  wait_until "it stands at the gate" slots_are 2 2
  let_all_go a
  wait_until "who came meanwhile is in" test -s b.held
  assert [ ! -e w.held ]
  let_all_go b
  wait_until "it is in" test -s w.held
  let_all_go w
  assert_slots 0 0
}
