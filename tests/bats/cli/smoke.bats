#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests once, in seconds, each thing that zklock is for: scripts/test quick runs these tests after any change.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

@test "run: the command runs under the lock, and its status is passed on" {
  expect_status 3 zklock run /l -- sh -c 'zklock_node=$(znode ls /l); [ "/l/$zklock_node" = "$ZKLOCK_NODE" ] && exit 3'
  assert_no_nodes /l
}

@test "run -n: a lock that is held is 75" {
  hold h /l
  expect_error 75 "held by" zklock run -n /l -- true
  let_all_go h
}

@test "run: of two the second waits for the first" {
  enter first /l
  wait_until "the first is inside" lives first
  enter second /l
  wait_until "the second waits" has_nodes /l 2
  kill -TERM "${pid[first]}"
  wait_until "the second is inside" lives second
  assert_alone
}

@test "run: a lock that is lost ends the command: 76" {
  begin h /l
  wait_until "it holds" test -s h.held
  znode rm "$(its_node)"
  expect_end 76 "${pid[h]}"
  wait_gone "$(<h.held)"
}

@test "run: when zklock is killed the command is, too" {
  begin h /l
  wait_until "it holds" test -s h.held
  kill -KILL "${pid[h]}"
  wait_gone "$(<h.held)"
}

@test "run --slots: as many at a time" {
  hold one --slots 2 /s
  hold two --slots 2 /s
  expect_status 75 zklock run -n --slots 2 /s -- true
  let_all_go one two
}

@test "queue: what was pushed comes out in order, and what fails stays" {
  printf '%s\n' a b c | zklock queue push /q
  expect_status 1 zklock queue pull --max-attempts 1 /q -- false
  expect_status 0 zklock queue pull --all /q
  assert_output $'b\nc'
  expect_status 0 zklock queue count /q
  assert_output $'items 0\ndead 1'
}

@test "group: who has joined is listed until it ends" {
  background zklock group join --name web1 /g -- sleep 100
  expect_status 0 zklock group wait --at-least 1 -w 20s /g
  expect_status 0 zklock group list /g
  assert_output --regexp "^web1-"
  kill -TERM $!
  expect_end 143 $!
  expect_status 0 zklock group list /g
  assert_output ""
}

@test "value: set, get, and refused at another version" {
  expect_status 0 zklock value set /v one
  expect_status 75 zklock value set --if-version 7 /v two
  expect_status 0 zklock value get /v
  assert_output one
}

@test "show and break: who holds a lock is told, and is asked to end" {
  hold h --label "a job" /l
  expect_status 0 zklock show /l
  assert_output --partial "a job"
  expect_status 0 zklock break --yes /l
  expect_end 143 "${pid[h]}" || expect_end 76 "${pid[h]}"
}

@test "ruok and health: a server that serves is well" {
  expect_status 0 zklock ruok
  expect_status 0 zklock health -q
}

@test "nobody answers: 69; a wrong word: 64" {
  expect_error 69 "127.0.0.1:1" zklock run -S 127.0.0.1:1 --connect-timeout 300ms /l -- true
  expect_error 64 "--frob" zklock run --frob /l -- true
}
