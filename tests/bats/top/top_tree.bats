#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock top on trees that were not made for it: many nodes, long names, escape codes, nodes that may not be read,
# locks that come and go.

load ../helpers
load ../tmux

setup() {
  setup_zk
  mkfifo orders
  exec 7<>orders # so that neither end waits for the other
  : >answers
  # This makes the chroot, as a lock's holder does.
  znode create /top
  background /usr/bin/python3 "$repo/tests/helpers/stand_in_lines.py" "$ZKLOCK_SERVERS" <orders >>answers 2>crowd.err
}

teardown() {
  exec 7>&-
  end_all
}

# order LINE: sends it to stand_in_lines.py, and waits for its answer.
order() {
  local before
  before=$(wc -l <answers)
  echo "$1" >&7
  wait_until "it is done: $1" eval "((\$(wc -l <answers) > $before))"
}

top_on() { on_tmux "$1" "$2" "$ZKLOCK_BIN" top --interval 200ms "${@:3}"; }

quit() {
  press q
  wait_for 0 end
  assert_terminal_as_before
}

@test "300 locks, 40 of them waited for, 10 queues, 5 groups: those that are waited for stand first" {
  local number
  order "lines /top/locks 300 40 a holder"
  for number in {0..9}; do zklock queue push "/top/q$number" a b c; done
  for number in {0..4}; do background zklock group join "/top/g$number"; done
  top_on 80 50 /top
  wait_screen "^300 locks \(300 held, 40 waited for\), 10 queues \(30 items, 0 dead\), 5 groups"
  wait_screen "^/top/locks/lock-000 +'a holder' .* 1 "
  press End
  wait_screen "^/top/g4 "
  press Home
  for _ in {1..30}; do press PageDown; done
  wait_screen "^/top/g4 "
  quit
  expect_status 0 zklock top --once /top
  assert_equal "$(grep -c ^/top/locks/ <<<"$output")" 300
}

@test "what others have written cannot steer the terminal, in a closer look neither" {
  local evil=$'\e[2J\e[31m\e]0;title\a\r\nfaked'
  hold h --label "$evil" $'/top/l'
  zklock queue push /top/queue "$evil"
  background zklock group join --data "$evil" /top/g
  order "lines /top 1 0 $(printf '\xc2\x9b31m\xe5\xad\x97')" # the shorter form of ESC [
  top_on 120 24 /top
  wait_screen "^/top/l .*x1b\[2J"
  wait_screen "^/top/lock-000 +'.xc2.x9b31m字'"
  press Enter
  wait_screen 'STATE'
  press q
  wait_screen "q quit"
  press Tab Enter
  wait_screen 'ITEM'
  wait_screen 'x1b\[2J'
  press q
  wait_screen "q quit"
  press End Enter
  wait_screen MEMBER
  wait_screen 'x1b\[2J'
  assert_equal "$(screen | grep -c '^faked')" 0
  press q
  wait_screen "q quit"
  quit
}

@test "very long names and wide characters: each row is one row" {
  local long wide
  long=$(printf '/top/%0700d' 1)
  wide=/top/$(printf '字%.0s' {1..100})
  hold a "$long"
  hold b "$wide"
  top_on 80 24 /top
  wait_screen "^GROUP|^LOCK"
  wait_screen "^2 locks"
  assert_equal "$(screen | sed -n '/^LOCK/,$p' | grep -c '^/top/')" 2
  resize 20 24
  wait_no_screen HOLDER
  wait_screen "^…"
  quit
}

@test "a node that may not be read is left out; as the path it is 77" {
  need_no_identity
  hold h /top/open
  printf 'digest:somebody:secret\n' >auth
  chmod 600 auth
  hold s --auth-file auth --acl creator /top/closed/l
  top_on 80 24 /top
  wait_screen "^/top/open "
  wait_screen "^1 lock "
  quit
  expect_status 0 zklock top --once /top
  expect_error 77 "cannot look at /top/closed" zklock top --once /top/closed
}

@test "10,001 nodes: it says that it does not see all, and what it sees it shows" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  order "plain /top/many 10100"
  order "lines /top/a 1 0 a holder"
  top_on 120 24 /top
  wait_screen "not all nodes: name a PATH"
  wait_screen "^/top/a/lock-000 "
  quit
}

# The relay passes less than one look asks.
rests() {
  local before
  before=$(stat -c %s passed)
  pause 1.5
  (($(stat -c %s passed) - before < 50000))
}

# The first look does not get to all nodes. The others, which ask about each item, do not get to all queues.
@test "a tree that no look sees all of: looks in a hurry come to an end" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  order "plain /top/plain 400"
  printf '/top/q%s\n' {1..50} | xargs -P 4 -I@ "$ZKLOCK_BIN" queue push @ {1..20}
  start_relay -w passed "${ZKLOCK_SERVERS%/*}"
  on_tmux 80 24 "$ZKLOCK_BIN" top -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" --interval 1h /top
  wait_screen "^/top/q"
  # Opening the details ends a pause, so looks in a hurry are soon over.
  for _ in {1..50}; do
    press Enter
    press Enter
  done
  wait_until "it rests" rests
}

@test "a queue is kept up to date in a closer look, behind that at a lock with many contenders, too" {
  for _ in {1..51}; do echo "lines /top 1 1 a holder" >&7; done
  wait_until "they stand in line" has_nodes /top/lock-000 102
  zklock queue push /top/queue first
  top_on 80 24 /top
  wait_screen "^/top/queue "
  press Enter
  wait_screen "^LOCK .*STATE"
  press q
  wait_screen "q quit"
  press Tab Enter
  wait_screen "first$"
  zklock queue push /top/queue second
  wait_screen "second$"
  press q
  wait_screen "q quit"
  quit
}

@test "a lock that comes and goes all the time: the screen lives, and q ends it" {
  order "lines /top/locks 3 1 a holder"
  top_on 80 24 /top
  wait_screen "^/top/locks/lock-000 "
  echo "churn /top 20000" >&7
  press s
  wait_screen "s sort \(name\)"
  wait_screen "^/top/locks/lock-002 "
  press /
  press lock-001
  wait_no_screen "lock-002"
  press Escape
  wait_screen "lock-002"
  quit
}
