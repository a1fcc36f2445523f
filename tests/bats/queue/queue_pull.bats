#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock queue pull writes items to standard output.

load ../helpers
load ../queue_nodes

setup() { setup_zk; }

teardown() { end_all; }

@test "one item: a line on standard output, and it is removed" {
  queue_of one two
  expect_status 0 zklock queue pull /q
  assert_equal "$output" one
  assert_equal "$(znode ls "$segment")" token-0000000001
}

@test "nothing there: 75, and one line says so; with -q none" {
  queue_of
  expect_error 75 "cannot pull from /q: no items" zklock queue pull /q
  expect_status 75 zklock queue pull -q /q
  assert_equal "$stderr" ""
  expect_error 75 "no items" zklock queue pull /not/there
}

@test "no queue is made by who does not wait for items" {
  zklock queue pull /not/there || true
  zklock queue pull --all /not/there
  expect_status 1 znode get /not
}

@test "items arrive byte for byte, in order, whatever they look like" {
  queue_of '[]' '[a,b]' '{}' '' run -5 -- $'two\nlines' $'\xff\xfe'
  zklock queue pull -0 --all /q >got
  printf '%s\0' '[]' '[a,b]' '{}' '' run -5 -- $'two\nlines' $'\xff\xfe' >wanted
  cmp got wanted
}

@test "--whole puts nothing behind an item" {
  queue_of a '' b
  zklock queue pull --whole --all /q >got
  assert_equal "$(od -An -c got | tr -d ' ')" ab
  has_nodes "$segment" 0
}

@test "an item of many pipes' sizes arrives whole" {
  queue_of "$(long_text)" end
  zklock queue pull --all /q | (sleep 0.2 && cat) >got
  cmp got <(long_text && printf '\nend\n')
}

@test "-N takes so many, or what is there" {
  queue_of 1 2 3 4
  expect_status 0 zklock queue pull -N 3 /q
  assert_equal "$output" $'1\n2\n3'
  expect_status 0 zklock queue pull -N 10 /q
  assert_equal "$output" 4
  expect_status 75 zklock queue pull -N 10 /q
}

@test "--all takes everything, in the order of priorities and segments, and deletes segments that are sealed" {
  make_queue /q
  put /q/items/100-0000000007 0 c d
  put /q/items/100-0000000008 0 e
  put /q/items/050-0000000003 0 a b
  znode set /q/items/100-0000000007 ""
  expect_status 0 zklock queue pull --all /q
  assert_equal "$output" $'a\nb\nc\nd\ne'
  assert_equal "$(znode ls /q/items)" $'050-0000000003\n100-0000000008'
}

@test "--all on an empty queue is 0" {
  queue_of
  expect_status 0 zklock queue pull --all /q
  assert_equal "$output$stderr" ""
}

@test "--all waits for what is in work elsewhere, as long as -w says" {
  queue_of "$(long_text)"
  pull_without_reader other /q
  wait_until "the item is claimed" is_claimed 0
  expect_error 75 "what is left is in work" zklock queue pull --all -w 1s /q
  background zklock queue pull --all /q >all.out
  pid[all]=$!
  wait_until "it stands in line" has_nodes /q/waiting 1
  cat <&"$reader" >/dev/null 3>&- &
  expect_end 0 "${pid[other]}"
  expect_end 0 "${pid[all]}"
  assert_equal "$(<all.out)" ""
}

@test "an item in work is left alone, and the next one taken" {
  queue_of "$(long_text)" next
  pull_without_reader other /q
  wait_until "the item is claimed" is_claimed 0
  expect_status 0 zklock queue pull /q
  assert_equal "$output" next
  expect_error 75 "all items are in work" zklock queue pull /q
}

@test "a path that is not a queue is refused, and nothing is touched" {
  znode create /q/child
  expect_error 65 "in use, but not as a queue" zklock queue pull /q
  expect_error 65 "in use, but not as a queue" zklock queue pull --follow /q
  assert_equal "$(znode ls /q)" child
}

@test "bad input: 64, and nothing is made" {
  expect_error 64 "no queue named" zklock queue pull
  expect_error 64 "unexpected argument '/b': write -- before the command" zklock queue pull /a /b
  expect_error 64 "bad path" zklock queue pull a
  expect_error 64 "unknown option '--folow'; did you mean '--follow'?" zklock queue pull --folow /q
  expect_error 64 "bad number '0' for --count" zklock queue pull -N 0 /q
  expect_error 64 "either --all or --follow" zklock queue pull --all --follow /q
  expect_error 64 "either --count or --all" zklock queue pull -N 2 --all /q
  expect_error 64 "either --null or --whole" zklock queue pull -0 --whole /q
  expect_error 64 "bad duration" zklock queue pull -w soon /q
  expect_error 64 "unknown command 'pul'; did you mean 'pull'?" zklock queue pul /q
  assert_untouched
}

@test "--help shows the options and examples" {
  expect_status 0 zklock queue pull --help
  assert_output --partial "Usage: zklock queue pull [OPTIONS] QUEUE"
  assert_output --partial "--follow"
  expect_status 0 zklock queue --help
  assert_output --partial "pull"
}
