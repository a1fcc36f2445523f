#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock group list and wait: which members are in, and whether they are enough.

load ../helpers
load ../group
load ../metrics

setup() { setup_zk; }

teardown() { end_all; }

# Starts two members; their nodes' names are in $a and $b.
two_members() {
  member a /g --data "x y"
  wait_names /g a
  member b /g
  wait_names /g a b
  a=$(node_of /g a) b=$(node_of /g b)
}

@test "a line for each member, in the order of their names" {
  two_members
  expect_status 0 zklock group list /g
  assert_equal "$output" "$a"$'\n'"$b"
}

@test "no such group is 75, an empty one prints nothing and is 0" {
  expect_error 75 "cannot list /g: there is no such group" zklock group list /g
  zklock group create /g
  expect_status 0 zklock group list /g
  assert_equal "$output$stderr" ""
}

@test "-l adds since when, by which session and the data" {
  two_members
  expect_status 0 zklock group list -l /g
  assert_equal "$(column MEMBER)" "$a $b"
  assert_regex "$(column SINCE)" '^20[0-9-]{8}T[0-9:]{8}Z 20'
  assert_equal "$(column SESSION | cut -d' ' -f1)" "$(printf '0x%x' "$(owner_of "/g/$a" | cut -d= -f2)")"
  assert_regex "${lines[1]}" '  x y$'
  assert_regex "${lines[2]}" '  -$'
}

@test "--json has an object a line" {
  two_members
  expect_status 0 zklock group list --json /g
  assert_equal "$(jq -r '[.name, .node, .data] | join(",")' <<<"$output")" "$a,/g/$a,x y"$'\n'"$b,/g/$b,"
  assert_equal "$(jq -r 'keys | join(" ")' <<<"${lines[0]}")" "data name node session since"
}

@test "-q and --at-least: the status says whether they are enough" {
  two_members
  expect_status 0 zklock group list -q --at-least 2 /g
  assert_equal "$output$stderr" ""
  expect_status 1 zklock group list -q --at-least 3 /g
  assert_equal "$output$stderr" ""
  expect_status 0 zklock group list -q /g
  expect_status 0 zklock group list --at-least 2 /g
  expect_status 1 zklock group list --at-least 3 /g
  assert_equal "$output" "$a"$'\n'"$b"
  assert_equal "$stderr" "zklock: 2 members in /g, fewer than 3"
  zklock group create /empty
  expect_status 1 zklock group list -q /empty
  expect_status 75 zklock group list -q /none
  assert_equal "$stderr" ""
}

@test "what others have written is shown escaped" {
  local data
  data=$'a\e[31m\nb\x01'
  znode stand /g/web- "$data" >stood &
  wait_names /g web
  expect_status 0 zklock group list -l /g
  assert_regex "$output" 'a\\x1b\[31m\\x0ab\\x01$'
  expect_status 0 zklock group list --json /g
  assert_equal "$(jq -r .data <<<"$output")" "$data"
}

@test "only what is ephemeral is a member, and not what stands in line for a lock" {
  two_members
  znode create /g/config
  znode create /g/below/deep-0000000001
  znode stand /g/_c_00000000-0000-0000-0000-000000000000-lock- >stood &
  wait_until "they are there" has_nodes /g 5
  expect_status 0 zklock group list /g
  assert_equal "$output" "$a"$'\n'"$b"
}

@test "a path that is used for something else is 65" {
  zklock queue push /q -- x
  hold lock /l
  hold slot --slots 2 /s
  local verb
  for verb in list watch "wait --at-least 1" join create delete; do
    # shellcheck disable=SC2086
    expect_error 65 "in use as a queue (zklock queue), not as a group" zklock group $verb /q
    # shellcheck disable=SC2086
    expect_error 65 "in use as a lock (zklock run), not as a group" zklock group $verb /l
    # shellcheck disable=SC2086
    expect_error 65 "in use for slots (zklock run --slots), not as a group" zklock group $verb /s
  done
  let_all_go lock slot
}

@test "a group is no lock, no slots and no queue: 65" {
  two_members
  expect_error 65 "in use as a group, not as a lock" zklock run /g -- true
  expect_error 65 "in use as a group, not for slots" zklock run --slots 2 /g -- true
  expect_error 65 "not as a queue" zklock queue push /g -- x
  expect_error 65 "it is a group, not a lock" zklock show /g
  expect_error 65 "it is a group, not a lock" zklock break --yes /g
  expect_status 0 zklock show -r /
  assert_equal "$output" ""
  assert has_nodes /g 2
}

@test "wrong words are refused" {
  expect_error 64 "bad number" zklock group list --at-least two /g
  expect_error 64 "not both" zklock group list -l --json /g
  expect_error 64 "one group at a time" zklock group list /g /h
  expect_error 64 "no group named: write zklock group list" zklock group list
  expect_error 64 "either --at-least N or --at-most N" zklock group wait /g
  expect_error 64 "either --at-least N or --at-most N" zklock group wait --at-least 1 --at-most 2 /g
  expect_error 64 "did you mean 'watch'" zklock group wach /g
  expect_error 64 "no command named: see zklock group --help" zklock group
  assert_untouched
}

@test "wait: until enough have come, also to a group that is not there yet" {
  background zklock group wait --at-least 2 -w 20s /g
  local waiter=$!
  member a /g
  wait_names /g a
  refute is_gone "$waiter"
  member b /g
  expect_end 0 "$waiter"
  expect_status 0 zklock group wait --at-least 2 -w 0 /g
}

@test "wait: until few enough are left" {
  two_members
  background zklock group wait --at-most 0 /g
  local waiter=$!
  kill -TERM "${pid[a]}"
  wait_names /g b
  refute is_gone "$waiter"
  kill -TERM "${pid[b]}"
  expect_end 0 "$waiter"
  expect_status 0 zklock group wait --at-most 0 /none
}

@test "wait: not in time is 75 and says how many there are" {
  two_members
  expect_error 75 "cannot wait for /g any longer: 2 members, not at least 3" zklock group wait --at-least 3 -w 2s /g
  expect_error 75 "cannot wait for /g any longer: 2 members, not at most 1" zklock group wait --at-most 1 -w 0 /g
  expect_status 75 zklock group wait -q --at-most 1 -w 0 /g
  assert_equal "$stderr" ""
}

@test "wait: its session expires, and it waits on" {
  background zklock group wait -v --at-least 1 --session-timeout 1s /g
  local waiter=$!
  zklock group create /g
  sleep 0.3
  kill -STOP "$waiter"
  sleep 1.5
  member a /g
  wait_names /g a
  kill -CONT "$waiter"
  expect_end 0 "$waiter"
}

@test "create: a group that stays, also when it is there already" {
  expect_status 0 zklock group create /a/g
  assert_equal "$(znode get /a/g)" "zklock group 1"
  expect_status 0 zklock group create /a/g
  zklock group join /a/g -- true
  expect_status 0 zklock group list /a/g
  assert_equal "$output" ""
  znode create /theirs "what stands on it"
  expect_status 0 zklock group create /theirs
  assert_equal "$(znode get /theirs)" "what stands on it"
}

@test "create: one that goes with its last member is in the way, 75" {
  two_members
  expect_error 75 "made by its first member, and goes with its last" zklock group create /g
}

@test "delete: refused with the count while there are members, --force removes them" {
  two_members
  expect_error 75 "cannot delete /g: 2 members in it; --force removes them" zklock group delete /g
  assert has_nodes /g 2
  expect_status 0 zklock group delete --force /g
  expect_status 1 znode stat /g
  expect_end 76 "${pid[a]}"
  expect_end 76 "${pid[b]}"
  expect_error 75 "cannot delete /g: there is no such group" zklock group delete /g
  expect_status 1 znode stat /g
}

@test "delete: an empty one goes; what is no group stays, 65" {
  zklock group create /g
  expect_status 0 zklock group delete /g
  expect_status 1 znode stat /g
  znode create /data text
  expect_error 65 "no group of zklock's" zklock group delete --force /data
  zklock group create /with
  znode create /with/below
  expect_error 65 "there is a node below it that is no member" zklock group delete --force /with
  expect_status 0 znode stat /data
}

@test "--format prometheus: how many are in; of a group that is gone, none" {
  exposes group list /g
  assert_equal "$(sampled group_members)" '{group="/g"} 0'
  background zklock group join --name a '/g"\ü'
  background zklock group join --name b '/g"\ü'
  wait_until "two are in" zklock group list -q --at-least 2 '/g"\ü'
  exposes group list '/g"\ü'
  assert_equal "$(sampled group_members)" '{group="/g\"\\ü"} 2'
  expect_error 1 "2 members in" zklock group list --at-least 3 --format prometheus '/g"\ü'
  expect_error 64 "not both" zklock group list -l --format prometheus /g
  expect_error 75 "there is no such group" zklock group list --format json /g
}
