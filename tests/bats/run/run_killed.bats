#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that what a killed zklock held is free as soon as its command is dead, not when its session expires. The
# sessions here outlast every test.

load ../helpers
load ../group

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=60s
  declare -gA pid
}

teardown() { end_all; }

# waiter NAME PATH: it stands in line, and makes NAME.ran when it has its turn.
waiter() {
  local before
  before=$(count_nodes "$2")
  background zklock run "$2" -- touch "$1.ran" 2>"$1.err"
  pid[$1]=$!
  wait_until "$1 stands in line" has_nodes "$2" $((before + 1))
}

@test "a holder is killed: the next one has the lock when the whole tree is dead" {
  enter -f a /l
  wait_until "all of a runs" lives a 4
  waiter b /l
  kill -KILL "${pid[a]}"
  expect_end 0 "${pid[b]}"
  for one in $(pids_of a); do assert is_gone "$one"; done
  assert_no_nodes /l
}

@test "a holder is killed whose credentials alone may use its node, below a chroot" {
  local digest=digest:u:p
  ZKLOCK_SERVERS+=/deep/er
  background env ZKLOCK_AUTH=$digest "$ZKLOCK_BIN" run --acl creator /l -- sleep 1000
  wait_until "it holds" env ZKLOCK_AUTH=$digest "$ZKLOCK_BIN" show /l
  kill -KILL $!
  ZKLOCK_AUTH=$digest expect_status 0 zklock run --acl creator /l -- true
}

@test "a waiter in the middle is killed: those behind it need not wait for it" {
  background zklock run /l -- sh -c 'until [ -e go ]; do sleep 0.02; done'
  wait_until "it holds" has_nodes /l 1
  waiter b /l
  waiter c /l
  kill -KILL "${pid[b]}"
  wait_until "its place is gone" has_nodes /l 2
  touch go
  expect_end 0 "${pid[c]}"
  refute [ -e b.ran ]
}

@test "several locks and a slot are free" {
  background zklock run /a /b -- "$ZKLOCK_BIN" run --slots 2 /s -- sleep 1000
  wait_until "all is taken" has_nodes /s/leases 1
  kill -KILL "$(pgrep -P "$(guard_of $!)" zklock)"
  wait_until "the slot is free" has_nodes /s/leases 0
  wait_until "the locks are free, which the command's end has ended" has_nodes /a 0
  background zklock run /a /b -- sleep 1000
  wait_until "both are taken" has_nodes /b 1
  kill -KILL $!
  wait_until "one is free" has_nodes /a 0
  wait_until "the other, too" has_nodes /b 0
}

@test "the command has ended, what it left behind runs on: killed in --min-hold, the lock is free at once" {
  # shellcheck disable=SC2016
  background zklock run -v --min-hold 60s /l -- sh -c 'sleep 1000 & echo $! >left' 2>a.err
  pid[a]=$!
  wait_for "the lock is held on" a.err
  waiter b /l
  kill -KILL "${pid[a]}"
  expect_end 0 "${pid[b]}"
  refute is_gone "$(<left)"
}

@test "a consumer is killed: others have its items when all its commands are dead" {
  seq 3 | zklock queue push /q
  # shellcheck disable=SC2016
  background zklock queue pull --all -j 3 /q -- sh -c 'echo $$ >"$(cat).pid"; exec sleep 1000'
  local consumer=$!
  wait_until "three commands run" eval '[ -s 1.pid -a -s 2.pid -a -s 3.pid ]'
  kill -KILL "$consumer"
  expect_status 0 zklock queue pull --all -w 20s /q -- sh -c 'read -r n; kill -0 "$(cat "$n.pid")" 2>/dev/null && exit 9
    echo "$n"'
  assert_equal "$(sort <<<"$output")" $'1\n2\n3'
}

@test "one of several guards was killed too: nothing is given back before the session's end" {
  seq 2 | zklock queue push /q
  # shellcheck disable=SC2016
  background zklock queue pull --session-timeout 2s -j 2 --all /q -- sh -c 'cat >"$$.started"; exec sleep 1000'
  pid[a]=$!
  wait_until "two commands run" eval '[ "$(ls *.started | wc -l)" = 2 ]'
  local guards
  mapfile -t guards < <(guard_of "${pid[a]}")
  kill -STOP "${pid[a]}"
  kill -KILL "${guards[0]}" "${pid[a]}"
  wait_gone "${guards[1]}"
  expect_status 75 zklock queue pull /q
  wait_until "they come back with the session's end" zklock queue pull -N 2 /q
}

@test "a consumer whose reader does not read is killed: others have its items, the reader its end" {
  seq 100000 | zklock queue push /q
  mkfifo pipe
  background sh -c 'exec "$0" queue pull --follow /q >pipe' "$ZKLOCK_BIN"
  exec 5<pipe
  local one
  read -r one <&5
  assert_equal "$one" 1
  kill -KILL $!
  wait_until "nothing is in work" eval '(($(zklock queue count --exact --json /q | jq .in_work) == 0))'
  cat <&5 >/dev/null
  exec 5<&-
}

@test "an idle consumer at the head of the line is killed: the next one is awake" {
  zklock queue push /q </dev/null
  background zklock queue pull --follow /q >first
  pid[first]=$!
  wait_until "one waits" has_nodes /q/waiting 1
  background zklock queue pull -w 60s /q >second
  pid[second]=$!
  wait_until "two wait" has_nodes /q/waiting 2
  kill -KILL "${pid[first]}"
  zklock queue push /q <<<item
  expect_end 0 "${pid[second]}"
  assert_equal "$(<second)" item
}

@test "a member is killed, with a command and without: it is out" {
  member a /g -- sleep 1000
  member b /g
  wait_names /g a b
  kill -KILL "${pid[a]}" "${pid[b]}"
  wait_until "both are out" has_names /g
}

@test "zklock is frozen: its session stays, though its guard has killed the command at the fence" {
  background zklock run --session-timeout 6s /l -- sh -c 'echo $$ >its.pid; exec sleep 1000'
  wait_until "the command runs" test -s its.pid
  local guard
  guard=$(guard_of $!)
  kill -STOP $!
  wait_gone "$(<its.pid)"
  assert has_nodes /l 1
  refute is_gone "$guard"
  kill -CONT $!
  expect_end 76 $!
}

@test "the guard is killed too: the lock is free when the session expires" {
  background zklock run --session-timeout 2s /l -- sh -c 'echo $$ >its.pid; exec sleep 1000'
  wait_until "the command runs" test -s its.pid
  kill_both $!
  wait_gone "$(<its.pid)"
  assert has_nodes /l 1
  wait_until "the session is over" has_nodes /l 0
}

@test "no server answers: who reads our output has its end at once, and the guard ends" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  mkfifo pipe
  # shellcheck disable=SC2016
  background sh -c 'exec "$0" run --servers "$1" /l -- sh -c "touch runs; exec sleep 1000" >pipe' "$ZKLOCK_BIN" \
    "$(relayed_ports)"
  pid[a]=$!
  exec 5<pipe
  wait_until "the command runs" test -e runs
  local guard
  guard=$(guard_of "${pid[a]}")
  kill -STOP "${pid[relay]}"
  kill -KILL "${pid[a]}"
  cat <&5
  exec 5<&-
  refute is_gone "$guard"
  wait_gone "$guard"
  kill -CONT "${pid[relay]}"
}

@test "a nested zklock is killed: the outer one holds the lock until all that it ran is dead" {
  # shellcheck disable=SC2016
  background zklock run /l -- sh -c '"$0" run /l -- sh -c "echo \$\$ >its.pid; exec sleep 1000" &
    echo $! >inner; until [ -s its.pid ]; do sleep 0.02; done' "$ZKLOCK_BIN"
  pid[a]=$!
  wait_until "the inner command runs" test -s its.pid
  waiter b /l
  local guard
  guard=$(guard_of "$(<inner)")
  kill -STOP "$(<inner)" # otherwise it would end what its guard, which stands still, does not
  kill -STOP "$guard"
  kill -KILL "$(<inner)"
  wait_until "the outer one has looked again, which it does every second" is_past $(($(now_us) + 2500000))
  refute is_gone "$(<its.pid)"
  refute [ -e b.ran ]
  kill -CONT "$guard"
  expect_end 0 "${pid[b]}"
  assert is_gone "$(<its.pid)"
  expect_end 0 "${pid[a]}"
}

# zklock's group is orphaned, as under cron. timeout(1), for one, kills all of it.
@test "all of a group without a terminal is killed: the guard ends what has left the group, and gives the lock back" {
  # shellcheck disable=SC2016
  background setsid "$ZKLOCK_BIN" run /l -- sh -c 'setsid sh -c "echo \$\$ >left.pid; exec sleep 1000" & wait'
  pid[a]=$!
  wait_until "it has left the group" test -s left.pid
  waiter b /l
  kill -KILL -- "-${pid[a]}"
  expect_end 0 "${pid[b]}"
  assert is_gone "$(<left.pid)"
}

@test "the one in use of very many servers is told to the guard" {
  local dead
  dead=$(printf '127.9.0.%s:1,' {1..250})
  background zklock run --servers "$dead$ZKLOCK_SERVERS" /l -- sleep 1000
  wait_until "it holds" has_nodes /l 1
  kill -KILL $!
  wait_until "the lock is free" has_nodes /l 0
}
