# SPDX-License-Identifier: Apache-2.0
# What the Bats files share that count what something costs, on a server of their own whose counters nobody else moves.
#
# shellcheck shell=bash

# counted_server [OPTION…]: for setup_file; the options are zk-sandbox's. With a session timeout of 60s nobody pings within
# a test.
counted_server() {
  # After a minute the server would remove the empty containers of earlier tests, which are transactions.
  ensemble --servers 1 --tick 250 --set maxSessionTimeout=600000 \
    --java-property znode.container.checkIntervalMs=3600000 "$@" || return
  local address=${ZKLOCK_PLAIN_SERVERS:-$ZKLOCK_SERVERS}
  export ZKLOCK_COUNTED=${address/://}
}

# A word costs a request and two answers, or more if it is a long one, so they are counted.
word() {
  local server
  printf . >>words
  exec {server}<>"/dev/tcp/$ZKLOCK_COUNTED" || return
  printf %s "$1" >&"$server"
  cat <&"$server"
  exec {server}>&-
}

# count NAME: of mntr's.
count() { word mntr | awk -v name="zk_$1" '$1 == name { print $2; found = 1 } END { exit !found }'; }

# How often a word was sent.
words_sent() {
  local each=''
  read -r each <words || true
  sent=${#each}
}

# requests, answers: without the words; an event for a watch is an answer too.
requests() {
  local number sent
  number=$(count packets_received) || return
  words_sent
  echo $((number - sent))
}
answers() {
  local number sent
  number=$(count packets_sent) || return
  words_sent
  echo $((number - 2 * sent))
}

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
