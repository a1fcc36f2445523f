# SPDX-License-Identifier: Apache-2.0
# Makes queues node by node, for tests of consumers: `load ../queue_nodes` after `load ../helpers`.
#
# shellcheck shell=bash disable=SC2004,SC2034

# make_queue QUEUE: makes an empty one, without a segment.
make_queue() {
  znode create "$1" "zklock queue 1" "$1/items" '' "$1/dead" '' "$1/pushing" '' "$1/waiting" ''
}

# put SEGMENT NUMBER TEXT…: puts items, the first with that number, into a segment ("/q/items/100-0000000000"). Makes
# the segment if it is missing.
put() {
  local - into=$1 number=$2 text path nodes=()
  set +T # as in wait_until
  shift 2
  for text in "$@"; do
    printf -v path '%s/token-%010d' "$into" "$number"
    nodes+=("$path" "$text")
    number=$((number + 1))
  done
  ((${#nodes[@]} == 0)) || znode create "${nodes[@]}"
}

# queue_of TEXT…: makes the usual queue, /q with a segment, and these items in it.
readonly segment=/q/items/100-0000000000
queue_of() {
  make_queue /q
  znode create "$segment"
  put "$segment" 0 "$@"
}

# item N: prints its path in that segment.
item() { printf '%s/token-%010d' "$segment" "$1"; }

# attempts N: prints how many count, including one under way.
attempts() {
  znode stat "$(item "$1")" | awk -F= '{ n[$1] = $2 } END { print int((n["cversion"] + n["numChildren"]) / 2) - n["version"] }'
}

is_claimed() { [[ $(znode ls "$(item "$1")") == claim ]]; }
is_free() { [[ $(znode stat "$(item "$1")") == *numChildren=0* ]]; }

# pull_without_reader NAME ARG…: starts `zklock queue pull ARG…` in the background, into the named pipe NAME.pipe. The
# pipe is open, so there is no EPIPE, but nothing reads it until the test does.
pull_without_reader() {
  local name=$1
  shift
  mkfifo "$name.pipe"
  exec {reader}<>"$name.pipe"
  background zklock queue pull "$@" >"$name.pipe" 2>"$name.err"
  pid[$name]=$!
}

# Prints a text that is too long for a pipe.
long_text() { head -c 100000 /dev/zero | tr '\0' "${1:-x}"; }

# wait_in_line NAME ARG…: starts `zklock queue pull ARG…`, which finds nothing and stands in line.
wait_in_line() {
  local name=$1 before
  shift
  before=$(count_nodes /q/waiting)
  background zklock queue pull "$@" >"$name.out" 2>"$name.err"
  pid[$name]=$!
  wait_until "$name stands in line" has_nodes /q/waiting $((before + 1))
}
