#!/usr/bin/env bats
# scripts/bench: not what it finds, but that it finds something.

load helpers

setup() {
  setup_place
  export ZKLOCK_HELPERS=${ZKLOCK_HELPERS:-$repo/build/test/tests}
}

teardown() { end_all; }

bench() { "$repo/scripts/bench" "$@" --out "$BATS_TEST_TMPDIR"; }

# found FILTER: of jq, on what bench has left.
found() { jq -e "$1" "$BATS_TEST_TMPDIR/bench.json" >/dev/null || { cat "$BATS_TEST_TMPDIR/bench.json" && false; }; }

@test "figures and their ratios are what they should be" {
  expect_status 0 env PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s "$repo/tests/bench" -p '*_test.py'
}

@test "queues and locks are measured beside bare programs" {
  bench least lock drain
  found '[.comparisons[].name] == ["lock", "drain"]'
  found '[.comparisons[].series[] | .median > 0] | all'
  found '.comparisons[0].claims[] | select(.name == "wall, zklock to floor") | .value > 0'
}

@test "a comparison that does not exist is a usage error" {
  expect_status 64 bench nonsense
}
