#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock health against replies of other releases, and its options.

load ../helpers
load ../words

setup() { setup_place; }

teardown() { end_all; }

@test "a leader and two followers of every release are well" {
  local release
  for release in 3.4.14 3.5.10 3.6.4 3.9.3 clickhouse; do
    words_from "$(reply $release follower)" "$(reply $release leader)" "$(reply $release follower)"
    expect_status 0 zklock health "${addresses[@]}"
    assert_output --partial "ok: quorum: ${addresses[1]} leads, 2 follow, 2 in sync"
    expect_status 0 zklock health --json "${addresses[@]}"
    assert_equal "$(json '.status, .quorum, .leader, .following, .in_sync, .servers[1].nodes')" \
      "ok true ${addresses[1]} 2 3 142"
  done
}

# altered ROLE WORD SED: prints the manner of a 3.9.3 server whose reply to WORD is changed by that script.
altered() {
  cp "$repo/tests/replies/3.9.3/$1".* .
  sed -i "$3" "$1.$2"
  for word in srvr mntr conf; do mv "$1.$word" "altered.$word"; done
  echo "say:$PWD/altered"
}

@test "followers that are not in sync are seen where numbers have a point, as with a provider of metrics" {
  words_from "$(altered leader mntr 's/^\(zk_synced_followers\t\).*/\11.0/')" "$(reply 3.9.3 follower)" "$(reply 3.9.3 follower)"
  expect_status 1 zklock health "${addresses[@]}"
  assert_line "warning: not in sync with the leader: 1 of its followers"
}

@test "what cannot be read is not ok but unknown, 3, and is shown" {
  words_from "$(altered leader mntr $'s/^\\(zk_synced_followers\t\\).*/\\1x\e[1m/')" "$(reply 3.9.3 follower)" "$(reply 3.9.3 follower)"
  expect_status 3 zklock health "${addresses[@]}"
  assert_line "unknown: not understood: ${addresses[0]}: zk_synced_followers is 'x\\x1b[1m'"
  expect_status 3 zklock health --json "${addresses[@]}"
  assert_equal "$(json '.status, .quorum')" "unknown true"
}

@test "leaderServes=no: the leader says that it does not serve, and all is well" {
  words_from $'text:This ZooKeeper instance is not currently serving requests\n' "$(reply 3.9.3 follower)" "$(reply 3.9.3 follower)"
  expect_status 0 zklock health "${addresses[@]}"
  assert_line "ok: quorum: ${addresses[0]} leads and serves no clients, 2 follow; voters 3"
  assert_line "not serving: ${addresses[0]}, which leads (leaderServes=no)"
}

@test "voters with weights are not counted: one of three may be a quorum" {
  words_from "$(altered leader conf 's/^membership:.*/&\nweight.1=3/')"
  expect_status 1 zklock health "${addresses[0]}" 127.0.0.1:1 127.0.0.1:2
  assert_line --partial "warning: quorum: ${addresses[0]} leads"
  assert_line "the voters have weights: whether those that serve are a quorum is not counted"
}

@test "the table has a line for each server, also for one that is gone" {
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)"
  expect_status 1 zklock health "${addresses[@]}" 127.0.0.1:1
  assert_line --regexp "^${addresses[0]} +serving +leader +3.9.3 +0.7561 +12 +3 +2 +0x500000012 +142$"
  assert_line --regexp "^${addresses[1]} +serving +follower +3.9.3 +"
  assert_line --regexp "^127.0.0.1:1 +refused +- +- +"
  assert_line "warning: missing: 127.0.0.1:1 (connection refused)"
}

@test "a voter count that does not match the servers named is said" {
  words_from "$(reply 3.5.10 leader)" "$(reply 3.5.10 follower)"
  expect_status 1 zklock health "${addresses[@]}"
  assert_line "warning: the ensemble has 3 voters, but 2 were asked"
  expect_status 0 zklock health "${addresses[1]}"
  assert_line "the ensemble has 3 voters, but 1 was asked"
}

@test "silent, cut short, closed and foreign servers are told apart, and a frozen one costs the time once" {
  local start=$SECONDS
  words_from silent silent silent close "cut:60:$repo/tests/replies/3.9.3/leader" random:10000000 "$(reply 3.9.3 leader)"
  expect_status 2 zklock health --json -w 3s "${addresses[@]}" 127.0.0.1:1
  ((SECONDS - start < 8))
  assert_equal "$(json '[.servers[].state] | join(" ")')" "no-answer no-answer no-answer closed cut-short foreign serving refused"
}

@test "replies that tell nothing make it unknown, 3" {
  words_from close random:1000
  expect_status 3 zklock health "${addresses[@]}"
  assert_output --partial "unknown: no server gave a reply that tells"
  expect_status 3 zklock health --json "${addresses[@]}"
  assert_equal "$(json '.status, .quorum')" "unknown null"
}

@test "up but not serving: an election is told from too few servers, in text, as JSON and by status" {
  local up=$'text:This ZooKeeper instance is not currently serving requests\n'
  words_from "$up" "$up"
  expect_status 2 zklock health "${addresses[@]}" 127.0.0.1:1
  assert_line "critical: not serving: 2 of 3 are up, but they are starting, electing a leader or do not reach each other"
  assert_line "warning: not serving: ${addresses[0]}"
  assert_line "warning: missing: 127.0.0.1:1 (connection refused)"
  expect_status 2 zklock health "${addresses[0]}" 127.0.0.1:1 127.0.0.1:2
  assert_line "critical: no quorum: only 1 of 3 up"
  expect_status 2 zklock health --json "${addresses[@]}" 127.0.0.1:1
  assert_equal "$(json '.status, .quorum, .servers[].state')" "critical false not-serving not-serving refused"
  # If only one server is given, it may be one that has no others.
  expect_status 2 zklock health "${addresses[0]}"
  assert_line "critical: not serving: the server is up, but it is starting, electing a leader or does not reach the others"
  expect_status 2 zklock health --json "${addresses[0]}"
  assert_equal "$(json '.status, .quorum')" "critical null"
}

@test "thresholds: latency and outstanding requests warn, too few servers are critical" {
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)" "$(reply 3.9.3 follower)"
  expect_status 0 zklock health --max-latency 1ms --max-outstanding 2 --min-servers 3 "${addresses[@]}"
  expect_status 1 zklock health --max-latency 0.7ms "${addresses[@]}"
  assert_output --partial "average latency 0.7561ms, more than "
  expect_status 1 zklock health --max-outstanding 1 "${addresses[@]}"
  assert_output --partial "${addresses[0]}: 2 requests wait, more than 1"
  expect_status 2 zklock health --min-servers 3 "${addresses[@]:0:2}" 127.0.0.1:1
  assert_line "critical: only 2 of 3 serve, 3 wanted"
}

@test "a client near maxClientCnxns is told of the server that it is connected to" {
  local busy n
  busy=$(altered follower srvr 's/^Connections: .*/Connections: 50/')
  for n in {1..50}; do echo " /10.0.0.7:${n}[1](queued=0,recved=1,sent=1)"; done >altered.cons
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)" "$busy"
  expect_status 0 zklock health "${addresses[@]}"
  assert_line \
    "advice: ${addresses[2]}: 10.0.0.7 has 50 connections, and maxClientCnxns is 60 for each client's address"
}

@test "--format nagios: a line with performance data, by the grammar of monitoring plugins" {
  local value='-?[0-9]+(\.[0-9]+)?'
  words_from "$(reply 3.9.3 leader)" "$(reply 3.9.3 follower)" "$(reply 3.9.3 follower)"
  expect_status 0 zklock health --format nagios --max-latency 50ms --min-servers 2 "${addresses[@]}"
  assert_equal "${#lines[@]}" 1
  assert_output --regexp "^ZOOKEEPER OK - quorum: [^|]+ \|( '[^'=|]+'=$value(ms|s|c)?(;[0-9.:]*){0,4})+$"
  assert_output --partial " 'serving'=3;;2:;0;3 "
  expect_status 1 zklock health --format nagios "${addresses[@]:0:2}" 127.0.0.1:1
  assert_output --partial "ZOOKEEPER WARNING - quorum: "
  assert_output --partial "missing: 127.0.0.1:1 (connection refused)"
  expect_status 2 zklock health --format nagios 127.0.0.1:1
  assert_output --regexp "^ZOOKEEPER CRITICAL - no quorum: none of 1 answers; .* \| 'serving'=0;;;0;1$"
}

@test "--format prometheus: every line by the grammar of the exposition, every family headed once" {
  local name='[a-zA-Z_:][a-zA-Z0-9_:]*' label='[a-z]+="([^"\\]|\\[\\"n])*"'
  words_from "$(reply 3.9.3 leader)"
  expect_status 2 zklock health --format prometheus --min-servers 2 "${addresses[0]}" 127.0.0.1:1
  assert_equal "$(grep -vcE "^(# HELP $name [^ ].*|# TYPE $name (gauge|counter)|$name(\{$label(,$label)*\})? [-0-9.e+]+)$" <<<"$output")" 0
  assert_equal "$(grep '^# TYPE' <<<"$output" | sort | uniq -d)" ""
  assert_equal "$(promtool check metrics <<<"$output" 2>&1)" ""
  assert_line "zklock_health_status 2"
  assert_line "zklock_server_serving{server=\"127.0.0.1:1\"} 0"
  assert_line "zklock_server_latency_average_seconds{server=\"${addresses[0]}\"} 0.0007561"
}

@test "-q prints nothing, and one line if it is not well" {
  words_from "$(reply 3.9.3 leader)"
  expect_status 0 zklock health -q "${addresses[0]}"
  assert_equal "$output$stderr" ""
  expect_error 2 "critical: no quorum: none of 1 answers; missing: 127.0.0.1:1 (connection refused)" \
    zklock health -q 127.0.0.1:1
}

@test "-v says how each server did" {
  words_from "$(reply 3.9.3 leader)"
  expect_status 0 zklock health -v "${addresses[0]}"
  [[ $stderr == "zklock: ${addresses[0]}: serving in "* ]]
}

@test "bad usage is 3, wherever it stands" {
  local bad
  for bad in --bogus --format=x --min-servers=4 --min-servers=x --max-latency=x --max-outstanding=x --probe=x -w \
    --interval=1ms "--json --format=text" "--interval=1s --format=nagios" "--interval=1s -q" zk1:0; do
    # shellcheck disable=SC2086  # two words are two
    expect_error 3 "" zklock health $bad
  done
  expect_error 3 "not a host name" zklock -S 'a b' health
  expect_error 3 "unknown option '--frob'" zklock --frob health
  expect_error 64 "unknown command 'healt'; did you mean 'health'?" zklock healt
}

@test "a standard output that takes nothing is 3 too" {
  words_from "$(reply 3.9.3 leader)"
  expect_error 3 "cannot write to standard output" sh -c '"$ZKLOCK_BIN" health "$1" >/dev/full' sh "${addresses[0]}"
}

@test "--interval looks again and again, with rates; to a file one look after the other, as JSON a line each" {
  words_from "$(reply 3.9.3 leader)"
  background zklock health --interval 100ms --json "${addresses[0]}" >looks
  pid[watch]=$!
  wait_until "three looks" eval '(($(wc -l <looks) >= 3))'
  kill -TERM "${pid[watch]}"
  expect_end 143 "${pid[watch]}"
  assert_equal "$(sed -n 1p looks | jq '.servers[0].rates')" null
  assert_equal "$(sed -n 2p looks | jq '.servers[0].rates.received')" 0
  background zklock health --interval 100ms "${addresses[0]}" >looks
  wait_until "rates in the second one" grep -q 'RECEIVED/S  SENT/S$' looks
  refute grep -q $'\e' looks
}

@test "--interval: looks that were missed while a server was silent are not made up for" {
  local before began
  words_from "$(reply 3.9.3 leader)"
  background zklock health -w 60s --interval 200ms --json "${addresses[0]}" >looks
  wait_until "it looks" test -s looks
  kill -STOP "${pid[words]}"
  wait_until "ten looks were missed" is_past $(($(now_us) + 2000000))
  before=$(wc -l <looks)
  began=$(now_us)
  kill -CONT "${pid[words]}"
  # These are the look under way, another one at once, and one in each of seven intervals.
  wait_until "there are nine more" eval "((\$(wc -l <looks) >= $before + 9))"
  assert [ $(($(now_us) - began)) -ge 1300000 ]
}

@test "--interval repaints the table at a terminal" {
  need_terminal
  words_from "$(reply 3.9.3 leader)"
  background pty screen "$ZKLOCK_BIN" health --interval 100ms "${addresses[0]}"
  wait_until "it is painted three times" eval '(($(grep -c $'"'\e\\[H'"' screen) >= 3))'
  assert_equal "$(grep -c $'\e\\[2J' screen)" 1
  grep -q $'RECEIVED/S  SENT/S\e\\[K' screen
}
