# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of metrics, loaded after helpers.
#
# shellcheck shell=bash

# exposes ARG…: `zklock ARG… --format prometheus` ends with 0, and promtool accepts its output, which is in $output.
exposes() {
  expect_status 0 zklock "$@" --format prometheus || return
  assert_equal "$stderr$(promtool check metrics <<<"$output" 2>&1)" ""
}

# sampled FAMILY…: prints the labels and values of their samples in $output.
sampled() {
  local family
  for family in "$@"; do sed -nE "s/^zklock_$family(\{.*\} [^ ]+)$/\1/p" <<<"$output"; done
}

# timestamp NODE NAME: prints that time of the node's Stat, as Prometheus writes it.
timestamp() { znode stat "$1" | sed -nE "/^$2=/{s/.*=([0-9]*)(...)$/\\1.\\2/; s/\\.?0+$//; p}"; }
