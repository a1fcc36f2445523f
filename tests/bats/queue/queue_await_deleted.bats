#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock queue delete does with pushes that wait, and what happens if a person deletes their nodes.

load ../helpers
load ../queue
load ../awaited

setup() { setup_zk; }

teardown() { end_all; }

leaving="zklock queue 2, being deleted"

# It is gone, and the path can be a queue again.
assert_deleted() {
  expect_status 1 znode get /q
  zklock queue push /q
  assert_equal "$(znode get /q)" "zklock queue 1"
}

# await_and_die NAME ARG…: that push is killed while it waits, and its session is over.
await_and_die() {
  await "$@" --session-timeout 1s
  kill -KILL "${pid[$1]}"
  wait_until "its session is over" has_nodes /q/pushing 0
}

@test "delete: while a push waits the queue stays, whether there are items or not: 75" {
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  push_wait a /q <lines
  wait_until "it is ready to push" has_nodes /q/pushing 1
  expect_error 75 "somebody pushes to it or waits for items" zklock queue delete --yes /q
  echo one >&4
  wait_until "it is in" eval '[[ $(listed /q) == one ]]'
  expect_error 75 "1 item is in it and 0 dead" zklock queue delete --yes /q
  do_one
  expect_error 75 "somebody pushes to it or waits for items" zklock queue delete --yes /q
  assert_equal "$(znode get /q)" "zklock queue 2"
  exec 4>&- 4<&-
  kill "${pid[a]}"
  expect_end 143 "${pid[a]}"
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
}

@test "delete: pushes that were killed go with the queue, and keep it no longer than their items" {
  await_and_die a /q one two
  await_and_die b /q three
  has_nodes /q/awaited 2
  expect_error 75 "3 items are in it" zklock queue delete --yes /q
  assert_equal "$(znode get /q)" "zklock queue 2"
  bury_one
  zklock queue purge --yes /q
  expect_error 75 "0 items are in it and 1 dead" zklock queue delete --yes /q
  zklock queue purge --yes --dead /q
  expect_status 0 zklock queue delete --dry-run /q
  assert_equal "$output" "would delete /q"
  has_nodes /q/awaited 2
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
}

@test "a push that has no session while the queue is deleted: 65" {
  await a --session-timeout 1s /q one
  kill -STOP "${pid[a]}"
  wait_until "its session is over" has_nodes /q/pushing 0
  do_one
  expect_status 0 zklock queue delete --yes /q
  kill -CONT "${pid[a]}"
  expect_end 65 "${pid[a]}"
  wait_for "was deleted, so it cannot be known how its items end" a.err
}

# half_deleted: makes what `queue delete` has left if it was killed.
half_deleted() {
  expect_status 75 zklock queue push --wait -w 0 /q one
  expect_status 75 zklock queue push --wait -w 0 /q two
  local folder
  for folder in items dead pushing waiting; do znode rm /q/$folder; done
  znode set /q "$leaving"
}

@test "a delete that was killed: no other command uses what is left: 65" {
  half_deleted
  local verb
  for verb in "push /q a" "push --wait /q a" "pull /q" "pull --follow /q" "pull --all /q" "pull /q -- true" "list /q" \
    "list --dead /q" "count /q" "count --exact /q" "requeue /q" "purge --yes /q" "purge --yes --dead /q"; do
    # shellcheck disable=SC2086
    expect_error 65 "/q: the queue is being deleted; if that was interrupted, zklock queue delete goes on" \
      timeout 20 "$ZKLOCK_BIN" queue $verb
    assert_equal "$output" ""
  done
  assert_equal "$(znode get /q; znode ls /q)" "$leaving"$'\n'awaited
  has_nodes /q/awaited 2
}

@test "a delete that was killed: no lock, group or value takes the path: 65" {
  half_deleted
  expect_error 65 "/q: the path is in use as a queue (zklock queue)" zklock group join /q -- true
  expect_error 65 "/q is a queue (zklock queue delete removes it)" zklock value set /q text
  expect_error 65 "/q is a queue (zklock queue), and what lies below it is its own" zklock run /q/lock -- true
  expect_error 65 "/q: the path is in use as a queue, not as a lock" zklock run /q -- true
  assert_equal "$(znode get /q; znode ls /q)" "$leaving"$'\n'awaited
}

@test "a delete that was killed: another one goes on, from wherever it was" {
  local path
  half_deleted
  expect_status 0 zklock queue delete --dry-run /q
  assert_equal "$output" "would delete /q"
  assert_equal "$(znode get /q)" "$leaving"
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
  half_deleted
  path=$(awaited_push | head -1)
  znode rm "$path/done"
  znode rm "$path/back"
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
  half_deleted
  for path in $(znode ls /q/awaited); do znode rm "/q/awaited/$path"; done
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
  half_deleted
  znode rm /q/awaited
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
}

@test "delete: what is not zklock's below awaited is named, and stays: 65" {
  local node
  expect_status 75 zklock queue push --wait -w 0 /q one
  do_all
  for node in "$(awaited_push)/mine" /q/awaited/mine; do
    znode create "$node"
    expect_error 65 "cannot delete /q: $node is not zklock's" timeout 10 "$ZKLOCK_BIN" queue delete --yes /q
    znode rm "$node"
  done
  expect_status 0 zklock queue delete --yes /q
  assert_deleted
}

@test "a person deletes the push's nodes while it waits: 65, and its items can be done" {
  await a /q one two three four
  work_on_one worker 0
  znode rm "$(awaited_push)"
  expect_end 65 "${pid[a]}"
  assert_regex "$(<a.err)" \
    "/q/awaited/[0-9a-f]{12} was deleted, so it cannot be known how its items end; 4 of 4 items are left in /q$"
  let_go worker
  expect_end 0 "${pid[worker]}"
  bury_one
  zklock queue push /q five
  # These are acked together.
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull --all -j 4 /q -- true
  assert_equal "$(zklock queue count --exact /q)" $'items 0\ndead 1\nin_work 0'
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue requeue /q
  assert_equal "$(listed /q)" two
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull --all /q
  assert_equal "$output" two
  assert_clean
}

@test "a person deletes one of its counters: 65, whatever ends its items" {
  local count
  for count in "done" dead purged back; do
    await $count /q one two three
    znode rm "$(awaited_push)/$count"
    # That of `back` is not watched.
    do_one
    expect_end 65 "${pid[$count]}"
    bury_one
    expect_status 0 timeout 20 "$ZKLOCK_BIN" queue requeue /q
    bury_one
    expect_status 0 timeout 20 "$ZKLOCK_BIN" queue purge --yes /q
    zklock queue purge --yes --dead /q
    assert_equal "$(zklock queue count /q)" $'items 0\ndead 0'
    expect_status 0 zklock queue delete --yes /q
  done
}

@test "a person deletes the push's nodes while it pushes: 65" {
  mkfifo lines
  exec 4<>lines
  push_wait a /q <lines
  echo one >&4
  wait_until "it is in" eval '[[ $(listed /q) == one ]]'
  znode rm "$(awaited_push)"
  echo two >&4
  expect_end 65 "${pid[a]}"
  assert_regex "$(<a.err)" "/q/awaited/[0-9a-f]{12} was deleted; 1 item is in /q"
  exec 4>&-
  assert_equal "$(listed /q)" one
}

@test "purge: items whose push a person has deleted go too" {
  expect_status 75 zklock queue push --wait -w 0 /q one two
  znode rm /q/awaited
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue purge --yes -v /q
  assert_equal "${stderr##*$'\n'}" "zklock: 2 items are deleted"
  await a /q three
  do_one
  expect_said 0 a "/q: 1 of 1 item done"
}
