#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests TLS with a real server that wants certificates of its clients: which get in, as whom, what crosses the wire, and
# what ends the session of a killed zklock.

load ../helpers
load ../group
load ../tls

setup_file() {
  ensemble --servers 1 --tls --tick 250 --set maxSessionTimeout=600000
  certificates_here
  cp "$ZKLOCK_SANDBOX"/tls/authority.* .
  make_authority other
  make_certificate second authority extendedKeyUsage=clientAuth
  make_certificate foreign other extendedKeyUsage=clientAuth
}

teardown_file() { stop_ensemble; }

setup() {
  address=${ZKLOCK_SERVERS#tls://}
  plain=$ZKLOCK_PLAIN_SERVERS
  setup_zk
  chroot=/${ZKLOCK_SERVERS##*/}
}

teardown() { end_all; }

zklock() { timeout 25 "$ZKLOCK_BIN" "$@"; }

without_certificate() { env -u ZKLOCK_TLS_CERT -u ZKLOCK_TLS_KEY "$@"; }

as_second() { without_certificate env "ZKLOCK_TLS_CERT=$certificates/second.pem" "$@"; }

as_foreign() { without_certificate env "ZKLOCK_TLS_CERT=$certificates/foreign.pem" "$@"; }

# both STATUS TEXT CMD…: `run` and `ruok` end so, if CMD runs them.
both() {
  expect_error "$1" "$2" "${@:3}" timeout 25 "$ZKLOCK_BIN" run /l -- touch ran
  expect_error "$1" "$2" "${@:3}" timeout 25 "$ZKLOCK_BIN" ruok
  refute [ -e ran ]
}

@test "who has a certificate gets in; who has none, or one by another authority, is told so at once: 77" {
  export ZKLOCK_CONNECT_TIMEOUT=60s
  expect_status 0 zklock run /l -- echo ran
  assert_equal "$output$stderr" ran
  expect_status 0 zklock ruok
  both 77 "it refuses a client without a certificate" without_certificate
  both 77 "it refuses our certificate" as_foreign
}

@test "plain to a port for TLS: 69" {
  export ZKLOCK_CONNECT_TIMEOUT=2s ZKLOCK_SERVERS=$address$chroot
  both 69 "TLS" env -u ZKLOCK_TLS_CA -u ZKLOCK_TLS_CERT -u ZKLOCK_TLS_KEY
}

@test "TLS to a plain port: 69" {
  export ZKLOCK_CONNECT_TIMEOUT=2s ZKLOCK_SERVERS=tls://$plain$chroot
  both 69 "TLS" env
}

@test "--acl creator without a password: the certificate is who we are, and another one is refused" {
  expect_status 0 zklock run /l -- true # makes the chroot, for all
  expect_status 0 zklock queue push --acl creator /q item
  expect_error 77 "the ACL there does not allow it" as_second "$ZKLOCK_BIN" queue push /q item
  expect_error 77 "" as_second "$ZKLOCK_BIN" queue pull /q
  expect_status 0 zklock queue pull /q
  assert_output item
  expect_status 0 zklock run --acl creator /l -- true
  expect_status 0 zklock group create --acl creator-world-read /g
  expect_status 0 as_second "$ZKLOCK_BIN" group list /g
  expect_error 77 "" as_second "$ZKLOCK_BIN" group join /g -- true
}

@test "a holder is killed: its guard ends the session, though the files are gone" {
  export ZKLOCK_SESSION_TIMEOUT=60s
  cp "$ZKLOCK_TLS_CA" ca.pem
  cp "$ZKLOCK_TLS_CERT" client.pem
  cp "$ZKLOCK_TLS_KEY" client.key
  background zklock run --tls-ca ca.pem --tls-cert client.pem --tls-key client.key --acl creator /l -- sleep 1000
  wait_until "it holds" zklock show -q /l
  rm ca.pem client.pem client.key
  kill -KILL $!
  expect_status 0 zklock run --acl creator /l -- true
}

@test "a waiter, a consumer and a member are killed: what they had is free" {
  export ZKLOCK_SESSION_TIMEOUT=60s
  hold a /l
  stand b /l /l
  kill -KILL "${pid[b]}"
  wait_until "its place is gone" has_nodes /l 1
  expect_status 0 zklock queue push /q item
  background zklock queue pull /q -- sleep 1000
  pid[consumer]=$!
  wait_until "it is in work" eval '(($(zklock queue count --exact --json /q | jq .in_work) == 1))'
  kill -KILL "${pid[consumer]}"
  expect_status 0 zklock queue pull -w 20s /q
  assert_output item
  member m /g
  wait_names /g m
  kill -KILL "${pid[m]}"
  wait_until "it is out" has_names /g
  let_all_go a
}

# --- what crosses the wire -----------------------------------------------------------------------

# use_all SERVERS: uses paths, items, data, labels and credentials, each with a word of its own in it.
use_all() {
  export ZKLOCK_SERVERS=$1
  echo "digest:user-WORD1:password-WORD2" >secret
  chmod 600 secret
  expect_status 0 zklock run --auth-file secret --acl creator --label label-WORD3 /lock-WORD4 -- true
  expect_status 0 zklock queue push --auth-file secret /queue-WORD5 item-WORD6
  expect_status 0 zklock queue pull --auth-file secret /queue-WORD5
  expect_status 0 zklock group join --auth-file secret --name member-WORD7 --data data-WORD8 /group-WORD9 -- true
}

# Prints the numbers of the words that a reader of the wire sees.
seen() { grep -aoE 'WORD[0-9]' capture | sort -u | tr -d 'WORD\n'; }

@test "nothing of a path, an item, a label, a name, credentials crosses the wire in the clear; without TLS all does" {
  start_relay -w "$PWD/capture" "$address"
  use_all "tls://$(relayed_ports)$chroot"
  assert [ "$(wc -c <capture)" -gt 5000 ]
  assert_equal "$(seen)" ""
  refute grep -aqE "zookeeper|${chroot#/}|_c_|lock-" capture
  kill "${pid[relay]}"
  unset ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY
  start_relay -w "$PWD/capture" "$plain"
  use_all "$(relayed_ports)$chroot"
  assert_equal "$(seen)" 123456789
}

# TLS has read more answers than poll knows of.
@test "more answers than are taken in a turn are not waited for" {
  seq 2000 | expect_status 0 zklock queue push /q
  expect_status 0 zklock --session-timeout 600s queue list /q
  assert_equal "$(grep -c . <<<"$output")" 2001
}
