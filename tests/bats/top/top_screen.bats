#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock top on a screen of tmux's: what is on it at each size, and what the keys do.

load ../helpers
load ../tmux

setup() { setup_zk; }

teardown() { end_all; }

# Makes twelve locks, the last with a waiter, two queues, one with a dead letter, and a group.
some_of_all() {
  local number
  for number in {01..11}; do
    background znode stand "/top/locks/l$number/x-$number-" "a holder" >"stands.$number"
  done
  for number in {01..11}; do wait_until "it stands" test -s "stands.$number"; done
  hold h --label "the label" /top/locks/z
  stand w /top/locks/z
  zklock queue push /top/queues/q dies stays too
  expect_status 1 zklock queue pull --max-attempts 1 /top/queues/q -- false
  zklock queue push /top/queues/a one
  background zklock group join --name m1 /top/groups/g
  wait_until "it is in" zklock group list -q /top/groups/g
}

count_on_screen() { screen | grep -cE "$1"; }

# first_of HEAD: prints the row below it.
first_of() { screen | grep -A 1 "^$1 " | tail -n 1; }

top_on() { on_tmux "$1" "$2" "$ZKLOCK_BIN" top --interval 200ms "${@:3}"; }

quit() {
  press q
  wait_for 0 end
}

@test "all of it at 80 x 24: the ensemble, sums, locks, queues, groups; what needs a look is first" {
  some_of_all
  top_on 80 24 /top
  wait_screen "^GROUP"
  wait_screen "^ok: standalone"
  wait_screen "^12 locks \(12 held, 1 waited for\), 2 queues \(3 items, 1 dead\), 1 group"
  assert_regex "$(first_of LOCK)" "/top/locks/z .*'the label'.* 1 "
  assert_regex "$(first_of QUEUE)" "/top/queues/q +2 +0 +1 "
  assert_regex "$(first_of GROUP)" "/top/groups/g +1 "
  quit
  assert_terminal_as_before
}

@test "right at 200 x 50, 80 x 20, 20 x 24 and 20 x 6, after each resize" {
  some_of_all
  top_on 200 50 /top
  wait_screen "^GROUP"
  assert_equal "$(count_on_screen ^/top/locks/)" 12
  resize 80 20
  wait_screen "^GROUP"
  wait_until "there are fewer rows" eval '(($(count_on_screen ^/top/locks/) < 12))'
  resize 20 24
  wait_no_screen HOLDER
  wait_screen "locks/z +1$"
  resize 20 6
  wait_no_screen "^QUEUE"
  wait_screen "^LOCK"
  press Tab
  wait_screen "^QUEUE"
  resize 1 1
  resize 80 24
  wait_screen "^LOCK .*HOLDER .*LONGEST"
  quit
}

@test "the cursor goes through all sections; enter looks closer, q, escape, backspace and enter come back" {
  some_of_all
  top_on 80 40 /top
  wait_screen "^GROUP"
  press Enter
  wait_screen "^LOCK .*STATE"
  wait_screen "waiting"
  press q
  wait_screen "^GROUP"
  press End Enter
  wait_screen "^MEMBER"
  wait_screen "^m1-[0-9]+ "
  press Escape
  wait_screen "^GROUP"
  press Home Tab Enter
  wait_screen "ITEM"
  wait_screen "stays$"
  press BSpace
  wait_screen "^GROUP"
  press Up Enter
  wait_screen "^LOCK .*STATE"
  press Enter
  wait_screen "^GROUP"
  quit
}

@test "what is looked at closer is kept up to date" {
  hold h /top/l
  top_on 80 24 /top
  wait_screen "^LOCK"
  press Enter
  wait_screen "holding"
  stand w /top/l
  wait_screen "waiting"
  let_go h
  wait_no_screen "waiting"
  let_go w
  wait_no_screen "holding"
  press q
  wait_screen "q quit"
  quit
}

@test "a closer look that is wanted while the session ends is had in the next one" {
  local servers
  start_relay "${ZKLOCK_SERVERS%/*}"
  servers=$(relayed_ports)/${ZKLOCK_SERVERS#*/}
  hold h /top/l
  # This one's session is longer than top's, so when its node is gone, both are over.
  hold other -S "$servers" --session-timeout 3s /other
  on_tmux 80 24 "$ZKLOCK_BIN" top -S "$servers" --session-timeout 1s --interval 200ms /top
  wait_screen "^/top/l "
  kill -STOP "${pid[relay]}"
  wait_until "both sessions are over" has_nodes /other 0
  press Enter
  wait_screen "^reading"
  kill -CONT "${pid[relay]}"
  wait_screen "^LOCK .*STATE"
  press q
  wait_screen "q quit"
  quit
}

@test "a slash filters as it is typed; enter keeps it, escape takes it back" {
  some_of_all
  top_on 80 40 /top
  wait_screen "^GROUP"
  press /
  press l01
  wait_no_screen "^QUEUE"
  wait_screen "^/top/locks/l01 "
  assert_equal "$(count_on_screen ^/top/)" 1
  press Escape
  wait_screen "^QUEUE"
  press /
  press queues
  press Enter
  wait_no_screen "^LOCK"
  press s
  wait_screen "s sort \(name\)"
  press Escape
  wait_screen "^LOCK"
  quit
}

@test "a filter that nothing has leaves the keys alone" {
  some_of_all
  top_on 80 24 /top
  wait_screen "^GROUP"
  press /
  press "nothing has this"
  wait_no_screen "^/top/"
  press Enter Enter Up Down PageDown PageUp Home End Tab s
  wait_screen "s sort \(name\)"
  quit
}

@test "s goes on from attention to name, size, age" {
  some_of_all
  top_on 80 40 /top
  wait_screen "s sort \(attention\)"
  assert_regex "$(first_of QUEUE)" "/top/queues/q "
  press s
  wait_screen "s sort \(name\)"
  assert_regex "$(first_of QUEUE)" "/top/queues/a "
  assert_regex "$(first_of LOCK)" "/top/locks/l01 "
  press s
  wait_screen "s sort \(size\)"
  assert_regex "$(first_of QUEUE)" "/top/queues/q "
  assert_regex "$(first_of LOCK)" "/top/locks/z "
  press s
  wait_screen "s sort \(age\)"
  press s
  wait_screen "s sort \(attention\)"
  quit
}

@test "what comes and goes is seen, from a path on that is not there yet" {
  top_on 80 24 /top
  wait_screen "there is no node /top"
  hold h /top/l
  wait_screen "^/top/l "
  stand w /top/l
  wait_screen "^/top/l .* 1 "
  zklock queue push /top/q a b c
  wait_screen "^/top/q +3 "
  zklock queue pull --all /top/q
  wait_screen "^/top/q +0 "
  background zklock group join --name m /top/g
  local member=$!
  wait_screen "^/top/g +1 "
  kill "$member"
  wait_no_screen "^/top/g +1 "
  let_all_go h w
  wait_no_screen "^/top/l .* 1 "
  quit
}

@test "nothing below a path: the keys do nothing, q ends it" {
  znode create /empty
  top_on 80 24 /empty
  wait_screen "^0 locks"
  press Enter Up Down PageDown End Tab s
  wait_screen "s sort \(name\)"
  quit
  assert_terminal_as_before
}
