#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests signals to zklock run, and what becomes of a command and its descendants.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# catch END ARG…: runs print_signals under the lock; its lines are in got.
catch() {
  background zklock run /l -- print_signals "$@" >got
  wait_for ready got
}

got() { tail -n +2 got | xargs; }

assert_free() { expect_status 0 zklock run -n /l -- true; }

assert_held() { expect_status 75 zklock run -q -n /l -- true; }

# tree SCRIPT: runs `sh -c SCRIPT` under the lock. SCRIPT's processes write their ids to pids, one a line.
tree() {
  background zklock run --session-timeout 2s /l -- sh -c "$1" 2>stderr
}

has_pids() { (($(wc -l <pids) == $1)); }

# assert_all_gone: the processes in pids are gone already.
assert_all_gone() {
  local one
  while read -r one; do assert is_gone "$one"; done <pids
}

@test "a signal sent to zklock alone reaches the command once" {
  catch TERM
  local name
  for name in INT HUP QUIT USR1 USR2 WINCH CONT TSTP; do
    kill -s "$name" $!
    wait_for "$name" got
  done
  kill -TERM $!
  expect_end 0 $!
  assert_equal "$(got)" "INT HUP QUIT USR1 USR2 WINCH CONT TSTP TERM"
}

@test "a signal that the command handles does not end it, and the lock stays" {
  catch USR2
  kill -INT $!
  kill -TERM $!
  wait_for TERM got
  assert_held
  kill -USR2 $!
  expect_end 0 $!
  assert_free
}

@test "the same signal twice reaches it twice" {
  catch TERM
  kill -HUP $!
  wait_for HUP got
  kill -HUP $!
  wait_until "it came twice" grep -qzE 'HUP.HUP' got
  kill -TERM $!
  expect_end 0 $!
  assert_equal "$(got)" "HUP HUP TERM"
}

@test "a signal ends the command: zklock dies of the same one, after the command" {
  local name
  for name in INT TERM HUP QUIT; do
    rm -f end pids
    background ended end "$ZKLOCK_BIN" run /l -- sh -c 'ulimit -c 0; echo $$ >pids; exec sleep 600'
    wait_until "it runs" test -s pids
    kill -s "$name" "$(awk '/pid/ { print $2 }' end)"
    wait_for "signal $name" end
    assert_all_gone
    assert_free
  done
}

@test "a command that ignores TERM runs on, and its lock with it" {
  # shellcheck disable=SC2016
  background zklock run /l -- sh -c 'trap "" TERM; echo $$ >pids; until [ -e go ]; do sleep 0.02; done; exit 5'
  wait_until "it runs" test -s pids
  kill -TERM $!
  assert_held
  touch go
  expect_end 5 $!
  assert_free
}

@test "a handler that cleans up: the lock is given back after it, with its status" {
  background zklock run /l -- sh -c 'trap "until [ -e go ]; do sleep 0.02; done; echo clean >log; exit 9" TERM
    echo $$ >pids; while :; do sleep 0.02; done'
  wait_until "it runs" test -s pids
  kill -TERM $!
  assert_held
  touch go
  expect_end 9 $!
  assert_equal "$(<log)" clean
}

@test "after a TERM that was passed on: a pipeline that ignores it is gone before the release" {
  tree 'trap "echo \$\$ >/dev/null; exit 3" TERM
    (trap "" TERM; echo $(exec sh -c "echo \$PPID") >>pids; while :; do sleep 0.1; done) |
    (trap "" TERM; echo $(exec sh -c "echo \$PPID") >>pids; while :; do sleep 0.1; done) & wait'
  wait_until "both run" has_pids 2
  kill -TERM $!
  expect_end 3 $!
  assert_all_gone
  assert_free
}

@test "after a TERM that was passed on: who left the session or the family is gone too" {
  # shellcheck disable=SC2016
  tree 'setsid sh -c "trap \"\" TERM HUP; echo \$\$ >>pids; while :; do sleep 0.1; done" &
    (sh -c "trap \"\" TERM HUP; echo \$\$ >>pids; while :; do sleep 0.1; done" &)
    (setsid sh -c "(trap \"\" TERM; sh -c \"echo \\\$\\\$ >>pids; exec sleep 600\") & exit" &)
    (sh -c "echo \$\$ >>pids; kill -STOP \$\$" &)
    exec sleep 600'
  wait_until "all run" has_pids 4
  assert_held
  kill -TERM $!
  expect_end 143 $!
  assert_all_gone
  assert_free
}

@test "after a TERM that was passed on: what ends by itself within the grace may do so" {
  # shellcheck disable=SC2016
  tree '(trap "echo cleaned >log; exit" TERM; sh -c "echo \$PPID" >>pids; while :; do sleep 0.02; done) &
    echo $$ >>pids; exec sleep 600'
  wait_until "both run" has_pids 2
  kill -TERM $!
  expect_end 143 $!
  assert_equal "$(<log)" cleaned
  assert_all_gone
}

@test "after an ordinary end what was left behind runs on, without the lock" {
  # shellcheck disable=SC2016
  expect_status 4 zklock run /l -- sh -c 'setsid sleep 600 >/dev/null 2>&1 & echo $! >pids; exit 4'
  assert_free
  assert [ "$(ps -o comm= -p "$(<pids)")" = sleep ]
  assert_equal "$(find "/proc/$(<pids)/fd" -lname '*socket*' -o -lname '*anon*' | wc -l)" 0
  kill "$(<pids)"
}

@test "what was left behind keeps a pipe open, zklock and its guard do not" {
  # shellcheck disable=SC2016
  run -0 timeout 10 sh -c '"$ZKLOCK_BIN" run /l -c "sleep 600 >/dev/null 2>&1 & echo done" | cat'
  assert_output "done"
  # The command runs on without its output.
  background sh -c '"$ZKLOCK_BIN" run /l -c "exec >&-; echo \$\$ >pids; exec sleep 600" | cat >cat.out; touch eof'
  wait_until "it runs" test -s pids
  kill "$(<pids)"
  wait_until "the reader sees the end" test -e eof
}

@test "nohup: HUP ends neither the command nor zklock, other signals do" {
  background nohup "$ZKLOCK_BIN" run /l -- print_signals TERM USR1 >got
  wait_for ready got
  kill -HUP $!
  kill -TERM $!
  expect_end 0 $!
  assert_equal "$(got)" TERM
}

@test "timeout ends zklock and its command, and the lock is free" {
  # shellcheck disable=SC2016
  expect_status 124 timeout 5 "$ZKLOCK_BIN" run /l -- sh -c 'echo $$ >pids; exec sleep 600'
  assert_all_gone
  assert_free
  rm pids
  expect_status 137 timeout -s KILL 5 "$ZKLOCK_BIN" run --session-timeout 2s /l -- sh -c 'echo $$ >pids; exec sleep 600'
  wait_gone "$(<pids)"
  expect_status 0 zklock run -w 10s /l -- true
}

@test "in the background of sh INT is ignored, by zklock and its command" {
  # shellcheck disable=SC2016
  sh -c '"$ZKLOCK_BIN" run /l -- print_signals TERM >got 3>&- & echo $! >zklock'
  wait_for ready got
  kill -INT "$(<zklock)"
  kill -TERM "$(<zklock)"
  wait_gone "$(<zklock)"
  assert_equal "$(got)" TERM
}

@test "SIGCHLD ignored at the start: the status comes back, and stays ignored for the command" {
  expect_status 7 env --ignore-signal=CHLD "$ZKLOCK_BIN" run /l -- sh -c 'exit 7'
  expect_status 0 env --ignore-signal=CHLD "$ZKLOCK_BIN" run /l -- grep SigIgn /proc/self/status
  assert_regex "$output" '[0-9a-f]*[13579bdf][0-9a-f]{4}$' # 17 - 1
}

@test "the command's mask and dispositions are the caller's" {
  local show='grep -E Sig(Blk|Ign|Cgt) /proc/self/status' flags
  for flags in "--default-signal" "--ignore-signal=HUP,INT,QUIT,USR1,CHLD,PIPE,TSTP,CONT,TTOU,WINCH,RTMIN" \
    "--block-signal=TERM,CHLD,PIPE,USR2,HUP" "--default-signal=PIPE --block-signal" "--ignore-signal=PIPE"; do
    # shellcheck disable=SC2086
    expect_status 0 env $flags $show
    local expected=$output
    # shellcheck disable=SC2086
    expect_status 0 env $flags "$ZKLOCK_BIN" run /l -- $show
    assert_equal "$flags $output" "$flags $expected"
  done
}

@test "a signal that was blocked at the start still works for zklock" {
  background env --block-signal=TERM "$ZKLOCK_BIN" run /l -- print_signals TERM >got
  wait_for ready got
  kill -TERM $!
  expect_end 0 $!
  assert_equal "$(got)" TERM
}

@test "a reader that goes away ends the command by SIGPIPE, and zklock too" {
  # shellcheck disable=SC2016
  expect_status 0 bash -c '"$ZKLOCK_BIN" run /l -- yes | head -n 1; echo "${PIPESTATUS[0]}"'
  assert_output $'y\n141'
  assert_equal "$stderr" ""
  assert_free
}

@test "the command is in zklock's process group and session" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -- sh -c 'ps -o pgid=,sid= -p $$'
  local inside=$output
  expect_status 0 sh -c 'ps -o pgid=,sid= -p $$'
  assert_equal "$(xargs <<<"$inside")" "$(xargs <<<"$output")"
  # shellcheck disable=SC2016
  expect_status 0 setsid -w "$ZKLOCK_BIN" run /l -- sh -c 'ps -o pgid=,sid=,tpgid= -p $$'
  assert_regex "$(xargs <<<"$output")" '^([0-9]+) \1 -1$'
}

@test "INT to the whole group, as from a terminal, ends a loop of bash" {
  background setsid bash -c 'for n in 1 2 3; do echo $n >>rounds; "$ZKLOCK_BIN" run /l -- sleep 600; done; touch finished'
  wait_until "the first round runs" assert_held
  kill -INT -- "-$!"
  expect_end 130 $!
  assert_equal "$(<rounds)" 1
  assert [ ! -e finished ]
  assert_free
}

@test "the guard is not in the way of a signal to the group" {
  background setsid "$ZKLOCK_BIN" run /l -- print_signals USR2 TERM >got
  wait_for ready got
  kill -TERM -- "-$!"
  kill -USR1 -- "-$!"
  wait_for USR1 got
  assert_held
  kill -USR2 $!
  expect_end 0 $!
}

@test "stopped by STOP, zklock's command runs on; continued, it gets the status" {
  # shellcheck disable=SC2016
  background zklock run --session-timeout 30s /l -- sh -c 'until [ -e go ]; do sleep 0.02; done; touch done; exit 6'
  wait_until "it holds the lock" assert_held
  kill -STOP $!
  touch go
  wait_until "the command ends" test -e "done"
  kill -CONT $!
  expect_end 6 $!
  assert_free
}

# The script leads its session, as under cron, so its group is orphaned. The kernel hangs up such a group if one of its
# last ties goes while a member is stopped.
@test "in a group without a terminal that has a stopped member the command's end hangs nobody up" {
  # shellcheck disable=SC2016
  expect_status 0 setsid --wait sh -c 'trap "echo hung up" HUP
    sleep 600 & kill -STOP $!
    "$ZKLOCK_BIN" run /l -- true
    kill -KILL $!; echo fine'
  assert_equal "$output" fine
}

# cron and systemd start it so. The guard is in that group too, and zklock may be the first to run again.
@test "all of a group without a terminal is stopped while it waits, and continued: it waits on" {
  hold h /l
  # shellcheck disable=SC2016
  background setsid "$ZKLOCK_BIN" run /l -- sh -c 'echo $$ >w.held' 2>stderr
  pid[w]=$!
  wait_until "it stands in line" has_nodes /l 2
  kill -STOP -- "-${pid[w]}"
  wait_until "its guard is stopped" is_stopped "$(guard_of "${pid[w]}")"
  kill -CONT "${pid[w]}"
  wait_until "its guard runs again" is_not_stopped "$(guard_of "${pid[w]}")"
  let_all_go h
  expect_end 0 "${pid[w]}"
  assert_equal "$(<stderr)" ""
  assert [ -s w.held ]
}

# The command's guard must be in another group by then: if stopped, it could not keep the fence. The command forks
# nothing, because a child that is stopped before it executes would keep it from being stopped.
@test "all of a group without a terminal is stopped while its command runs, and continued: it keeps its lock" {
  mkfifo go
  # shellcheck disable=SC2016
  background setsid "$ZKLOCK_BIN" run /l -- sh -c 'echo $$ >pids; read -r _ <go; exit 6' 2>stderr
  wait_until "it runs" test -s pids
  wait_until "its guard has left the group" has_left "$(guard_of $!)" $!
  kill -STOP -- "-$!"
  wait_until "its command is stopped" is_stopped "$(<pids)"
  refute is_stopped "$(guard_of $!)"
  kill -CONT -- "-$!"
  echo >go
  expect_end 6 $!
  assert_equal "$(<stderr)" ""
}

has_left() { (($(ps -o pgid= -p "$1") != $2)); }
is_not_stopped() { [[ $(<"/proc/$1/stat") != *") T "* ]]; }
