#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# zklock value: a request or an answer is lost with the connection, each in turn, and meanwhile others change the node, or
# nobody does. 0 is said only of what was written, 75 and 76 only of what was not, and 69 when that cannot be known.
#
# shellcheck disable=SC2317 # `prepare` is another one for each test

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# What others do meanwhile with the node $v; `meanwhile` says what came of it.
nobody() { :; }
they_set() { znode set "$v" theirs && meanwhile=changed; }
they_make() { if znode create "$v" theirs 2>/dev/null; then meanwhile=made; else they_set; fi; }
they_set_what_is_there() { they_set || meanwhile=gone; }
they_remove_the_lock() { znode rm "$node" && node=''; }

# through ARG…: `zklock value ARG…` through the relay.
through() {
  background zklock value "$@" -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" >out 2>said
  pid[value]=$!
}

# Many times a second, because there are many runs.
await_soon() {
  local - _
  set +T # as in wait_until
  for _ in {1..2000}; do
    if "$@"; then return; fi
    pause 0.01
  done
  fail "waited in vain: $*"
}

has_lost_or_ended() { is_stopped "${pid[relay]}" || is_gone "${pid[value]}"; }

# lose WAY N WHO ARG…: the Nth answer (WAY a) or request (r) of `zklock value ARG…` is lost, and WHO acts. Leaves its
# status in $ended. Fails where no Nth came.
lose() {
  local way=$1 number=$2 who=$3 lost=1
  shift 3
  meanwhile='' ended=0
  start_relay "-$way" "$number" "${ZKLOCK_SERVERS%/*}"
  through "$@"
  await_soon has_lost_or_ended || return
  if ! is_gone "${pid[value]}"; then
    lost=0
    "$who"
    kill -CONT "${pid[relay]}"
  fi
  await_soon is_gone "${pid[value]}" || return
  wait "${pid[value]}" || ended=$?
  kill "${pid[relay]}"
  return "$lost"
}

# What is there: "VALUE VERSION", or nothing.
there() {
  local json status=0
  json=$(zklock value get --json "$v" 2>/dev/null) || status=$?
  if ((status == 1)); then return; fi
  [[ $json =~ \"value\":\"([a-z]+)\",\"version\":([0-9]+), ]] || { echo "$status $json" && return; }
  echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
}

# How often ours was written: by what is there, and what others did.
times_set() {
  local version=${1#* } others=0
  if [[ $meanwhile == changed ]]; then others=1; fi
  echo $((version - others))
}

# Of --if-missing: whoever made it has version 0.
times_made() {
  case $meanwhile:$1 in
    :"mine 0" | changed:"theirs 1") echo 1 ;;
    made:"theirs 0") echo 0 ;;
    *) echo "wrong" ;;
  esac
}

# Of a delete: nobody else removes it.
times_deleted() { if [[ $1 ]]; then echo 0; else echo 1; fi; }

# in_turn TIMES WHO ARG…: each request and each answer is lost, one in each run, which has a node $v of its own in place of
# /v; TIMES tells from what is there whether it was done. $tally has how often each end came.
in_turn() {
  local times=$1 who=$2 way number now often
  shift 2
  declare -gA tally=()
  for way in r a; do
    for number in {1..99}; do
      prepare
      lose "$way" "$number" "$who" "${@/%\/v/$v}" || break
      now=$(there)
      often=$("$times" "$now")
      case $often:$ended in
        [01]:69 | 1:0 | 0:75 | 0:76) ;;
        *) fail "$way $number, $who, $*: $ended, done $often times, and there is '$now': $(<said)" || return ;;
      esac
      tally[$ended]=$((${tally[$ended]:-0} + 1))
    done
    ((number > 2)) || fail "nothing was lost of $*: $ended $(<said)" || return
  done
  note "$*, $who: $(for ended in "${!tally[@]}"; do echo -n "${tally[$ended]} × $ended  "; done)"
}

# only STATUS…: no other has come, and the first did. 0 may come of what was done when the end of the session was lost.
only() {
  local status
  ((${tally[$1]:-0} > 0)) || fail "never $1" || return
  for status in "${!tally[@]}"; do [[ " $* " == *" $status "* ]] || fail "$status has come" || return; done
}

# Those with the value old are made many at once.
nodes=0
new_node() {
  v=/v$((nodes += 1))
  if [[ ${1:-} && $nodes == *1 ]]; then
    local n made=()
    for n in {0..9}; do made+=("/v$((nodes + n))" "$1"); done
    znode create "${made[@]}"
  fi
}

with_old() {
  prepare() { new_node old; }
}

with_none() {
  prepare() { new_node; }
}

@test "set: it is done once, and 69 says that others have written since" {
  with_old
  in_turn times_set nobody set /v mine
  only 0
  in_turn times_set they_set set /v mine
  only 0 69
}

@test "set of what is not there: it is done" {
  with_none
  made_once() { if [[ $1 == "mine 0" ]]; then echo 1; else echo "$1"; fi; }
  in_turn made_once nobody set /v mine
  only 0
}

@test "set --if-version: never twice, and never said to be refused when it was done" {
  with_old
  in_turn times_set nobody set --if-version 0 /v mine
  only 0 69
  in_turn times_set they_set set --if-version 0 /v mine
  only 75 69 0
}

@test "set --if-missing: never over another's, and never said to be refused when it was done" {
  with_none
  in_turn times_made nobody set --if-missing /v mine
  only 0 69
  in_turn times_made they_make set --if-missing /v mine
  only 75 69 0
}

@test "delete: it is gone" {
  with_old
  in_turn times_deleted nobody delete /v
  only 0
}

@test "delete --if-version: what others have written meanwhile stays" {
  with_old
  in_turn times_deleted nobody delete --if-version 0 /v
  only 0 69
  in_turn times_deleted they_set_what_is_there delete --if-version 0 /v
  only 75 69 0
}

@test "no server after the write was sent: 69, and that it is not known; before: 69 alone" {
  with_old
  prepare
  relay_dies() {
    kill -KILL "${pid[relay]}"
    background sleep 100
    pid[relay]=$!
  }
  # of a handshake, a sync and a read, what comes behind is the transaction's
  lose a 4 relay_dies set --connect-timeout 2s "$v" mine
  assert_equal "$ended" 69
  assert_regex "$(<said)" "^zklock: cannot reach ZooKeeper .*; whether it was done is not known\$"
  assert_equal "$(there)" "mine 1"
  lose r 2 relay_dies set --connect-timeout 2s "$v" mine
  assert_equal "$ended" 69
  refute grep -F "not known" said
}

# The node of a lock that is held, which `value` is told of as a command under it would be.
with_lock() {
  node=''
  prepare() {
    new_node old
    if [[ $node ]]; then return; fi
    end_lock
    background znode stand /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock- >lock
    pid[lock]=$!
    wait_until "the lock is held" test -s lock
    node=$(<lock)
    export ZKLOCK_NODE=$node
  }
}

end_lock() { if [[ ${pid[lock]:-} ]]; then kill "${pid[lock]}" && wait_gone "${pid[lock]}"; fi; }

@test "set --fenced: it is done once while the lock is held, and 76 is said only of what was not written" {
  with_lock
  in_turn times_set nobody set --fenced /v mine
  only 0
  in_turn times_set they_remove_the_lock set --fenced /v mine
  only 76 0 69
}

@test "delete --fenced: likewise" {
  with_lock
  in_turn times_deleted nobody delete --fenced /v
  only 0
  in_turn times_deleted they_remove_the_lock delete --fenced /v
  only 76 0 69
}

@test "no server comes back: 69, whether it was done or not" {
  with_old
  prepare
  start_relay -a 99 "${ZKLOCK_SERVERS%/*}"
  kill -STOP "${pid[relay]}"
  through set --connect-timeout 1s "$v" mine
  expect_end 69 "${pid[value]}"
  assert_equal "$(there)" "old 0"
}
