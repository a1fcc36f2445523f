#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what zklock prints when it fails, whole lines: what was tried, on what, why it failed, what to do next.

load ../helpers
load ../words

setup() { setup_zk; }

teardown() { end_all; }

# says STATUS LINE ARG…: `zklock ARG…` ends with STATUS and prints "zklock: LINE". PID, TIME, HOST, SESSION, UUID and
# SERVERS replace what differs from run to run. REASON replaces what the resolver says, which depends on the network.
says() {
  expect_status "$1" zklock "${@:3}" || return
  # shellcheck disable=SC2001  # patterns
  assert_equal "$(sed -E "s|$ZKLOCK_SERVERS|SERVERS|g; s/$(hostname) \\(pid [0-9]+/HOST (pid PID/g
    s/(for|in) ([0-9.]+(ms|s|m) ?)+/\\1 TIME /g; s/TIME ([,;:]|$)/TIME\\1/g; s/0x[0-9a-f]+/SESSION/g
    s/_c_[0-9a-f-]{36}/_c_UUID/g
    s/(Name or service not known|Temporary failure in name resolution)/REASON/" <<<"$stderr")" "zklock: $2"
}

@test "wrong use" {
  says 64 "no command named: write zklock run LOCK -- COMMAND, or see zklock help" -v
  says 64 "unknown command 'rum'; did you mean 'run'?" rum
  says 64 "unknown command 'teapot'; see zklock --help" teapot
  says 64 "unknown command 'teapot'; see zklock queue --help" queue teapot
  says 64 "unknown option '--nonblok'; did you mean '--nonblock'?" run --nonblok /l -- true
  says 64 "unknown option '-z'; see zklock run --help" run -z /l -- true
  says 64 "--timeout needs a value; see zklock run --help" run /l -w
  says 64 "--nonblock takes no value; see zklock run --help" run --nonblock=maybe /l -- true
  says 64 "no lock named: write zklock run /locks/job -- COMMAND" run
  says 64 "no command: write zklock run /l -- COMMAND" run /l
  says 64 "unexpected argument 'true': write -- before the command" run /l true
  says 64 "bad path 'lock': a path begins with /, as in /locks/job" run lock cmd
  says 64 "bad path '/a\\x0ab\\x1b[1m': it has a control character" run $'/a\nb\e[1m' -- true
  says 64 "bad duration 'soon' for --timeout: write one like 500ms, 30, 30s, 5m, 1h30m" run -w soon /l -- true
  says 64 "bad duration '' for --timeout: write one like 500ms, 30, 30s, 5m, 1h30m" run --timeout= /l -- true
  says 64 "bad number '0' for --slots: write one from 1 to 10000" run --slots 0 /l -- true
  says 64 "give either --all or --follow, not both" queue pull --all --follow /q
  says 64 "there is no terminal to ask at: write --yes" break /l
  says 64 "bad server list 'host:port' (from --servers): a port is a number from 1 to 65535" run -S host:port /l -- true
  says 64 "bad server list 'a,b:x' (from --servers): 'b:x': a port is a number from 1 to 65535" run -S a,b:x /l -- true
  says 3 "--min-servers 5 can never be met: only 1 server is asked" health --min-servers 5
  assert_untouched
}

@test "an empty value of a long option is a value, and does not take the next word" {
  expect_status 0 zklock run --label= /l -- sh -c 'echo "$ZKLOCK_PATH"'
  assert_output /l
  says 64 "bad path '': the path is empty; write an absolute one like /locks/job" run --nonblock= -- true
}

@test "credentials that cannot be read" {
  : >empty
  says 64 "cannot read credentials from 'none': No such file or directory; name a file with the line digest:USER:PASSWORD" \
    run --auth-file none /l -- true
  says 64 "cannot read credentials from 'empty': it is empty; name a file with the line digest:USER:PASSWORD" \
    run --auth-file empty /l -- true
  says 64 "cannot read credentials from '/': Is a directory; name a file with the line digest:USER:PASSWORD" \
    run --auth-file / /l -- true
  ZKLOCK_AUTH=me:secret says 64 "bad credentials from ZKLOCK_AUTH: write digest:USER:PASSWORD" run /l -- true
}

@test "no server" {
  says 69 "cannot reach ZooKeeper at 127.0.0.1:1 (from --servers): no server answered in TIME (Connection refused); \
zklock health looks at each of them" run -S 127.0.0.1:1 --connect-timeout 300ms /l -- true
  says 69 "cannot resolve no-such-host.invalid: REASON (server list from --servers); look at the name and the resolver" \
    run -S no-such-host.invalid --connect-timeout 5s /l -- true
  says 69 "127.0.0.1:1: connection refused: start the server, or name the right port" ruok 127.0.0.1:1
}

@test "no server, and nobody has said where to look for one" {
  # If a server listens at the default address here, zklock has no reason to print this.
  if (exec 9<>/dev/tcp/127.0.0.1/2181) 2>/dev/null; then skip "something listens on 127.0.0.1:2181"; fi
  ZKLOCK_SERVERS='' expect_error 69 "name your servers with --servers or ZKLOCK_SERVERS" \
    zklock run --connect-timeout 300ms /l -- true
}

@test "something else than ZooKeeper" {
  local port
  words_from silent close reset 'text:HTTP/1.1 400 Bad Request'
  says 69 "cannot reach ZooKeeper at ${addresses[0]} (from --servers): no server answered in TIME; zklock health looks at \
each of them" run -S "${addresses[0]}" --connect-timeout 300ms /l -- true
  says 69 "cannot reach ZooKeeper at ${addresses[0]} (from --servers): no server answered in TIME (the connection was \
taken, but nothing came back in time); zklock health looks at each of them" run -S "${addresses[0]}" --session-timeout 2s \
    --connect-timeout 2s /l -- true
  for port in "${addresses[@]:1:2}"; do
    says 69 "cannot reach ZooKeeper at $port (from --servers): no server answered in TIME (the connection was taken, but \
not by a ZooKeeper server that serves); zklock health looks at each of them; if the port is one for TLS, give --tls" run -S "$port" --connect-timeout 2s /l -- true
  done
  says 69 "${addresses[0]}: no answer in TIME: it took the connection: look whether its process hangs, wants TLS (--tls) \
or is not ZooKeeper at all, or give it longer with -w" ruok -w 500ms "${addresses[0]}"
  says 69 "${addresses[3]}: what answers is not ZooKeeper: 'HTTP/1.1 400 Bad Request': name a client port of ZooKeeper" \
    ruok "${addresses[3]}"
}

@test "refused by an ACL" {
  local refused="ZooKeeper refused it: the ACL there does not allow it; give other credentials (ZKLOCK_AUTH, --auth-file, --tls-cert)"
  expect_status 0 zklock run /l -- true # makes the chroot, for all
  ZKLOCK_AUTH=digest:one:secret expect_status 0 zklock group create --acl creator /kept
  ZKLOCK_AUTH=digest:one:secret expect_status 0 zklock queue push --acl creator /q item
  says 77 "cannot join /kept: $refused" group join /kept -- true
  says 77 "cannot push to /q: $refused" queue push /q item
  says 77 "cannot make /kept/deeper: $refused" run /kept/deeper -- true
  says 77 "cannot make the chroot /${ZKLOCK_SERVERS#*/}/kept/below: $refused" \
    run -S "$ZKLOCK_SERVERS/kept/below" /l -- true
}

@test "a path that is used for something else" {
  expect_status 0 zklock queue push /q item
  expect_status 0 zklock group create /g
  hold h /l
  hold s --slots 2 /s
  says 65 "cannot take /q: the path is in use as a queue, not as a lock; choose another" run /q -- true
  says 65 "cannot take /g: the path is in use as a group, not as a lock; choose another" run /g -- true
  says 65 "cannot take /s: the path is in use for slots, not as a lock; use --slots or another path" run /s -- true
  says 65 "cannot take /l: the path is in use as a lock of one, not for slots; leave out --slots or choose another" \
    run --slots 2 /l -- true
  says 65 "cannot take /s: it is in use with --slots 2, not 3; all who use it must give the same" run --slots 3 /s -- true
  says 65 "cannot take /l: programs of another kind, which would not wait for us, stand in line there \
('_c_UUID-lock-0000000000'); leave out --peer" run --peer kazoo /l -- true
  says 65 "cannot push to /l: the path is in use, but not as a queue; choose another, or delete it if nobody needs it" \
    queue push /l item
  says 65 "cannot join /q: the path is in use as a queue (zklock queue), not as a group; choose another" group join /q
  says 65 "cannot show /q: it is a queue, not a lock; see zklock queue list" show /q
  says 65 "cannot break /g: it is a group, not a lock; see zklock group list" break --yes /g
  says 65 "cannot take /l/_c_UUID-lock-0000000000/deeper: '_c_UUID-lock-0000000000' is the name of a contender for a \
lock; choose another path" run "/l/$(znode ls /l)/deeper" -- true
  let_all_go h s
}

@test "busy, and not there" {
  hold h --label nightly /l
  hold s --slots 1 /s
  says 75 "cannot take /l: held by HOST (pid PID, nightly) for TIME" run -n /l -- true
  says 75 "cannot take /s: held by HOST (pid PID) for TIME" run -n --slots 1 /s -- true
  says 75 "cannot break /l: HOST (pid PID, nightly) has not let go in time; --force takes the lock away" \
    break --yes -w 0 /l
  expect_end 76 "${pid[h]}"
  assert_equal "$(<h.err)" "zklock: lost /l: revoked (zklock break); the command was stopped"
  says 75 "cannot pull from /q: no items" queue pull /q
  says 75 "cannot list /g: there is no such group" group list /g
  says 75 "cannot list /none: there is no such queue" queue list /none
  says 75 "cannot break /none: there is no such lock" break --yes /none
  says 75 "cannot wait for /g any longer: 0 members, not at least 1" group wait --at-least 1 -w 0 /g
  let_all_go s
}

@test "items and members" {
  expect_status 0 zklock queue push /q one two
  says 65 "cannot requeue 'x' to /q: no dead letter has that ID; zklock queue list --dead shows them" queue requeue /q x
  says 75 "cannot delete /q: 2 items are in it and 0 dead; zklock queue purge deletes the items, with --dead the dead letters" \
    queue delete --yes /q
  says 123 "/q: an item failed, to be tried again" queue pull -N 2 --max-attempts 2 --halt /q -- sh -c 'exit 1'
  background zklock group join --unique --name me /g
  wait_until "it is in" expect_status 0 zklock group list -q /g
  says 75 "cannot join /g as 'me': the name is taken, for TIME, by session SESSION; choose another, or wait for it with -w" \
    group join --unique --name me /g
  says 75 "cannot delete /g: 1 member in it; --force removes them" group delete /g
  says 64 "cannot read the data file 'none': No such file or directory" group join --data-file none /g
}

@test "a command that cannot be run, and output that cannot be written" {
  touch data
  says 127 "cannot run no-such-command: command not found" run /l -- no-such-command
  says 126 "cannot run ./data: Permission denied" run /l -- ./data
  expect_status 74 sh -c '"$ZKLOCK_BIN" show /l >/dev/full'
  assert_equal "$stderr" "zklock: cannot write to standard output: No space left on device"
}

# Each attempt has three, and there are four attempts a second; they are shown after 0, 1, 3 and 7 s.
@test "-v shows the client library's complaints less and less often while no server answers" {
  expect_status 69 zklock run -v -w 4s -S 127.0.0.1:1,127.0.0.1:2 /l -- true
  local said
  said=$(grep -c '^zklock: client: .*refused' <<<"$stderr")
  ((2 <= said && said <= 8)) || fail "$said times: $stderr"
  assert_regex "$stderr" 'client: .*\(and [0-9]+ more like it\)'
}
