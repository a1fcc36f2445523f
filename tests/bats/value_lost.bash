# SPDX-License-Identifier: Apache-2.0
# Helpers for tests that lose each request and each answer of zklock value in turn, with the connection. Meanwhile
# another client changes the node, or none does. The status may be 0 only if the value was written, 75 and 76 only if it
# was not, and 69 only if that cannot be known.
#
# shellcheck shell=bash disable=SC2154,SC2317 # of helpers.bash; `prepare` is another one for each test

# Do what another client does meanwhile with the node $v; `meanwhile` records what came of it.
nobody() { :; }
they_set() { znode set "$v" theirs && meanwhile=changed; }
they_make() { if znode create "$v" theirs 2>/dev/null; then meanwhile=made; else they_set; fi; }
they_set_what_is_there() { they_set || meanwhile=gone; }
they_remove_the_lock() { znode rm "$node" && node=''; }

# through ARG…: starts `zklock value ARG…` through the relay.
through() {
  background zklock value "$@" -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" >out 2>said
  pid[value]=$!
}

# Checks every 10 ms, because there are many runs.
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

# lose WAY N WHO ARG…: loses the Nth answer (WAY a) or request (r) of `zklock value ARG…`, and WHO acts. Sets $ended to
# its status. Fails if there was no Nth.
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

# Prints what is there: "VALUE VERSION", or nothing.
there() {
  local json status=0
  json=$(zklock value get --json "$v" 2>/dev/null) || status=$?
  if ((status == 1)); then return; fi
  [[ $json =~ \"value\":\"([a-z]+)\",\"version\":([0-9]+), ]] || { echo "$status $json" && return; }
  echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
}

# Prints how often our value was written, judging by what is there and what others did.
times_set() {
  local version=${1#* } others=0
  if [[ $meanwhile == changed ]]; then others=1; fi
  echo $((version - others))
}

# Does so for --if-missing: a new node has version 0.
times_made() {
  case $meanwhile:$1 in
    :"mine 0" | changed:"theirs 1") echo 1 ;;
    made:"theirs 0") echo 0 ;;
    *) echo "wrong" ;;
  esac
}

# Does so for a delete: no other client removes it.
times_deleted() { if [[ $1 ]]; then echo 0; else echo 1; fi; }

# in_turn TIMES WHO ARG…: each run loses one request or one answer, until each was lost. It has its own node $v instead
# of /v, and TIMES finds out whether the write was done. $tally counts how often each end came.
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

# only STATUS…: the first has come, and no unlisted one. 0 may come of a write if only the session's end was lost.
only() {
  local status
  ((${tally[$1]:-0} > 0)) || fail "never $1" || return
  for status in "${!tally[@]}"; do [[ " $* " == *" $status "* ]] || fail "$status has come" || return; done
}

# Nodes with the value old are made ten at once.
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

# Holds a lock, and tells `value` its node as a command under it would know it.
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
