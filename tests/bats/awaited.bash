# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of `zklock queue push --wait`, loaded after helpers. The queue is /q.
#
# shellcheck shell=bash disable=SC2034

# push_wait NAME ARG…: starts `zklock queue push --wait -v ARG…` in the background, as ${pid[NAME]}. See NAME.err.
push_wait() {
  background zklock queue push --wait -v "${@:2}" 2>"$1.err"
  pid[$1]=$!
}

# await NAME ARG…: like push_wait, but returns when all items are in and it waits for their ends.
await() {
  push_wait "$@"
  wait_for "zklock: pushed " "$1.err"
}

# expect_said STATUS NAME TEXT: NAME ends with STATUS, and its last line is "zklock: TEXT".
expect_said() {
  local said
  expect_end "$1" "${pid[$2]}" || return
  said=$(<"$2.err")
  assert_equal "${said##*$'\n'}" "zklock: $3"
}

# Prints the path of the only awaited push.
awaited_push() { echo "/q/awaited/$(znode ls /q/awaited)"; }

# has_counted COUNT N: that counter of the only awaited push is N.
has_counted() { znode stat "$(awaited_push)/$1" | grep -qx "version=$2"; }

# The pushes that are over have left nothing.
assert_clean() { assert_no_nodes /q/awaited && assert_no_nodes /q/pushing; }

# Do the next item, or all items; make the next one a dead letter.
do_one() { expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull /q -- true; }
do_all() { expect_status 0 timeout 20 "$ZKLOCK_BIN" queue pull --all /q -- true; }
bury_one() { expect_status 65 timeout 20 "$ZKLOCK_BIN" queue pull /q -- sh -c 'exit 65'; }

# work_on_one NAME STATUS: a worker takes the next item, and ends it with STATUS after `let_go NAME`.
work_on_one() {
  background zklock queue pull /q -- sh -c 'touch "$1.works"; await_file "$1.go"; exit "$2"' sh "$@"
  pid[$1]=$!
  wait_until "$1 works" test -e "$1.works"
}
