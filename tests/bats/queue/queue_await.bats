#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock queue push --wait waits until each of its items has ended, and reports how.

load ../helpers
load ../queue
load ../awaited

setup() { setup_zk; }

teardown() { end_all; }

@test "it ends with 0 when all items are done, and leaves nothing behind" {
  await a /q one two three
  do_one
  has_counted "done" 1
  do_all
  expect_said 0 a "/q: 3 of 3 items done"
  assert_clean
}

@test "without -v it prints nothing" {
  background zklock queue push --wait /q one >out 2>&1
  pid[a]=$!
  expect_status 0 zklock queue pull -w 20s /q -- true
  expect_end 0 "${pid[a]}"
  assert_equal "$(<out)" ""
}

@test "no input is no item: 0" {
  expect_status 0 zklock queue push --wait /q
  assert_equal "$output$stderr" ""
  assert_clean
  expect_status 0 zklock queue push --wait -v /q
  assert_equal "${stderr##*$'\n'}" "zklock: /q: 0 of 0 items done"
  assert_clean
}

@test "items of several segments that two consumers print" {
  seq 2500 >lines
  push_wait a /q <lines
  background zklock queue pull -N 1250 -w 60s /q >got1
  background zklock queue pull -N 1250 -w 60s /q >got2
  expect_said 0 a "/q: 2500 of 2500 items done"
  sort -n got1 got2 | cmp - lines
  assert_clean
}

@test "each push waits for its own items, whatever their priority" {
  await later -p 900 /q one two
  await sooner -p 5 /q three
  zklock queue push /q four
  do_one
  expect_said 0 sooner "/q: 1 of 1 item done"
  do_one
  do_one
  has_counted "done" 1
  do_one
  expect_said 0 later "/q: 2 of 2 items done"
  assert_clean
}

@test "a dead letter: 123, and it can be put back later" {
  await a /q bad good
  bury_one
  has_counted dead 1
  do_one
  expect_said 123 a "/q: 1 of 2 items done, 1 dead letter"
  assert_clean
  expect_status 0 zklock queue requeue /q
  do_all
  assert_equal "$(zklock queue count /q)" $'items 0\ndead 0'
}

@test "a dead letter that is put back and then done counts as done: 0" {
  await a /q bad good
  bury_one
  has_counted dead 1
  expect_status 0 zklock queue requeue /q
  has_counted back 1
  do_all
  expect_said 0 a "/q: 2 of 2 items done"
  assert_clean
}

@test "a dead letter that is put back and dies again counts once" {
  await a /q bad good
  bury_one
  zklock queue requeue /q
  do_one
  bury_one
  expect_said 123 a "/q: 1 of 2 items done, 1 dead letter"
}

@test "a purged item: 123; a purged dead letter was counted before" {
  await a /q one
  zklock queue purge --yes /q
  expect_said 123 a "/q: 0 of 1 item done, 1 purged"
  await b /q bad good
  bury_one
  zklock queue purge --yes --dead /q
  do_one
  expect_said 123 b "/q: 1 of 2 items done, 1 dead letter"
  assert_clean
}

@test "purge leaves an item in work, and its end counts" {
  await a /q one two three
  work_on_one worker 0
  expect_error 0 "2 items are deleted, 1 item is in work" zklock queue purge --yes /q
  has_counted purged 2
  let_go worker
  expect_end 0 "${pid[worker]}"
  expect_said 123 a "/q: 1 of 3 items done, 2 purged"
}

@test "-w is over: 75, the items stay, and are acked as others" {
  expect_error 75 "not all is done after 100ms; 3 of 3 items are left in /q" \
    zklock queue push --wait -w 100ms /q one two three
  expect_error 75 "1 of 1 item is left in /q" zklock queue push --wait -w 0 /q four
  assert_no_nodes /q/pushing
  do_one
  bury_one
  expect_status 0 zklock queue pull --all /q
  assert_equal "$output" $'three\nfour'
  assert_equal "$(zklock queue count --exact /q)" $'items 0\ndead 1\nin_work 0'
}

@test "-w counts from the moment when all items are in" {
  local ended
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  background zklock queue push --wait -w 1s /q <lines 2>a.err 4>&-
  pid[a]=$!
  exec 4>lines
  echo one >&4
  wait_until "it is in" eval '[[ $(listed /q) == one ]]'
  wait_until "more than -w is over" is_past $(($(now_us) + 1500000))
  ended=$(now_us)
  exec 4>&-
  expect_said 75 a "not all is done after 1.0s; 1 of 1 item is left in /q"
  (($(now_us) - ended >= 1000000)) || fail "after $(($(now_us) - ended)) us"
}

@test "bad input is refused before there is a connection: 64" {
  expect_error 64 "--timeout bounds --wait, which is not given" zklock queue push -w 1s /q one
  expect_error 64 "bad duration" zklock queue push --wait -w soon /q one
  assert_untouched
}

# expect_interrupted SIGNAL STATUS
expect_interrupted() {
  await "$1" /q one two
  do_one
  kill "-$1" "${pid[$1]}"
  expect_end "$2" "${pid[$1]}"
  # It may not have seen yet that one is done.
  assert_regex "$(<"$1.err")" $'\nzklock: interrupted: [12] of 2 items are left in /q$'
  assert_no_nodes /q/pushing
  assert_equal "$(listed /q)" two
  do_one
}

@test "a signal ends the wait and not the items, and it says how many are left" {
  expect_interrupted INT 130
  expect_interrupted TERM 143
}

@test "a signal while it pushes: what is in stays" {
  mkfifo lines
  exec 4<>lines
  push_wait a /q <lines
  printf 'one\ntwo\n' >&4
  wait_until "both are in" eval '[[ $(listed /q) == $'\''one\ntwo'\'' ]]'
  kill -INT "${pid[a]}"
  expect_said 130 a "interrupted: 2 items are in /q"
  exec 4>&-
  do_all
}

@test "IDs have no tag: list, the worker's command, messages, and requeue agree" {
  local id number="[0-9]{10}" token="[0-9a-f]{12}"
  await a -p 7 /q one two
  id=$(zklock queue list --json -N 1 /q | jq -r .id)
  assert_regex "$id" "^$token-$number\$"
  expect_status 0 zklock queue list /q
  assert_equal "$(column ID)" "$id $(zklock queue list --json /q | jq -r .id | tail -1)"
  expect_status 65 zklock queue pull -N 1 /q -- sh -c 'echo "$ZKLOCK_ITEM_ID $ZKLOCK_NODE"; exit 65'
  assert_regex "$output" "^$id /q/items/007-$number/${id%-*}[.]p$(basename "$(awaited_push)")[.]${id#*-}/claim\$"
  assert_equal "$(zklock queue list --dead --json /q | jq -r .id)" "$id"
  expect_status 0 zklock queue requeue --dry-run /q "$id"
  assert_equal "$output" "would put 1 item back into /q"
  expect_status 0 zklock queue requeue /q "$id"
  expect_error 65 "no dead letter has that ID" zklock queue requeue /q "$id"
  zklock queue pull --all --max-attempts 1 /q -- false 2>said || true
  has_text "zklock: item ${id%-*}-" said || fail "$(<said)"
  expect_said 123 a "/q: 0 of 2 items done, 2 dead letters"
}

@test "the queue's mark changes with the first push that waits" {
  zklock queue push /q one
  assert_equal "$(znode get /q)" "zklock queue 1"
  expect_status 75 zklock queue push --wait -w 0 /q two
  assert_equal "$(znode get /q)" "zklock queue 2"
  zklock queue push /q three
  expect_status 75 zklock queue push --wait -w 0 /q four
  assert_equal "$(znode get /q)" "zklock queue 2"
  expect_status 0 zklock queue pull --all /q
  assert_equal "$output" $'one\ntwo\nthree\nfour'
}

@test "an item with a tag of a later version is left alone" {
  expect_status 75 zklock queue push --wait -w 0 /q one
  local item=/q/items/100-0000000000/0123456789ab.x1.0000000007
  znode create "$item" later
  assert_equal "$(listed /q)" one
  do_all
  expect_error 75 "no items" zklock queue pull /q
  expect_status 0 zklock queue purge --yes /q
  expect_error 65 "$item is not zklock's" zklock queue delete --yes /q
  assert_equal "$(znode get "$item")" later
}

@test "behind the place of a version that does not see these items, a consumer takes them all the same" {
  local id=_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60 n
  zklock queue push /q
  background znode stand "/q/waiting/$id-lock-" '{"host":"old","pid":7}' >place
  wait_until "the first place is taken" test -s place
  for n in 1 2; do
    background zklock queue pull -w 30s /q >"got$n"
    pid[consumer$n]=$!
    wait_until "it waits" has_nodes /q/waiting $((n + 1))
  done
  for n in $(znode ls /q/waiting | grep -v "^${id}"); do
    assert_equal "$(znode get "/q/waiting/$n" | jq .queue)" 2
  done
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue push --wait /q one
  expect_status 0 timeout 20 "$ZKLOCK_BIN" queue push --wait /q two
  expect_end 0 "${pid[consumer1]}"
  expect_end 0 "${pid[consumer2]}"
  assert_equal "$(sort got1 got2)" $'one\ntwo'
  assert_equal "/q/waiting/$(znode ls /q/waiting)" "$(<place)"
}
