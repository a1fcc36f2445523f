#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests the picture of the README: it can be drawn again, and shows what it is there to show.

load ../helpers

setup() {
  setup_place
  unshare -um true 2>/dev/null || unshare -rum true 2>/dev/null || skip "no namespaces can be made here"
  need_terminal
}

teardown() { end_all; }

# rows_of FILE: prints the words that a reader sees, a row a line.
rows_of() {
  python3 - "$1" <<'END'
import sys, xml.etree.ElementTree as tree
rows = {}
for text in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text"):
    rows.setdefault(float(text.get("y")), []).append(text.text)
print(*(" ".join(rows[y]) for y in sorted(rows)), sep="\n")
END
}

@test "picture: a wait, show, health and top, with neutral names, in an SVG" {
  expect_status 0 timeout 120 "$repo/scripts/picture" picture.svg
  assert_equal "$output$stderr" ""
  run -0 rows_of picture.svg
  assert_output --regexp 'web2\$ zklock run /locks/deploy -- deploy
zklock: waiting for /locks/deploy: held by web1 \(pid [0-9]+, release 4.2\) for '
  assert_output --regexp '/locks/deploy 1 holding exclusive [^ ]+ web1 [0-9]+ [^ ]+ deploy 0x[0-9a-f]+ release 4.2
/locks/deploy 2 waiting exclusive [^ ]+ web2 '
  assert_output --regexp 'zk1:[0-9]+ serving follower .*
zk2:[0-9]+ serving leader .*
zk3:[0-9]+ refused - '
  assert_output --regexp 'web3\$ zklock top
warning: 2 of 3 serve, missing zk3:[0-9]+, zk2:[0-9]+ leads, .*
1 lock \(1 held, 1 waited for\), 2 queues .*
LOCK .*
/locks/deploy +web1 deploy .release 4.2. .*
QUEUE .*
/queues/mail 39 0 1 '
  refute grep -qwF -e "$(hostname)" -e "$PWD" -e "$repo" picture.svg
}

@test "picture: without what it is to show there is none" {
  ZKLOCK_BIN=/bin/true expect_status 1 timeout 120 "$repo/scripts/picture" picture.svg
  assert_regex "$stderr" "^picture: zklock run .* ended without 'took /locks/deploy'"
  refute [ -e picture.svg ]
}
