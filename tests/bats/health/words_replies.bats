#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock ruok, stat, srvr, mntr and 4lw against whatever may answer.

load ../helpers
load ../words

setup() { setup_place; }

teardown() { end_all; }

@test "one server: its reply as it stands, byte for byte" {
  words_from "$(reply 3.9.3 leader)" text:imok
  zklock srvr "${addresses[0]}" >reply
  cmp reply "$repo/tests/replies/3.9.3/leader.srvr"
  zklock 4lw conf "${addresses[0]}" >reply
  cmp reply "$repo/tests/replies/3.9.3/leader.conf"
  zklock ruok "${addresses[1]}" >reply
  assert_equal "$(wc -c <reply)" 4
}

@test "several servers: each reply headed by its address, in the order they were named" {
  words_from text:imok text:imok
  expect_status 0 zklock ruok "${addresses[1]}" "${addresses[0]}" "${addresses[1]}"
  assert_equal "$output" "==> ${addresses[1]} <==
imok

==> ${addresses[0]} <==
imok"
}

@test "what srvr, stat and health tell of a server has the same names in their JSON" {
  local health word release
  for release in 3.4.14 3.9.3; do
    words_from "$(reply $release leader)"
    health=$(zklock health --json "${addresses[0]}" |
      jq -cS '.servers[0] | {version, latency_ms, received, sent, connections, outstanding, zxid, mode, nodes}')
    assert_equal "$(jq '.nodes > 0' <<<"$health")" true
    for word in srvr stat; do
      assert_equal "$(zklock $word --json "${addresses[0]}" |
        jq -cS '.reply | del(.read_only, .proposal_sizes, .clients)')" "$health"
    done
  done
}

@test "servers that are not named are those of --servers or the variable; a chroot there is ignored" {
  words_from text:imok text:imok
  expect_status 0 zklock -S "${addresses[0]},${addresses[1]}/a/b" ruok
  assert_line "==> ${addresses[1]} <=="
  expect_status 0 zklock ruok -S "${addresses[0]}/a"
  assert_output imok
  expect_status 0 env ZKLOCK_SERVERS="${addresses[0]}/a" "$ZKLOCK_BIN" ruok
  assert_output imok
}

@test "a name, and an address in brackets" {
  words_from text:imok
  expect_status 0 zklock ruok "localhost:${addresses[0]##*:}"
  assert_output imok
  expect_error 69 "[::1]:${addresses[0]##*:}: connection refused" zklock ruok "[::1]:${addresses[0]##*:}"
  expect_error 69 "[::1]:2181: " zklock ruok '[::1]' -w 1s
}

@test "replies of all releases as JSON, with numbers as numbers" {
  local release
  for release in 3.4.14 3.5.10 3.6.4 3.9.3 clickhouse; do
    words_from "$(reply $release leader)"
    expect_status 0 zklock stat --json "${addresses[0]}"
    assert_equal "$(json '.state, .reply.mode, .reply.latency_ms.max, .reply.sent, (.reply.clients | length)')" \
      "answered leader 12 1233 2"
    expect_status 0 zklock mntr --json "${addresses[0]}"
    assert_equal "$(json '.reply.zk_server_state, .reply.zk_synced_followers + 1')" "leader 3"
    expect_status 0 zklock 4lw --json conf "${addresses[0]}"
    assert_equal "$(json '.reply | type')" object
  done
  words_from "$(reply 3.9.3 leader)"
  expect_status 0 zklock mntr --json "${addresses[0]}"
  assert_equal "$(json '.reply | .zk_avg_latency, .zk_peer_state, .zk_jvm_pause_time_ms, .zk_learners')" \
    "0.7561 leading - broadcast NaN 2"
}

@test "a word without structure keeps its text in the JSON" {
  words_from $'text:SessionTracker dump:\nSession Sets (0)/(0):\n'
  expect_status 0 zklock 4lw --json dump "${addresses[0]}"
  assert_equal "$(jq .text <<<"$output")" '"SessionTracker dump:\nSession Sets (0)/(0):\n"'
}

@test "a word that is not whitelisted is said as such, with the setting to change, and is 77" {
  words_from $'text:mntr is not executed because it is not in the whitelist.\n'
  expect_error 77 "${addresses[0]}: mntr is not in its whitelist: " zklock mntr "${addresses[0]}"
  [[ $stderr == *"4lw.commands.whitelist=srvr,mntr"* ]]
  assert_output ""
  expect_status 77 zklock mntr --json "${addresses[0]}"
  assert_equal "$(json '.state')" not-in-whitelist
}

@test "up but not serving is told from down" {
  words_from $'text:This ZooKeeper instance is not currently serving requests\n' text:null
  expect_error 69 "${addresses[0]}: up, but not serving: it is starting, or has no quorum" zklock srvr "${addresses[0]}"
  expect_error 69 "${addresses[1]}: up, but not serving: it is starting, or has no quorum" zklock 4lw isro "${addresses[1]}"
  expect_status 69 zklock mntr --json "${addresses[0]}"
  assert_equal "$(json '.state')" not-serving
}

@test "refused, silent, closed, reset, cut short and foreign are told apart, all asked at once" {
  local start=$SECONDS port
  words_from silent silent silent close reset "cut:60:$repo/tests/replies/3.9.3/leader" \
    "open:$repo/tests/replies/3.9.3/leader" random:4000 $'text:\x15\x03\x03'
  port=${addresses[0]##*:}
  expect_status 69 zklock srvr -w 2s "${addresses[@]}" 127.0.0.1:1 no-host.invalid
  ((SECONDS - start < 6))
  assert_output ""
  assert_said "127.0.0.1:$port: no answer in "
  assert_said "${addresses[3]}: closed without a word: "
  assert_said "${addresses[4]}: closed without a word: "
  assert_said "${addresses[5]}: the reply was cut short after 60 bytes: ask again"
  assert_said "${addresses[6]}: the reply was cut short after "
  assert_said "${addresses[7]}: what answers is not ZooKeeper: '"
  assert_said "${addresses[8]}: what answers is not ZooKeeper: TLS"
  assert_said "127.0.0.1:1: connection refused: "
  assert_said "no-host.invalid:2181: name not resolved: "
  expect_status 69 zklock srvr --json -w 1s "${addresses[@]}" 127.0.0.1:1 no-host.invalid
  assert_equal "$(json .state)" \
    "no-answer no-answer no-answer closed closed cut-short cut-short foreign foreign refused unknown-host"
}

@test "a name that takes for ever to look up holds up nobody else" {
  words_from text:imok
  mkfifo aliases # glibc reads it first; nothing is ever written to it
  HOSTALIASES=$PWD/aliases expect_status 69 zklock ruok -w 3s stuck "${addresses[0]}" --json
  assert_equal "$(json '.state, (.milliseconds < 2500)')" "unknown-host false answered true"
  assert_said "stuck:2181: name not resolved: no answer from the resolver in time"
}

@test "a reply of many reads comes whole, a cut one not at all" {
  { printf 'zk_version\t3.9.3\nzk_server_state\tleader\n'; seq 20000 | sed 's/.*/zk_key_&\t&/'; } >long.mntr
  words_from "say:$PWD/long" "cut:200000:$PWD/long"
  zklock mntr "${addresses[0]}" >reply
  cmp reply long.mntr
  expect_status 0 zklock mntr --json "${addresses[0]}"
  assert_equal "$(json '.reply | length, .zk_key_20000')" "20002 20000"
  expect_error 69 "cut short after 200000 bytes" zklock mntr "${addresses[1]}"
  assert_output ""
}

@test "10 MB of random bytes, and bytes without an end: no crash, no hang" {
  local word
  words_from random:10000000 endless
  for word in ruok srvr stat mntr; do expect_error 69 "not ZooKeeper" zklock $word "${addresses[0]}"; done
  for word in conf cons wchc; do
    expect_error 69 "not ZooKeeper" zklock 4lw $word "${addresses[0]}"
  done
  zklock 4lw rqld "${addresses[0]}" >reply
  assert_equal "$(wc -c <reply)" 10000000
  expect_status 0 zklock 4lw rqld --json "${addresses[0]}"
  expect_status 69 zklock 4lw rqld --json -w 1s "${addresses[1]}"
  assert_equal "$(json .state)" cut-short
}

@test "one of three dead: the other two are shown, and the JSON has the dead one with its reason" {
  words_from text:imok text:imok
  expect_status 69 zklock ruok "${addresses[0]}" 127.0.0.1:1 "${addresses[1]}"
  assert_equal "$(grep -c imok <<<"$output")" 2
  assert_equal "$stderr" "zklock: 127.0.0.1:1: connection refused: start the server, or name the right port"
  expect_status 69 zklock ruok --json "${addresses[0]}" 127.0.0.1:1 "${addresses[1]}"
  assert_equal "$(json '.state, .reason // .reply')" "answered imok refused connection refused answered imok"
}

@test "a server that does not answer counts before one that refuses the word" {
  words_from $'text:ruok is not executed because it is not in the whitelist.\n'
  expect_status 77 zklock ruok "${addresses[0]}"
  expect_status 69 zklock ruok "${addresses[0]}" 127.0.0.1:1
  expect_status 69 zklock ruok 127.0.0.1:1 "${addresses[0]}"
}

@test "-q prints no reply, -v says how each server did" {
  words_from text:imok
  expect_status 0 zklock ruok -q "${addresses[0]}"
  assert_equal "$output$stderr" ""
  expect_error 69 "connection refused" zklock ruok -q 127.0.0.1:1
  expect_status 0 zklock ruok -v "${addresses[0]}"
  [[ $stderr == "zklock: ${addresses[0]}: answered in "* ]]
}

@test "a reply is shown at a terminal without what could steer it, and with its line ended" {
  need_terminal
  words_from $'text:a\e[2Jb'
  pty shown "$ZKLOCK_BIN" 4lw rqld "${addresses[0]}"
  assert_equal "$(tr -d '\r' <shown)" 'a\x1b[2Jb'
}

@test "bad usage is 64" {
  expect_error 64 "cannot ask stmk" zklock 4lw stmk
  expect_error 64 "no word named" zklock 4lw
  expect_error 64 "bad word 'rouk!'" zklock 4lw 'rouk!'
  expect_error 64 "bad word 'RUOK'" zklock 4lw RUOK
  expect_error 64 "a port is a number" zklock ruok zk1:99999
  expect_error 64 "unknown option '--jsn'; did you mean '--json'?" zklock srvr --jsn
  expect_error 64 "--timeout 0" zklock mntr -w 0
  expect_error 64 "bad duration" zklock mntr -w soon
}

@test "the help of ruok says that it is not health" {
  expect_status 0 zklock ruok --help
  assert_output --partial "imok is not health"
  refute_output --partial --session-timeout
}

@test "a reader who is gone, and one who takes nothing" {
  words_from random:1000000
  zklock 4lw rqld "${addresses[0]}" | head -c 10 >reply
  assert_equal "$(wc -c <reply)" 10
  expect_error 74 "cannot write to standard output" sh -c '"$ZKLOCK_BIN" 4lw rqld "$1" >/dev/full' sh "${addresses[0]}"
}
