#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests how zklock run ends: a command's status and signal come back, and what is zklock's own says so.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# end_of_run ARG…: prints how `zklock run ARG…` ends, "exit N" or "signal NAME", which a shell cannot.
end_of_run() {
  ended end "$ZKLOCK_BIN" run "$@" 2>stderr || true
  tail -n 1 end
}

@test "every status from 0 to 255 of a command comes back" {
  # shellcheck disable=SC2016  # for the inner shell
  seq 0 255 | xargs -P 8 -n 32 sh -c '
    for status; do
      "$ZKLOCK_BIN" run /status/$status -- sh -c "exit $status" 2>>stderr; echo "$status came back as $?" >>all
    done' sh
  assert_equal "$(sort -n all)" "$(for n in {0..255}; do echo "$n came back as $n"; done)"
  assert_equal "$(<stderr)" ""
}

@test "a command that dies of HUP, INT, QUIT, TERM or PIPE: so does zklock, without a core" {
  local name
  for name in HUP INT QUIT TERM PIPE; do
    assert_equal "$(end_of_run /l -- sh -c "ulimit -c 0; kill -s $name \$\$")" "signal $name"
    assert_equal "$(<stderr)" ""
  done
}

@test "a command that dies of another signal: 128 and its number" {
  local name number
  for name in KILL USR1 ALRM ABRT SEGV VTALRM RTMIN; do
    number=$(kill -l "$name")
    assert_equal "$name: $(end_of_run /l -- sh -c "ulimit -c 0; kill -$number \$\$")" "$name: exit $((128 + number))"
    assert_equal "$(<stderr)" ""
  done
}

@test "a command with a status like one of ours: no line of ours" {
  local status
  for status in 1 64 65 69 70 74 75 76 77 123 126 127; do
    expect_status "$status" zklock run -n -E 9 /l -- sh -c "exit $status"
    assert_equal "$stderr" ""
    expect_status "$status" zklock run /l -c "exit $status"
    assert_equal "$stderr" ""
  done
}

@test "wrong use: 64 and one line" {
  expect_error 64 "nightly" zklock run nightly -- true
}

@test "a path that is a queue or slots: 65 and one line" {
  znode create /queue "zklock queue 1"
  znode create /queue/items
  background znode stand /slots/leases/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lease- >slot
  wait_until "somebody has a slot" test -s slot
  expect_error 65 "cannot take /queue: the path is in use as a queue" zklock run /queue -- touch ran
  expect_error 65 "cannot take /slots: the path is in use for slots" zklock run /slots -- touch ran
  expect_error 65 "/queue" zklock run -n -E 9 /queue -- touch ran
  assert [ ! -e ran ]
  assert_equal "$(znode ls /queue; znode ls /slots)" $'items\nleases'
}

@test "a path that an ephemeral node stands in the way of: 65 and one line" {
  hold h /l
  local node
  node=/l/$(znode ls /l)
  expect_error 65 "$node" zklock run "$node/deeper" -- touch ran
  assert [ ! -e ran ]
  let_all_go h
}

@test "nobody there: 69 and one line" {
  expect_error 69 "127.0.0.1:1" zklock run -S 127.0.0.1:1 --connect-timeout 300ms /l -- touch ran
  assert [ ! -e ran ]
}

@test "busy: 75 and one line, with -E N another" {
  hold h /l
  expect_error 75 "cannot take /l: held by " zklock run -n /l -- touch ran
  expect_error 3 "cannot take /l: held by " zklock run -n -E 3 /l -- touch ran
  expect_error 0 "cannot take /l: held by " zklock run -n -E0 /l -- touch ran
  expect_error 255 "cannot take /l: held by " zklock run -n --conflict-exit-code=255 /l -- touch ran
  assert [ ! -e ran ]
  let_all_go h
}

@test "-E is for busy alone" {
  expect_error 69 "127.0.0.1:1" zklock run -nE 3 -S 127.0.0.1:1 --connect-timeout 300ms /l -- true
  expect_error 127 "no-such" zklock run -nE 3 /l -- ./no-such
  expect_status 75 zklock run -nE 3 /l -- sh -c 'exit 75'
  assert_equal "$stderr" ""
}

@test "the lock lost: 76 and one line" {
  begin h /l
  wait_until "the lock is held" test -s h.held
  znode rm "/l/$(znode ls /l)"
  expect_end 76 "${pid[h]}"
  assert_equal "$(grep -c . h.err) $(grep -c '^zklock: lost /l: ' h.err)" "1 1"
}

@test "refused by an ACL: 77 and one line" {
  ZKLOCK_AUTH=digest:one:secret hold h --acl creator /l
  expect_error 77 "/l" zklock run -n /l -- touch ran
  expect_error 77 "/l" env ZKLOCK_AUTH=digest:two:secret "$ZKLOCK_BIN" run -n /l -- touch ran
  assert [ ! -e ran ]
  expect_error 75 "/l" env ZKLOCK_AUTH=digest:one:secret "$ZKLOCK_BIN" run -n /l -- touch ran
  let_all_go h
}

@test "a command that is not there or cannot be executed: 127 and 126" {
  mkdir folder
  printf '#!/no/such/interpreter\n' >script
  touch data
  chmod +x script
  expect_error 127 "cannot run ./no-such: command not found" zklock run /l -- ./no-such
  expect_error 127 "cannot run no-such-command: " zklock run /l -- no-such-command
  expect_error 127 "cannot run folder: command not found" zklock run /l -- folder
  expect_error 127 "cannot run '': " zklock run /l -- ''
  expect_error 127 "cannot run data/x: " zklock run /l -- data/x
  expect_error 126 "cannot run ./data: Permission denied" zklock run /l -- ./data
  expect_error 126 "cannot run ./folder: " zklock run /l -- ./folder
  expect_error 127 "cannot run ./script: its interpreter was not found" zklock run /l -- ./script
  assert_no_nodes /l
}

@test "126 and 127 come at once while the lock is busy, and without a node" {
  touch data
  hold h /l
  local before
  before=$(znode stat /l | grep cversion)
  expect_error 127 "./no-such" zklock run /l -- ./no-such
  expect_error 126 "./data" zklock run /l -- ./data
  assert_equal "$(znode stat /l | grep cversion)" "$before"
  expect_error 127 "./no-such" zklock run -S 127.0.0.1:1 /l -- ./no-such
  let_all_go h
}

@test "a command that goes while the lock is busy: 127, and the lock is free" {
  printf '#!/bin/sh\ntouch ran' >script
  chmod +x script
  hold h /l
  background zklock run /l -- ./script 2>stderr
  wait_until "it waits" has_nodes /l 2
  rm script
  let_all_go h
  expect_end 127 $!
  assert_equal "$(<stderr)" "zklock: cannot run ./script: command not found"
  assert_no_nodes /l
  assert [ ! -e ran ]
}

@test "a script without #! runs, as in a shell" {
  # shellcheck disable=SC2016
  echo 'echo "$0 $*"' >script
  chmod +x script
  expect_status 0 zklock run /l -- ./script one two
  assert_output "./script one two"
  PATH=$PWD:$PATH expect_status 0 zklock run /l -- script -1
  assert_output "$PWD/script -1"
}

@test "-c gives a string to /bin/sh" {
  expect_status 7 zklock run -c 'echo "$0:$#:a  b" | cat; exit 7' /l
  assert_output "/bin/sh:0:a  b"
  expect_status 0 zklock run /l --command='test $((1 + 1)) = 2'
  expect_status 127 zklock run /l -c 'no-such-command 2>/dev/null'
  assert_equal "$stderr" ""
  expect_status 0 zklock run /l -c ''
}

@test "a hundred very short commands all end with 0" {
  local n
  for n in {1..100}; do expect_status 0 zklock run /l -- true; done
  expect_status 0 zklock run /l -- /bin/echo once
  assert_output once
}
