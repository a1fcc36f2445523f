# SPDX-License-Identifier: Apache-2.0
# What the tests of scripts/bench share.
#
# shellcheck shell=bash

setup() {
  setup_place
  export ZKLOCK_HELPERS=${ZKLOCK_HELPERS:-$repo/build/test/tests}
}

teardown() { end_all; }

bench() { "$repo/scripts/bench" "$@" --out "$BATS_TEST_TMPDIR"; }

# found FILTER: of jq, on what bench has left.
found() { jq -e "$1" "$BATS_TEST_TMPDIR/bench.json" >/dev/null || { cat "$BATS_TEST_TMPDIR/bench.json" && false; }; }
