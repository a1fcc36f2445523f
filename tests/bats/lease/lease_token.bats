#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that ZKLOCK_TOKEN grows from holder to holder, so that a resource can refuse a holder that comes late.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

has_tokens() { (($(wc -l <tokens) == $1)); }

assert_growing() {
  assert_equal "$(sort -n -u tokens)" "$(<tokens)"
}

# store TEXT: appends it to the resource, which remembers the highest token that it has seen and refuses a lower one.
store() {
  local highest=0
  exec {gate}>>resource.gate
  flock "$gate"
  if [[ -s resource.token ]]; then highest=$(<resource.token); fi
  if ((ZKLOCK_TOKEN >= highest)); then
    echo "$ZKLOCK_TOKEN" >resource.token
    echo "$1" >>resource
  fi
  exec {gate}>&-
  ((ZKLOCK_TOKEN >= highest))
}
export -f store

@test "the token is the czxid of the holder's node" {
  expect_status 0 zklock run /l -- sh -c 'echo $ZKLOCK_TOKEN >tokens; znode stat /l/${ZKLOCK_NODE##*/} >its.stat'
  assert_equal "$(<tokens)" "$(sed -n 's/^czxid=//p' its.stat)"
}

@test "it grows from each holder to the next, one after the other" {
  local n
  for n in {1..8}; do expect_status 0 zklock run /l -c 'echo $ZKLOCK_TOKEN >>tokens'; done
  assert_growing
  assert has_tokens 8
}

@test "it grows from each holder to the next, when many wait at a time" {
  local n
  for n in {1..8}; do
    background sh -c 'for n in 1 2 3; do "$ZKLOCK_BIN" run /l -c "echo \$ZKLOCK_TOKEN >>tokens"; done'
    pid["$n"]=$!
  done
  for n in {1..8}; do expect_end 0 "${pid[$n]}"; done
  assert_growing
  assert has_tokens 24
}

@test "it grows over a loss of any kind" {
  local kind count=0
  export ZKLOCK_SESSION_TIMEOUT=1s
  for kind in deleted killed frozen guard; do
    background zklock run -w 20s /l -- sh -c 'echo $ZKLOCK_TOKEN >>tokens; exec sleep 600'
    wait_until "the next one holds it" has_tokens $((++count))
    case $kind in
      deleted) znode rm "/l/$(znode ls /l)" ;;
      killed) kill -KILL $! ;;
      frozen) kill -STOP $! ;;
      guard) kill -KILL "$(guard_of $!)" ;;
    esac
  done
  expect_status 0 zklock run -w 20s /l -c 'echo $ZKLOCK_TOKEN >>tokens'
  assert has_tokens 5
  assert_growing
}

@test "a resource that remembers the highest token refuses a holder who comes late" {
  # This write of a's was on its way when a's machine was paused, and cannot be called back.
  expect_status 0 zklock run /l -- bash -c 'echo "$ZKLOCK_TOKEN" >late; store first && store again'
  expect_status 0 zklock run /l -- bash -c 'store second'
  ZKLOCK_TOKEN=$(<late) run store late
  assert_equal "$status" 1
  expect_status 0 zklock run /l -- bash -c 'store third'
  assert_equal "$(<resource)" $'first\nagain\nsecond\nthird'
}
