#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that completion without a server that answers prints nothing, offers no path, and ends soon.

load ../helpers
load ../complete

setup_file() {
  ensemble --servers 1
  znode create /there
}

teardown_file() { stop_ensemble; }

setup() {
  setup_place
  own_zklock
  zk_sandbox continue 1
}

teardown() {
  zk_sandbox continue 1
  end_all
}

# is_silent OPTION…: complete prints nothing, and ends well within a second, and what a busy machine adds.
is_silent() {
  local before
  before=$(now_us)
  expect_status 0 zklock complete -- show "$@" /
  assert_equal "$output$stderr" ""
  (($(now_us) - before < 3000000)) || fail "it took $(($(now_us) - before)) us"
}

# shells_are_silent: the shells are silent too.
shells_are_silent() {
  local shell
  for shell in bash fish; do
    run --separate-stderr offers_of_"$shell" "zklock run /"
    assert_equal "$output$stderr" ""
    run --separate-stderr offers_of_"$shell" "zklock run --nonb"
    assert_equal "$output$stderr" "--nonblock"
  done
  for shell in bash fish zsh; do
    tab "$shell" insert "zklock run /" >shown
    assert_equal "$(jq -r .line shown)" "zklock run /"
    refute grep -F zklock: shown
    refute grep -i alarm shown
  done
}

there() { [[ $(zklock complete -- show /) == $'paths\n/there' ]]; }

@test "a server that is frozen" {
  wait_until "/there is offered" there
  zk_sandbox pause 1
  is_silent
  shells_are_silent
  zk_sandbox continue 1
  wait_until "/there is offered again" there
}

@test "a server that refuses, one that accepts and says nothing, one that cannot be found, and a list that is none" {
  wait_until "/there is offered" there
  background black_hole >hole
  wait_until "black_hole listens" test -s hole
  local servers
  for servers in 127.0.0.1:1 "127.0.0.1:$(<hole)" nowhere.invalid:2181 "not a list,," 127.0.0.1:99999 ""; do
    is_silent -S "$servers"
    is_silent "--servers=$servers"
    if [[ $servers ]]; then ZKLOCK_SERVERS=$servers is_silent; fi
  done
  export ZKLOCK_SERVERS=127.0.0.1:1
  shells_are_silent
}

@test "a pipe for credentials or certificates is not waited for, nor read" {
  wait_until "/there is offered" there
  mkfifo pipe
  is_silent --auth-file pipe
  ZKLOCK_AUTH_FILE=pipe is_silent
  is_silent --tls-ca pipe
  ZKLOCK_TLS_CERT=pipe is_silent
}

@test "settings that are wrong" {
  wait_until "/there is offered" there
  ZKLOCK_SESSION_TIMEOUT=soon is_silent
  ZKLOCK_AUTH=bogus is_silent
  is_silent --auth-file missing
}
