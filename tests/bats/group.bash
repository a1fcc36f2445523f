# SPDX-License-Identifier: Apache-2.0
# What the files group_*.bats share, after helpers: members.
#
# shellcheck shell=bash disable=SC2034

# member NAME ARG…: `zklock group join ARG…` in the background; ${pid[NAME]} is zklock's, see NAME.out, NAME.err.
member() {
  background zklock group join --name "$1" "${@:2}" >"$1.out" 2>"$1.err"
  pid[$1]=$!
}

# has_names PATH NAME…: these are in, without their numbers, in the order of their nodes' names.
has_names() { [[ $(znode ls "$1" | LC_ALL=C sort | sed 's/-[0-9]\{10\}$//' | xargs) == "${*:2}" ]]; }

wait_names() { wait_until "in $1: ${*:2}" has_names "$@"; }

# The node of a member, by its name.
node_of() { znode ls "$1" | grep -x -- "$2-[0-9]\{10\}"; }

owner_of() { znode stat "$1" | grep ephemeralOwner; }

# The session of zklock PID expires: it is frozen for as long as that takes. NODE is its own.
expire() {
  kill -STOP "$1"
  wait_until "its session is over" eval "! znode stat '$2'"
  kill -CONT "$1"
}

# Lines of `group watch`, replayed: what they say is in, and nothing that was no change.
replay() {
  awk '/^\+/ { if (in_[substr($0, 2)]++) print "twice: " $0 }
       /^-/ { if (!in_[substr($0, 2)]) print "was not in: " $0; delete in_[substr($0, 2)] }
       END { for (name in in_) print name }' "$1" | LC_ALL=C sort
}
