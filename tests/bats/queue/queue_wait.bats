#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests how zklock queue pull waits. Uses a server of this file's own, whose counters nothing else changes.

load ../helpers
load ../queue_nodes
load ../counters

setup_file() { counted_server; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  # No client pings within a test.
  export ZKLOCK_SESSION_TIMEOUT=60s
}

teardown() { end_all; }

# expect_item NAME TEXT: the consumer NAME gets it, and ends well.
expect_item() {
  expect_end 0 "${pid[$1]}" || return
  assert_equal "$(<"$1.out")" "$2"
}

@test "-w is the longest idle time: 75, and nobody stands in line any more" {
  queue_of
  local began
  began=$(now_us)
  expect_error 75 "no items" zklock queue pull -w 500ms /q
  (($(now_us) - began >= 500000))
  has_nodes /q/waiting 0
}

@test "-w 0 does not wait, and -w covers connecting: 69" {
  queue_of
  expect_error 75 "no items" zklock queue pull -w 0 /q
  expect_error 69 "no server answered" zklock queue pull -S 127.0.0.1:1 -w 200ms /q
}

# expire_until MOMENT NAME…: their sessions expire again and again while they wait.
expire_until() {
  local name moment=$1
  shift
  until is_past "$moment"; do
    for name in "$@"; do kill -STOP "${pid[$name]}"; done
    wait_until "their sessions are over" has_nodes /q/waiting 0 || return
    for name in "$@"; do kill -CONT "${pid[$name]}"; done
    wait_until "they stand in line again, or end" stand_or_end "$@" || return
  done
}

stand_or_end() {
  local name ended=0
  for name in "$@"; do
    if is_gone "${pid[$name]}"; then ended=$((ended + 1)); fi
  done
  has_nodes /q/waiting $(($# - ended))
}

@test "-w is one deadline, however often the session expires: 75" {
  queue_of
  local began name
  began=$(now_us)
  wait_in_line prints --session-timeout 500ms -w 5s /q
  wait_in_line works --session-timeout 500ms -w 5s /q -- cat
  expire_until $((began + 4000000)) prints works
  for name in prints works; do
    expect_end 75 "${pid[$name]}"
    # A wait that began again when the session expired last would end later.
    (($(now_us) - began < 9000000)) || fail "after $((($(now_us) - began) / 1000)) ms"
    assert_equal "$(<"$name.err")" "zklock: cannot pull from /q: no items"
  done
}

@test "-w is the deadline while no server answers too: 75" {
  queue_of
  local began ended=yes
  began=$(now_us)
  wait_in_line c --session-timeout 20s --connect-timeout 1m -w 3s /q
  zk_sandbox pause 1
  wait_gone "${pid[c]}" || ended=no
  zk_sandbox continue 1
  assert_equal "$ended" yes
  expect_end 75 "${pid[c]}"
  (($(now_us) - began < 20000000)) || fail "after $((($(now_us) - began) / 1000)) ms"
}

@test "who waits makes a queue that is not there yet" {
  expect_status 75 zklock queue pull -w 500ms /new/queue
  assert_equal "$(znode get /new/queue)" "zklock queue 1"
}

@test "woken by an item in a segment that is there" {
  queue_of
  wait_in_line c -w 20s /q
  put "$segment" 0 here
  expect_item c here
}

@test "woken by an item in a new segment, and in one of a higher priority" {
  queue_of
  wait_in_line next -w 20s /q
  put /q/items/100-0000000001 0 new
  expect_item next new
  wait_in_line higher -w 20s /q
  put /q/items/007-0000000000 0 urgent
  expect_item higher urgent
}

@test "woken by a claim that is given back" {
  queue_of "$(long_text)"
  pull_without_reader other /q
  wait_until "it is claimed" is_claimed 0
  wait_in_line c -w 20s /q
  kill -TERM "${pid[other]}"
  expect_item c "$(long_text)"
}

@test "woken by a claim whose owner died" {
  queue_of "$(long_text)"
  pull_without_reader other --session-timeout 500ms /q
  wait_until "it is claimed" is_claimed 0
  wait_in_line c -w 20s /q
  kill -KILL "${pid[other]}"
  expect_item c "$(long_text)"
}

@test "a place in line that somebody deletes ends the wait: 75" {
  queue_of
  wait_in_line c --follow /q
  znode rm "/q/waiting/$(znode ls /q/waiting)"
  expect_end 75 "${pid[c]}"
  assert_equal "$(<c.err)" "zklock: cannot pull from /q: our place in line was removed"
}

# One of them has ended. This costs no request.
one_has_ended() {
  local one
  for one in "${pid[@]}"; do
    if is_gone "$one"; then return; fi
  done
  return 1
}

@test "--all ends when the last item in work is done, also behind a consumer that follows" {
  queue_of last
  background zklock queue pull /q -- sh -c 'touch working; until [ -e go ]; do sleep 0.05; done'
  wait_until "the last item is in work" test -e working
  wait_in_line follower --follow --session-timeout 6s /q
  wait_in_line printer --all --session-timeout 6s /q
  wait_in_line worker --all --session-timeout 6s /q -- true
  touch go
  expect_end 0 "${pid[printer]}"
  expect_end 0 "${pid[worker]}"
}

@test "--all -w looks once more before it says that items are left in work" {
  queue_of last
  background zklock queue pull /q -- sh -c 'touch working; until [ -e go ]; do sleep 0.05; done'
  wait_until "the last item is in work" test -e working
  wait_in_line follower --follow /q
  wait_in_line all --all -w 3s /q
  touch go
  expect_end 0 "${pid[all]}"
}

@test "of 30 idle consumers one push wakes one, and 30 pushes give each one item" {
  queue_of
  local n before one
  for n in {1..30}; do
    background zklock queue pull -w 60s /q >"c$n.out"
    pid[c$n]=$!
  done
  wait_until "all stand in line" has_nodes /q/waiting 30
  # The line moves up by one: the item's consumer and the next one look around.
  before=$(requests)
  put "$segment" 1 item1
  wait_until "the item is taken, and removed" one_has_ended
  sleep 0.5
  one=$(($(requests) - before))
  note "requests for one push, the test's own among them: $one"
  ((one < 45)) || fail "$one requests"
  has_nodes /q/waiting 29
  has_nodes "$segment" 0
  put "$segment" 2 item{2..30}
  for n in {1..30}; do expect_end 0 "${pid[c$n]}"; done
  assert_equal "$(cat c*.out | sort -V)" "$(printf 'item%d\n' {1..30})"
  has_nodes /q/waiting 0
}

@test "a consumer under load asks a bounded number of times for each item" {
  queue_of {1..200}
  local before
  before=$(requests)
  zklock queue pull --all /q >got
  assert_equal "$(<got)" "$(printf '%s\n' {1..200})"
  (($(requests) - before < 300))
}

# pull_by N COUNT: N at a time take COUNT items one by one. Prints the requests for each.
pull_by() {
  local before n loops=()
  before=$(requests)
  for ((n = 1; n <= $1; ++n)); do
    # shellcheck disable=SC2016
    sh -c 'n=0; while [ $((n += 1)) -le "$1" ]; do "$ZKLOCK_BIN" queue pull /q >>"got$2" || exit; done' \
      sh $(($2 / $1)) "$n" 3>&- &
    loops+=($!)
  done
  wait "${loops[@]}"
  echo $((($(requests) - before) / $2))
}

@test "a pull asks for about as much among fifty others as alone" {
  local alone crowd
  seq 300 | zklock queue push /q
  alone=$(pull_by 1 10)
  crowd=$(pull_by 50 100)
  note "requests for one pull: $alone alone, $crowd among fifty"
  assert_equal "$(cat got* | sort -u | wc -l)" 110
  ((alone <= 16)) || fail "$alone alone"
  ((crowd <= 3 * alone)) || fail "$crowd among fifty, $alone alone"
}
