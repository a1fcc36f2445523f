# SPDX-License-Identifier: Apache-2.0
# What the Bats files of metrics share, beside helpers.bash.
#
# shellcheck shell=bash

# exposes ARG…: `zklock ARG… --format prometheus` ends with 0, and promtool has nothing to say about what it prints,
# which is in $output.
exposes() {
  expect_status 0 zklock "$@" --format prometheus || return
  assert_equal "$stderr$(promtool check metrics <<<"$output" 2>&1)" ""
}

# sampled FAMILY…: their samples in $output, without what they begin with.
sampled() {
  local family
  for family in "$@"; do sed -nE "s/^zklock_$family(\{.*\} [^ ]+)$/\1/p" <<<"$output"; done
}

# timestamp NODE NAME: that of its Stat, as Prometheus has it.
timestamp() { znode stat "$1" | sed -nE "/^$2=/{s/.*=([0-9]*)(...)$/\\1.\\2/; s/\\.?0+$//; p}"; }
