#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value list and delete: names, tables, JSON lines; one node, or all of a tree.

load ../helpers

setup() {
  setup_zk
}

teardown() { end_all; }

some_tree() {
  zklock value set /app/b 1
  zklock value set /app/a/x 22
  zklock value set /app/a-c 333
}

@test "list: the names below, -r with all below them" {
  some_tree
  expect_status 0 zklock value list /app
  assert_equal "$output" a$'\n'a-c$'\n'b
  expect_status 0 zklock value list -r /app
  assert_equal "$output" a$'\n'a-c$'\n'a/x$'\n'b
  expect_status 0 zklock value list -r /
  assert_equal "$output" app$'\n'app/a$'\n'app/a-c$'\n'app/a/x$'\n'app/b
  expect_status 0 zklock value list /app/b
  assert_equal "$output" ""
  expect_error 1 "cannot list /none: there is no such node" zklock value list /none
  expect_error 1 "cannot list /none: there is no such node" zklock value list -r /none
}

@test "list -0: names as they are" {
  zklock value set $'/app/\u00fc x' 1
  zklock value set /app/b 1
  zklock value list -0 /app | od -An -c | tr -s ' ' >got
  assert_equal "$(xargs <got)" "$(printf 'b\0\u00fc x\0' | od -An -c | tr -s ' ' | xargs)"
}

@test "list -l: version, size, children" {
  some_tree
  zklock value set /app/b 4444
  expect_status 0 zklock value list -l /app
  assert_equal "$(column NAME)" "a a-c b"
  assert_equal "$(column VERSION)" "0 0 1"
  assert_equal "$(column BYTES)" "0 3 4"
  assert_equal "$(column CHILDREN)" "1 0 0"
  assert_regex "$(column CHANGED)" '^20[0-9-]{8}T'
  expect_status 0 zklock value list -l /app/b
  assert_equal "$output" ""
}

@test "list --json: an object a line, which is enough to make it all again" {
  some_tree
  printf '\377' | zklock value set /app/bin
  expect_status 0 zklock value list --json /app
  assert_equal "$(jq -r .path <<<"$output" | xargs)" "/app/a /app/a-c /app/b /app/bin"
  zklock value list -r --json /app >exported
  assert_equal "$(jq -r .path exported | xargs)" "/app /app/a /app/a-c /app/a/x /app/b /app/bin"
  zklock value delete -r --yes /app
  local line path
  while read -r line; do
    path=$(jq -r .path <<<"$line")
    jq -rj 'if .value then .value else .value_base64 | @base64d end' <<<"$line" >bytes
    [[ $path != */bin ]] || jq -r .value_base64 <<<"$line" | base64 -d >bytes
    zklock value set "$path" <bytes
  done <exported
  zklock value list -r --json /app >again
  assert_equal "$(jq -c '[.path, .value, .value_base64]' again)" "$(jq -c '[.path, .value, .value_base64]' exported)"
}

@test "list: more than are read at once" {
  local i
  for i in {100..349}; do znode create "/many/n$i" "$i"; done
  expect_status 0 zklock value list --json /many
  assert_equal "$(jq -r .value <<<"$output" | paste -sd' ')" "$(seq -s' ' 100 349)"
}

@test "delete: one node, one that is not there, one with others below it" {
  some_tree
  expect_status 0 zklock value delete /app/b
  assert_equal "$output$stderr" ""
  expect_error 1 "cannot delete /app/b: there is no such node" zklock value delete /app/b
  expect_error 65 "cannot delete /app: 2 nodes below it; -r deletes them too" zklock value delete /app
  expect_error 75 "cannot delete /app/a-c: it has version 0" zklock value delete --if-version 1 /app/a-c
  expect_status 0 zklock value delete --if-version 0 /app/a-c
  expect_error 75 "cannot delete /app/a-c: there is no such node" zklock value delete --if-version 0 /app/a-c
  assert_equal "$(znode ls /app)" a
}

@test "delete -r: all of it, in as many transactions as it takes" {
  local i
  znode create /app/deep/er x
  for i in {1..620}; do znode create "/app/n$i"; done
  expect_error 1 "there is no such node" zklock value delete -r --yes /none
  expect_error 75 "cannot delete /app: it has version 0" zklock value delete -r --yes --if-version 3 /app
  assert_equal "$(count_nodes /app)" 621
  expect_status 0 zklock value delete -r --yes --if-version 0 /app
  assert_equal "$output$stderr" ""
  expect_status 1 znode stat /app
}

@test "delete -r --fenced: 76 before anything is removed" {
  some_tree
  expect_status 0 zklock run /l -- "$ZKLOCK_BIN" value delete -r --yes --fenced /app/a
  ZKLOCK_NODE=/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 expect_error 76 "is lost" zklock value delete -r --yes --fenced /app
  assert_equal "$(znode ls /app | xargs)" "a-c b"
}

@test "delete -r: what zklock uses for something else is left, and all beside it: 65" {
  some_tree
  zklock queue push /app/q x
  expect_error 65 "/app/q is a queue (zklock queue delete removes it); nothing was removed" \
    zklock value delete -r --yes /app
  expect_error 65 "/app/q is a queue" zklock value delete /app/q
  expect_error 65 "/app/q is a queue" zklock value delete -r --yes /app/q/items
  zklock queue pull /app/q >/dev/null
  zklock queue delete --yes /app/q
  zklock group create /app/g
  expect_error 65 "/app/g is a group" zklock value delete -r --yes /app
  zklock group delete /app/g
  hold h /app/l
  expect_error 65 "it belongs to a session; nothing was removed" zklock value delete -r --yes /app
  assert_equal "$(znode ls /app | xargs)" "a a-c b l"
  let_all_go
}

@test "delete -r --dry-run: which nodes, and none goes" {
  some_tree
  expect_status 0 zklock value delete -r --dry-run /app
  assert_equal "$output" "$(printf '/app\n'; zklock value list -r /app | sed 's|^|/app/|')"
  assert_equal "$(count_nodes /app)" 3
  expect_error 1 "there is no such node" zklock value delete -r --dry-run /none
  expect_error 64 "--dry-run is for -r" zklock value delete --dry-run /app
}

@test "delete -r asks at a terminal, and says how many" {
  need_terminal
  some_tree
  expect_error 64 "there is no terminal to ask at: write --yes" zklock value delete -r /app
  echo n | pty screen "$ZKLOCK_BIN" value delete -r /app || true
  assert grep -qF "delete /app and 4 nodes below it? [y/N]" screen
  assert_equal "$(count_nodes /app)" 3
  echo y | pty screen "$ZKLOCK_BIN" value delete -r /app
  expect_status 1 znode stat /app
}

@test "delete -r: others add to it meanwhile: it is gone, or what is left is said" {
  some_tree
  background sh -c 'i=0; while [ ! -e stop ]; do i=$((i + 1)); znode create /app/deep/n$i; done'
  wait_until "they are there" znode stat /app/deep/n3
  expect_status 0 env true
  run --separate-stderr zklock value delete -r --yes /app
  touch stop
  case $status in
    0) assert_equal "$stderr" "" ;;
    75) assert_regex "$stderr" "cannot delete /app: others keep adding to it; [0-9]+ nodes? below it (is|are) left" ;;
    *) fail "status $status: $stderr" ;;
  esac
}

@test "delete -r: what was removed before it is refused is said" {
  need_no_identity
  local n nodes=()
  for n in {1000..1599}; do nodes+=("/s/z/$n" ""); done
  znode create "${nodes[@]}"
  ZKLOCK_AUTH=digest:me:secret zklock value set --acl creator-world-read /s/a/x v
  ZKLOCK_AUTH=digest:me:secret zklock value set --acl creator-world-read /t/a/x v
  expect_error 77 "cannot delete /s: " zklock value delete -r --yes /s
  assert_regex "$stderr" '; 500 nodes were removed before$'
  assert_equal "$(count_nodes /s/z)" 100
  expect_error 77 "cannot delete /t: " zklock value delete -r --yes /t
  refute_regex "$stderr" 'removed'
}
