#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock's own objects are hardened, not only the libraries in it.

load ../helpers

setup() { core=${ZKLOCK_BIN%/*}/libzklock_core.a; }

# count WHAT COMMAND…: prints for how many objects the output has WHAT.
count() {
  local what=$1
  shift
  "$@" "$core" | awk -v what="$what" '/^File: |[.]o:$/ { seen = 0 } $0 ~ what && !seen++ { n++ } END { print n + 0 }'
}

@test "stack protector, FORTIFY and control-flow protection are in zklock's own objects" {
  local objects floors
  objects=$(ar t "$core" | wc -l)
  # Files are compiled together, but not those of two floors.
  floors=$(find "$repo/src" -mindepth 1 -maxdepth 1 -type d | wc -l)
  assert [ "$objects" -ge "$floors" ]
  # Objects without an array or an address on the stack have none.
  assert [ "$(count __stack_chk_fail nm)" -gt $((objects / 2)) ]
  assert [ "$(count '__(read|recv|mem|str|poll|v?snprintf|v?fprintf|fd)[a-z]*_chk' nm)" -ge 1 ]
  if [[ $(uname -m) == x86_64 ]]; then
    assert_equal "$(count 'IBT, SHSTK' readelf -n)" "$objects"
  fi
}
