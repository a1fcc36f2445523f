#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that no lock, no slots, no group and no queue can be inside another one.

load ../helpers
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

# Omits the container of an empty gate, because the server removes it.
nodes() {
  local path
  for path in / /q /q/items /q/waiting /l /s /g; do znode ls "$path" 2>/dev/null || true; done | sed '/^locks$/d'
}

# refused PATH TEXT: all that would make something there ends with 65, and makes nothing.
refused() {
  local before
  before=$(nodes)
  expect_error 65 "cannot take $1: $2" zklock run "$1" -- touch ran
  expect_error 65 "cannot take $1: $2" zklock run -s -n "$1" -- touch ran
  expect_error 65 "cannot take $1: $2" zklock run --slots 2 "$1" -- touch ran
  expect_error 65 "cannot join $1: $2" zklock group join "$1" -- touch ran
  expect_error 65 "cannot create $1: $2" zklock group create "$1"
  expect_error 65 "cannot push to $1: $2" zklock queue push "$1" item
  expect_error 65 "cannot pull from $1: $2" zklock queue pull -w 1s "$1"
  assert [ ! -e ran ]
  assert_equal "$(nodes)" "$before"
}

@test "below a queue: what is there, what is not, and what only looks like it" {
  zklock queue push /q a b
  local inside
  for inside in /q/items /q/dead /q/waiting /q/pushing /q/items/100-0000000000 /q/items/x /q/x /q/x/y/z; do
    refused "$inside" "/q is a queue (zklock queue), and what lies below it is its own"
  done
  refused "$(first_item /q)" "/q is a queue"
  refused "$(first_item /q)/claim" "/q is a queue"
  assert_equal "$(items_of /q)" $'a\nb'
  zklock queue purge --yes /q
  expect_status 0 zklock queue delete --yes /q
}

@test "below a queue that is the chroot" {
  zklock queue push /q a
  ZKLOCK_SERVERS+=/q refused /l "/ is a queue"
  ZKLOCK_SERVERS+=/q refused /items "/ is a queue"
}

@test "below a contender for a lock, a slot, and what is called like one" {
  hold h /l
  hold s --slots 2 /s
  refused "$(its_node)" "'$(znode ls /l)' is the name of a contender for a lock"
  refused "$(its_node)/x" "'$(znode ls /l)' is the name"
  refused "/s/leases/$(znode ls /s/leases)" "'$(znode ls /s/leases)' is the name"
  refused /l/_c_00000000-0000-4000-8000-000000000000-lock-0000000007 "'_c_00000000"
  refused /k/00000000000000000000000000000000__lock__0000000007/x "'00000000000000000000000000000000__lock__0000000007'"
  let_all_go h s
  expect_status 0 zklock run /l -- true
}

@test "below a member of a group" {
  background zklock group join --unique --name web /g
  wait_until "somebody is in the group" has_nodes /g 1
  local words
  for words in "run /g/web -- true" "run /g/web/x -- true" "run --slots 2 /g/web/x -- true" "group join /g/web/x" \
    "group create /g/web/x" "queue push /g/web/x item"; do
    # shellcheck disable=SC2086
    expect_error 65 "is an ephemeral one, which can have nothing below it" zklock $words
  done
  assert_equal "$(znode ls /g)" web
}

@test "elsewhere names that queues use too are as good as others" {
  local path
  for path in /items /app/items /app/dead/waiting /app/pushing/x; do
    expect_status 0 zklock run "$path" -- true
    expect_status 0 zklock run "$path" -- true
    expect_status 0 zklock queue push "$path/q" item
    expect_status 0 zklock group create "$path/g"
  done
}
