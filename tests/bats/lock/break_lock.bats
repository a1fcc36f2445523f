#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock break: the holders of a lock let go of it, or it is taken away from them.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# stubborn NAME PATH TEXT: starts another program's contender, which never lets go; its node is ${node[NAME]}.
declare -gA node=()
stubborn() {
  background znode stand "$2" "$3" >"$1.node"
  pid[$1]=$!
  wait_until "$1 stands in line" test -s "$1.node"
  node[$1]=$(<"$1.node")
}

# text_is NODE TEXT
text_is() { [[ $(znode get "$1") == "$2" ]]; }

@test "a holder stops its command before it lets go, and the next one starts after that" {
  enter -i h --session-timeout 4s /l
  wait_until "h runs" lives h
  enter w /l
  wait_until "w stands in line" has_nodes /l 2
  expect_status 0 zklock break --yes /l
  assert_equal "$output$stderr" ""
  wait_until "w runs" lives w
  expect_end 76 "${pid[h]}"
  kill -TERM "${pid[w]}"
  wait_gone "${pid[w]}"
  assert_alone
  assert_order "the old command's end and the new one's start" "$(last_of h)" "$(first_of w)"
}

@test "--dry-run: who would be asked, and nobody is" {
  hold a -s --label mine /l
  stand w /l
  expect_status 0 zklock break --dry-run --force /l
  assert_line --index 0 --regexp '^HOST +PID '
  assert_line --index 1 --regexp ' mine$'
  assert_equal "$(wc -l <<<"$output")$stderr" 2
  expect_error 75 "there is no such lock" zklock break --dry-run /none
  let_all_go a w
  expect_status 0 zklock break --dry-run /l
  assert_equal "$output$stderr" ""
}

@test "all shared holders are asked, who waits is not" {
  hold a -s /l
  hold b -s /l
  stand w /l
  expect_status 0 zklock break --yes /l
  expect_end 76 "${pid[a]}"
  expect_end 76 "${pid[b]}"
  wait_until "w holds the lock" test -s w.held
  let_all_go w
}

@test "all who have a slot are asked, who stands at the gate is not" {
  hold a --slots 2 /s
  hold b --slots 2 /s
  begin w --slots 2 /s
  wait_until "w waits" has_nodes /s/leases 3
  expect_status 0 zklock break --yes /s
  expect_end 76 "${pid[a]}"
  expect_end 76 "${pid[b]}"
  wait_until "w holds a slot" test -s w.held
  let_all_go w
}

@test "a free lock: done, and nothing is said but with -v" {
  znode create /l/deeper
  expect_status 0 zklock break --yes /l
  assert_equal "$output$stderr" ""
  expect_status 0 zklock break --yes -v /l
  assert_equal "$stderr" "zklock: /l is free"
  assert_equal "$(znode ls /l)" deeper
}

@test "no such lock: 75, with --force too, and nothing is made" {
  expect_error 75 "cannot break /l: there is no such lock" zklock break --yes /l
  expect_error 75 "cannot break /l: there is no such lock" zklock break --yes --force -w 0 /l
  expect_status 75 zklock break --yes -q /l
  assert_equal "$output$stderr" ""
  assert_untouched
}

@test "who does not let go in time is named, and how to go on: 75" {
  stubborn s /l/x-1- 10.0.0.1
  expect_error 75 "cannot break /l: '10.0.0.1' has not let go in time; --force takes the lock away" \
    zklock break --yes -w 2s /l
  assert text_is "${node[s]}" __REVOKE__
  expect_error 75 "somebody who was asked to let go has not let go" zklock break --yes -w 0 /l
  expect_status 75 zklock break --yes -q -w 0 /l
  assert_equal "$output$stderr" ""
}

@test "several who do not let go are all named" {
  stubborn a /l/0f1c2d4e5f600f6b1b1e9d0c4b368a5e__rlock__ first
  stubborn b /l/1f1c2d4e5f600f6b1b1e9d0c4b368a5e__rlock__ second
  stubborn c /l/3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__ third
  expect_error 75 "cannot break /l: 'first', 'second' have not let go in time" zklock break --yes -w 2s /l
  assert text_is "${node[c]}" third
}

@test "-w is for all of it: no server in time is 69" {
  local began
  began=$(now_us)
  expect_error 69 "cannot reach ZooKeeper" zklock break --yes -S 127.0.0.1:1 -w 300ms /l
  assert [ $(($(now_us) - began)) -lt 5000000 ]
}

@test "it waits for who lets go in time" {
  stubborn s /l/x-1- text
  background zklock break --yes -v /l 2>err
  local breaking=$!
  wait_for "zklock: asked 'text' to let go" err
  assert text_is "${node[s]}" __REVOKE__
  kill -TERM "${pid[s]}"
  expect_end 0 "$breaking"
  assert_equal "$(wc -l <err)" 1
}

@test "--force takes it away from who has not let go, and says so; the next one gets in" {
  stubborn s /l/x-1- 10.0.0.1
  begin w /l
  wait_until "w stands in line" has_nodes /l 2
  expect_status 0 zklock break --yes --force -w 2s /l
  assert_equal "$stderr" "zklock: took /l away from '10.0.0.1', which may still be running"
  wait_until "w holds the lock" test -s w.held
  let_all_go w
}

@test "--force does not harm who lets go in time" {
  hold h /l
  expect_status 0 zklock break --yes --force /l
  assert_equal "$output$stderr" ""
  expect_end 76 "${pid[h]}"
  assert_regex "$(<h.err)" "asked to let go|revoked|break"
}

@test "without the permission: 77, and nothing has changed" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret hold h --acl creator-world-read /l
  local before
  before=$(znode ls /l)
  expect_error 77 "ZooKeeper refused it" zklock break --yes /l
  expect_error 77 "ZooKeeper refused it" zklock break --yes --force -w 0 /l
  assert_equal "$(znode ls /l)" "$before"
  let_all_go h
}

@test "a leftover that cannot be removed keeps no holder from being asked: 65 in the end" {
  local left=/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000
  znode create /l '' $left '' $left/note ''
  hold h /l
  expect_error 65 "there are nodes below it" zklock break --yes /l
  expect_end 76 "${pid[h]}"
  assert_equal "$(znode ls /l)" "${left##*/}"
}

@test "a queue is not a lock: 65" {
  znode create /q "zklock queue 1"
  znode create /q/items
  expect_error 65 "cannot break /q: it is a queue" zklock break --yes /q
}

@test "wrong use: 64, in one line that says what would be right" {
  hold h /l
  expect_error 64 "there is no terminal to ask at: write --yes" zklock break /l
  expect_error 64 "no lock named: write zklock break /locks/job" zklock break --yes
  expect_error 64 "unexpected argument '/m': one lock at a time" zklock break --yes /l /m
  expect_error 64 "bad path '/': " zklock break --yes /
  expect_error 64 "bad duration 'soon' for --timeout" zklock break --yes -w soon /l
  expect_error 64 "unknown option '--forse'; did you mean '--force'?" zklock break --forse /l
  let_all_go h
}
