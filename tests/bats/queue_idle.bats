#!/usr/bin/env bats
# zklock queue pull: consumers that stand in line while servers go away. On a server of this file's own, which it kills.
#
# shellcheck disable=SC2034

load helpers
load queue_nodes

setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_CONNECT_TIMEOUT=60s
}

teardown() { end_all; }

# work ARG…: on /q, in the background; each command writes its item to `begun`, and ends when a file of its name is there.
work() {
  # shellcheck disable=SC2016
  background zklock queue pull "$@" /q -- sh -c 'read -r item; echo "$item" >>begun; until [ -e "$item" ]; do sleep 0.02; done' 2>err
  pid[work]=$!
}

@test "a place in line whose delete the servers never got is left when they are back: nobody sleeps behind it" {
  queue_of one
  work --follow -j 2 --session-timeout 12s
  wait_for one begun
  wait_until "the second job waits" has_nodes /q/waiting 1
  zk_sandbox kill 1
  touch one
  # A third of the session timeout is what the delete was given.
  wait_until "the place is given up" is_past $(($(now_us) + 5000000))
  zk_sandbox restart 1
  wait_until "what was done is removed" has_nodes "$segment" 0
  put "$segment" 1 two
  wait_for two begun
  wait_until "the other job waits, once" has_nodes /q/waiting 1
}
