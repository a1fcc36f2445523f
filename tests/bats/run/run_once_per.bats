#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock run --once-per does not run again so soon after a success.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# stat_of NODE FIELD
stat_of() { znode stat "$1" | sed -n "s/^$2=//p"; }

# skipped ARG…: such a run does not run its command.
skipped() {
  expect_error 75 "skipped: a run under /l succeeded " zklock run "$@" /l -- touch skipped
  assert_regex "$stderr" ' ago \(--once-per [0-9a-z.]+\)$'
  assert [ ! -e skipped ]
}

@test "one of ten runs in sequence, on hosts whose clocks are an hour wrong, either way" {
  if over_tls; then skip "by a clock that is late the servers' certificate is not valid yet"; fi
  local n
  for n in 0 3600 -3600 0 7200 -3600 3600 0 -7200 3600; do
    echo "$n" >wrong
    with_wall_clock "$ZKLOCK_BIN" run --once-per 1m /l -- sh -c 'date +%s >>ran' 2>>stderr
    if [[ -e first ]]; then expect_end 75 $!; else expect_end 0 $!; fi
    touch first
  done
  assert_equal "$(wc -l <ran) $(grep -c skipped stderr)" "1 9"
}

@test "the first host's clock is an hour ahead: the others, whose are right, do not run either" {
  echo 3600 >wrong
  with_wall_clock "$ZKLOCK_BIN" run --once-per 1m /l -- true
  expect_end 0 $!
  skipped --once-per 1m
  skipped -n --once-per 10s
  assert_no_nodes /l
}

@test "when the time is over it runs again" {
  local began
  expect_status 0 zklock run --once-per 1s /l -- touch ran
  began=$(date -r ran +%s%6N)
  skipped --once-per 1s
  wait_until "it runs again" expect_status 0 zklock run -q --once-per 1s /l -- touch again
  # The server's clock and ours count whole milliseconds.
  assert [ $(($(now_us) - began)) -ge 900000 ]
  assert [ -e again ]
  skipped --once-per 1s
}

@test "who stood in line meanwhile does not run either" {
  hold first --once-per 1m /l
  stand second /l --once-per 1m /l
  let_go first
  expect_end 0 "${pid[first]}"
  expect_end 75 "${pid[second]}"
  assert_regex "$(cat second.err)" "skipped: a run under /l succeeded "
}

@test "who stood in line for longer than that does" {
  local began
  hold first --once-per 1s /l
  stand second /l /l
  stand third /l --once-per 1s /l
  let_go first
  expect_end 0 "${pid[first]}"
  began=$(now_us)
  over() { (($(now_us) > began + 1100000)); }
  wait_until "the time is over" over
  let_all_go second third
}

@test "a run that fails, is killed, or cannot begin, does not count" {
  local status
  printf '#!/no/such/interpreter\n' >job
  chmod +x job
  expect_status 127 zklock run --once-per 1m /l -- ./job
  for status in 1 75 76; do expect_status "$status" zklock run --once-per 1m /l -c "exit $status"; done
  expect_status 137 zklock run --once-per 1m /l -c 'kill -KILL $$'
  background ended end "$ZKLOCK_BIN" run --once-per 1m /l -c 'echo $$ >it; exec sleep 600'
  wait_until "it runs" test -s it
  kill -TERM "$(awk '/pid/ { print $2 }' end)"
  wait_for "signal TERM" end
  expect_status 1 znode ls /l.last
  expect_status 0 zklock run --once-per 1m /l -- true
  skipped --once-per 1m
}

@test "a run that fails later leaves the success before it as it is" {
  expect_status 0 zklock run --once-per 1m /l -- true
  expect_status 3 zklock run --once-per 1ms /l -c 'exit 3'
  assert_equal "$(stat_of /l.last version)" 0
  skipped --once-per 1m
}

@test "-E is the status of a skipped run, -q keeps it silent" {
  expect_status 0 zklock run --once-per 1m /l -- true
  expect_status 0 zklock run -nqE0 --once-per 1m /l -- touch ran
  assert_equal "$output$stderr" ""
  expect_status 9 zklock run -E 9 -q --once-per 1m /l -- touch ran
  assert_equal "$stderr" ""
  assert [ ! -e ran ]
}

@test "a plain run under the same lock is not skipped, and does not count" {
  expect_status 0 zklock run /l -- true
  expect_status 0 zklock run --once-per 1m /l -- true
  expect_status 0 zklock run /l -- true
  assert_equal "$(stat_of /l.last version)" 0
}

@test "the record outlives the session, the lock's node, and who looked at it" {
  expect_status 0 zklock run --once-per 1m /l -- true
  assert_equal "$(stat_of /l.last ephemeralOwner) $(znode ls /)" "0 l"$'\nl.last'
  znode rm /l
  skipped --once-per 1m
  skipped --once-per 1m
  assert_equal "$(stat_of /l.last version)" 0
}

@test "its node is deleted in the last moment of the command: 76, and no success is recorded" {
  local n
  for n in {1..10}; do
    # shellcheck disable=SC2016
    expect_error 76 "lost /l" zklock run --once-per 1m /l -c 'exec znode rm "$ZKLOCK_NODE"'
    expect_status 1 znode ls /l.last
  done
}

@test "it is asked to let go, and the command ends well at that: 76, and no success is recorded" {
  background zklock run --once-per 1m /l -c 'trap "exit 0" TERM; touch runs; while :; do sleep 0.02; done' 2>stderr
  wait_until "it runs" test -e runs
  znode set "$(its_node /l)" __REVOKE__
  expect_end 76 $!
  expect_status 1 znode ls /l.last
}

@test "under a lock that several may hold: 64" {
  expect_error 64 "--once-per needs a lock that one holds at a time: leave out --shared" \
    zklock run --once-per 1m -s /l -- touch ran
  expect_error 64 "--once-per needs a lock that one holds at a time: leave out --slots" \
    zklock run --once-per 1m --slots 2 /l -- touch ran
  assert [ ! -e ran ]
}

@test "with several locks, all of them count" {
  expect_status 0 zklock run --once-per 1m /a /l -- true
  expect_error 75 "skipped: a run under /a succeeded" zklock run --once-per 1m /a -- touch ran
  skipped --once-per 1m
  expect_error 75 "skipped: a run under /b, /l succeeded" zklock run --once-per 1m /l /b -- touch ran
  expect_status 0 zklock run --once-per 1m /b -- true
  assert_no_nodes /a
  assert [ ! -e ran ]
}

@test "inside the same lock: the success is recorded, and the lock not given back" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -c '"$ZKLOCK_BIN" run --once-per 1m /l -- true && "$ZKLOCK_BIN" run -q --once-per 1m /l -- false
    echo "$? $(znode ls /l | grep -c .)"'
  assert_output "75 1"
  skipped --once-per 1m
}

watched() { zk_sandbox word 1 wchp | grep -q "/${ZKLOCK_SERVERS#*/}$1\$"; }

@test "the answer to the record is lost: it is there once, and the lock is free, 0" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  local version
  # The record's node is not there yet the first time, and is the second time.
  for version in 0 1; do
    hold "h$version" --session-timeout 60s --once-per 1ms -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l
    wait_until "the last answer before the record has come" watched "$(its_node)"
    assert_equal "$(grep -c lost relayed)" "$version"
    kill -USR2 "${pid[relay]}"
    let_all_go "h$version"
    assert_equal "$(grep -c lost relayed)" $((version + 1))
    assert_equal "$(stat_of /l.last version)$(<"h$version.err")" "$version"
    assert_no_nodes /l
  done
}

@test "its node is deleted while the record is on its way: 76, and no success is recorded" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  hold h --session-timeout 60s --once-per 1m -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l
  wait_until "the last answer before the record has come" watched "$(its_node)"
  kill -STOP "${pid[relay]}"
  let_go h
  wait_gone "$(<h.held)"
  znode rm "$(its_node)"
  kill -CONT "${pid[relay]}"
  expect_end 76 "${pid[h]}"
  assert_regex "$(<h.err)" "^zklock: lost /l when the command had succeeded: that could not be recorded, "
  expect_status 1 znode ls /l.last
}

@test "the answer to the record is lost, and no server comes back: 76" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  hold h --session-timeout 1s --once-per 1m -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l
  kill -STOP "${pid[relay]}"
  let_go h
  expect_end 76 "${pid[h]}"
  assert_regex "$(<h.err)" "^zklock: lost /l when the command had succeeded: that could not be recorded, "
}

@test "a node of that name that is no record is not touched: 65" {
  znode create /l '' /l.last mine
  expect_error 65 "cannot use --once-per with /l: /l.last is not zklock's record of a success" zklock run --once-per 1m /l -- touch ran
  assert [ ! -e ran ]
  assert_equal "$(znode get /l.last)" mine
  assert_no_nodes /l
}

@test "inside a lock that is held for long, the age of the last success grows" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -- sh -c '
    "$ZKLOCK_BIN" run --once-per 1m /l -- touch first || exit
    "$ZKLOCK_BIN" run --once-per 1m /l -- touch skipped && exit 1
    sleep 2.1
    "$ZKLOCK_BIN" run --once-per 1s /l -- touch second'
  assert [ -e first ] && assert [ -e second ] && assert [ ! -e skipped ]
}
