#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# zklock's own objects are hardened, not only the libraries in it.

load ../helpers

setup() { core=${ZKLOCK_BIN%/*}/libzklock_core.a; }

# count WHAT COMMAND…: how many objects' output has it.
count() {
  local what=$1
  shift
  "$@" "$core" | awk -v what="$what" '/^File: |[.]o:$/ { seen = 0 } $0 ~ what && !seen++ { n++ } END { print n + 0 }'
}

@test "stack protector, FORTIFY and control-flow protection are in zklock's own objects" {
  local objects sources
  objects=$(ar t "$core" | wc -l)
  # The files of a folder are compiled together: an object has at least one of each.
  sources=$(find "$repo/src" -name '*.cc' ! -name main.cc -printf '%h\n' | sort -u | wc -l)
  assert [ "$objects" -ge "$sources" ]
  # Not in those without an array or an address on the stack.
  assert [ "$(count __stack_chk_fail nm)" -gt $((objects / 2)) ]
  assert [ "$(count '__(read|recv|mem|str|poll|v?snprintf|v?fprintf|fd)[a-z]*_chk' nm)" -ge 1 ]
  if [[ $(uname -m) == x86_64 ]]; then
    assert_equal "$(count 'IBT, SHSTK' readelf -n)" "$objects"
  fi
}
