#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock runs go one after the other: which wait, are refused or go away, and what is left behind.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

in_line() { has_nodes /l "$1"; }

@test "two commands go one after the other" {
  hold first /l
  stand second /l
  assert [ ! -e second.held ]
  let_go first
  expect_end 0 "${pid[first]}"
  wait_until "the second runs" test -s second.held
  let_all_go second
  assert_no_nodes /l
}

@test "locks of other names do not meet" {
  hold first /l
  expect_status 0 zklock run -n /l2 -- true
  expect_status 0 zklock run -n /l/below -- true
  expect_status 0 zklock run -n /L -- true
  let_all_go first
}

@test "they go in the order in which they came" {
  local name
  hold 0 /l
  for name in {1..8}; do
    background zklock run /l -c "echo $name >>order"
    pid["$name"]=$!
    wait_until "$name stands in line" in_line $((name + 1))
  done
  let_all_go {0..8}
  assert_equal "$(xargs <order)" "1 2 3 4 5 6 7 8"
  assert_no_nodes /l
}

@test "-n: busy at once, with the holder's host, process id and time, and no node is left" {
  hold h /l --label "nightly backup"
  expect_error 75 "cannot take /l: held by $(hostname) (pid ${pid[h]}, nightly backup) for " zklock run -n /l -- touch ran
  assert_regex "$stderr" ' for [0-9.]+m?s$'
  assert in_line 1
  assert [ ! -e ran ]
  let_all_go h
}

@test "-q is silent for busy, and for nothing else" {
  hold h /l
  expect_status 75 zklock run -q -n /l -- true
  assert_equal "$stderr" ""
  expect_status 75 zklock -q run -w 500ms /l -- true
  assert_equal "$stderr" ""
  expect_error 127 "no-such" zklock run -q -n /l -- ./no-such
  expect_error 64 "bad path" zklock run -q -n l -- true
  expect_error 69 "127.0.0.1:1" zklock run -q -n -S 127.0.0.1:1 --connect-timeout 100ms /l -- true
  znode create /queue "zklock queue 1"
  znode create /queue/items
  expect_error 65 "/queue" zklock run -q -n /queue -- true
  let_all_go h
}

@test "-w: in time gets it, too late is busy near the bound, and no node is left" {
  hold h /l
  local began took
  began=$(now_us)
  expect_error 75 "cannot take /l: held by $(hostname) (pid ${pid[h]}) for " zklock run -w 2s /l -- touch ran
  took=$(($(now_us) - began))
  assert [ "$took" -ge 2000000 ]
  assert [ "$took" -lt 5000000 ]
  assert in_line 1
  assert [ ! -e ran ]
  stand w /l -w 1m
  let_all_go h w
}

@test "INT, TERM and HUP while it waits: it dies of that, the node goes, others go on" {
  local name
  hold h /l
  for name in INT TERM HUP QUIT USR1; do
    rm -f end
    background ended end "$ZKLOCK_BIN" run /l -- touch ran 2>stderr
    wait_until "it stands in line" in_line 2
    kill -s "$name" "$(awk '/pid/ { print $2 }' end)"
    wait_for " $name" end
    assert_equal "$(tail -n 1 end)$(<stderr)" "signal $name"
    assert in_line 1
  done
  let_all_go h
  expect_status 0 zklock run -n /l -- true
  assert [ ! -e ran ]
}

@test "a waiter killed by KILL is out of the way when its session ends" {
  hold h /l
  stand w /l --session-timeout 500ms
  kill -KILL "${pid[w]}"
  expect_end 137 "${pid[w]}"
  wait_until "its node is gone" in_line 1
  stand last /l
  let_all_go h last
  assert [ ! -e w.held ]
}

@test "a signal in the instant of the grant: not begun, or ended, never left alone" {
  local round moment
  for round in {1..30}; do
    hold h /l
    background ended end "$ZKLOCK_BIN" run /l -- sh -c "echo \$\$ >>commands; exec sleep 600"
    wait_until "it stands in line" in_line 2
    kill -KILL "$(<h.held)"
    # The holder ends, and the lock changes hands, within milliseconds.
    moment=$((${EPOCHREALTIME/[.,]/} + round * 200))
    while ((${EPOCHREALTIME/[.,]/} < moment)); do :; done
    kill -TERM "$(awk '/pid/ { print $2 }' end)"
    wait_for "signal TERM" end
    expect_end 137 "${pid[h]}"
    assert_no_nodes /l
    rm end h.*
  done
  if [[ -s commands ]]; then xargs -n 1 <commands | while read -r round; do assert is_gone "$round"; done; fi
}

@test "a waiter in the middle goes away: the one behind it stays in line" {
  hold h /l
  stand middle /l
  stand last /l
  kill -TERM "${pid[middle]}"
  expect_end 143 "${pid[middle]}"
  wait_until "the last one watches the holder" in_line 2
  expect_error 75 "pid ${pid[h]}" zklock run -n /l -- true
  assert [ ! -e last.held ]
  let_go h
  expect_end 0 "${pid[h]}"
  wait_until "the last one has its turn" test -s last.held
  let_all_go last
}

@test "the first waiters go away one after the other, and the last gets the lock" {
  local name
  hold h /l
  for name in {1..6}; do stand "$name" /l; done
  for name in 3 1 5 4; do kill -TERM "${pid[$name]}"; done
  let_go h
  wait_until "the second has its turn" test -s 2.held
  let_all_go 2
  wait_until "the sixth has its turn" test -s 6.held
  let_all_go 6
}

@test "what stands under the lock and is no contender is ignored" {
  local name
  for name in lock x x-y "with space" 0000000000 -lock lock- _c_-lock- x-lock-12 -00000000x ünï config \
    "x-lock-0000000000 " x__ __; do
    znode create "/l/$name" "what others write"
  done
  hold h /l
  expect_error 75 "held by $(hostname)" zklock run -n /l -- true
  stand w /l
  let_all_go h w
  assert has_nodes /l 15
}

@test "a contender's name that never goes away is not waited for" {
  znode create /l/_c_c4aa8eb5-0fc8-4cfc-8eb3-000000000000-lock-0000000000
  znode create /l/x-1-0000000000 $'\x1b[31m'
  expect_status 0 zklock run -w 5s /l -- touch ran
  assert [ -e ran ]
}

@test "contenders of any make stand in line by number, and by nothing else" {
  local name=0
  background znode stand /l/x-9- "something else"
  wait_until "it stands in line" in_line 1
  local stranger=$!
  expect_error 75 "held by 'something else' for " zklock run -n /l -- true
  stand a /l
  background znode stand /l/_c_00000000-0000-0000-0000-000000000000-lock- "" # its name sorts before all
  wait_until "it stands in line" in_line 3
  name=$!
  stand b /l
  kill "$stranger"
  wait_until "a has its turn" test -s a.held
  let_all_go a
  expect_error 75 "held by another program for " zklock run -n /l -- true
  kill "$name"
  wait_until "b has its turn" test -s b.held
  let_all_go b
}

@test "what stands in a holder's node cannot steer the terminal" {
  local data
  for data in $'\x1b]0;x\x07two\nlines' '{"host":"a\u001b[31m\nb","pid":1,"label":"\u0007"}' $'\xff\xfe' \
    '{"host":7}' '[]' '{"host":"a","pid":"x"}' "$(printf 'x%.0s' {1..5000})"; do
    background znode stand /l/x-1- "$data"
    wait_until "it stands in line" in_line 1
    expect_error 75 "cannot take /l: held by " zklock run -n /l -- true
    refute_regex "$stderr" $'[\x01-\x1f\x7f]'
    assert [ "${#stderr}" -lt 300 ]
    kill $!
    wait_until "it is gone" in_line 0
  done
}

@test "a contender whose programs would not wait for ours: 65, and no node is left" {
  background znode stand /l/0123456789abcdef0123456789abcdef__lock__
  wait_until "it stands in line" in_line 1
  expect_error 65 "/l" zklock run -n /l -- touch ran
  assert in_line 1
  assert [ ! -e ran ]
}

@test "the lock's node vanishes between two runs: it is made again" {
  expect_status 0 zklock run /a/b/l -- true
  znode rm /a
  expect_status 0 zklock run -n /a/b/l -- true
  znode rm /a/b/l
  expect_status 0 zklock run -n /a/b/l -- true
}

@test "the lock's node vanishes again and again while many want it" {
  local n
  (until [[ -e stop ]]; do znode rm /a >/dev/null 2>&1 || true; done) &
  for n in {1..30}; do
    # The node may well vanish while it is held.
    background zklock run -w 20s /a/b/l -c 'echo >>ran' 2>"err$n"
    pid["$n"]=$!
  done
  for n in {1..30}; do
    wait_gone "${pid[$n]}"
    wait "${pid[$n]}" || assert_equal "$? $(grep -cE '^zklock: (lost /a|cannot take /a.* removed)' "err$n")" \
      "$(grep -q lost "err$n" && echo 76 || echo 75) 1"
  done
  touch stop
  assert [ -s ran ]
}

@test "its place in line is removed: 75, and it says so" {
  hold h /l
  local first
  first=$(znode ls /l)
  stand w /l
  znode rm "/l/$(znode ls /l | grep -vxF -e "$first")"
  expect_end 75 "${pid[w]}"
  assert_equal "$(<w.err)" "zklock: cannot take /l: our place in line was removed"
  assert [ ! -e w.held ]
  let_all_go h
}

@test "the data of the holder's node changes: the waiter waits on" {
  local n
  hold h /l
  local node
  node=/l/$(znode ls /l)
  stand w /l
  for n in {1..20}; do znode set "$node" "change $n"; done
  expect_error 75 "held by 'change 20'" zklock run -n /l -- true
  assert [ ! -e w.held ]
  let_all_go h w
}

@test "the next command gets the lock as soon as zklock has ended, fifty times over" {
  local n
  for n in {1..50}; do
    expect_status 0 zklock run /l -- true
    expect_status 0 zklock run -n /l -- echo "$n"
    assert_output "$n"
  done
}

@test "-v says who is waited for, once, and how long it took" {
  hold h /l
  background zklock run -v /l -- true 2>stderr
  wait_for "zklock: waiting for /l: held by $(hostname) (pid ${pid[h]}) for " stderr
  let_all_go h
  expect_end 0 $!
  assert_equal "$(grep -c "waiting for" stderr) $(grep -cE "^zklock: took /l after [0-9.]+m?s$" stderr) $(grep -c . stderr)" "1 1 2"
}

@test "without -v, and no terminal, nothing is said while it waits" {
  hold h /l
  stand w /l
  let_all_go h w
  assert_equal "$(cat w.err w.out)" ""
}
