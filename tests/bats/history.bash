# SPDX-License-Identifier: Apache-2.0
# Helpers for locks with more than one holder, loaded after helpers: they record which holders are in together.
#
# A holder appends "in NAME" to the file history when it comes in, and "out NAME" before it leaves. All append to the
# same file, so its lines are in the order of events, without any clock.
#
# shellcheck shell=bash

# visit NAME ARG…: like begin, with these two lines; it leaves after `let_go NAME`.
visit() {
  local name=$1
  shift
  background zklock run "$@" >"$name.out" 2>"$name.err" \
    -c "echo in $name >>history; await_file $name.go; echo out $name >>history"
  # shellcheck disable=SC2034
  pid["$name"]=$!
}

# queue_up NAME LOCK ARG…: like visit for one that has to wait; returns when it stands in line.
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

# Prints the holders that are in now, one a line.
inside() {
  awk '$1 == "in" { now[$2] } $1 == "out" { delete now[$2] } END { for (name in now) print name }' history
}

are_inside() { (($(inside | wc -l) == $1)); }

# Prints the largest number of holders that were in together.
most_inside() { awk '{ n += $1 == "in" ? 1 : -1 } n > most { most = n } END { print most + 0 }' history; }

# No holder was in together with one whose name begins with w.
assert_writers_alone() {
  assert_equal "$(awk '$1 == "out" { delete now[$2]; next }
    { for (other in now) if ($2 ~ /^w/ || other ~ /^w/) print other " was in when " $2 " came"; now[$2] }' history)" ""
}

# --- slots of /l ---------------------------------------------------------------------------------

# slots_are LEASES N: there are so many leases, and N nodes at the gate.
slots_are() { has_nodes /l/leases "$1" && has_nodes /l/locks "$2"; }

assert_slots() { slots_are "$@" || fail "not $1 leases and $2 at the gate: $(znode ls /l/leases) $(znode ls /l/locks)"; }

# wait_in_gate NAME ARG…: all slots are taken, and NAME waits alone in the gate. It has made its lease.
wait_in_gate() {
  local leases
  leases=$(count_nodes /l/leases)
  begin "$1" /l "${@:2}"
  wait_until "$1 waits in the gate" slots_are $((leases + 1)) 1
}
