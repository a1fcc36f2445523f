#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests servers that get new addresses, as in Kubernetes or when machines are replaced: names are looked up again, the
# session is kept, and nothing that runs is stopped or misses anything.

load ../helpers
load ../queue

setup_file() {
  local addresses
  ensemble --tick 1000 || return
  # The servers get names and addresses of their own: 127.1.SERVER.GENERATION, all with one port.
  cd "$BATS_FILE_TMPDIR" || return
  export TEST_HOSTS=$BATS_FILE_TMPDIR/hosts port
  : >"$TEST_HOSTS"
  IFS=, read -ra addresses <<<"${ZKLOCK_SERVERS#tls://}"
  export ADDRESSES="${addresses[*]}"
}

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  direct=$ZKLOCK_SERVERS
  read -ra targets <<<"$ADDRESSES"
  generation=(0 0 0 0)
  port=0
  for server in 1 2 3; do arrive "$server"; done
  tell_names
  export ZKLOCK_SERVERS="zk1.test:$port,zk2.test:$port,zk3.test:$port/${direct#*/}"
  # shellcheck disable=SC2154
  export LD_PRELOAD=${PATH%%:*}/preload_hosts.so ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
}

teardown() {
  unset LD_PRELOAD
  end_all
}

# arrive SERVER: it gets a new address, besides the one that it has.
arrive() {
  local server=$1 place
  ((++generation[server]))
  place=127.1.$server.${generation[server]}
  background env -u LD_PRELOAD relay -l "$place:$port" "${targets[server - 1]}" >"relayed.$server"
  pid["$place"]=$!
  wait_for port "relayed.$server"
  port=$(awk '/^port/ { print $2; exit }' "relayed.$server")
}

# depart SERVER GENERATION [SIGNAL]: nothing is there any more; with STOP, nothing there answers.
depart() {
  local place=127.1.$1.$2
  kill -s "${3:-KILL}" "${pid["$place"]}"
}

tell_names() {
  local server
  for server in 1 2 3; do echo "zk$server.test 127.1.$server.${generation[server]}"; done >hosts.new
  mv hosts.new "$TEST_HOSTS"
}

# move SERVER [SIGNAL]: it gets a new address, and leaves the old one.
move() {
  local old=${generation[$1]}
  arrive "$1"
  depart "$1" "$old" "${2:-KILL}"
  tell_names
}

# All clients hear of a change that is made now.
assert_all_hear() {
  local word=$1
  zklock value set /v "$word"
  wait_until "the value watch has $word" grep -qF "\"$word\"" values
  zklock queue push /q "$word"
  wait_until "the consumer has $word" grep -qx "$word" pulled
  background zklock group join --name "$word" /g -- sleep 60
  wait_until "the group watch has $word" grep -q "$word" members
}

# found_again PATTERN: the holder, which is verbose, has its session on such an address, not its first one.
found_again() { grep -Eq "reconnected to $1:$port\b" holder.err; }

@test "all servers move one after the other: no command ends, none misses anything" {
  local number=0 signal
  hold holder --session-timeout 10s /l
  stand waiter /l --session-timeout 10s /l
  background zklock group join --session-timeout 10s --name first /g -- await_file group.go
  pid[member]=$!
  wait_until "there is a member" has_nodes /g 1
  zklock value set /v none
  background zklock value watch --session-timeout 10s /v >values
  pid[watch]=$!
  background zklock group watch --session-timeout 10s /g >members
  pid[members]=$!
  background zklock queue pull --session-timeout 10s --follow /q >pulled
  pid[consumer]=$!
  assert_all_hear start
  # The second one falls silent at its old address. The others refuse connections there.
  for signal in KILL STOP KILL; do
    move $((++number)) "$signal"
    assert_all_hear "moved-$number"
  done
  assert_equal "$(znode ls /g | wc -l)" 5
  for number in holder waiter member watch members consumer; do assert kill -0 "${pid[$number]}"; done
  refute [ -e waiter.held ]
  let_go holder
  expect_end 0 "${pid[holder]}"
  wait_until "the waiter holds the lock" test -s waiter.held
  let_go waiter
  expect_end 0 "${pid[waiter]}"
  touch group.go
  expect_end 0 "${pid[member]}"
}

@test "one name, all of whose addresses change at once" {
  local server
  for server in 1 2 3; do echo "127.1.$server.${generation[server]}"; done | xargs echo zk.test >"$TEST_HOSTS"
  export ZKLOCK_SERVERS=zk.test:$port/${direct#*/}
  hold holder -v --session-timeout 10s /l
  for server in 1 2 3; do arrive "$server"; done
  for server in 1 2 3; do echo "127.1.$server.${generation[server]}"; done | xargs echo zk.test >hosts.new
  mv hosts.new "$TEST_HOSTS"
  for server in 1 2 3; do depart "$server" 1; done
  wait_until "it has found them" found_again '127.1.[123].2'
  hold other --session-timeout 10s /other
  let_all_go holder other
}

@test "a resolver that fails, lies and is slow costs nothing but the wait" {
  hold holder -v --session-timeout 20s /l
  depart 2 1
  depart 3 1
  arrive 1
  depart 1 1
  printf '%s\n' "zk1.test sleep=1 127.1.1.2" "zk2.test 127.1.9.9" "zk3.test" >"$TEST_HOSTS"
  wait_until "it is found where it is now" found_again '127.1.1.2'
  let_all_go holder
}
