#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that scripts/bench finds something about killed programs, costs and TLS.

load ../helpers
load ../bench

@test "who is killed is missed, and what each thing costs is counted" {
  bench least killed cost
  found '.comparisons[0].series[] | select(.name == "zklock, a holder") | .median > 0'
  found '[.comparisons[1].series[] | select(.name == "one run, zklock") | .median > 0] == [true, true, true, true]'
}

@test "TLS is measured beside none" {
  bench least tls
  found '[.comparisons[0].claims[] | select(.name | startswith("CPU of a ")) | .value > 0] == [true, true]'
}
