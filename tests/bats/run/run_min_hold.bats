#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --min-hold: the lock is held for so long at least, whatever the command does.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# hold_on NAME SCRIPT ARG…: starts `zklock run ARG… -c SCRIPT` in the background. Returns when the command has ended and
# the lock is held on.
hold_on() {
  background zklock run "${@:3}" /l -c "echo \$\$ >$1.command; $2" 2>"$1.err"
  pid[$1]=$!
  wait_until "the command of $1 runs" test -s "$1.command"
  wait_gone "$(<"$1.command")"
}

is_busy() { expect_status 75 zklock run -nq /l -- true; }

ended() { is_gone "${pid[$1]}"; }

count_ended() {
  local n count=0
  for n in "${!pid[@]}"; do ! ended "$n" || count=$((count + 1)); done
  echo "$count"
}

all_but_one_ended() { (($(count_ended) == ${#pid[@]} - 1)); }

@test "50 come within moments for a short job: exactly one runs it" {
  local n last=
  for n in {1..50}; do
    background zklock run -nq --min-hold 60s /l -c 'echo ran >>ran'
    pid["$n"]=$!
  done
  wait_until "all but one have gone away" all_but_one_ended
  assert_equal "$(<ran)" ran
  for n in "${!pid[@]}"; do
    if ended "$n"; then expect_end 75 "${pid[$n]}"; else last=${pid[$n]}; fi
  done
  kill -TERM "$last"
  expect_end 0 "$last"
  assert_equal "$(<ran)" ran
}

@test "a quick command: the lock is held until the time is over, and then the next one has it" {
  local began
  began=$(now_us)
  hold_on a "exit 5" --min-hold 1.5s
  begin b /l
  is_busy
  expect_end 5 "${pid[a]}"
  assert [ $(($(now_us) - began)) -ge 1500000 ]
  wait_until "the next one has it" test -s b.held
  let_all_go b
}

@test "a command that takes longer is not held up" {
  local began
  hold a --min-hold 1s /l
  wait_until "the time is over" is_past $(($(now_us) + 1000000))
  began=$(now_us)
  let_all_go a
  assert [ $(($(now_us) - began)) -lt 900000 ]
}

@test "TERM, INT, HUP or QUIT ends the hold at once, and the status stays the command's, a failure's too" {
  local name
  for name in TERM INT HUP QUIT; do
    hold_on "$name" "exit 3" --min-hold 60s
    is_busy
    kill -s "$name" "${pid[$name]}"
    expect_end 3 "${pid[$name]}"
    assert_equal "$(<"$name.err")" ""
    expect_status 0 zklock run -n /l -- true
  done
}

@test "a command that was killed holds too" {
  hold_on a 'kill -KILL $$' --min-hold 60s
  is_busy
  kill -TERM "${pid[a]}"
  expect_end 137 "${pid[a]}"
}

@test "a command that cannot be executed is not held for" {
  printf '#!/no/such/interpreter\n' >job
  chmod +x job
  expect_error 127 "./job" zklock run --min-hold 60s /l -- ./job
  expect_status 0 zklock run -n /l -- true
}

@test "a command that TERM has ended is not held for" {
  background ended end "$ZKLOCK_BIN" run --min-hold 60s /l -c 'echo $$ >it; exec sleep 600'
  wait_until "it runs" test -s it
  kill -TERM "$(awk '/pid/ { print $2 }' end)"
  wait_for "signal TERM" end
  expect_status 0 zklock run -n /l -- true
}

@test "killed during the hold: the lock is free when the session ends" {
  hold_on a true --min-hold 60s --session-timeout 500ms
  is_busy
  kill -KILL "${pid[a]}"
  expect_status 0 zklock run -w 10s /l -- true
}

@test "the hold outlasts many session timeouts" {
  hold_on a true --min-hold 60s --session-timeout 500ms
  # Three of them go by.
  expect_status 75 zklock run -q -w 1500ms /l -- true
  refute is_gone "${pid[a]}"
  kill -TERM "${pid[a]}"
  expect_end 0 "${pid[a]}"
  assert_equal "$(<a.err)" ""
}

@test "the lock is lost during the hold: it ends with the command's status" {
  hold_on a "exit 4" -v --min-hold 60s
  wait_for "zklock: the command has ended; the lock is held on for 5" a.err # and was proved since
  znode rm "/l/$(znode ls /l)"
  expect_end 4 "${pid[a]}"
  hold_on b "exit 6" --min-hold 60s
  znode set "/l/$(znode ls /l)" __REVOKE__
  expect_end 6 "${pid[b]}"
  assert_equal "$(tail -qn 1 ./*.err | sort -u)" "zklock: lost the lock before --min-hold was over"
  assert_no_nodes /l
}

@test "what the command left behind runs on during the hold and after it" {
  hold_on a 'sleep 600 & echo $! >left' --min-hold 700ms
  is_busy
  expect_end 0 "${pid[a]}"
  refute is_gone "$(<left)"
  expect_status 0 zklock run -n /l -- true
}

@test "a wall clock that jumps during the hold changes nothing" {
  local began jump
  began=$(now_us)
  echo 0 >wrong
  with_wall_clock "$ZKLOCK_BIN" run --min-hold 2s /l -- true 2>stderr
  wait_until "it has the lock" has_nodes /l 1
  for jump in 3600 -3600 7200; do
    echo "$jump" >wrong
    expect_status 75 zklock run -q -w 200ms /l -- true # so much time goes by
  done
  expect_end 0 $!
  assert [ $(($(now_us) - began)) -ge 2000000 ]
  assert [ $(($(now_us) - began)) -lt 4000000 ]
}

@test "a hold as long as --once-per, or longer, is refused: 64" {
  local hold
  for hold in 60s 1m 61s 1h; do
    expect_error 64 "--min-hold $hold leaves no time before the next run is due: it must be shorter than --once-per 1m" \
      zklock run --min-hold "$hold" --once-per 1m /l -- touch ran
  done
  expect_error 64 "for --min-hold" zklock run --min-hold soon /l -- touch ran
  assert_untouched
  expect_status 0 zklock run --min-hold 100ms --once-per 200ms /l -- true
}
