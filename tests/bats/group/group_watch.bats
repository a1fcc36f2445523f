#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock group watch reports every change once, to readers and to commands.

load ../helpers
load ../group

setup() { setup_zk; }

teardown() { end_all; }

# told LINE…: the watch has written exactly these lines, without the members' numbers.
told() { [[ $(sed 's/-[0-9]\{10\}$//' changes) == "$(printf '%s\n' "$@")" ]]; }

# watch ARG…: starts it in the background, into the file changes; its process id is $watcher.
watch() {
  background zklock group watch "$@" >changes 2>watch.err
  watcher=$!
}

leave() {
  kill -TERM "${pid[$1]}"
  expect_end 143 "${pid[$1]}"
}

@test "who is in, and then who comes and who goes, at once" {
  member a /g
  wait_names /g a
  watch /g
  wait_until "a was told" told +a
  member b /g
  wait_until "b was told" told +a +b
  leave a
  wait_until "the leave was told" told +a +b -a
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  assert_equal "$(<watch.err)" ""
}

@test "a group that is not there yet, that goes and comes again" {
  watch /a/g
  member a /a/g
  wait_until "a was told" told +a
  zklock group delete --force /a/g
  wait_until "the leave was told" told +a -a
  zklock group create /a/g
  member b /a/g
  wait_until "b was told" told +a -a +b
}

@test "--json has an object a line" {
  watch --json /g
  member a /g --data "x y"
  wait_until "a was told" test -s changes
  leave a
  wait_for left changes
  assert_equal "$(jq -r '[.change, .name[:1], .data] | join(",")' changes)" $'joined,a,x y\nleft,a,'
  assert_equal "$(head -n 1 changes | jq -r 'keys | join(" ")')" "change data name node session since"
}

@test "what is no member, and a change of data, print nothing" {
  member a /g
  watch /g
  wait_until "a was told" told +a
  znode create /g/config
  znode set "/g/$(node_of /g a)" new
  member b /g
  wait_until "b was told" told +a +b
}

@test "its reader has gone: it ends by SIGPIPE, without a word" {
  member a /g
  wait_names /g a
  background zklock group watch /g > >(head -n 1 >got) 2>err
  expect_end 141 $!
  assert_equal "$(<err)" ""
}

@test "a full disk is 74" {
  member a /g
  wait_names /g a
  expect_status 74 sh -c '"$ZKLOCK_BIN" group watch /g >/dev/full'
}

@test "the connection and the session go: no change is lost, none told again" {
  member stays /g
  member goes /g
  wait_names /g goes stays
  watch -v --session-timeout 1s /g
  wait_until "both were told" told +goes +stays
  kill -STOP "$watcher"
  leave goes
  member comes /g
  wait_names /g comes stays
  member passes /g
  wait_names /g comes passes stays
  leave passes
  sleep 1.5
  kill -CONT "$watcher"
  wait_until "the difference was told" told +goes +stays -goes +comes
  wait_for "looking again" watch.err
  leave comes
  wait_until "it goes on" told +goes +stays -goes +comes -comes
}

@test "no server for longer than --connect-timeout: it waits on, and tells the difference" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  member a /g
  wait_names /g a
  watch -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" --session-timeout 1s --connect-timeout 1s /g
  wait_until "a was told" told +a
  kill -STOP "${pid[relay]}"
  sleep 2.5
  member b /g
  wait_names /g a b
  kill -CONT "${pid[relay]}"
  wait_until "the difference was told" told +a +b
  expect_error 69 "cannot reach ZooKeeper" zklock group watch -S 127.0.0.1:1 --connect-timeout 300ms /g
}

@test "a reader who stops for three session timeouts: the session lives, he gets the difference" {
  mkfifo pipe
  exec {reader}<>pipe
  # The data are more than a pipe holds.
  head -c 100000 /dev/zero | tr '\0' x >large
  member a /g --data-file large
  wait_names /g a
  background zklock group watch -v --json --session-timeout 2s /g >pipe 2>watch.err
  watcher=$!
  sleep 6.5
  leave a
  member b /g
  wait_names /g b
  member c /g
  wait_names /g b c
  cat <&"$reader" >changes 3>&- &
  wait_until "c was told" grep -q '"name":"c-' changes
  assert_equal "$(jq -r '.change + " " + .name[:1]' changes | xargs)" "joined a left a joined b joined c"
  # If the machine stands still for some hundred milliseconds, the library reports that and connects again, which is no
  # harm. A watch that is held up by its reader loses its session.
  refute grep -F "the session expired" watch.err
  exec {reader}>&-
}

@test "-- COMMAND runs at first and for each change, with the whole list on its standard input" {
  member a /g
  wait_names /g a
  # shellcheck disable=SC2016
  background zklock group watch /g -- sh -c 'echo "$ZKLOCK_PATH $(sed "s/-[0-9]*$//" | xargs)" >>runs'
  watcher=$!
  wait_for "/g a" runs
  member b /g
  wait_for "/g a b" runs
  leave a
  leave b
  wait_until "nobody is in" eval '[[ $(tail -n 1 runs) == "/g " ]]'
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
}

@test "-- COMMAND: changes that come while it runs are folded into the next run" {
  member a /g
  wait_names /g a
  background zklock group watch /g -- sh -c 'xargs >>runs; until [ -e go ]; do sleep 0.02; done'
  wait_until "it runs" test -s runs
  local n
  for n in 1 2 3; do member "m$n" /g; done
  wait_names /g a m1 m2 m3
  touch go
  wait_for "m3" runs
  assert_equal "$(sed 's/-[0-9]\{10\}//g' runs)" $'a\na m1 m2 m3'
}

@test "-- COMMAND with --json gets the list with the data that is there now" {
  echo 1 >data
  member a /g --data-file data
  wait_names /g a
  background zklock group watch --json /g -- sh -c 'jq -r .data | xargs >>runs'
  wait_for 1 runs
  echo 2 >data
  kill -HUP "${pid[a]}"
  wait_until "the data is new" eval "[[ \$(znode get '/g/$(node_of /g a)') == 2 ]]"
  member b /g --data 3
  wait_for "2 3" runs
}

@test "-- COMMAND: one that fails is told, and the watch goes on" {
  member a /g
  wait_names /g a
  background zklock group watch /g -- sh -c 'echo . >>runs; exit 3' 2>err
  wait_for "zklock: sh ended with status 3; still watching /g" err
  member b /g
  wait_until "it ran again" eval '(($(wc -l <runs) == 2))'
  expect_error 127 "command not found" zklock group watch /g -- no-such-command
  expect_error 64 "no command behind --" zklock group watch /g --
}

@test "--halt: a command that fails ends the watch, with its status" {
  member a /g
  wait_names /g a
  background zklock group watch --halt /g -- bash -c '(($(tee -a runs | wc -l) < 2)) || exit 3' 2>err
  watcher=$!
  wait_for a- runs
  member b /g
  expect_end 3 "$watcher"
  assert_equal "$(<err)" ""
  expect_error 64 "--halt is for a command" zklock group watch --halt /g
}

@test "-- COMMAND: a signal is passed on to it, and zklock ends after it" {
  zklock group create /g
  background zklock group watch /g -- print_signals TERM >got
  watcher=$!
  wait_for ready got
  kill -USR1 "$watcher"
  wait_for USR1 got
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  assert_equal "$(tail -n +2 got | xargs)" "USR1 TERM"
}

@test "-- COMMAND that runs for three session timeouts: the session lives" {
  zklock group create /g
  background zklock group watch -v --session-timeout 2s /g -- sh -c 'sleep 6; echo over >>runs' 2>err
  wait_for over runs
  # A busy machine may cost it a connection, but not the session.
  refute_regex "$(<err)" expired
}
