#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock value refuses with one line and the documented status, and writes nothing.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

readonly verbs=(get set delete list)

# value_is PATH TEXT
value_is() { assert_equal "$(znode get "$1")" "$2"; }

assert_missing() { expect_status 1 znode get "$1"; }

@test "a bad path, for each of them: 64, before there is a connection" {
  local verb path
  for verb in "${verbs[@]}"; do
    for path in "" app /app/ //app /app//limit /app/./limit /app/../limit $'/app\nlimit' $'/app\xff'; do
      expect_error 64 "bad path '" zklock value "$verb" "$path"
    done
    expect_error 64 "no node named" zklock value "$verb"
  done
  for verb in set delete; do
    for path in / /zookeeper /zookeeper/config; do
      expect_error 64 "bad path '$path'" zklock value "$verb" "$path"
    done
  done
  assert_untouched
}

@test "words that do not belong there, for each of them: 64" {
  local verb
  for verb in get delete list; do
    expect_error 64 "unexpected argument 'b'" zklock value "$verb" /a b
    expect_error 64 "unexpected argument 'b'" zklock value "$verb" /a -- b
  done
  expect_error 64 "unexpected argument 'c'" zklock value set /a b c
  for verb in "${verbs[@]}"; do
    expect_error 64 "unknown option '--bogus'" zklock value "$verb" --bogus /a
  done
  expect_error 64 "did you mean 'set'" zklock value sett /a
  expect_error 64 "no command named: see zklock value --help" zklock value
  expect_error 64 "--help" zklock value -- get /a
  assert_untouched
}

@test "options that exclude each other: 64" {
  expect_error 64 "not both" zklock value set --if-version 1 --if-missing /a v
  expect_error 64 "one of" zklock value list -l --json /a
  expect_error 64 "one of" zklock value list -l -0 /a
  expect_error 64 "one of" zklock value list -0 --json /a
  expect_error 64 "--yes is for -r" zklock value delete --yes /a
  assert_untouched
}

@test "a version that is none: 64, whatever is wrong with it" {
  local number
  for number in "" x 1x -1 +1 1.5 2147483648 99999999999999999999; do
    expect_error 64 "bad number '$number' for --if-version" zklock value set --if-version "$number" /a v
    expect_error 64 "bad number '$number' for --if-version" zklock value delete --if-version "$number" /a
  done
  assert_untouched
}

@test "an option without its value: 64" {
  local words
  for words in "get /a --default" "set /a v --if-version" "delete /a --if-version"; do
    # shellcheck disable=SC2086
    expect_error 64 "${words##* }" zklock value $words
  done
  assert_untouched
}

@test "delete -r without a terminal and without --yes: 64, and all is there" {
  znode create /a/b/c v
  expect_error 64 "there is no terminal to ask at: write --yes" zklock value delete -r /a
  value_is /a/b/c v
}

@test "--fenced outside of everything: 64; with paths that are none, too" {
  expect_error 64 "ZKLOCK_NODE" zklock value set --fenced /a v
  expect_error 64 "ZKLOCK_NODE" zklock value delete --fenced /a
  ZKLOCK_NODE='' expect_error 64 "ZKLOCK_NODE" zklock value set --fenced /a v
  ZKLOCK_NODE=nonsense expect_error 64 "ZKLOCK_NODE" zklock value set --fenced /a v
  ZKLOCK_NODE=/there expect_error 64 "ZKLOCK_NODE" zklock value set --fenced /a v
  assert_untouched
}

@test "--fenced with a node that is not there: 76, and nothing is written or removed" {
  znode create /there old
  local node
  for node in /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 /no/such/_c_5f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 $'/l/_c_5f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lease-0000000000\n/l/_c_6f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lease-0000000000'; do
    ZKLOCK_NODE=$node expect_error 76 "cannot set /there" zklock value set --fenced /there new
    ZKLOCK_NODE=$node expect_error 76 "cannot set /new/deep" zklock value set --fenced /new/deep v
    ZKLOCK_NODE=$node expect_error 76 "cannot delete /there" zklock value delete --fenced /there
    ZKLOCK_NODE=$node expect_error 76 "cannot delete /there" zklock value delete --fenced -r --yes /there
  done
  znode create /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000
  ZKLOCK_NODE=/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 ZKLOCK_OUTER="5 /gone/_c_4f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000" expect_error 76 "cannot set /there" \
    zklock value set --fenced /there new
  value_is /there old
  assert_missing /new
}

@test "what is not there: 1; with a version 75" {
  znode create /a v
  local path
  for path in /missing /missing/below /a/missing; do
    expect_error 1 "cannot get $path: there is no such node" zklock value get "$path"
    expect_error 1 "cannot delete $path: there is no such node" zklock value delete "$path"
    expect_error 1 "cannot delete $path: there is no such node" zklock value delete -r --yes "$path"
    expect_error 1 "cannot list $path: there is no such node" zklock value list "$path"
    expect_error 1 "cannot list $path: there is no such node" zklock value list -r --json "$path"
    expect_error 75 "cannot delete $path: there is no such node" zklock value delete --if-version 0 "$path"
    expect_error 75 "cannot set $path: there is no such node" zklock value set --if-version 0 "$path" v
    expect_status 75 zklock value set -q --if-version 0 "$path" v
    assert_equal "$output$stderr" ""
    assert_missing "$path"
  done
}

@test "another version than asked for: 75 names the one that is there" {
  znode create /a zero
  znode set /a one
  expect_error 75 "cannot set /a: it has version 1" zklock value set --if-version 0 /a v
  expect_error 75 "cannot set /a: it has version 1" zklock value set --if-version 2147483647 /a v
  expect_error 75 "cannot set /a: it has version 1" zklock value set --if-missing /a v
  expect_error 75 "cannot delete /a: it has version 1" zklock value delete --if-version 2 /a
  expect_error 75 "cannot delete /a: it has version 1" zklock value delete --if-version 2 -r --yes /a
  value_is /a one
}

@test "odd values arrive as they are: empty, -, options, newlines, and by standard input NUL and any byte" {
  local text
  for text in "" " " $'\n' $'two\nlines\n' "--json" "-5" "ä" "get"; do
    expect_status 0 zklock value set /v -- "$text"
    assert_equal "$output$stderr" ""
    zklock value get /v | cmp - <(printf %s "$text")
  done
  expect_error 64 "unknown option '-5'" zklock value set /v -5
  printf 'a\0\xff\n' | zklock value set /v
  zklock value get /v | cmp - <(printf 'a\0\xff\n')
  printf 'from a pipe' | zklock value set /v -
  value_is /v "from a pipe"
  expect_status 0 zklock value set /v </dev/null
  value_is /v ""
}

@test "more than the servers take: 65, at once where input has no end" {
  znode create /v old
  head -c 2000000 /dev/zero >large
  expect_error 65 "ZooKeeper takes at most" zklock value set /v <large
  expect_error 65 "ZooKeeper takes at most" zklock value set /new <large
  expect_error 65 "ZooKeeper takes at most" zklock value set /v </dev/zero
  value_is /v old
  assert_missing /new
}

@test "what is as long as said is written, one byte more is not" {
  local most
  head -c 2000000 /dev/zero >large
  expect_status 65 zklock value set /v <large
  most=${stderr##*at most }
  head -c $((most + 1)) large >too_large
  expect_error 65 "takes at most $most" zklock value set /v <too_large
  assert_missing /v
  head -c "$most" large >largest
  expect_status 0 zklock value set /v <largest
  zklock value get /v | cmp - largest
}

@test "what zklock uses for something else: 65, and it is left alone" {
  zklock queue push /q one
  zklock group create /g
  background zklock group join --name me --unique /g
  wait_until "there is a member" has_nodes /g 1
  hold h /l
  local node path
  node=$(its_node /l)
  path=/q/items/$(znode ls /q/items)
  for path in "$node" /q /q/items "$path" /q/new /g /g/me "$node/below" /g/me/below; do
    expect_error 65 "cannot set $path: " zklock value set "$path" v
  done
  for path in /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000007 /l/3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__0000000007; do
    expect_error 65 "cannot set $path: " zklock value set "$path" v
    assert_missing "$path"
  done
  for path in "$node" /q /q/items /g /g/me; do
    expect_error 65 "cannot delete $path: " zklock value delete "$path"
    expect_error 65 "cannot delete $path: " zklock value delete -r --yes "$path"
  done
  for path in /q /g /l; do
    expect_error 65 "cannot delete $path: " zklock value delete -r --yes "$path"
  done
  expect_error 65 "zklock" zklock value set /new "zklock queue 1"
  expect_error 65 "zklock" zklock value set /new "zklock group 1"
  assert_missing /new
  assert_equal "$(znode get /q) $(znode get /g) $(zklock queue count /q | head -n 1)" "zklock queue 1 zklock group 1 items 1"
  let_all_go h
}

@test "any node may be read, whatever it is for" {
  zklock queue push /q one
  hold h /l
  local node
  node=$(its_node /l)
  expect_status 0 zklock value get /q
  assert_output "zklock queue 1"
  expect_status 0 zklock value get "$node"
  expect_status 0 zklock value list -r --json /q
  expect_status 0 zklock value list /l
  assert_output "${node##*/}"
  let_all_go h
}

@test "a node with others below it is not deleted: 65, and how many" {
  znode create /a/b v
  znode create /a/c v
  expect_error 65 "cannot delete /a: 2 nodes below it" zklock value delete /a
  expect_error 65 "cannot delete /a: 2 nodes below it" zklock value delete --if-version 0 /a
  value_is /a/b v
}

@test "standard input that is closed or is no file: 74, and nothing is written" {
  znode create /v old
  expect_error 74 "cannot read standard input: Bad file descriptor" sh -c '"$ZKLOCK_BIN" value set /v <&-'
  expect_error 74 "cannot read standard input: Bad file descriptor" sh -c '"$ZKLOCK_BIN" value set /v - <&-'
  expect_error 74 "cannot read standard input: Is a directory" zklock value set /v <.
  value_is /v old
  expect_status 0 sh -c '"$ZKLOCK_BIN" value set /v new <&-'
  value_is /v new
}

@test "standard output that is full or closed: 74; a set that says nothing needs none" {
  znode create /a/b v
  local words
  for words in "get /a/b" "get --json /a" "list /a" "list -l /a" "list -r --json /a" "get --default x /none"; do
    # shellcheck disable=SC2086
    expect_error 74 "cannot write to standard output: No space left on device" \
      sh -c '"$ZKLOCK_BIN" value "$@" >/dev/full' sh $words
    # shellcheck disable=SC2086
    expect_error 74 "cannot write to standard output: " sh -c '"$ZKLOCK_BIN" value "$@" >&-' sh $words
  done
  expect_status 0 sh -c '"$ZKLOCK_BIN" value set /a/b new >&-'
  expect_error 74 "cannot write to standard output: " sh -c '"$ZKLOCK_BIN" value set --print-version /a/b w >&-'
}

@test "no server: 69, for each of them" {
  export ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms
  local verb
  for verb in get list; do
    expect_error 69 127.0.0.1:1 zklock value "$verb" /a
  done
  expect_error 69 127.0.0.1:1 zklock value set /a v
  expect_error 69 127.0.0.1:1 zklock value delete /a
  expect_error 69 127.0.0.1:1 zklock value get --default x /a
  assert_equal "$output" ""
  ZKLOCK_NODE=/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 expect_error 69 127.0.0.1:1 zklock value set --fenced /a v
}

@test "a node that we may not use: 77, for each of them, and it stays as it is" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock value set --acl creator /mine/a v
  local verb
  for verb in get list; do
    expect_error 77 "the ACL there does not allow it" zklock value "$verb" /mine/a
  done
  expect_error 77 "the ACL there does not allow it" zklock value get --default x /mine/a
  expect_error 77 "the ACL there does not allow it" zklock value list -r --json /mine
  for verb in "set /mine/a w" "set --if-version 0 /mine/a w" "set --if-missing /mine/b w" "set /mine/c/d w" \
    "delete /mine/a" "delete -r --yes /mine"; do
    # shellcheck disable=SC2086
    expect_error 77 "the ACL there does not allow it" zklock value $verb
  done
  ZKLOCK_AUTH=digest:me:wrong expect_error 77 "the ACL there does not allow it" zklock value set /mine/a w
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock value list -r --json /mine
  assert_equal "$(jq -c '[.path,.value,.version]' <<<"$output")" $'["/mine","",0]\n["/mine/a","v",0]'
}

@test "a node that we may read and not write: get gives it, set and delete 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock value set --acl creator-world-read /mine/a v
  expect_status 0 zklock value get /mine/a
  assert_output v
  expect_error 77 "the ACL there does not allow it" zklock value set /mine/a w
  expect_error 77 "the ACL there does not allow it" zklock value delete /mine/a
  expect_error 77 "the ACL there does not allow it" zklock value set /mine/b w
  value_is /mine/a v
}
