# SPDX-License-Identifier: Apache-2.0
# Helpers for tests that count what something costs, on a server of their own, whose counters nothing else changes.
#
# shellcheck shell=bash

# counted_server [OPTION…]: for setup_file; the options are zk-sandbox's. With a session timeout of 60s, no client pings
# within a test.
counted_server() {
  # After a minute the server would remove the empty containers of earlier tests, by transactions.
  ensemble --servers 1 --tick 250 --set maxSessionTimeout=600000 \
    --java-property znode.container.checkIntervalMs=3600000 "$@" || return
  local address=${ZKLOCK_PLAIN_SERVERS:-$ZKLOCK_SERVERS}
  export ZKLOCK_COUNTED=${address/://}
}

# Sends a word. It costs a request and two answers, or more if the reply is long, so `words` counts them.
word() {
  local server
  printf . >>words
  exec {server}<>"/dev/tcp/$ZKLOCK_COUNTED" || return
  printf %s "$1" >&"$server"
  cat <&"$server"
  exec {server}>&-
}

# count NAME: prints that number of mntr.
count() { word mntr | awk -v name="zk_$1" '$1 == name { print $2; found = 1 } END { exit !found }'; }

# Sets `sent` to the number of words sent.
words_sent() {
  local each=''
  read -r each <words || true
  sent=${#each}
}

# requests, answers: print how many there were, without the words. An event for a watch is an answer too.
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

# Prints the number of transactions so far.
writes() { printf '%d\n' "$(word srvr | awk '/^Zxid/ { print $2 }')"; }

# switches PID: prints how often it has waited for something.
switches() { awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"; }

# cost_of REQUESTS|WRITES CMD…: prints how many of them CMD costs. CMD must succeed.
cost_of() {
  local before
  before=$("$1")
  expect_status 0 "${@:2}" >&2 || return
  echo $(($("$1") - before))
}
