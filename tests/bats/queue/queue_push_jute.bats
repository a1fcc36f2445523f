#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push to a server that takes less in one request than an item may have.

load ../helpers

# The server closes the connection after a packet of 100 kB.
setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000 --java-property jute.maxbuffer=100000; }

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() { end_all; }

@test "an item that the servers never take ends the push, with the setting that is too small, after so many tries" {
  { echo small && head -c 307200 /dev/zero | tr '\0' x && echo; } >items
  zklock queue push /q <<<first
  expect_status 69 timeout 100 "$ZKLOCK_BIN" queue push /q <items
  assert_regex "$stderr" "the connection was lost 20 times over the same [0-9]+ bytes; is the servers' jute.maxbuffer smaller"
  expect_status 0 zklock queue count /q
  assert_line "items 1"
}
