# SPDX-License-Identifier: Apache-2.0
# What the Bats files share that count what something costs, on a server of their own whose counters nobody else moves.
#
# shellcheck shell=bash

# To be started by setup_file. With a session timeout of 60s nobody pings within a test.
counted_server() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=600000; }

# A word costs a request and two answers, or more if it is a long one, so they are counted.
word() {
  printf . >>words
  zk_sandbox word 1 "$1"
}

# count NAME: of mntr's.
count() { word mntr | awk -v name="zk_$1" '$1 == name { print $2 }'; }

# requests, answers: without the words; an event for a watch is an answer too.
requests() { echo $(($(count packets_received) - $(wc -c <words))); }
answers() { echo $(($(count packets_sent) - 2 * $(wc -c <words))); }

# The number of transactions so far.
writes() { printf '%d\n' "$(word srvr | awk '/^Zxid/ { print $2 }')"; }

# switches PID: how often it has waited for something.
switches() { awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"; }

# cost_of REQUESTS|WRITES CMD…: how many CMD costs, which must succeed.
cost_of() {
  local before
  before=$("$1")
  expect_status 0 "${@:2}" >&2 || return
  echo $(($("$1") - before))
}
