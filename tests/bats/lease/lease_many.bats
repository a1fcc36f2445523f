#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# zklock run: many on one host that lose their locks in the same moment, as the server that all of them talk to is gone.
# Whoever kills must leave the processor to what is to die.

load ../helpers

setup_file() { ensemble --servers 1 --tick 500; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

@test "thirty commands beside a thousand other processes are stopped by the fence, all at once" {
  local i late
  for ((i = 0; i < 1000; ++i)); do sleep 600 3>&- & done
  for ((i = 0; i < 30; ++i)); do
    # Neither ends by itself when it is asked to.
    # shellcheck disable=SC2016
    background zklock run --session-timeout 2s "/l$i" -- sh -c 'trap "" TERM; echo >>begun
      (while :; do :; done) & while :; do sleep 0.01; done' 2>"err.$i"
  done
  wait_until "all have begun" eval '(($(wc -l <begun) == 30))'
  zk_sandbox pause 1
  wait_until "all have said what became of it" eval '(($(cat err.* | grep -c "^zklock: lost") == 30))'
  zk_sandbox continue 1
  late=$(grep -l "went on for" err.* | wc -l)
  note "$late of 30 went on past the fence"
  assert [ "$late" -lt 15 ]
}
