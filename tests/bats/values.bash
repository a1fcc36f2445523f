# SPDX-License-Identifier: Apache-2.0
# Helpers for tests of `zklock value`: loops of processes count up a number by compare and set.
#
# shellcheck shell=bash

# Makes one attempt at NODE. Prints its result and the value that was to be written.
attempt() {
  local json value version status=0
  json=$(zklock value get --json "$1") || status=$?
  case $status in
    0)
      [[ $json =~ \"value\":\"([0-9]+)\",\"version\":([0-9]+), ]] || { echo "70 $json" && return; }
      value=$((BASH_REMATCH[1] + 1)) version=${BASH_REMATCH[2]}
      zklock value set --if-version "$version" "$1" "$value" || status=$?
      ;;
    1)
      value=1 status=0
      zklock value set --if-missing "$1" "$value" || status=$?
      ;;
    # No write was sent.
    *) value=$status status=get ;;
  esac
  echo "$status $value"
}

# Makes attempts until N increments are made, or may be.
increments() {
  local left=$2 result
  while ((left > 0)); do
    result=$(attempt "$1")
    echo "$result"
    case $result in
      "0 "* | "69 "*) left=$((left - 1)) ;;
      "75 "* | "get 69") ;;
      *) return 1 ;;
    esac
  done
}

# count_up NODE LOOPS N: starts so many loops in the background, each with N increments. Each attempt is a line of a
# file count.LOOP.
count_up() {
  local loop
  counters=()
  for ((loop = 1; loop <= $2; ++loop)); do
    increments "$1" "$3" >"count.$loop" 2>>said 3>&- &
    counters+=($!)
  done
}

await_counters() {
  local one
  for one in "${counters[@]}"; do
    wait "$one" || fail "a loop has met what must not come: $(tail -qn 1 count.*; tail -n 3 said)" || return
  done
}

# counted [STATUS]: counts the attempts, or those that ended with it.
counted() { cat count.* | awk -v status="${1:-}" 'status == "" || $1 == status { ++n } END { print n + 0 }'; }

# Prints what was acknowledged to be written, in order.
written() { sed -n 's/^0 //p' count.* | sort -n; }
