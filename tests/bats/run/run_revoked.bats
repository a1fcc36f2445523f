#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if the holder is asked to let go, by __REVOKE__ in its node, as Curator's Revoker does.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

revoke() { znode set "$1" __REVOKE__; }

wanted="revoked (zklock break); the command was stopped"

@test "the command is stopped, 76 and one line, and only then the node goes and the next one starts" {
  local node
  enter -f a --session-timeout 10s /l
  wait_until "all of a runs" lives a 4
  node=$(its_node /l)
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
  local began
  began=$(now_us)
  revoke "$node"
  # A command that ignores TERM has a second's grace.
  wait_for "TERM" life
  assert has_nodes /l 2
  refute lives b 1
  wait_until "b has begun" lives b
  assert_alone
  assert_order "the wish, TERM, the end of a, the begin of b" "$began" "$(awk '/TERM/ { print $1; exit }' life)" \
    "$(last_of a)" "$(first_of b)"
  expect_end 76 "${pid[a]}"
  assert_equal "$(<a.err)" "zklock: lost /l: $wanted"
  touch b.go
  expect_end 0 "${pid[b]}"
  assert_equal "$(<b.err)" ""
}

@test "a command that obeys TERM may clean up, and the lock is free when zklock has ended" {
  background zklock run /l -- sh -c 'trap "echo cleaned; exit 0" TERM; echo $$ >it; while :; do sleep 0.02; done' >log 2>stderr
  wait_until "it runs" test -s it
  revoke "$(its_node /l)"
  expect_end 76 $!
  expect_status 0 zklock run -n /l -- true
  assert_equal "$(<log)" cleaned
}

@test "any other text is none of its business" {
  local text
  hold h /l
  for text in "" __REVOKE_ __REVOKE___ " __REVOKE__" $'__REVOKE__\n' __revoke__; do znode set "$(its_node /l)" "$text"; done
  expect_error 75 "held by" zklock run -n /l -- true
  let_all_go h
  assert_equal "$(<h.err)" ""
}

@test "one of several holders: the others go on" {
  local node
  hold r1 -s /l
  node=$(its_node /l)
  hold r2 -s /l
  revoke "$node"
  expect_end 76 "${pid[r1]}"
  hold s1 --slots 2 /s
  node=$(its_node /s/leases)
  hold s2 --slots 2 /s
  revoke "$node"
  expect_end 76 "${pid[s1]}"
  expect_status 0 zklock run -n --slots 2 /s -- true
  refute is_gone "${pid[r2]}"
  let_all_go r2 s2
}

@test "one lock of several: it is named, and all are given back" {
  hold h /a /b
  revoke "$(its_node /b)"
  expect_end 76 "${pid[h]}"
  assert_equal "$(<h.err)" "zklock: lost /b: $wanted"
  expect_status 0 zklock run -n /a /b -- true
}

@test "a lock inside the same lock: both commands are stopped" {
  # shellcheck disable=SC2016
  background zklock run /l -c '"$ZKLOCK_BIN" run /l -- sh -c "echo \$\$ >it; exec sleep 600"; echo $? >status; exec sleep 600' 2>stderr
  wait_until "it runs" test -s it
  revoke "$(its_node /l)"
  expect_end 76 $!
  assert is_gone "$(<it)"
  assert_equal "$(sort -u stderr)" "zklock: lost /l: $wanted"
}

@test "in the moment in which the command ends: its status or 76, and the lock is free" {
  for _ in {1..20}; do
    # shellcheck disable=SC2016
    run --separate-stderr zklock run /l -c 'exec znode set "$ZKLOCK_NODE" __REVOKE__'
    assert [ "$status $stderr" = "0 " ] || assert_equal "$status $stderr" "76 zklock: lost /l: $wanted"
    assert_no_nodes /l
  done
}

@test "with --restart it stands in line again, behind those who waited" {
  local node
  # shellcheck disable=SC2016
  background zklock run --restart /l -- sh -c 'echo $$ >>runs; until [ -e go ]; do sleep 0.02; done' 2>stderr
  wait_until "it runs" test -s runs
  node=$(its_node /l)
  stand b /l
  revoke "$node"
  wait_until "who waited has the lock" test -s b.held
  wait_until "it stands in line again" has_nodes /l 2
  touch go
  let_all_go b
  expect_end 0 $!
  assert_equal "$(wc -l <runs)" 2
}

@test "one who only waits leaves the line: 75, and who stands behind it has its turn" {
  local before
  hold h /l
  before=$(znode ls /l)
  stand w /l
  stand x /l
  revoke "/l/$(znode ls /l | grep -v "$before" | sort -t- -k7 | head -n 1)"
  expect_end 75 "${pid[w]}"
  assert_equal "$(<w.err)" "zklock: cannot take /l: our place in line was removed"
  assert has_nodes /l 2
  assert [ ! -e w.held ]
  let_all_go h
  wait_until "who stands behind it has its turn" test -s x.held
  let_all_go x
}
