# SPDX-License-Identifier: Apache-2.0
# What the files about locks of more than one holder share, after helpers: who was in together.
#
# Whoever comes in appends "in NAME" to the file history, and "out NAME" before he leaves. The order of
# the lines is the order in which it happened, for all append to the same file: no clock is asked.
#
# shellcheck shell=bash

# visit NAME ARG…: like begin, with these two lines; it leaves when `let_go NAME` says so.
visit() {
  local name=$1
  shift
  background zklock run "$@" >"$name.out" 2>"$name.err" \
    -c "echo in $name >>history; await_file $name.go; echo out $name >>history"
  # shellcheck disable=SC2034
  pid["$name"]=$!
}

# queue_up NAME LOCK ARG…: the same for one who has to wait; returns when he stands in line.
queue_up() {
  local before
  before=$(count_nodes "$2")
  visit "$@"
  wait_until "$1 stands in line" has_nodes "$2" $((before + 1))
}

has_been_in() { grep -qx "in $1" history; }

# await_in NAME…
await_in() {
  local name
  for name in "$@"; do wait_until "$name is in" has_been_in "$name" || return; done
}

refute_in() {
  local name
  for name in "$@"; do refute has_been_in "$name" || return; done
}

# Who is in now, one a line.
inside() {
  awk '$1 == "in" { now[$2] } $1 == "out" { delete now[$2] } END { for (name in now) print name }' history
}

are_inside() { (($(inside | wc -l) == $1)); }

# The largest number of those that were in together.
most_inside() { awk '{ n += $1 == "in" ? 1 : -1 } n > most { most = n } END { print most + 0 }' history; }

# Nobody was in together with one whose name begins with w.
assert_writers_alone() {
  assert_equal "$(awk '$1 == "out" { delete now[$2]; next }
    { for (other in now) if ($2 ~ /^w/ || other ~ /^w/) print other " was in when " $2 " came"; now[$2] }' history)" ""
}

# --- slots of /l ---------------------------------------------------------------------------------

# So many nodes among the leases, and so many at the gate.
slots_are() { has_nodes /l/leases "$1" && has_nodes /l/locks "$2"; }

assert_slots() { slots_are "$@" || fail "not $1 leases and $2 at the gate: $(znode ls /l/leases) $(znode ls /l/locks)"; }

# wait_in_gate NAME ARG…: behind full slots, with nobody in the gate; it has made its lease.
wait_in_gate() {
  local leases
  leases=$(count_nodes /l/leases)
  begin "$1" /l "${@:2}"
  wait_until "$1 waits in the gate" slots_are $((leases + 1)) 1
}
