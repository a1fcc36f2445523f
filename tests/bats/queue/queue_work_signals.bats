#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue pull -- COMMAND and signals.

load ../helpers
load ../queue_nodes

setup() { setup_zk; }

teardown() { end_all; }

# work ARG…: pulls from /q. The command writes the signal that it gets to the file `got`, and otherwise runs until the
# file `go` is there. With STUBBORN=1 it goes on after the signal.
work() {
  background zklock queue pull "$@" /q -- sh -c '
    trap "echo TERM >>got; [ ${STUBBORN-0} = 1 ] || exit 9" TERM
    trap "echo INT >>got; exit 9" INT
    trap "echo USR1 >>got" USR1
    echo >>began
    until [ -e go ]; do sleep 0.02; done' 2>err
  worker=$!
}

begun() { wait_until "$1 commands have begun" eval "((\$(wc -l <began) == $1))"; }

# Returns when it has been taken. Before that, a second one of the same kind would be the same.
send() {
  kill "-$1" "$worker"
  wait_until "SIG$1 is taken" grep -q "^ShdPnd:.0*$" "/proc/$worker/status"
}

@test "--follow: after TERM the running commands finish, nothing new is taken, and the status is 0" {
  queue_of 1 2 3 4
  work --follow -j 2
  begun 2
  send TERM
  touch go
  expect_end 0 "$worker"
  refute [ -e got ]
  assert_equal "$(wc -l <began)" 2
  assert_equal "$(znode ls "$segment")" $'token-0000000002\ntoken-0000000003'
  for n in 2 3; do assert_equal "$(attempts $n)" 0; done
}

@test "--follow: a second TERM is passed on; what it stops goes back and does not count" {
  queue_of 1 2 3
  work --follow -j 2
  begun 2
  send TERM
  kill -TERM "$worker"
  expect_end 0 "$worker"
  assert_equal "$(<got)" $'TERM\nTERM'
  for n in 0 1 2; do
    is_free $n
    assert_equal "$(attempts $n)" 0
  done
}

@test "a third one is passed on too" {
  queue_of 1
  STUBBORN=1 work --follow
  begun 1
  send TERM
  send TERM
  wait_for TERM got
  kill -INT "$worker"
  expect_end 0 "$worker"
  assert_equal "$(<got)" $'TERM\nINT'
}

@test "--all and -N die of the signal, when the running commands have finished" {
  local how signal
  for how in --all "-N 4"; do
    for signal in TERM INT HUP; do
      rm -f go began
      zklock queue push /q 1 2 3
      # shellcheck disable=SC2086
      work $how
      begun 1
      kill "-$signal" "$worker"
      touch go
      expect_end "$((128 + $(kill -l "$signal")))" "$worker"
      zklock queue purge --yes /q
    done
  done
}

@test "an idle worker ends at once" {
  queue_of
  work --follow
  wait_until "it waits" has_nodes /q/waiting 1
  kill -TERM "$worker"
  expect_end 0 "$worker"
  assert_no_nodes /q/waiting
}

@test "a worker that waits for a server ends at once" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  kill -STOP "${pid[relay]}"
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} background zklock queue pull --follow --connect-timeout 2m /q -- true
  worker=$!
  wait_until "it connects" eval '[[ -n $(guard_of "$worker") ]]'
  kill -TERM "$worker"
  expect_end 0 "$worker"
}

@test "a worker whose only item waits for its retry ends at once, and the item is back, counted unless it was 75" {
  local status
  queue_of 1
  for status in 1 75; do
    rm -f began
    background zklock queue pull --follow --retry-delay 1m /q -- sh -c 'echo >>began; exit '$status
    worker=$!
    begun 1
    wait_until "it waits" has_nodes /q/waiting 1
    kill -TERM "$worker"
    expect_end 0 "$worker"
    is_free 0
    assert_equal "$(attempts 0)" 1
  done
}

# trapping SIGNAL STATUS ARG…: starts `zklock queue pull ARG… /q`, whose command survives SIGNAL and ends with STATUS.
trapping() {
  local signal=$1 status=$2
  shift 2
  background zklock queue pull "$@" /q -- \
    sh -c "trap 'echo >>trapped' $signal; touch ready; until [ -e go ]; do sleep 0.02; done; exit $status"
  worker=$!
  wait_until "it runs" test -e ready
}

@test "a command that fails after another signal has failed: that counts" {
  queue_of 1
  trapping USR1 3
  kill -USR1 "$worker"
  wait_until "it has got it" test -e trapped
  touch go
  expect_end 3 "$worker"
  assert_equal "$(attempts 0)" 1
}

@test "a command that ends well after a signal has done its item" {
  queue_of 1
  trapping TERM 0 --follow
  kill -TERM "$worker"
  wait_until "it has got one" eval 'kill -TERM "$worker"; test -e trapped'
  touch go
  expect_end 0 "$worker"
  has_nodes "$segment" 0
}

@test "other signals reach the commands, and end nothing" {
  queue_of 1 2
  work --follow -j 2
  begun 2
  send USR1
  wait_until "both have got it" eval '(($(wc -l <got) == 2))'
  touch go
  wait_until "both are done" has_nodes "$segment" 0
  kill -TERM "$worker"
  expect_end 0 "$worker"
}

@test "a worker is not stopped by Ctrl-Z: it would lose its claims" {
  queue_of 1
  work --follow
  begun 1
  send TSTP
  wait_for "not stopped" err
  touch go
  wait_until "it is done" has_nodes "$segment" 0
  kill -TERM "$worker"
  expect_end 0 "$worker"
}

@test "a signal goes to the command's whole group" {
  queue_of 1
  background zklock queue pull --follow /q -- sh -c 'sleep 1000; echo >>after'
  worker=$!
  # shellcheck disable=SC2016
  wait_until "it runs" eval 'pgrep -P "$(pgrep -P "$(guard_of "$worker")")" sleep'
  send TERM
  kill -TERM "$worker"
  expect_end 0 "$worker"
  refute [ -e after ]
}
