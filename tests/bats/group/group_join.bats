#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock group join, with a command and without.

load ../helpers
load ../group

setup() { setup_zk; }

teardown() { end_all; }

@test "a member is in as long as its command runs, whose status comes back" {
  member a /g --data 10.0.0.7:80 -- sh -c 'env | grep "^ZKLOCK_[PNS]" | sort; until [ -e go ]; do sleep 0.02; done; exit 7'
  wait_names /g a
  local node
  node=$(node_of /g a)
  assert_equal "$(znode get "/g/$node")" 10.0.0.7:80
  touch go
  expect_end 7 "${pid[a]}"
  assert_no_nodes /g
  assert_equal "$(<a.out)" "ZKLOCK_NODE=/g/$node
ZKLOCK_PATH=/g
$(env | grep -E '^ZKLOCK_(PLAIN_SERVERS|SANDBOX)=' | sort)
ZKLOCK_SERVERS=$(servers_for_command)"
  assert_equal "$(<a.err)" ""
}

@test "without a command it is in until a signal, of which zklock dies, and leaves at once" {
  member a /g
  wait_names /g a
  kill -TERM "${pid[a]}"
  expect_end 143 "${pid[a]}"
  assert_no_nodes /g
  member b /g
  wait_names /g b
  kill -HUP "${pid[b]}"
  expect_end 129 "${pid[b]}"
  assert_no_nodes /g
}

@test "the name is the host's unless it is given" {
  background zklock group join /g
  wait_names /g "$(uname -n)"
}

@test "a host whose name no node can have: the message says so, and asks for another" {
  unshare --uts true 2>/dev/null || skip "there are no namespaces here"
  # shellcheck disable=SC2016
  expect_error 64 "cannot join as 'a/b', the name of this host: it has a slash; give another with --name" \
    unshare --uts sh -c 'hostname a/b 2>/dev/null || printf a/b >/proc/sys/kernel/hostname; exec "$@"' sh "$ZKLOCK_BIN" group join /g
  assert_untouched
}

@test "a name that no node can have is refused before anything is made" {
  local name
  for name in "" a/b . $'a\tb' $'\xff' _c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000001; do
    expect_error 64 "bad name" zklock group join --unique --name "$name" /g
  done
  expect_error 64 "bad path" zklock group join g
  expect_error 64 "no group named" zklock group join
  expect_error 64 "no group named" zklock group join -- true
  expect_error 64 "no command behind --" zklock group join /g --
  expect_error 64 "write -- before the command" zklock group join /g true
  expect_error 64 "unexpected argument '/h'" zklock group join /g /h -- true
  expect_error 64 "not both" zklock group join --data a --data-file b /g
  expect_error 64 "cannot read the data file 'none': No such file" zklock group join --data-file none /g
  expect_error 64 "bad duration" zklock group join -w soon /g
  expect_error 127 "not found" zklock group join /g -- no-such-command
  assert_untouched
}

@test "data too large for a node is refused before anything is made" {
  head -c 1000000 /dev/zero >large
  expect_error 65 "983040 bytes" zklock group join --data-file large /g
  assert_untouched
}

@test "data from standard input" {
  printf 'a b\n' >data
  member a /g --data-file - <data
  wait_names /g a
  expect_status 0 zklock group list --json /g
  assert_equal "$(jq -r .data <<<"$output")" "a b"
}

@test "data is raw: what is in the file, byte for byte" {
  printf 'a\x01\n\xff\n' >data
  member a /g --data-file data
  wait_names /g a
  znode get "/g/$(node_of /g a)" >got
  cmp -n 5 got data
}

@test "HUP has the data file read again; one that cannot be read leaves the data as it is" {
  echo 1 >data
  member a /g -v --data-file data
  wait_names /g a
  local node
  node=/g/$(node_of /g a)
  echo 2 >data
  kill -HUP "${pid[a]}"
  wait_until "the data is new" eval "[[ \$(znode get '$node') == 2 ]]"
  mv data away
  kill -HUP "${pid[a]}"
  wait_for "cannot read the data file 'data'" a.err
  mkfifo data # to which nothing is written
  kill -HUP "${pid[a]}"
  wait_for "the data file 'data' is no file any more" a.err
  kill -TERM "${pid[a]}"
  expect_end 143 "${pid[a]}"
}

# zklock is the first process in the terminal, as with ssh -t or xterm -e.
@test "a terminal that goes away ends it, though another HUP has its data file read again" {
  need_terminal
  echo one >data
  mkfifo keys
  exec 7<>keys
  background pty screen "$ZKLOCK_BIN" group join --name a --data-file data /g <keys 7>&-
  local terminal=$!
  wait_names /g a
  kill -KILL "$terminal"
  wait_until "it has left" eval '[[ -z $(znode ls /g) ]]'
}

@test "--unique: exactly the name; one who comes while it is taken gets 75 and is told by whom" {
  member a /g --unique
  wait_until "a is in" has_nodes /g 1
  assert_equal "$(znode ls /g)" a
  expect_error 75 "cannot join /g as 'a': the name is taken, for" zklock group join --unique --name a /g -- true
  expect_error 75 "by session 0x" zklock group join --unique --name a -w 0 /g -- true
  expect_error 75 "the name is taken" zklock group join --unique --name a -w 2s /g -- true
  expect_status 75 zklock group join -q --unique --name a /g -- true
  assert_equal "$stderr" ""
  expect_status 0 zklock group join --unique --name b /g -- true
}

@test "--unique -w waits until the name is free" {
  member a /g --unique
  wait_until "a is in" has_nodes /g 1
  background zklock group join -v --unique --name a -w 20s /g -- echo mine >second.out 2>second.err
  wait_for "waiting until nobody else in /g is a" second.err
  kill -TERM "${pid[a]}"
  expect_end 0 $!
  assert_equal "$(<second.out)" mine
}

@test "--unique: a node of that name that stays for ever is no member: 65" {
  znode create /g/a
  expect_error 65 "stays for ever" zklock group join --unique --name a -w 5s /g -- true
}

@test "killed with what would end its session, the stale twin is in until its session ends, and --unique -w waits for that" {
  member a /g --unique --session-timeout 1s
  wait_until "a is in" has_nodes /g 1
  local owner
  owner=$(owner_of /g/a)
  kill_both "${pid[a]}"
  assert_equal "$(zklock group list /g)" a
  expect_error 75 "the name is taken" zklock group join --unique --name a /g -- true
  member a /g --unique -w 20s
  wait_until "another has the name" eval "[[ \$(owner_of /g/a) != '$owner' ]]"
  kill -TERM "${pid[a]}"
  expect_end 143 "${pid[a]}"
}

@test "a member started again at once is told apart from what is left of it" {
  member a /g --session-timeout 4s
  wait_names /g a
  local old
  old=$(node_of /g a)
  kill_both "${pid[a]}"
  member a /g
  wait_names /g a a
  assert_equal "$(zklock group list /g | head -n 1)" "$old"
  wait_names /g a
  refute [ "$(zklock group list /g)" = "$old" ]
}

@test "the session expires: it joins again, the command is not touched" {
  background zklock group watch /g >changes
  member a /g -v --session-timeout 1s -- sh -c 'echo $$; until [ -e go ]; do sleep 0.02; done'
  wait_names /g a
  local first second
  first=$(node_of /g a)
  expire "${pid[a]}" "/g/$first"
  wait_names /g a
  second=$(node_of /g a)
  wait_for "+$second" changes
  touch go
  expect_end 0 "${pid[a]}"
  wait_for "-$second" changes
  assert_equal "$(<changes)" "+$first
-$first
+$second
-$second"
  assert_equal "$(wc -l <a.out)" 1
  wait_for "the session expired; joining /g again" a.err
}

@test "no server for longer than --connect-timeout: nothing ends, and it joins again when one is back" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  local node servers
  servers=$(relayed_ports)/${ZKLOCK_SERVERS#*/}
  member a -v -S "$servers" --session-timeout 1s --connect-timeout 1s /g -- \
    sh -c 'until [ -e go ]; do sleep 0.02; done; exit 3'
  member b -v -S "$servers" --session-timeout 1s --connect-timeout 1s /g
  # Its node is there before zklock knows of it.
  wait_for "joined /g as" a.err
  wait_for "joined /g as" b.err
  node=$(node_of /g a)
  kill -STOP "${pid[relay]}"
  wait_until "both sessions are over" has_nodes /g 0
  sleep 1.2
  kill -CONT "${pid[relay]}"
  wait_names /g a b
  refute [ "$node" = "$(node_of /g a)" ]
  touch go
  expect_end 3 "${pid[a]}"
  kill -TERM "${pid[b]}"
  expect_end 143 "${pid[b]}"
}

@test "the command ends while no server answers: zklock ends with its status" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  member a -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" --session-timeout 1s /g -- \
    sh -c 'touch begun; until [ -e go ]; do sleep 0.02; done; exit 3'
  wait_until "its command runs" test -e begun
  kill -STOP "${pid[relay]}"
  wait_until "its session is over" has_nodes /g 0
  touch go
  expect_end 3 "${pid[a]}"
  assert_equal "$(<a.err)" ""
}

@test "removed by somebody it does not come back: 76, but a command runs on and keeps its status" {
  member a /g
  member b /g -- sh -c 'until [ -e go ]; do sleep 0.02; done; exit 3'
  wait_names /g a b
  znode rm "/g/$(node_of /g a)"
  expect_end 76 "${pid[a]}"
  wait_for "zklock: no member of /g any more: somebody has removed a-" a.err
  znode rm "/g/$(node_of /g b)"
  wait_for "zklock: no member of /g any more: somebody has removed b-" b.err
  assert has_nodes /g 0
  touch go
  expect_end 3 "${pid[b]}"
}

@test "no command is run where the group cannot be joined" {
  expect_error 69 "cannot reach ZooKeeper" zklock group join -S 127.0.0.1:1 --connect-timeout 300ms /g -- touch ran
  zklock queue push /q -- x
  expect_error 65 "in use as a queue" zklock group join /q -- touch ran
  refute [ -e ran ]
}

@test "credentials: a group of others' is refused, 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:u:p expect_status 0 zklock group create --acl creator /g
  expect_error 77 "the ACL there does not allow it" zklock group join /g -- true
  expect_error 77 "the ACL there does not allow it" zklock group list /g
}
