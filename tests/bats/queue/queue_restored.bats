#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests queues and groups that a backup has brought back, with all nodes persistent.

load ../helpers
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

readonly id=_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60

@test "a queue: items under claims of a backup are taken, listed as nobody's, purged; delete removes the rest" {
  zklock queue push /q one two
  local item
  for item in $(znode ls /q/items/100-0000000000); do
    znode create "/q/items/100-0000000000/$item/claim" '{"host":"old","pid":7}'
  done
  znode create /q/pushing/0123456789ab
  znode create "/q/waiting/$id-lock-0000000000"
  expect_status 0 zklock queue list /q
  assert_line --partial "nobody for"
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull --all /q
  assert_equal "$(sort <<<"$output")" $'one\ntwo'
  zklock queue push /q three
  znode create "$(first_item /q)/claim" '{"host":"old","pid":7}'
  expect_status 0 zklock queue purge --yes /q
  assert_equal "$stderr" ""
  expect_status 0 zklock queue delete --yes /q
  expect_status 1 znode ls /q
}

@test "a queue: who waits in line behind a place of a backup gets the next item" {
  zklock queue push /q
  znode create "/q/waiting/$id-lock-0000000000"
  background zklock queue pull -w 20s /q >out
  wait_until "it waits" has_nodes /q/waiting 2
  zklock queue push /q item
  expect_end 0 $!
  assert_equal "$(<out)" item
}

@test "a group: its members of a backup are none; names and numbers they had are left out; delete --force removes them" {
  znode create /g "zklock group 1"
  local n
  for n in 3 4 5; do znode create "/g/web-000000000$n"; done
  expect_status 0 zklock group list /g
  assert_equal "$output" ""
  assert_equal "$stderr" "zklock: nodes in /g that are no members, because they are in no session: web-0000000003, web-0000000004, web-0000000005"
  expect_status 0 timeout 20 "$ZKLOCK_BIN" group join --name web /g -- true
  expect_error 75 "members have left 3 nodes in it, in no session; --force removes" zklock group delete /g
  expect_status 0 zklock group delete --force /g
  expect_status 1 znode ls /g
}

@test "push: a node that stays has the name of the next item: the item gets another, and nothing is sent for ever" {
  mkfifo lines
  # shellcheck disable=SC2016
  background sh -c 'exec timeout 30 "$ZKLOCK_BIN" queue push /q <lines'
  local push=$! n name
  exec 7>lines
  echo one >&7
  wait_until "the first is in" has_nodes /q/items/100-0000000000 1
  name=$(znode ls /q/items/100-0000000000)
  # Each of these nodes takes a number itself.
  for n in 2 3 4; do znode create "/q/items/100-0000000000/${name%-*}-000000000$n" "in the way"; done
  echo two >&7
  exec 7>&-
  expect_end 0 "$push"
  assert_equal "$(zklock queue list --json /q | jq -r .begins | sort)" $'in the way\nin the way\nin the way\none\ntwo'
}

@test "pull: an item below which somebody has put a node stays, the others are taken, and purge names that node" {
  zklock queue push /q one two three
  znode create "$(first_item /q)/note"
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull --all /q
  assert_equal "$(sort <<<"$output")" $'three\ntwo'
  expect_error 65 "/note is not zklock's; remove that first" zklock queue purge --yes /q
  expect_error 75 "1 item is in it" zklock queue delete --yes /q
}

@test "delete: what is not zklock's is named at every level" {
  local node
  for node in pushing/mine waiting/mine items/100-0000000000/mine; do
    zklock queue push /q
    znode create "/q/$node"
    expect_error 65 "cannot delete /q: /q/$node is not zklock's" timeout 10 "$ZKLOCK_BIN" queue delete --yes /q
    znode rm /q
  done
}
