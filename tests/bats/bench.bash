# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of scripts/bench.
#
# shellcheck shell=bash

setup() {
  setup_place
  export ZKLOCK_HELPERS=${ZKLOCK_HELPERS:-$repo/build/test/tests}
}

teardown() { end_all; }

bench() { "$repo/scripts/bench" "$@" --out "$BATS_TEST_TMPDIR"; }

# found FILTER: what bench has left passes the jq filter.
found() { jq -e "$1" "$BATS_TEST_TMPDIR/bench.json" >/dev/null || { cat "$BATS_TEST_TMPDIR/bench.json" && false; }; }
