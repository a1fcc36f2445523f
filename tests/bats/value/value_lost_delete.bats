#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value delete with lost requests and answers.

load ../helpers
load ../value_lost

setup() { setup_zk; }

teardown() { end_all; }

@test "delete: it is gone" {
  with_old
  in_turn times_deleted nobody delete /v
  only 0
}

@test "delete --if-version: what others have written meanwhile stays" {
  with_old
  in_turn times_deleted nobody delete --if-version 0 /v
  only 0 69
  in_turn times_deleted they_set_what_is_there delete --if-version 0 /v
  only 75 69 0
}

@test "delete --fenced: it is done once while the lock is held, and 76 is said only of what was not" {
  with_lock
  in_turn times_deleted nobody delete --fenced /v
  only 0
  in_turn times_deleted they_remove_the_lock delete --fenced /v
  only 76 0 69
}
