#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock queue push puts items into a queue.

load ../helpers
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

limit=983040

has_items() { (($(znode stat "$1/items/100-0000000000" | sed -n 's/numChildren=//p') == $2)); }

@test "items from arguments arrive byte for byte, behind -- whatever they begin with" {
  expect_status 0 zklock queue push /q '[]' '[a,b]' '{}' '' run stat push -- -5 -- '--json' 'a b'
  assert_equal "$output$stderr" ""
  assert_equal "$(items_of /q)" $'[]\n[a,b]\n{}\n\nrun\nstat\npush\n-5\n--\n--json\na b'
}

@test "where items are named, standard input is not read" {
  echo no | zklock queue push /q yes
  assert_equal "$(items_of /q)" yes
}

@test "- is standard input, alone" {
  printf 'one\ntwo\n' | zklock queue push /q -
  printf 'three\n' | zklock queue push -p 200 /q -- -
  assert_equal "$(items_of /q)" $'one\ntwo\nthree'
  expect_status 0 zklock queue push /dashes a - <<<"not read"
  assert_equal "$(items_of /dashes)" $'a\n-'
}

@test "every line is an item, an empty one too, the last needs no newline" {
  printf 'a\n\nb' | zklock queue push /q
  assert_equal "$(items_of /q)" $'a\n\nb'
}

@test "no input is no item, and the queue is there" {
  expect_status 0 zklock queue push /q
  assert_equal "$(znode get /q)" "zklock queue 1"
  assert_equal "$(zklock queue count /q)" $'items 0\ndead 0'
}

@test "-0: NUL ends an item; --whole: all of it is one" {
  printf 'a\nb\0c' | zklock queue push -0 /q
  printf 'd\ne\n' | zklock queue push --whole /q
  assert_equal "$(items_of /q)" $'a\nb\nc\nd\ne'
  has_items /q 3
}

@test "NUL and bytes that are not UTF-8 arrive as they are" {
  printf 'a\0\xff\xfe\n' | zklock queue push /q
  assert_equal "$(znode stat "$(first_item /q)" | grep -c numChildren)" 1
  assert_equal "$(zklock queue list --json /q | jq .size)" 4
}

@test "lines of 700 KiB" {
  for _ in 1 2 3 4 5; do head -c 716800 /dev/zero | tr '\0' x; echo; done >large
  zklock queue push /q <large
  assert_equal "$(zklock queue list --json /q | jq -s -c 'map(.size)')" "[716800,716800,716800,716800,716800]"
}

@test "an item of the limit is in, one byte more is refused with number and size" {
  { echo a; head -c $limit /dev/zero | tr '\0' x; echo; } | zklock queue push /q
  has_items /q 2
  { echo b; head -c $((limit + 1)) /dev/zero | tr '\0' x; echo; echo c; } >input
  expect_error 65 "item 2 has 983041 bytes, more than the 983040 that an item may have; 1 item is in /q" \
    zklock queue push /q <input
  has_items /q 3
}

@test "lower priorities stand first" {
  zklock queue push /q usual
  zklock queue push -p 999 /q last
  zklock queue push -p 0 /q first
  assert_equal "$(items_of /q)" $'first\nusual\nlast'
}

@test "bad input is refused before there is a connection: 64" {
  expect_error 64 "bad number '1000' for --priority" zklock queue push -p 1000 /q a
  expect_error 64 "bad number '-1' for --priority" zklock queue push -p -1 /q a
  expect_error 64 "no queue named" zklock queue push
  expect_error 64 "bad path 'q'" zklock queue push q a
  expect_error 64 "unknown option '-5'; write -- before an item that begins with a dash" zklock queue push /q -5
  expect_error 64 "unknown option '--jsn'" zklock queue push --jsn /q
  expect_error 64 "not both" zklock queue push -0 --whole /q
  expect_error 64 "--null is about standard input" zklock queue push -0 /q a
  expect_error 64 "did you mean 'push'" zklock queue psh /q a
  expect_error 64 "no command named: see zklock queue --help" zklock queue
  assert_untouched
}

@test "a path that is no queue is refused and not touched: 65" {
  znode create /l/x-lock-0000000001
  znode create /empty
  znode create /other "some text"
  znode create /next "zklock queue 3"
  expect_error 65 "cannot push to /l: the path is in use, but not as a queue" zklock queue push /l a
  expect_error 65 "/empty" zklock queue push /empty a
  expect_error 65 "/other" zklock queue push /other a
  expect_error 65 "another version of zklock" zklock queue push /next a
  assert_equal "$(znode ls /l; znode ls /empty; znode ls /other; znode ls /next)" x-lock-0000000001
}

@test "a folder as standard input: 74" {
  expect_error 74 "cannot read standard input: Is a directory; 0 items are in /q" zklock queue push /q <.
}

@test "a line that is appended to a file is in the queue at once" {
  echo one >log
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  background tail -n +1 -f log >lines
  background zklock queue push /q <lines
  wait_until "one is in" has_items /q 1
  echo two >>log
  wait_until "two is in" has_items /q 2
  exec 4>&-
}

@test "INT: what is in flight is finished, and how many are in is said" {
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  background zklock queue push /q <lines 2>err
  local pusher=$!
  printf 'a\nb\n' >&4
  wait_until "both are in" has_items /q 2
  kill -INT "$pusher"
  expect_end 130 "$pusher"
  assert_equal "$(<err)" "zklock: interrupted: 2 items are in /q"
  exec 4>&-
}

@test "killed at any point, what is in is there once and in order" {
  seq 100000 >lines
  local delay count
  for delay in 0.1 0.2 0.4; do
    background zklock queue push "/q$delay" <lines
    sleep "$delay"
    kill -KILL $! 2>/dev/null || true
    wait_gone $!
    zklock queue list --json "/q$delay" | jq -r .begins >there
    count=$(wc -l <there)
    diff -q there <(head -n "$count" lines)
    note "after $delay s: $count"
  done
}

@test "eight that push at once: each one's items are in order, across segments" {
  local i
  for i in 1 2 3 4 5 6 7 8; do
    seq -f "$i %.0f" 1500 >"in$i"
    background zklock queue push /q <"in$i"
    pid["$i"]=$!
  done
  for i in 1 2 3 4 5 6 7 8; do expect_end 0 "${pid[$i]}"; done
  listed /q >there
  assert_equal "$(wc -l <there)" 12000
  for i in 1 2 3 4 5 6 7 8; do diff <(grep "^$i " there) "in$i"; done
}

@test "-v sums up, count is right after 60 segments" {
  seq 60000 >lines
  expect_status 0 zklock queue push -v /q <lines
  # A busy server may lose the connection meanwhile, which the client library says with -v.
  refute grep -vE "^zklock: (client: |pushed 60000 items to /q in )" <<<"$stderr"
  [[ ${stderr##*$'\n'} == "zklock: pushed 60000 items to /q in "*/s ]]
  assert_equal "$(zklock queue count --json /q)" '{"items":60000,"dead":0}'
}
