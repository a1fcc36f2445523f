# SPDX-License-Identifier: Apache-2.0
# Helpers for group_*.bats, loaded after helpers: they start and name members.
#
# shellcheck shell=bash disable=SC2034

# member NAME ARG…: starts `zklock group join ARG…` in the background, as ${pid[NAME]}. See NAME.out and NAME.err.
member() {
  background zklock group join --name "$1" "${@:2}" >"$1.out" 2>"$1.err"
  pid[$1]=$!
}

# has_names PATH NAME…: exactly these are in, in the order of their nodes' names, without their numbers.
has_names() { [[ $(znode ls "$1" | LC_ALL=C sort | sed 's/-[0-9]\{10\}$//' | xargs) == "${*:2}" ]]; }

wait_names() { wait_until "in $1: ${*:2}" has_names "$@"; }

# Prints the node of a member, by its name.
node_of() { znode ls "$1" | grep -x -- "$2-[0-9]\{10\}"; }

owner_of() { znode stat "$1" | grep ephemeralOwner; }

# expire PID NODE: freezes that zklock until its session has expired. NODE is its own.
expire() {
  kill -STOP "$1"
  wait_until "its session is over" eval "! znode stat '$2'"
  kill -CONT "$1"
}

# Replays the lines of `group watch`: prints the members that are in, and each line that was no change.
replay() {
  awk '/^\+/ { if (in_[substr($0, 2)]++) print "twice: " $0 }
       /^-/ { if (!in_[substr($0, 2)]) print "was not in: " $0; delete in_[substr($0, 2)] }
       END { for (name in in_) print name }' "$1" | LC_ALL=C sort
}
