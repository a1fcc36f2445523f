#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock value watch reports each state once, and the last one always, to readers and to commands.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# watch ARG…: starts it in the background, into the file states; its process id is $watcher.
watch() {
  background zklock value watch "$@" >states 2>watch.err
  watcher=$!
}

# told STATE…: the watch has written exactly these lines of JSON, as VALUE@VERSION or as "missing".
told() {
  local states
  states=$(jq -r 'if .exists then "\(.value // .value_base64)@\(.version)" else "missing" end' states)
  [[ $states == "$(printf '%s\n' "$@")" ]]
}

# listed STATE…: it has done so with --list, as NAMES with a space between them, or as "missing".
listed() { [[ $(jq -r 'if .exists then .names | join(" ") else "missing" end' states) == "$(printf '%s\n' "$@")" ]]; }

# ran RUN…: the command has written these lines.
ran() { [[ -e runs && $(<runs) == "$(printf '%s\n' "$@")" ]]; }

# has FILE FORMAT: FILE contains exactly what printf makes of FORMAT.
# shellcheck disable=SC2059
has() { cmp "$1" <(printf "$2"); }

# Prints how many watches all sessions of this test have.
watches() {
  zklock 4lw wchp |
    awk -v chroot="/${ZKLOCK_SERVERS#*/}/" '/^\// { ours = index($0, chroot) == 1; next } ours && /0x/ { ++count }
      END { print count + 0 }'
}

# lose_session CMD…: the session of $watcher, which lasts a second, expires. CMD is done before it can have another.
lose_session() {
  kill -STOP "$watcher"
  "$@"
  # This is longer than it lasts by all clocks.
  sleep 2.5
  kill -CONT "$watcher"
}

@test "the first state, each change, a deletion and a creation" {
  znode create /v one
  watch --json /v
  wait_until "the first" told one@0
  znode set /v two
  wait_until "the change" told one@0 two@1
  znode rm /v
  wait_until "the deletion" told one@0 two@1 missing
  znode create /v three
  wait_until "the creation" told one@0 two@1 missing three@0
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  assert_equal "$(<watch.err)" ""
  assert_equal "$(head -n 1 states | jq -r 'keys_unsorted | join(" ")')" "path exists value version changed"
  assert_equal "$(sed -n 3p states)" '{"path":"/v","exists":false}'
}

@test "a node that is not there, nor the one above it" {
  watch /a/v
  wait_until "that it is missing" told missing
  znode create /a
  znode create /a/v one
  wait_until "the creation" told missing one@0
}

@test "the same bytes once more are a change; a child is none, nor a look in vain" {
  znode create /v one
  watch /v
  wait_until "the first" told one@0
  znode create /v/child
  znode set /v one
  wait_until "the change" told one@0 one@1
}

@test "bytes that are no text" {
  printf '\xff\x01' | zklock value set /v
  watch /v
  wait_until "the first" told "$(printf '\xff\x01' | base64)@0"
}

@test "-0 has the bytes and a NUL, and for a missing node an empty record" {
  znode create /v $'two\nlines'
  watch -0 /v
  wait_until "the first" has states 'two\nlines\0'
  znode rm /v
  wait_until "the deletion" has states 'two\nlines\0\0'
  znode create /v next
  wait_until "the creation" has states 'two\nlines\0\0next\0'
}

@test "a lock's line and a contender may be watched" {
  hold a /l
  watch --list /l
  wait_until "its node" eval '[[ $(jq -r ".names[]" states) == *-lock-* ]]'
  background zklock value watch "$(its_node)" >note
  wait_until "its note" eval '[[ $(jq -r .value note | jq -r .pid) == "${pid[a]}" ]]'
}

@test "its reader has gone: it ends by SIGPIPE, without a word" {
  background zklock value watch /v > >(head -n 1 >got) 2>err
  expect_end 141 $!
  assert_equal "$(<err)" ""
}

@test "a full disk is 74" {
  expect_status 74 sh -c '"$ZKLOCK_BIN" value watch /v >/dev/full'
}

@test "what may not be read is 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:a:b zklock value set --acl creator /v secret
  expect_error 77 "cannot watch /v" zklock value watch /v
  expect_error 77 "cannot watch /v" zklock value watch --list /v
}

@test "what is wrong on the command line" {
  expect_error 64 "no node named: write zklock value watch /app/config" zklock value watch
  expect_error 64 "bad path" zklock value watch v
  expect_error 64 "one node at a time" zklock value watch /a /b -- true
  expect_error 64 "write -- before the command" zklock value watch /a true
  expect_error 64 "no command behind --" zklock value watch /a --
  expect_error 64 "not both" zklock value watch -0 --json /a
  expect_error 64 "leave out -0" zklock value watch -0 /a -- cat
  expect_error 64 "--halt is for a command" zklock value watch --halt /a
  expect_error 127 "command not found" zklock value watch /a -- no-such-command
  expect_error 69 "cannot reach ZooKeeper" zklock value watch -S 127.0.0.1:1 --connect-timeout 300ms /a
  assert_untouched
}

@test "--list tells the names of the children, sorted, and not what becomes of them" {
  watch --list /d
  wait_until "that it is missing" listed missing
  znode create /d value
  znode create /d/b
  wait_for '"b"' states
  znode create /d/a
  wait_for '["a","b"]' states
  znode set /d other
  znode set /d/a other
  znode create /d/a/below
  znode rm /d/b
  wait_for '["a"]' states
  znode rm /d
  wait_until "the deletion" eval '[[ $(tail -n 1 states) == "{\"path\":\"/d\",\"exists\":false,\"names\":[]}" ]]'
  # Each comes once, whether /d was seen empty or not.
  assert_equal "$(uniq -d states)" ""
  assert_equal "$(jq -c .names states | grep -cxF -e '["b"]' -e '["a","b"]' -e '["a"]')" 3
}

@test "--list -0 has each name with a NUL, and an empty record behind the last" {
  znode create /d/a
  znode create '/d/two words'
  watch --list -0 /d
  wait_until "the first" has states 'a\0two words\0\0'
  znode rm '/d/two words'
  wait_until "the change" has states 'a\0two words\0\0a\0\0'
}

@test "-- COMMAND runs at first and for each change, with the value on its standard input" {
  watch /v -- sh -c 'echo "$ZKLOCK_VALUE_PATH $ZKLOCK_VALUE_EXISTS v$ZKLOCK_VALUE_VERSION $(cat)" >>runs'
  wait_until "the first" ran "/v 0 v "
  znode create /v one
  wait_until "the creation" ran "/v 0 v " "/v 1 v0 one"
  znode set /v two
  wait_until "the change" ran "/v 0 v " "/v 1 v0 one" "/v 1 v1 two"
  znode rm /v
  wait_until "the deletion" ran "/v 0 v " "/v 1 v0 one" "/v 1 v1 two" "/v 0 v "
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  assert_equal "$(<states)" ""
}

@test "-- COMMAND is told where the servers are" {
  znode create /v one
  local servers=$ZKLOCK_SERVERS
  if over_tls; then servers=tls://$servers; fi
  # shellcheck disable=SC2016
  background env -u ZKLOCK_SERVERS "$ZKLOCK_BIN" value watch -S "$servers" /v -- \
    sh -c '"$ZKLOCK_BIN" value get "$ZKLOCK_VALUE_PATH" >>runs'
  wait_until "it has got it" ran one
}

@test "-- COMMAND: of an outer watch's variables none is left" {
  znode create /d/a
  ZKLOCK_VALUE_VERSION=7 watch --list /d -- sh -c 'echo "$ZKLOCK_VALUE_PATH $ZKLOCK_VALUE_EXISTS v$ZKLOCK_VALUE_VERSION" >>runs'
  wait_until "it ran" ran "/d 1 v"
}

@test "-- COMMAND: changes that come while it runs are folded into the next run, which has the last" {
  znode create /v 0
  watch /v -- sh -c 'echo "$(cat)" >>runs; until [ -e go ]; do sleep 0.02; done'
  wait_until "it runs" ran 0
  local n
  for n in 1 2 3; do znode set /v $n; done
  touch go
  wait_until "the last" ran 0 3
  znode set /v 4
  wait_until "the next" ran 0 3 4
}

@test "-- COMMAND: a node that was made anew while it ran, with the same bytes and version, is a change" {
  znode create /v same
  watch /v -- sh -c 'echo "$(cat)" >>runs; until [ -e go ]; do sleep 0.02; done'
  wait_until "it runs" ran same
  znode rm /v
  znode create /v same
  touch go
  wait_until "it ran again" ran same same
}

@test "-- COMMAND with --json and with --list" {
  znode create /d/a
  znode create '/d/two words'
  znode set /d one
  background zklock value watch --json /d -- sh -c 'jq -r .value >>runs'
  wait_until "a JSON object" ran one
  background zklock value watch --list /d -- sh -c 'cat >>names'
  wait_until "the names" has names 'a\ntwo words\n'
  background zklock value watch --list -0 /d -- sh -c 'cat >>raw'
  wait_until "the names as they are" has raw 'a\0two words\0'
  background zklock value watch --list --json /d -- sh -c 'jq -r .names[0] >>json'
  wait_for a json
}

@test "-- COMMAND that reads a megabyte slowly, or not at all, holds up nothing" {
  head -c 1000000 /dev/zero | tr '\0' x >large
  zklock value set /v <large
  watch /v -- sh -c 'sleep 0.1; cmp - large && echo same >>runs'
  wait_until "all of it" ran same
  zklock value set /w <large
  background zklock value watch /w -- sh -c 'echo . >>unread'
  wait_until "it ran" test -s unread
  znode set /w small
  wait_until "it ran again" eval '(($(wc -l <unread) == 2))'
}

@test "-- COMMAND: one that fails is told, and the watch goes on" {
  znode create /v one
  watch /v -- sh -c 'echo . >>runs; exit 3'
  wait_for "zklock: sh ended with status 3; still watching /v" watch.err
  znode set /v two
  wait_until "it ran again" ran . .
  # The watch also goes on if the command was killed.
  background zklock value watch /v -- sh -c 'kill -KILL $$' 2>killed
  wait_for "zklock: sh ended by signal 9; still watching /v" killed
}

@test "--halt: a command that fails ends the watch, with its status" {
  znode create /v one
  # shellcheck disable=SC2016
  watch --halt /v -- sh -c 'read -r value; echo "$value" >>runs; test "$value" != two || exit 3'
  wait_until "the first" ran one
  znode set /v two
  expect_end 3 "$watcher"
  assert_equal "$(<watch.err)" ""
  ran one two
  expect_status 137 zklock value watch --halt /v -- sh -c 'kill -KILL $$'
  expect_status 143 zklock value watch --halt /v -- sh -c 'kill -TERM $$'
  expect_status 126 zklock value watch /v -- /
}

@test "-- COMMAND: a signal is passed on to it, and zklock ends after it" {
  background zklock value watch /v -- print_signals TERM >got
  watcher=$!
  wait_for ready got
  kill -USR1 "$watcher"
  wait_for USR1 got
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  assert_equal "$(tail -n +2 got | xargs)" "USR1 TERM"
}

@test "-- COMMAND: the second signal that ends programs ends zklock, and the command with it" {
  watch /v -- sh -c 'trap "" HUP TERM; echo . >>runs; echo $$ >pid; while :; do sleep 0.05; done'
  wait_until "it runs" test -s pid
  kill -HUP "$watcher"
  kill -TERM "$watcher"
  expect_end 143 "$watcher"
  wait_gone "$(<pid)"
}

@test "a watch whose guard is killed is 76" {
  watch /v -- sh -c 'echo . >>runs; sleep 60'
  wait_until "it runs" ran .
  kill -KILL "$(guard_of "$watcher")"
  expect_end 76 "$watcher"
}

@test "the session expires: what has changed meanwhile is told, what was told is not" {
  znode create /v one
  watch -v --session-timeout 1s /v
  wait_until "the first" told one@0
  lose_session true
  wait_for "looking again" watch.err
  lose_session znode set /v two
  wait_until "the change" told one@0 two@1
  znode set /v three
  wait_until "it goes on" told one@0 two@1 three@2
}

@test "no server for longer than --connect-timeout: it waits on, and tells the last state" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  znode create /v one
  watch -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" --session-timeout 1s --connect-timeout 1s /v
  wait_until "the first" told one@0
  kill -STOP "${pid[relay]}"
  sleep 2.5
  znode set /v two
  znode set /v three
  kill -CONT "${pid[relay]}"
  wait_until "the last" told one@0 three@2
}

@test "a reader who stops for three session timeouts: the session lives, he gets the last state" {
  mkfifo pipe
  exec {reader}<>pipe
  # The value is more than a pipe holds.
  head -c 100000 /dev/zero | tr '\0' x >large
  zklock value set /v <large
  background zklock value watch -v --session-timeout 2s /v >pipe 2>watch.err
  watcher=$!
  sleep 6.5
  local n
  for n in 1 2 3; do znode set /v $n; done
  cat <&"$reader" >states 3>&- &
  wait_until "the last" told "$(<large)@0" 3@3
  refute grep -F "the session expired" watch.err
  exec {reader}>&-
}

@test "a value that stays while others come and go leaves one watch" {
  znode create /v one
  watch --session-timeout 1s /v
  wait_until "the first" told one@0
  assert_equal "$(watches)" 1
  local n
  for n in {1..20}; do
    znode set /v "$n"
    wait_for "\"value\":\"$n\"" states
  done
  for n in {1..10}; do
    znode rm /v
    wait_until "the deletion" eval '[[ $(tail -n 1 states) == *false* ]]'
    znode create /v again
    wait_until "the creation" eval '[[ $(tail -n 1 states) == *again* ]]'
  done
  lose_session true
  znode set /v end
  wait_for '"value":"end"' states
  assert_equal "$(watches)" 1
}
