#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock answers to words that it does not have: those of other tools, slips, and words near to none.

load ../helpers
load ../words

setup() { setup_zk; }

teardown() { end_all; }

# answers TEXT ARG…: `zklock ARG…` is wrong use, and its one line contains TEXT.
answers() {
  expect_error 64 "$1" zklock "${@:2}"
  assert_equal "$output" ""
}

# guesses_nothing ARG…
guesses_nothing() {
  answers "unknown " "$@"
  refute_regex "$stderr" "did you mean|write "
}

@test "the commands of other tools have an answer" {
  local word
  for word in lock exec acquire flock; do
    answers "unknown command '$word'; write zklock run LOCK -- COMMAND" "$word" /l -- true
  done
  for word in unlock release; do answers "zklock break LOCK has its holder let go" "$word" /l; done
  for word in elect leader; do answers "write zklock run --restart LOCK -- COMMAND" "$word" /l; done
  for word in ls list status; do answers "zklock show LOCK shows who holds a lock" "$word"; done
  answers "write zklock run LOCK -- COMMAND" help lock
  assert_untouched
}

@test "a command of the second level without the first" {
  answers "unknown command 'push'; write zklock queue push" push /q item
  answers "unknown command 'join'; write zklock group join" join /g
  answers "unknown command 'delete'; write zklock queue delete or zklock group delete or zklock value delete" delete /q
  answers "unknown command 'get'; write zklock value get" get /v
  answers "unknown command 'ls'; did you mean 'list'?" queue ls /q
  answers "unknown command 'rm'; did you mean 'delete'?" group rm /g
  answers "unknown command 'cat'; did you mean 'get'?" value cat /v
  answers "unknown command 'put'; did you mean 'set'?" value put /v
}

@test "a path in the place of a command" {
  answers "unknown command '/l'; write zklock run /l -- COMMAND, zklock show /l or zklock break /l" /l -- true
  answers "unknown command '/q'; write what to do before it, see zklock queue --help" queue /q
  answers "zklock show /a\\x0ab " $'/a\nb'
}

@test "queue help, group help and value help are the help of these" {
  expect_status 0 zklock queue help
  assert_equal "$output" "$(zklock help queue)"
  assert_output --partial "Usage: zklock queue COMMAND"
  expect_status 0 zklock group help
  assert_equal "$output" "$(zklock help group)"
  expect_status 0 zklock value help
  assert_equal "$output" "$(zklock help value)"
  expect_status 0 zklock queue help pull
  assert_equal "$output" "$(zklock queue pull --help)"
  answers "unknown command 'pul'; did you mean 'pull'?" queue help pul
}

@test "what is near nothing gets no guess" {
  local word
  for word in - 4l qu '' ++ ru; do guesses_nothing "$word"; done
  guesses_nothing queue li
  guesses_nothing run - /l -- true
  guesses_nothing run --xy /l -- true
  answers "did you mean 'run'?" rnu
  answers "did you mean 'health'?" helath
}

@test "the options of flock have an answer" {
  local option
  for option in --wait=1 --wait; do answers "unknown option '$option'; write -w DUR or --timeout DUR" run "$option" /l -- true; done
  answers "write -w DUR or --timeout DUR" queue pull --wait 5 /q
  answers "unknown option '--nb'; write -n or --nonblock" run --nb /l -- true
  answers "unknown option '-e'; write -x or --exclusive" run -e /l -- true
  for option in -o --close; do answers "the command does not inherit the lock" run "$option" /l -- true; done
  for option in -F --no-fork; do answers "zklock stays beside its command" run "$option" /l -- true; done
  for option in -u --unlock; do answers "zklock break LOCK has its holder let go" run "$option" /l -- true; done
  assert_untouched
  # Options that zklock has too are accepted.
  expect_status 7 zklock run --verbose --exclusive --conflict-exit-code 3 --timeout 30 /l -- sh -c 'exit 7'
  expect_status 0 zklock run --nonblock -x -E 3 -w 30 /l -- true
}

@test "a server list with a scheme is told so" {
  answers "bad server list 'http://x/' (from --servers): the only scheme is tls://; write HOST[:PORT],HOST[:PORT]" \
    run -S http://x/ /l -- true
  ZKLOCK_SERVERS=zk://a:1,b:1/x answers "the only scheme is tls://" show /l
  expect_error 3 "the only scheme is tls://" zklock health tcp://127.0.0.1:2181
  answers "tls:// stands once, before the first server" show -S tls://a,tls://b /l
}

@test "--max-latency below a millisecond is kept, and below what can be told from 0 refused" {
  words_from "$(reply 3.9.3 leader)" # 0.7561 ms on average
  expect_status 1 zklock health --max-latency 0.0001 "${addresses[0]}"
  assert_output --partial "average latency 0.7561ms, more than 0.1ms"
  expect_status 1 zklock health --max-latency 0.75ms --format nagios "${addresses[0]}"
  assert_output --partial "more than 0.75ms"
  expect_status 0 zklock health --max-latency 0.76ms "${addresses[0]}"
  expect_error 3 "bad duration '0.0000000001' for --max-latency" zklock health --max-latency 0.0000000001 "${addresses[0]}"
}

@test "--grace that no session timeout allows is told before anything is asked" {
  answers "--grace 1d is more than an eighth of any session timeout: write at most 3h" \
    run -S 127.0.0.1:1 --grace 1d /l -- true
  answers "--grace 180m1s is more than" run -S 127.0.0.1:1 --grace 180m1s /l -- true
  expect_error 69 "cannot reach" zklock run -S 127.0.0.1:1 --connect-timeout 200ms --grace 3h /l -- true
}

@test "--grace advises no longer session than the servers grant" {
  # The servers grant the tests at most 60 s.
  answers "the session timeout, 30s: ask for --session-timeout 28800s, which the servers' maxSessionTimeout has to allow" \
    run --grace 1h /l -- true
  answers "the session timeout, 1m, the longest that the servers grant: write at most 7500ms" \
    run --session-timeout 28800s --grace 1h /l -- true
  expect_status 0 zklock run --session-timeout 28800s --grace 7500ms /l -- true
  assert_no_nodes /l
}
