#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run with several locks: it takes all of them or none.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

waits_for() { wait_until "$1 waits for $2" has_nodes "$2" "$3"; }

@test "in byte order, none twice, one line each in the environment" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run -w 20s /b/x /a /b /a/b /b -- sh -c 'printf "%s\n" "$ZKLOCK_PATH" "$ZKLOCK_NODE" "$ZKLOCK_TOKEN"
    for lock in /a /a/b /b /b/x; do znode ls "$lock" | grep -c -- -lock-; done'
  assert_equal "${lines[*]:0:4}" "/a /a/b /b /b/x"
  local n
  for n in 0 1 2 3; do
    assert_regex "${lines[4 + n]}" "^${lines[n]}/_c_[^/]*-lock-[0-9]{10}\$"
    ((n == 0)) || assert [ "${lines[8 + n]}" -gt "${lines[7 + n]}" ]
  done
  assert_equal "${lines[*]:12}" "1 1 1 1"
  for n in /a/b /b/x; do assert_no_nodes "$n"; done
}

@test "two that name them in opposite order, again and again: nobody waits for ever, nothing is done twice at once" {
  local n
  echo 0 >f
  for n in "/a /b /c" "/c /b /a" "/b /a"; do
    # shellcheck disable=SC2016
    background sh -c 'for n in $(seq 30); do
        "$ZKLOCK_BIN" run $1 -- sh -c "n=\$(cat f); echo \$((n+1)) >f" || echo "status $?"
      done' sh "$n" >"said${n//[ \/]/}" 2>&1
    pid["$n"]=$!
  done
  for n in "${!pid[@]}"; do expect_end 0 "${pid[$n]}"; done
  assert_equal "$(cat said*)" ""
  assert_equal "$(<f)" 90
}

@test "one of them is busy: 75, it is named, and those before it are free at once" {
  hold h /b
  expect_error 75 "cannot take /b: held by $(hostname) (pid ${pid[h]}) for " zklock run -n /a /b /c -- touch ran
  assert_no_nodes /a
  assert has_nodes /b 1
  expect_status 1 znode ls /c
  assert [ ! -e ran ]
  let_all_go h
}

@test "one of them is another's: 65, and those before it are free at once" {
  hold h --peer kazoo /b
  expect_error 65 "cannot take /b: " zklock run /a /b -- touch ran
  assert_no_nodes /a
  assert [ ! -e ran ]
  let_all_go h
}

@test "-w is one budget for all of them, and those had in time are given back" {
  local began
  hold a /a
  hold b /b
  began=$(now_us)
  begin w -w 3s /a /b
  wait_until "most of it is over" is_past $((began + 1500000))
  let_all_go a
  waits_for w /b 2
  expect_end 75 "${pid[w]}"
  assert [ $(($(now_us) - began)) -ge 3000000 ]
  assert [ $(($(now_us) - began)) -lt 4200000 ]
  assert_no_nodes /a
  assert has_nodes /b 1
  let_all_go b
}

@test "TERM, or KILL, while it waits for the second: the first is free" {
  hold h /b
  begin w /a /b
  waits_for w /b 2
  kill -TERM "${pid[w]}"
  expect_end 143 "${pid[w]}"
  assert_no_nodes /a
  assert has_nodes /b 1
  begin k --session-timeout 500ms /a /b
  waits_for k /b 2
  kill -KILL "${pid[k]}"
  expect_status 0 zklock run -w 10s /a -- true
  let_all_go h
  assert [ ! -e w.held ]
  assert [ ! -e k.held ]
}

@test "while it waits for the second it holds the first, for longer than a session lasts" {
  hold h /b
  begin w --session-timeout 1s /a /b
  waits_for w /b 2
  # The length of two sessions goes by.
  expect_error 75 "cannot take /a: held by $(hostname) (pid ${pid[w]}) for " zklock run -w 3s /a -- true
  let_all_go h w
  assert_equal "$(<w.err)" ""
}

@test "the node of the first is deleted while it waits for the second: it starts again, and gets both" {
  local node
  hold h /b
  begin w /a /b
  waits_for w /b 2
  node=$(its_node /a)
  stand a /a
  znode rm "$node"
  wait_until "the next one has the first" test -s a.held
  wait_until "it has left the line for the second and stands in that for the first" has_nodes /b 1
  let_all_go h
  assert [ ! -e w.held ]
  let_all_go a
  wait_until "it has both" test -s w.held
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  let_all_go w
}

@test "it is asked for the first while it waits for the second: it gives it back, and starts again" {
  hold h /b
  begin w /a /b
  waits_for w /b 2
  local node
  node=$(its_node /a)
  stand a /a
  znode set "$node" __REVOKE__
  wait_until "who wanted the first has it" test -s a.held
  let_all_go h a
  wait_until "it has both" test -s w.held
  let_all_go w
}

@test "its session ends while it waits for the second: it starts again, and gets both" {
  hold h /b
  begin w -v --session-timeout 500ms /a /b
  waits_for w /b 2
  kill -STOP "${pid[w]}"
  wait_until "its session is over" has_nodes /b 1
  assert_no_nodes /a
  kill -CONT "${pid[w]}"
  # It may also find first that nothing has proved the first lock meanwhile.
  wait_for "; taking" w.err
  waits_for w /b 2
  assert_equal "$(count_nodes /a)" 1
  let_all_go h
  wait_until "it has both" test -s w.held
  let_all_go w
}

@test "one of them is lost while the command runs: 76, it is named, and the others are free" {
  hold h /a /b /c
  znode rm "$(its_node /b)"
  expect_end 76 "${pid[h]}"
  assert_equal "$(<h.err)" "zklock: lost /b: its node was deleted; the command was stopped"
  expect_status 0 zklock run -n /c /b /a -- true
}

@test "several, shared, or with slots" {
  hold a -s /a /b
  expect_status 0 zklock run -n -s /b /a -- true
  expect_status 75 zklock run -nq /b -- true
  hold s --slots 2 /s /t
  expect_status 0 zklock run -n --slots 2 /t /s -- true
  hold t --slots 2 /t
  expect_error 75 "cannot take /t: its 2 slots are taken" zklock run -n --slots 2 /s /t -- true
  assert_equal "$(count_nodes /s/leases) $(count_nodes /s/locks)" "1 0"
  let_all_go a s t
}
