#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --any: it takes the first of several locks that is free.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# path_of NAME: prints the lock that its command holds.
path_of() { tr '\0' '\n' <"/proc/$(<"$1.held")/environ" | sed -n 's/^ZKLOCK_PATH=//p'; }

# stand_at_all NAME LOCK…: starts one that waits in all lines.
stand_at_all() {
  local name=$1 lock
  local -A before=()
  shift
  for lock in "$@"; do before[$lock]=$(count_nodes "$lock"); done
  begin "$name" --label "$name" --any "$@"
  for lock in "$@"; do wait_until "$name stands at $lock" has_nodes "$lock" $((before[$lock] + 1)); done
}

# holds NAME LOCK: its command runs under that lock.
holds() {
  wait_until "$1 holds a lock" test -s "$1.held"
  assert_equal "$(path_of "$1")" "$2"
}

# counts N…: there are so many nodes at /a, /b, /c.
counts() { assert_equal "$(count_nodes /a) $(count_nodes /b) $(count_nodes /c)" "$*"; }

@test "the first that is free, in the order of their names on the command line; the environment tells which" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run --any /b /a /c -- sh -c 'printf "%s\n" "$ZKLOCK_PATH" "$ZKLOCK_NODE" "$ZKLOCK_TOKEN"; znode ls /a; znode ls /b'
  assert_equal "${lines[0]}" /b
  assert_regex "${lines[1]}" '^/b/_c_[^/]*-lock-[0-9]{10}$'
  assert_regex "${lines[2]}" '^[0-9]+$'
  assert_equal "${#lines[@]} ${lines[3]}" "4 ${lines[1]#/b/}"
  hold one --any /b /a /c
  hold two --any /b /a /c
  hold three --any /b /a /c
  assert_equal "$(path_of one) $(path_of two) $(path_of three)" "/b /a /c"
  counts 1 1 1
  let_all_go one two three
  counts 0 0 0
}

@test "what it passes by it leaves before the command starts, and a waiter there is not held up" {
  hold h /a
  # shellcheck disable=SC2016
  expect_status 0 zklock run --any /a /b -- sh -c 'znode ls /a | wc -l; znode ls /b | wc -l'
  assert_equal "$output" $'1\n1'
  hold any --any /a /b
  stand w /a
  let_all_go h
  wait_until "w holds /a" test -s w.held
  let_all_go w any
}

@test "all are busy: who came first gets the first that is released" {
  local n
  hold x /a
  hold y /b
  hold z /c
  for n in 1 2 3; do stand_at_all "w$n" /a /b /c; done
  counts 4 4 4
  let_all_go y
  holds w1 /b
  wait_until "it has left the others" has_nodes /a 3
  counts 3 3 3
  let_all_go x
  holds w2 /a
  let_all_go z
  holds w3 /c
  counts 1 1 1
  let_all_go w1 w2 w3
  assert_equal "$(cat w?.err)" ""
}

@test "two locks are released at once: each waiter takes one of them, and none is left blocked" {
  hold x /a
  hold y /b
  stand_at_all w1 /a /b
  stand_at_all w2 /b /a
  kill -STOP "${pid[w1]}" "${pid[w2]}"
  let_all_go x y
  kill -CONT "${pid[w1]}" "${pid[w2]}"
  wait_until "w1 holds one" test -s w1.held
  wait_until "w2 holds one" test -s w2.held
  refute [ "$(path_of w1)" = "$(path_of w2)" ]
  wait_until "nobody stands in two lines" has_nodes /a 1
  assert has_nodes /b 1
  let_all_go w1 w2
}

@test "-n: 75 and no place left, the line says that all are busy; -E gives another status" {
  hold x /a
  hold y /b
  expect_error 75 "cannot take any of /a, /b: all are busy; /a: held by $(hostname) (pid ${pid[x]}) for " \
    zklock run -n --any /a /b -- touch ran
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  expect_status 9 zklock run -nqE9 --any /a /b -- touch ran
  assert_equal "$stderr" ""
  assert [ ! -e ran ]
  expect_status 0 zklock run -n --any /a /b /c -- true
  let_all_go x y
}

@test "-w: one budget, 75 and no place left" {
  local began
  hold x /a
  hold y /b
  began=$(now_us)
  expect_error 75 "cannot take any of /a, /b: all are busy; /" zklock run -w 2s --any /a /b -- touch ran
  assert [ $(($(now_us) - began)) -ge 2000000 ]
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  assert [ ! -e ran ]
  begin w -w 20s --any /a /b
  wait_until "it waits" has_nodes /b 2
  let_all_go y
  holds w /b
  let_all_go x w
}

@test "-v says what it waits for, and what it took" {
  hold x /a
  hold y /b
  begin w -v --any /a /b
  wait_for "waiting for one of 2 locks, /a: held by $(hostname) (pid ${pid[x]}) for " w.err
  let_all_go y
  wait_for "took /b after " w.err
  let_all_go x w
}

@test "a holder is killed: its lock goes to who waits" {
  hold x --any /a /b
  hold y --any /a /b
  stand_at_all w /a /b
  kill -KILL "${pid[y]}"
  holds w /b
  wait_until "it stands in no other line" has_nodes /a 1
  let_all_go x w
}

@test "a waiter is told to end, or killed: no node is left in any line" {
  hold x /a
  hold y /b
  stand_at_all w /a /b
  kill -TERM "${pid[w]}"
  expect_end 143 "${pid[w]}"
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  stand_at_all k /a /b
  kill -KILL "${pid[k]}"
  wait_until "its guard has ended its session" has_nodes /a 1
  wait_until "all of it" has_nodes /b 1
  assert [ ! -e w.held ]
  let_all_go x y
}

@test "its session ends while it waits: it takes places in all lines again" {
  hold x /a
  hold y /b
  begin w -v --session-timeout 1s --any /a /b
  wait_until "it waits" has_nodes /b 2
  kill -STOP "${pid[w]}"
  wait_until "its session is over" has_nodes /b 1
  assert has_nodes /a 1
  kill -CONT "${pid[w]}"
  wait_for "the session expired while waiting; taking a new place in line" w.err
  wait_until "it stands in both lines" has_nodes /b 2
  assert has_nodes /a 2
  let_all_go y
  holds w /b
  wait_until "it has left the other line" has_nodes /a 1
  let_all_go x w
}

@test "one of its places is deleted while it waits: 75, and no place is left" {
  local node
  hold x /a
  hold y /b
  stand_at_all w /a /b
  node=$(znode ls /b | sort -t- -k7 | tail -n1)
  znode rm "/b/$node"
  expect_end 75 "${pid[w]}"
  assert_equal "$(<w.err)" "zklock: cannot take /b: our place in line was removed"
  assert_equal "$(count_nodes /a) $(count_nodes /b)" "1 1"
  let_all_go x y
}

@test "the node it holds is deleted, or asked back: 76, it is named" {
  hold x /a
  hold w --any /a /b
  znode rm "$(its_node /b)"
  expect_end 76 "${pid[w]}"
  assert_equal "$(<w.err)" "zklock: lost /b: its node was deleted; the command was stopped"
  hold v --any /a /b
  expect_status 0 zklock break --yes /b
  expect_end 76 "${pid[v]}"
  assert_equal "$(<v.err)" "zklock: lost /b: revoked (zklock break); the command was stopped"
  let_all_go x
}

@test "show lists who waits in each line, and only the holder afterwards" {
  hold x /a
  hold y /b
  stand_at_all number /a /b
  expect_status 0 zklock show /a /b
  assert_equal "$(grep -c number <<<"$output")" 2
  let_all_go x
  holds number /a
  expect_status 0 zklock show /a /b
  assert_equal "$(grep number <<<"$output" | cut -c1-2)" /a
  let_all_go y number
}

@test "with others at the same locks: run LOCK, all of several, shared ones" {
  hold all /a /b
  hold any --any /a /b /c
  assert_equal "$(path_of any)" /c
  stand_at_all w /a /b /c
  stand all2 /a /b
  let_all_go all
  wait_until "w has one of them" test -s w.held
  let_all_go any w
  wait_until "all2 has both" test -s all2.held
  let_all_go all2
  hold reader -s /a
  hold any_reader -s --any /a /b
  assert_equal "$(path_of any_reader)" /a
  hold any_writer --any /a /b
  assert_equal "$(path_of any_writer)" /b
  let_all_go reader any_reader any_writer
}

@test "inside a zklock that holds one of them, that one is used, whatever else is free" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run --any /b /c -- sh -c '"$ZKLOCK_BIN" run -n --any /a /b -- printenv ZKLOCK_PATH; znode ls /b | wc -l'
  assert_equal "$output" $'/b\n1'
  assert_no_nodes /b
  expect_status 1 znode ls /a
  # shellcheck disable=SC2016
  expect_status 0 zklock run /a -- sh -c '"$ZKLOCK_BIN" run -n --any /b /c -- printenv ZKLOCK_PATH ZKLOCK_OUTER'
  assert_regex "$output" $'^/b\n[0-9]+ /a/_c_'
  # shellcheck disable=SC2016
  expect_error 64 "we would wait for ourselves" zklock run -s /a -- sh -c '"$ZKLOCK_BIN" run -n --any /a /b -- true'
}

@test "--min-hold keeps the one that is held, --restart takes any again" {
  hold x /a
  begin r --restart --any /a /b
  holds r /b
  rm r.held
  znode rm "$(its_node /b)"
  wait_for "lost /b: its node was deleted" r.err
  wait_until "it runs again" test -s r.held
  let_all_go x r
  local began
  began=$(now_us)
  expect_status 0 zklock run --min-hold 500ms --any /a /b -- true
  assert [ $(($(now_us) - began)) -ge 500000 ]
}

@test "one of them is used for something else: 65, and no place is left" {
  hold x /a
  hold s --slots 2 /s
  expect_error 65 "cannot take /s: " zklock run --any /a /s -- touch ran
  assert has_nodes /a 1
  assert [ ! -e ran ]
  # It is not looked at while one before it is free.
  expect_status 0 zklock run --any /b /s -- true
  let_all_go x s
}

@test "one of them may not be used: 77, and no place is left" {
  need_no_identity
  hold x /a
  ZKLOCK_AUTH=digest:me:secret hold c --acl creator /c
  expect_error 77 "cannot take /c: " zklock run --any /a /c -- touch ran
  assert has_nodes /a 1
  assert [ ! -e ran ]
  let_all_go x c
}

@test "an answer is lost on the way, whichever: it has left the line that it passed by before its command starts" {
  local n relayed
  hold x /a
  start_relay "${ZKLOCK_SERVERS%/*}"
  relayed=$(relayed_ports)/${ZKLOCK_SERVERS#*/}
  for n in {1..20}; do
    # shellcheck disable=SC2016
    background bash -c 'sleep "0.0$((RANDOM % 70 + 10))"; kill -USR2 "$0"' "${pid[relay]}"
    # shellcheck disable=SC2016
    expect_status 0 env DIRECT="$ZKLOCK_SERVERS" "$ZKLOCK_BIN" run -S "$relayed" --any /a /b -- \
      sh -c 'export ZKLOCK_SERVERS=$DIRECT; znode ls /a | wc -l; echo "$ZKLOCK_PATH"'
    assert_equal "$output" $'1\n/b'
  done
  assert [ "$(grep -c lost relayed)" -gt 5 ]
  let_all_go x
}

@test "what makes no sense is refused with 64, and nothing is made" {
  expect_error 64 "with --any, /a is named twice" zklock run --any /a /b /a -- true
  expect_error 64 "give either --any or --slots, not both" zklock run --any --slots 2 /a /b -- true
  expect_error 64 "give either --any or --once-per, not both" zklock run --any --once-per 1h /a /b -- true
  expect_error 64 "no lock named" zklock run --any -- true
  expect_error 64 "no command" zklock run --any /a /b
  expect_error 64 "b" zklock run --any /a b -- true
  assert_untouched
  expect_status 0 zklock run --any /a -- printenv ZKLOCK_PATH
  assert_equal "$output" /a
}
