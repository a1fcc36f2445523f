#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if the servers still answer, but without a quorum. The servers are an ensemble of this file's own,
# and take fifteen seconds to notice that they have lost each other.

load ../helpers

setup_file() { ensemble --tick 500 --set syncLimit=30 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  chroot=/${ZKLOCK_SERVERS#*/}
  export ZKLOCK_SESSION_TIMEOUT=4s
  leader=$(zk_sandbox leader)
  mapfile -t followers < <(printf '%s\n' 1 2 3 | grep -vx "$leader")
}

teardown() {
  local n
  for n in 1 2 3; do zk_sandbox continue "$n"; done
  if [[ -e before.cfg ]]; then
    cp before.cfg "$ZKLOCK_SANDBOX/${followers[0]}/zoo.cfg"
    zk_sandbox restart "${followers[0]}"
  fi
  end_all
}

# on N: prints the option for a list with that server only.
on() { echo "-S$(zk_sandbox address "$1")$chroot"; }

# relay_to_leader N: follower N reaches the leader through a relay from now on.
relay_to_leader() {
  local config=$ZKLOCK_SANDBOX/$1/zoo.cfg quorum
  quorum=$(sed -n "s/^server\.$leader=\(127.0.0.1:[0-9]*\):.*/\1/p" "$config")
  start_relay "$quorum"
  zk_sandbox kill "$1"
  cp "$config" before.cfg
  sed -i "s/^server\.$leader=$quorum:/server.$leader=$(relayed_ports):/" "$config"
  zk_sandbox restart "$1"
  wait_for answer relayed
}

# Prints the session of the only node of /l, as a server's log writes it.
its_session() { printf '0x%x\n' "$(znode stat "/l/$(znode ls /l)" | sed -n 's/^ephemeralOwner=//p')"; }

# expired_us SESSION: prints when the leader gave it up, by its own log, in microseconds.
expired_us() {
  local moment
  moment=$(grep -F "Expiring session $1" "$(zk_sandbox log "$leader")" | grep -oE '[0-9:]{8}\.[0-9]{3}' | head -n 1)
  moment=$(date -d "$moment" +%s%6N)
  is_past $((moment - 1000000)) || moment=$((moment - 86400000000)) # it was yesterday
  echo "$moment"
}

expect_unproved() {
  expect_end 76 "${pid[a]}"
  assert_regex "$(<a.err)" '^zklock: lost /l: no quorum confirmed the lock for [0-9.]+m?s; the command was stopped$'
}

# cut_off N [-f]: a has N processes on a follower that is then cut off, and b waits on the leader.
cut_off() {
  relay_to_leader "${followers[0]}"
  enter "${@:2}" a "$(on "${followers[0]}")" /l
  wait_until "all of a runs" lives a "$1"
  session=$(its_session)
  enter b "$(on "$leader")" /l
  wait_until "b stands in line" has_nodes /l 2
  began=$(now_us)
  kill -STOP "${pid[relay]}"
  wait_until "b has begun" lives b
}

after_cut_off() {
  assert_alone
  assert_regex "$(zk_sandbox word "${followers[0]}" srvr)" "Mode: follower"
  assert_order "cut, end of a, its session's end, begin of b" \
    "$began" "$(last_of a)" "$(expired_us "$session")" "$(first_of b)"
  note "dead after $((($(last_of a) - began) / 1000)) ms, session over after $((($(expired_us "$session") - began) / 1000)) ms"
  kill -CONT "${pid[relay]}"
  let_go b
  expect_end 0 "${pid[b]}"
  expect_unproved
}

@test "a follower cut off from its leader: who ignores TERM is dead before the session ends" {
  cut_off 4 -f
  grep -q "a .* TERM" life
  after_cut_off
}

@test "a leader whose followers are frozen: the command is dead before its fence" {
  # The relay knows when a's last answered request was sent.
  start_relay "$(zk_sandbox address "$leader")"
  enter a "-S$(relayed_ports)$chroot" /l
  wait_until "a runs" lives a
  wait_until "a heartbeat is answered" two_heartbeats
  began=$(now_us)
  zk_sandbox pause "${followers[0]}"
  zk_sandbox pause "${followers[1]}"
  # Until now there was a quorum, so a heartbeat may have been answered.
  local frozen
  frozen=$(now_us)
  # shellcheck disable=SC2046
  wait_gone $(pids_of a)
  # A reconnect is answered, but no heartbeat is.
  local proved
  proved=$(awk -v end="$frozen" '/request/ && !asked { asked = $1 } /answer/ && $1 < end { proved = asked } /answer/ { asked = 0 }
    END { print proved }' relayed)
  assert_regex "$(zk_sandbox word "$leader" srvr)" "Mode: leader"
  assert_order "freeze, end of a, its fence" "$began" "$(last_of a)" $((proved + 4000000 * 2 / 3))
  note "dead $(((proved + 4000000 * 2 / 3 - $(last_of a)) / 1000)) ms before the fence"
  zk_sandbox continue "${followers[0]}"
  zk_sandbox continue "${followers[1]}"
  expect_unproved
}

two_heartbeats() { (($(grep -c answer relayed) >= 6)); }

@test "a leader whose followers are frozen: the next holder starts when the first is dead" {
  enter -f a "$(on "$leader")" /l
  wait_until "all of a runs" lives a 4
  enter b "$(on "$leader")" /l
  wait_until "b stands in line" has_nodes /l 2
  began=$(now_us)
  zk_sandbox pause "${followers[0]}"
  zk_sandbox pause "${followers[1]}"
  # shellcheck disable=SC2046
  wait_gone $(pids_of a)
  zk_sandbox continue "${followers[0]}"
  zk_sandbox continue "${followers[1]}"
  wait_until "b has begun" lives b
  assert_alone
  assert_order "freeze, end of a, begin of b" "$began" "$(last_of a)" "$(first_of b)"
  let_go b
  expect_end 0 "${pid[b]}"
  expect_unproved
}

@test "the link to the only server is silent for longer than the session" {
  start_relay "$(zk_sandbox address "$leader")"
  enter -f a "-S$(relayed_ports)$chroot" /l
  wait_until "all of a runs" lives a 4
  session=$(its_session)
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
  began=$(now_us)
  kill -STOP "${pid[relay]}"
  wait_until "b has begun" lives b
  assert_alone
  assert_order "silence, end of a, its session's end, begin of b" \
    "$began" "$(last_of a)" "$(expired_us "$session")" "$(first_of b)"
  let_go b
  expect_end 0 "${pid[b]}"
  expect_unproved
}
