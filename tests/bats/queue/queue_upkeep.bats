#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue list, count, requeue, purge and delete.

load ../helpers
load ../queue

setup() { setup_zk; }

teardown() { end_all; }

# work_on PATH: makes a claim on an item, as a consumer on web1 does.
work_on() {
  background znode hold "$1/claim" '{"host":"web1","pid":12,"command":"fetch"}' >worker
  wait_until "somebody works on it" test -s worker
}

@test "list: position, id, priority, attempts, who works on it, and the first bytes" {
  zklock queue push /q one $'two\e[31m'
  zklock queue push -p 5 /q urgent
  work_on /q/items/100-0000000000/"$(znode ls /q/items/100-0000000000 | sort -t- -k2 | head -1)"
  expect_status 0 zklock queue list /q
  assert_equal "$(column POS)" "1 2 3"
  assert_equal "$(column PRIORITY)" "5 100 100"
  assert_equal "$(column ATTEMPTS)" "0 1 0"
  assert_line --partial "web1 (pid 12) for"
  assert_line --partial 'two\x1b[31m'
}

@test "list --json: an object a line" {
  zklock queue push /q one
  work_on "$(first_item /q)"
  expect_status 0 zklock queue list --json /q
  assert_equal "$(jq -c '[.position, .priority, .attempts, .worker.host, .size, .begins]' <<<"$output")" \
    '[1,100,1,"web1",3,"one"]'
  assert_equal "$(jq -r .id <<<"$output")" "$(basename "$(first_item /q)")"
}

@test "list -N: the first ones, across segments" {
  seq 2500 | zklock queue push /q
  assert_equal "$(zklock queue list -N 1200 --json /q | jq -r .begins)" "$(seq 1200)"
  assert_equal "$(listed /q)" "$(seq 2500)"
  assert_equal "$(zklock queue list /q | awk 'NR > 1 { print $1 }')" "$(seq 2500)"
  expect_error 64 "bad number '0' for --count" zklock queue list -N 0 /q
}

@test "list --dead: what was given up on, and why" {
  zklock queue push /q
  dead /q 007-0000000000 t-0000000001 bad '{"status":3,"host":"web2"}'
  expect_status 0 zklock queue list --dead /q
  assert_line --regexp '^1 +t-0000000001 +7 .*status=3 host=web2 +bad$'
  assert_equal "$(zklock queue list --dead --json /q | jq -c '[.id, .priority, .why.status, .begins]')" \
    '["t-0000000001",7,3,"bad"]'
}

@test "a reader of list that wants no more ends it" {
  seq 3000 | zklock queue push /q
  run bash -c '"$ZKLOCK_BIN" queue list --json /q | head -1 | jq .position; echo "${PIPESTATUS[0]}"'
  assert_output $'1\n141'
}

@test "count: items, dead ones, and with --exact those in work" {
  zklock queue push /q one two
  zklock queue push -p 7 /q three
  dead /q 100-0000000000 t-0000000001 bad ""
  work_on "$(first_item /q)"
  assert_equal "$(zklock queue count /q)" $'items 3\ndead 1'
  assert_equal "$(zklock queue count --exact /q)" $'items 3\ndead 1\nin_work 1'
  assert_equal "$(zklock queue count --json --exact /q)" '{"items":3,"dead":1,"in_work":1}'
}

@test "a queue that does not exist: count says 0 items, all else that there is none, and it is not made" {
  expect_status 0 zklock queue count /q
  assert_equal "$output" $'items 0\ndead 0'
  expect_error 0 "there is no queue /q" zklock queue count -v /q
  local verb
  for verb in list requeue "purge --yes" "delete --yes"; do
    # shellcheck disable=SC2086
    expect_error 75 "/q: there is no such queue" zklock queue $verb /q
    assert_equal "$output" ""
    # shellcheck disable=SC2086
    expect_status 75 zklock queue $verb -q /q
    assert_equal "$output$stderr" ""
  done
  expect_error 75 "cannot list /q: there is no such queue" zklock queue list --json --dead /q
  expect_error 75 "cannot requeue to /q: there is no such queue" zklock queue requeue /q t-0000000001
  expect_error 75 "cannot purge /q: there is no such queue" zklock queue purge --yes --dead /q
  assert_untouched
}

@test "a queue with nothing in it is one" {
  zklock queue push /q
  local verb
  for verb in list "list --dead" requeue "purge --yes" "purge --yes --dead"; do
    # shellcheck disable=SC2086
    expect_status 0 zklock queue $verb /q
    assert_equal "$output$stderr" ""
  done
  expect_status 0 zklock queue delete --yes /q
  expect_error 75 "cannot delete /q: there is no such queue" zklock queue delete --yes /q
}

@test "a path that is no queue: 65" {
  znode create /l/x-lock-0000000001
  expect_error 65 "cannot list /l: the path is in use, but not as a queue" zklock queue list /l
  expect_error 65 "cannot count /l" zklock queue count /l
  expect_error 65 "cannot requeue to /l" zklock queue requeue /l
  expect_error 65 "cannot purge /l" zklock queue purge --yes /l
  expect_error 65 "cannot delete /l" zklock queue delete --yes /l
  assert_equal "$(znode ls /l)" x-lock-0000000001
}

@test "requeue: all go back to the end of their priorities, with all attempts before them" {
  zklock queue push /q one
  dead /q 100-0000000000 t-0000000001 bad "why"
  dead /q 005-0000000000 t-0000000002 urgent "why"
  expect_status 0 zklock queue requeue -v /q
  assert_equal "$stderr" "zklock: 2 items are back in /q"
  assert_equal "$(items_of /q)" $'urgent\none\nbad'
  assert_equal "$(zklock queue count /q)" $'items 3\ndead 0'
}

@test "requeue by id: that one; one that is not there: 65" {
  zklock queue push /q
  dead /q 100-0000000000 t-0000000001 bad "why"
  dead /q 100-0000000000 t-0000000002 worse "why"
  expect_status 0 zklock queue requeue /q t-0000000002
  assert_equal "$(items_of /q)" worse
  expect_error 65 "cannot requeue 'x-0000000009' to /q: no dead letter has that ID" \
    zklock queue requeue /q t-0000000001 x-0000000009
  assert_equal "$(zklock queue count /q)" $'items 2\ndead 0'
}

@test "purge: what is in work stays, and how many is said" {
  seq 2500 | zklock queue push /q
  work_on "$(first_item /q)"
  expect_error 0 "2499 items are deleted, 1 item is in work and left in /q" zklock queue purge --yes /q
  assert_equal "$(items_of /q)" 1
  assert_equal "$(zklock queue count --exact /q)" $'items 1\ndead 0\nin_work 1'
  zklock queue push /q next
  assert_equal "$(items_of /q)" $'1\nnext'
}

@test "purge: who may not remove the items is told so: 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock queue push --acl creator-world-read /q one two
  expect_error 77 "cannot purge /q/items" zklock queue purge --yes /q
  assert_equal "$(zklock queue count /q)" $'items 2\ndead 0'
}

@test "purge --dead: what was given up on, and no item" {
  zklock queue push /q one
  dead /q 100-0000000000 t-0000000001 bad "why"
  expect_status 0 zklock queue purge --yes --dead /q
  assert_equal "$stderr" ""
  assert_equal "$(zklock queue count /q)" $'items 1\ndead 0'
}

@test "requeue, purge and delete --dry-run: what they would do, no question, and nothing changes" {
  seq 3 | zklock queue push /q
  dead /q 100-0000000000 t-0000000001 bad "why"
  dead /q 100-0000000000 t-0000000002 worse "why"
  work_on "$(first_item /q)"
  expect_status 0 zklock queue purge --dry-run /q
  assert_equal "$output$stderr" "would delete 2 items of /q, and leave 1 in work"
  expect_status 0 zklock queue purge --dry-run --dead --yes /q
  assert_equal "$output" "would delete 2 dead letters of /q"
  expect_status 0 zklock queue requeue --dry-run /q
  assert_equal "$output" "would put 2 items back into /q"
  expect_error 65 "cannot requeue 'x-0000000009' to /q" zklock queue requeue --dry-run /q t-0000000001 x-0000000009
  assert_equal "$output" "would put 1 item back into /q"
  expect_error 75 "cannot delete /q: 3 items are in it and 2 dead" zklock queue delete --dry-run /q
  assert_equal "$(zklock queue count --exact /q)" $'items 3\ndead 2\nin_work 1'
  zklock queue push /empty
  expect_status 0 zklock queue delete --dry-run /empty
  assert_equal "$output" "would delete /empty"
  assert_equal "$(znode get /empty)" "zklock queue 1"
  expect_error 75 "there is no such queue" zklock queue delete --dry-run /none
}

@test "purge and delete ask; without a terminal they need --yes: 64" {
  zklock queue push /q one
  expect_error 64 "write --yes" zklock queue purge /q
  expect_error 64 "write --yes" zklock queue delete /q
  assert_equal "$(items_of /q)" one
}

@test "delete: an empty queue goes whole, one with something in it stays: 75" {
  zklock queue push /q one
  dead /q 100-0000000000 t-0000000001 bad "why"
  expect_error 75 "cannot delete /q: 1 item is in it and 1 dead" zklock queue delete --yes /q
  zklock queue purge --yes /q
  expect_error 75 "0 items are in it and 1 dead" zklock queue delete --yes /q
  zklock queue purge --yes --dead /q
  expect_status 0 zklock queue delete --yes /q
  expect_status 1 znode ls /q
}

@test "delete: while somebody pushes or waits the queue stays: 75" {
  zklock queue push /q
  background znode stand /q/waiting/x-1- >stands
  wait_until "somebody waits" test -s stands
  expect_error 75 "somebody pushes to it or waits for items" zklock queue delete --yes /q
  assert_equal "$(znode ls /q | wc -l)" 4
}

@test "what is not zklock's is neither moved nor deleted, and does not keep anybody busy: 65" {
  zklock queue push /q
  dead /q 100-0000000000 t-0000000001 bad "why"
  znode create /q/dead/100-0000000000/t-0000000001/note ""
  expect_error 65 "/q/dead/100-0000000000/t-0000000001/note is not zklock's" timeout 10 "$ZKLOCK_BIN" queue requeue /q
  znode rm /q/dead/100-0000000000/t-0000000001/note
  znode create /q/dead/100-0000000000/t-0000000001/why/note ""
  dead /q 007-0000000000 t-0000000001 urgent "why"
  expect_error 65 "/q/dead/100-0000000000/t-0000000001/why/note is not zklock's; remove that first; 1 item is back in /q" \
    timeout 10 "$ZKLOCK_BIN" queue requeue /q
  zklock queue purge --yes /q
  expect_error 65 "t-0000000001/why/note is not zklock's" timeout 10 "$ZKLOCK_BIN" queue purge --yes --dead /q
  znode rm /q/dead
  znode create /q/items/mine
  expect_error 65 "cannot delete /q: /q/items/mine is not zklock's" zklock queue delete --yes /q
  znode rm /q/items/mine
  znode create /q/mine
  expect_error 65 "cannot delete /q: /q/mine is not zklock's" zklock queue delete --yes /q
  znode rm /q/mine
  expect_status 0 timeout 10 "$ZKLOCK_BIN" queue delete --yes /q
  expect_status 1 znode ls /q
}

@test "segments whose numbers are used up: 70" {
  zklock queue push /q
  znode create /q/items/100-9999999999
  znode set /q/items/100-9999999999 ""
  expect_error 70 "the numbers of segments below /q/items are used up" timeout 10 "$ZKLOCK_BIN" queue push /q a
}
