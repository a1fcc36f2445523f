#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue pull with readers that are slow or gone, and consumers that are killed or frozen.

load ../helpers
load ../queue_nodes

setup() { setup_zk; }

teardown() { end_all; }

@test "an item whose bytes were not written stays in the queue, and does not count" {
  queue_of first "$(long_text)" third
  set +e
  background zklock queue pull --all /q 2>err > >(head -n 1 >got)
  wait $!
  assert_equal $? 141
  set -e
  assert_equal "$(<got)" first
  assert_equal "$(<err)" ""
  assert_equal "$(znode ls "$segment")" $'token-0000000001\ntoken-0000000002'
  assert_equal "$(attempts 1) $(attempts 2)" "0 0"
}

@test "who waits for items notices that the reader has gone" {
  queue_of one
  background zklock queue pull --follow /q > >(head -n 1 >got)
  expect_end 141 $!
  wait_until "nobody stands in line" has_nodes /q/waiting 0
}

@test "a reader who stops for three session timeouts: the claims stand, nobody else gets the items" {
  queue_of "$(long_text a)" b
  pull_without_reader slow --session-timeout 600ms --all /q
  wait_until "both are claimed" eval 'is_claimed 0 && is_claimed 1'
  local owner
  owner=$(znode stat "$(item 0)/claim")
  sleep 2
  assert_equal "$(znode stat "$(item 0)/claim")" "$owner"
  expect_error 75 "in work" zklock queue pull /q
  cat <&"$reader" >got 3>&- &
  expect_end 0 "${pid[slow]}"
  wait_until "all has arrived" cmp got <(long_text a && printf '\nb\n')
  has_nodes "$segment" 0
}

@test "killed with items claimed: they come back when its session ends, the attempt counted" {
  queue_of "$(long_text)" next
  pull_without_reader dead --session-timeout 500ms --all /q
  wait_until "both are claimed" eval 'is_claimed 0 && is_claimed 1'
  kill -KILL "${pid[dead]}"
  wait_until "both are free" eval 'is_free 0 && is_free 1'
  assert_equal "$(attempts 0) $(attempts 1)" "1 1"
  zklock queue pull --all /q >got
  cmp got <(long_text && printf '\nnext\n')
}

@test "frozen past its session: the item is not removed under who has it now, and that is 76" {
  queue_of "$(long_text)"
  pull_without_reader frozen --session-timeout 500ms /q
  # A part is written: a consumer that has written nothing has lost nothing, and would look for another item.
  head -c 1 <&"$reader" >/dev/null
  kill -STOP "${pid[frozen]}"
  wait_until "the session has ended" is_free 0
  mkfifo other.pipe
  exec {unread}<>other.pipe
  background zklock queue pull /q >other.pipe
  pid[other]=$!
  wait_until "it is claimed again" is_claimed 0
  cat <&"$reader" >/dev/null 3>&- &
  kill -CONT "${pid[frozen]}"
  expect_end 76 "${pid[frozen]}"
  grep -F "zklock: cannot pull from /q" frozen.err
  assert_equal "$(wc -l <frozen.err)" 1
  is_claimed 0
  cat <&"$unread" >got 3>&- &
  expect_end 0 "${pid[other]}"
  has_nodes "$segment" 0
}

@test "TERM: what was not written goes back uncounted; it dies of the signal" {
  queue_of "$(long_text)" next
  pull_without_reader ended --all /q
  wait_until "both are claimed" eval 'is_claimed 0 && is_claimed 1'
  kill -TERM "${pid[ended]}"
  expect_end 143 "${pid[ended]}"
  assert_equal "$(<ended.err)" ""
  is_free 0 && is_free 1
  assert_equal "$(attempts 0) $(attempts 1)" "0 0"
}

@test "--follow gets TERM or INT: what was written is removed, and that is 0" {
  local signal
  queue_of
  for signal in TERM INT; do
    wait_in_line "$signal" --follow /q
    put "$segment" 0 "for $signal"
    wait_for "for $signal" "$signal.out"
    kill -s "$signal" "${pid[$signal]}"
    expect_end 0 "${pid[$signal]}"
    assert_equal "$(<"$signal.err")" ""
    has_nodes /q/waiting 0
    assert_no_nodes "$segment"
  done
}

@test "standard output that is closed or full: 74, and the item stays uncounted" {
  queue_of one
  expect_error 74 "standard output" sh -c "\"\$ZKLOCK_BIN\" queue pull /q >&-"
  expect_error 74 "standard output: No space left" sh -c "\"\$ZKLOCK_BIN\" queue pull /q >/dev/full"
  is_free 0
  assert_equal "$(attempts 0)" 0
}

# stands_still N: no more goes into the pipe, and what went in has been removed.
stands_still() {
  local left
  left=$(zklock queue count --json /q | jq .items)
  for _ in 1 2 3; do
    sleep 0.2
    ((left < $1)) && [[ $(zklock queue count --json /q | jq .items) == "$left" ]] || return
  done
}

@test "frozen before a full pipe while another one pulls the rest: nothing is written twice" {
  seq 3000 | sed 's/$/ a line that fills the pipe/' >lines
  zklock queue push /q <lines
  pull_without_reader frozen --session-timeout 1s --all /q
  wait_until "the pipe is full" stands_still 3000
  kill -STOP "${pid[frozen]}"
  expect_status 0 zklock queue pull --all /q
  echo "$output" >other
  cat <&"$reader" >got 3>&- &
  kill -CONT "${pid[frozen]}"
  expect_end 0 "${pid[frozen]}"
  wait_until "all has arrived" eval '(($(cat got other | wc -l) >= 3000))'
  cmp <(cat got other | sort) <(sort lines)
}

# through_relay NAME ARG…: does pull_without_reader through a relay, with a session that outlives the test.
through_relay() {
  start_relay "${ZKLOCK_SERVERS%%/*}"
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} pull_without_reader "$@" --session-timeout 60s /q
}

# It has an item for which the pipe has no room.
begins_to_write() { head -c 1 <&"$reader" >got; }

expect_doubt() {
  expect_end 76 "${pid[$1]}"
  assert_equal "$(<"$1.err")" "zklock: cannot pull from /q: an item that was $2 is not known to be removed; it may be $2 twice"
}

@test "--follow gets TERM while nobody answers the removal of what it has written: 76" {
  queue_of "$(long_text)"
  through_relay told --follow
  begins_to_write
  kill -STOP "${pid[relay]}"
  head -c 100000 <&"$reader" >>got
  cmp got <(long_text && echo)
  kill -TERM "${pid[told]}"
  expect_doubt told written
}

@test "--follow gets TERM behind a removal that was lost with the connection: 76" {
  queue_of "$(long_text)"
  through_relay told --follow --connect-timeout 50s
  begins_to_write
  kill -KILL "${pid[relay]}"
  head -c 100000 <&"$reader" >>got
  kill -TERM "${pid[told]}"
  expect_doubt told written
}
