#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if the lock is lost, the servers gone, the session over, or one of our own processes killed.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# stubborn_tree ARG…: runs a command under the lock with descendants that ignore TERM; their ids are in pids.
stubborn_tree() {
  # shellcheck disable=SC2016
  background ended end "$ZKLOCK_BIN" run "$@" -- sh -c 'trap "" TERM
    (setsid sh -c "echo \$\$ >>pids; while :; do sleep 0.05; done" &)
    sh -c "echo \$\$ >>pids; while :; do sleep 0.05; done" &
    echo $$ >>pids; while :; do sleep 0.05; done' 2>stderr
  wait_until "all of it runs" has_pids 3
  zklock=$(awk '/pid/ { print $2 }' end)
}

has_pids() { (($(wc -l <pids) == $1)); }

assert_all_gone() {
  local one
  while read -r one; do assert is_gone "$one"; done <pids
}

# expect_lost REASON: stubborn_tree's run ends with 76 and one line, and nothing of it is left. REASON is a pattern.
expect_lost() {
  local said wanted="zklock: lost /l: $1; the command was stopped"
  wait_for "exit 76" end
  assert_all_gone
  said=$(<stderr)
  # shellcheck disable=SC2053
  [[ $said == $wanted ]] || fail "not for the reason '$1': $said"
}

# expire PID N: freezes zklock until its session has expired, and N nodes are left.
expire() {
  kill -STOP "$1"
  wait_until "its session is over" has_nodes /l "$2"
  kill -CONT "$1"
}

@test "its node is deleted: TERM, and then KILL for who ignores it, all descendants, 76" {
  stubborn_tree --session-timeout 2s /l
  znode rm "$(its_node /l)"
  expect_lost "its node was deleted"
  assert_no_nodes /l
}

@test "its node is deleted: a command that obeys TERM may clean up" {
  # shellcheck disable=SC2016
  background zklock run --session-timeout 20s /l -- sh -c 'trap "echo cleaned >log; exit 0" TERM
    echo $$ >pids; while :; do sleep 0.02; done' 2>stderr
  wait_until "it runs" has_pids 1
  znode rm "$(its_node /l)"
  expect_end 76 $!
  assert_equal "$(<log)" cleaned
}

# delete_unseen NAME NODE: while the zklock NAME is frozen, NODE is deleted, and then its command ends.
delete_unseen() {
  kill -STOP "${pid[$1]}"
  znode rm "$2"
  let_go "$1"
  wait_gone "$(<"$1.held")"
  kill -CONT "${pid[$1]}"
}

@test "its node was deleted before the command had ended, and zklock learns of both at once: 76" {
  local said="its node was deleted, maybe before the command had ended"
  hold a --session-timeout 60s /l
  delete_unseen a "$(its_node)"
  expect_end 76 "${pid[a]}"
  assert_equal "$(<a.err)" "zklock: lost /l: $said"
  hold b --session-timeout 60s --slots 2 /s
  delete_unseen b "$(its_node /s/leases)"
  expect_end 76 "${pid[b]}"
  assert_equal "$(<b.err)" "zklock: lost /s: $said"
  hold c --session-timeout 60s --min-hold 1h /m
  delete_unseen c "$(its_node /m)"
  expect_end 76 "${pid[c]}"
  assert_equal "$(<c.err)" "zklock: lost /m: $said"
}

@test "its node's data changes, or a child stands elsewhere: nothing happens" {
  hold h /l
  znode set "$(its_node /l)" "something"
  znode create /l/other
  znode set /l "data"
  expect_error 75 "held by 'something'" zklock run -n /l -- true
  let_all_go h
}

@test "its session expires while the command runs: 76, and all of it is gone" {
  stubborn_tree --session-timeout 1s /l
  expire "$zklock" 0
  expect_lost "no quorum confirmed the lock for *"
}

@test "another holder follows one whose session expired, who leaves him alone" {
  stubborn_tree --session-timeout 1s /l
  stand next /l
  expire "$zklock" 1
  wait_for "exit 76" end
  assert_all_gone
  wait_until "the next one holds it" test -s next.held
  expect_error 75 "pid ${pid[next]}" zklock run -n /l -- true
  let_all_go next
}

@test "its session expires while it waits: a new place, said with -v" {
  hold h /l
  stand w /l -v --session-timeout 500ms
  expire "${pid[w]}" 1
  wait_until "it stands in line again" has_nodes /l 2
  wait_for "the session expired while waiting; taking a new place in line" w.err
  assert [ ! -e w.held ]
  let_all_go h w
}

@test "frozen past its session while it waits, and killed then: no node is left" {
  hold h /l
  stand w /l --session-timeout 500ms
  kill -STOP "${pid[w]}"
  wait_until "its session is over" has_nodes /l 1
  kill -TERM "${pid[w]}"
  kill -CONT "${pid[w]}"
  expect_end 143 "${pid[w]}"
  assert has_nodes /l 1
  let_all_go h
}

@test "the guard is killed: 76, and the command is gone with all descendants" {
  stubborn_tree /l
  kill -KILL "$(guard_of "$zklock")"
  expect_lost "the guard was killed"
  expect_status 0 zklock run -n /l -- true
}

@test "zklock is killed: the command is gone with all descendants" {
  stubborn_tree --session-timeout 500ms /l
  kill -KILL "$zklock"
  wait_for "signal KILL" end
  local one
  while read -r one; do wait_gone "$one"; done <pids
  expect_status 0 zklock run -w 10s /l -- true
}

@test "zklock is killed while it waits: its guard goes too, and the command never starts" {
  hold h /l
  stand w /l --session-timeout 500ms
  local guard
  guard=$(guard_of "${pid[w]}")
  kill -KILL "${pid[w]}"
  wait_gone "$guard"
  wait_until "its session is over" has_nodes /l 1
  let_all_go h
  assert [ ! -e w.held ]
}

@test "nothing listens: 69, bounded by --connect-timeout" {
  local began
  began=$(now_us)
  expect_error 69 "127.0.0.1:1,[::1]:1 (from --servers): no server answered in " \
    zklock run -S '127.0.0.1:1,[::1]:1' --connect-timeout 700ms /l -- touch ran
  assert [ $(($(now_us) - began)) -ge 700000 ]
  assert [ $(($(now_us) - began)) -lt 1700000 ]
  assert_regex "$stderr" "Connection refused"
  assert [ ! -e ran ]
}

@test "nothing listens: 69, bounded by -w; -n alone does not give up sooner" {
  local began
  began=$(now_us)
  expect_error 69 "127.0.0.1:1" zklock run -S 127.0.0.1:1 -w 500ms /l -- touch ran
  expect_error 69 "127.0.0.1:1" zklock run -S 127.0.0.1:1 -n --connect-timeout 500ms /l -- touch ran
  assert [ $(($(now_us) - began)) -ge 1000000 ]
  assert [ $(($(now_us) - began)) -lt 2500000 ]
  assert [ ! -e ran ]
}

@test "a server that says nothing: 69, bounded" {
  background black_hole >port
  wait_until "it listens" test -s port
  local began
  began=$(now_us)
  expect_error 69 "127.0.0.1:$(<port)" zklock run -S "127.0.0.1:$(<port)" --connect-timeout 600ms /l -- touch ran
  expect_error 69 "127.0.0.1:$(<port)" zklock run -S "127.0.0.1:$(<port)" -w 600ms /l -- touch ran
  assert [ $(($(now_us) - began)) -lt 3000000 ]
  # A server after it that answers is found.
  expect_status 0 zklock run --session-timeout 1s -S "127.0.0.1:$(<port),$ZKLOCK_SERVERS" -w 10s /l -- touch ran
  assert [ -e ran ]
}

@test "a name that does not resolve: 69, and the name is in the message" {
  expect_error 69 "cannot resolve no-such-host.invalid: " \
    zklock run -S no-such-host.invalid --connect-timeout 2s /l -- touch ran
  assert [ ! -e ran ]
  expect_status 0 zklock run -S "no-such-host.invalid:1,$ZKLOCK_SERVERS" /l -- true
  expect_status 0 zklock run -S "localhost:${ZKLOCK_SERVERS#*:}" /l -- true
}

@test "a signal ends the search for a server" {
  local name
  for name in INT TERM; do
    rm -f end
    background ended end "$ZKLOCK_BIN" run -S 127.0.0.1:1 --connect-timeout 1h /l -- touch ran
    wait_for pid end
    wait_until "it has begun" guard_of "$(awk '/pid/ { print $2 }' end)"
    kill -s "$name" "$(awk '/pid/ { print $2 }' end)"
    wait_for "signal $name" end
  done
  assert [ ! -e ran ]
}
