# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of four-letter words and of health, loaded after helpers: they start stand-ins for servers.
#
# shellcheck shell=bash

# words_from MANNER…: starts a server for each (see tests/helpers/words_server.cc). Their addresses are in `addresses`,
# and ${pid[words]} is the process that accepts for all of them.
words_from() {
  background words_server "$@" >words_ports
  # shellcheck disable=SC2034  # read by the tests
  pid[words]=$!
  wait_until "all of them listen" has_ports $#
  # shellcheck disable=SC2034  # read by the tests
  mapfile -t addresses < <(sed -n 's/^port /127.0.0.1:/p' words_ports)
}

has_ports() { (($(wc -l <words_ports) == $1)); }

# reply RELEASE ROLE: prints the manner of a server that answers like that.
reply() { echo "say:$repo/tests/replies/$1/$2"; }

# json EXPRESSION: prints it for each object in $output, joined by spaces.
json() { jq -r "$1" <<<"$output" | paste -sd' '; }

# assert_said TEXT: exactly one line in $stderr contains it.
assert_said() { assert_equal "$(grep -cF -e "$1" <<<"$stderr")" 1; }

# Prints the numbers of the followers, the lowest first.
followers() {
  local leader n
  leader=$(zk_sandbox leader)
  for n in 1 2 3; do ((n == leader)) || echo "$n"; done
}

# state_is STATUS TEXT: zklock health of the sandbox ends with STATUS, and prints TEXT.
state_is() {
  expect_status "$1" zklock health -w 2s && [[ $output == *"$2"* ]]
}
