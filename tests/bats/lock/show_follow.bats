#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock show --follow reports each change of holders and waiters once, in order.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# follow ARG…: starts it in the background, as $follower. When this returns it watches, as a lock of its own shows.
follow() {
  background znode stand /ready/x-1-
  background zklock show --follow "$@" /ready >all 2>follow.err
  follower=$!
  wait_until "it watches" grep -q /ready all
}

# Prints what was reported of the other locks.
changes() { grep -v /ready all; }

# told LINE…: the reports have exactly these events, positions and labels.
told() { [[ $(changes | awk '{ print $2, $4, $8 }') == "$(printf '%s\n' "$@")" ]]; }

# told_json LINE…: the objects have exactly these events, paths and labels.
told_json() { [[ $(changes | jq -r '[.event, .path, .label] | join(" ")') == "$(printf '%s\n' "$@")" ]]; }

# last_told TEXT: the last report has this event and label.
last_told() { [[ $(changes | awk 'END { print $2, $8 }') == "$1" ]]; }

@test "--follow: who is there, and then who comes, gets it and goes" {
  hold a --label a /l
  stand b /l --label b
  follow /l
  wait_until "who is there was told" told "holding 1 a" "waiting 2 b"
  stand c /l --label c
  let_go a
  wait_until "the hand-over was told" \
    told "holding 1 a" "waiting 2 b" "waiting 3 c" "released - a" "acquired 1 b"
  kill -TERM "${pid[c]}"
  expect_end 143 "${pid[c]}"
  let_all_go b
  wait_until "the end was told" told "holding 1 a" "waiting 2 b" "waiting 3 c" "released - a" "acquired 1 b" \
    "left - c" "released - b"
  kill -INT "$follower"
  expect_end 130 "$follower"
  assert_equal "$(<follow.err)" ""
}

@test "--follow: time, event, lock, position, host, pid, command and label, in columns that awk counts" {
  hold a --label 'x y' /l
  follow /l
  wait_until "it was told" changes
  local -a cells
  read -ra cells < <(changes)
  assert_regex "${cells[0]}" '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'
  assert_equal "${cells[*]:1}" "holding /l 1 $(hostname) ${pid[a]} sh x y"
  let_all_go a
}

@test "--follow --format json: an object a line, with what show --json knows, and for how long" {
  follow --format json /l
  hold a --label a /l
  stand b /l --label b
  let_go a
  wait_until "the hand-over was told" told_json "acquired /l a" "waiting /l b" "released /l a" "acquired /l b"
  expect_status 0 zklock show --json /l
  assert_equal "$(changes | tail -n 1 | jq -S 'del(.time, .event, .path, .waited)')" \
    "$(jq -S '.contenders[0] | del(.state)' <<<"$output")"
  assert_equal "$(changes | jq -r '[.event, .position // 0, has("waited"), has("held")] | join(" ")')" \
    $'acquired 1 false false\nwaiting 2 false false\nreleased 0 false true\nacquired 1 true false'
  let_all_go b
}

@test "--follow: shared holders come together and go one by one" {
  hold a --label a -s /l
  stand b /l --label b -x
  stand c /l --label c -s
  stand d /l --label d -s
  follow /l
  wait_until "all were told" told "holding 1 a" "waiting 2 b" "waiting 3 c" "waiting 4 d"
  let_all_go a b
  wait_until "both readers were told" last_told "acquired d"
  let_all_go d
  wait_until "one is gone" last_told "released d"
  let_all_go c
}

has_it() { [[ $(changes | jq -r "select(.label == \"$1\" and .event == \"acquired\").event") ]]; }

@test "--follow: of slots, who goes through the gate is told once as waiting and once as holding" {
  hold a --label a --slots 2 /s
  follow --json /s
  wait_until "a was told" told_json "holding /s a"
  hold b --label b --slots 2 /s
  begin c --label c --slots 2 /s
  wait_until "c was told" grep -q '"label":"c"' all
  begin d --label d --slots 2 /s
  wait_until "d was told" grep -q '"label":"d"' all
  let_all_go b
  # A holder that holds for less than a look takes may be reported as left.
  wait_until "c was told to have it" has_it c
  let_all_go a c
  wait_until "d was told to have it" has_it d
  let_all_go d
  wait_until "all are gone" eval '(($(grep -c released all) == 4))'
  local name
  for name in b c d; do
    # A contender that waits for no other may be in the gate for less than a look.
    assert_regex "$(changes | jq -r "select(.label == \"$name\").event" | xargs)" '^(waiting )?acquired released$'
  done
  assert_equal "$(changes | jq -r 'select(.label == "c" or .label == "d") | select(.event == "waiting").kind' | xargs)" \
    "slot slot"
}

@test "--follow: a path that is not there yet, that goes and comes again" {
  follow /a/l
  hold a --label a /a/l
  wait_until "a was told" told "acquired 1 a"
  let_all_go a
  wait_until "its end was told" told "acquired 1 a" "released - a"
  znode rm /a/l
  hold b --label b /a/l
  wait_until "b was told" told "acquired 1 a" "released - a" "acquired 1 b"
  let_all_go b
}

@test "--follow: several locks at once, each by its path" {
  hold a --label a /x
  follow --json /x /y
  wait_until "a was told" told_json "holding /x a"
  hold b --label b /y
  wait_until "b was told" told_json "holding /x a" "acquired /y b"
  let_all_go a
  wait_until "the end of a was told" told_json "holding /x a" "acquired /y b" "released /x a"
  let_all_go b
}

@test "--follow: other programs' contenders, with their text; what is no contender is nobody" {
  znode create /l
  znode create /l/config-0000000001 text
  follow --json /l
  background znode stand /l/x-1- "hello"
  wait_until "it was told" changes
  assert_equal "$(changes | jq -r '[.event, .kind, .text] | join(" ")')" "acquired exclusive hello"
}

@test "--follow: the reader has gone: it ends by SIGPIPE, without a word" {
  hold a /l
  background zklock show --follow /l > >(head -n 1 >got) 2>err
  follower=$!
  wait_until "the first line was read" test -s got
  let_all_go a
  expect_end 141 "$follower"
  assert_equal "$(<err)" ""
}

@test "--follow: a full disk is 74" {
  hold a /l
  expect_status 74 sh -c '"$ZKLOCK_BIN" show --follow /l >/dev/full'
  let_all_go a
}

@test "--follow: the connection and the session go: the difference is told, nothing is told again" {
  hold stays --label stays /x
  hold goes --label goes /l
  follow -v --json --session-timeout 1s /x /l
  wait_until "both were told" told_json "holding /x stays" "holding /l goes"
  kill -STOP "$follower"
  let_all_go goes
  hold passes /l
  let_all_go passes
  hold comes --label comes /l
  sleep 1.5
  kill -CONT "$follower"
  wait_until "the difference was told" \
    told_json "holding /x stays" "holding /l goes" "released /l goes" "acquired /l comes"
  wait_for "looking again" follow.err
  let_all_go comes
  wait_until "it goes on" \
    told_json "holding /x stays" "holding /l goes" "released /l goes" "acquired /l comes" "released /l comes"
  let_all_go stays
}

@test "--follow: no server for longer than --connect-timeout: it waits on; at the start that is 69" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  hold a --label a /l
  follow -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" --session-timeout 1s --connect-timeout 1s /l
  wait_until "a was told" told "holding 1 a"
  kill -STOP "${pid[relay]}"
  sleep 2.5
  let_all_go a
  kill -CONT "${pid[relay]}"
  wait_until "the difference was told" told "holding 1 a" "released - a"
  expect_error 69 "cannot reach ZooKeeper" zklock show --follow -S 127.0.0.1:1 --connect-timeout 300ms /l
}

@test "--follow: a queue and a group are 65, also one that comes later" {
  zklock queue push /q item
  zklock group create /g
  expect_error 65 "cannot follow /q: it is a queue, not a lock" zklock show --follow /q
  expect_error 65 "cannot follow /g: it is a group, not a lock" zklock show --follow /l /g
  hold a /l
  follow /later /l
    zklock queue push /later item
  expect_end 65 "$follower"
}

@test "--follow: what may not be listed is 77, a contender that may not be read is told" {
  need_no_identity
  znode create /open
  ZKLOCK_AUTH=digest:me:secret hold a --acl creator /closed
  expect_error 77 "cannot follow /closed: ZooKeeper refused it" zklock show --follow /closed
  ZKLOCK_AUTH=digest:me:secret hold b --acl creator /open
  follow --json /open
  wait_until "b was told" changes
  assert_equal "$(changes | jq -r '[.event, .session, .node, .host] | join(" ")')" \
    "holding $(zklock show --json /open | jq -r '.contenders[0].session') $(its_node /open) "
  let_all_go a b
}

@test "--follow: -r, -q and -l are 64, and so is no lock" {
  expect_error 64 "leave out -r" zklock show --follow -r /
  expect_error 64 "leave out -q" zklock show --follow -q /l
  expect_error 64 "leave out -l" zklock show --follow -l /l
  expect_error 64 "bad value 'prometheus' for --format: write text or json" \
    zklock show --follow --format prometheus /l
  expect_error 64 "no lock named" zklock show --follow
  assert_untouched
}
