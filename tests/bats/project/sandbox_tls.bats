#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/zk-sandbox with TLS, and with variables for TLS that are not about the sandbox.

load ../helpers
load ../sandbox

# `secure` is an ensemble over TLS, with its own addresses, started by a program that notes what it starts.
setup_file() {
  enter_file_folder
  printf '#!/bin/sh\necho "$1" >>"$0.started"; shift; exec "$@"\n' >enter
  chmod +x enter
  share secure --tls --servers 3 --host 127.0.1.% --enter "$PWD/enter server%"
}

@test "one server answers a command, which has our standard input and output and nobody else's settings, and is gone after it" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  expect_status 0 zk_sandbox -- sh -c "cat; '$repo/scripts/zk-sandbox' word 1 srvr >reply; $names >names" <<<"some input"
  assert_output "some input"
  assert_equal "$stderr" ""
  assert grep -x "Mode: standalone" reply
  assert_equal "$(<names)" ""
  assert_nothing_left
}

@test "start gives an environment without others' settings, stop takes the servers down; they count as ready though words are not allowed" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  begin --dir here --set 4lw.commands.whitelist=ruok
  assert_equal "$(sh -c "$names")" ""
  assert_equal "$ZKLOCK_SANDBOX" "$TMPDIR/here"
  assert_equal "$(zk_sandbox address 1)" "$ZKLOCK_SERVERS"
  assert says 1 ruok imok
  assert says 1 conf whitelist
  local pid
  pid=$(zk_sandbox pid 1)
  assert_equal "$(readlink "/proc/$pid/fd/"[0-2] | sort -u)" "$(printf '%s\n' /dev/null "$(zk_sandbox log 1)")"
  expect_status 0 zk_sandbox stop here
  assert is_gone "$pid"
  assert [ ! -e "$TMPDIR/here" ]
}

# by_tls ADDRESS WORD OPTION…: prints the reply to a four-letter word. The client accepts only a server of that name.
by_tls() {
  printf '%s' "$2" | timeout "${ZKLOCK_TEST_WAIT:-20}" openssl s_client -quiet -connect "$1" \
    -CAfile "$ZKLOCK_TLS_CA" -verify_return_error "${@:3}"
}

own_certificate() { certificate=(-cert "$ZKLOCK_TLS_CERT" -key "$ZKLOCK_TLS_KEY"); }

@test "--tls: on a second port each server wants a certificate, and shows one for its address and for localhost" {
  on secure
  assert_regex "$ZKLOCK_SERVERS" '^tls://127\.0\.1\.1:[0-9]+,127\.0\.1\.2:[0-9]+,127\.0\.1\.3:[0-9]+$'
  assert_regex "$ZKLOCK_PLAIN_SERVERS" '^127\.0\.1\.1:[0-9]+,127\.0\.1\.2:[0-9]+,127\.0\.1\.3:[0-9]+$'
  own_certificate
  local address host all=${ZKLOCK_SERVERS#tls://}
  for address in ${all//,/ }; do
    for host in ip:"${address%:*}" ip:127.0.0.1 ip:::1 hostname:localhost; do
      expect_status 0 by_tls "$address" srvr "${certificate[@]}" "-verify_${host%%:*}" "${host#*:}"
      assert_line --regexp '^Mode: (leader|follower)$'
    done
    expect_status 1 by_tls "$address" srvr "${certificate[@]}" -verify_hostname elsewhere
    expect_status 1 by_tls "$address" srvr
    assert_output ""
    # The alert depends on the release of Java.
    assert_regex "$stderr" "alert (bad certificate|handshake failure)"
  done
  assert says 2 srvr "Mode: "
  assert_equal "$(zk_sandbox address 3)" "$address"
  assert_equal "$(find "$ZKLOCK_SANDBOX/tls" -perm /077)" ""
}

@test "--tls: the client's certificate is an identity for ACLs" {
  on secure
  # A follower may not have yet what was written by another one.
  ZKLOCK_SERVERS=${ZKLOCK_SERVERS%%,*} ZKLOCK_PLAIN_SERVERS=${ZKLOCK_PLAIN_SERVERS%%,*}
  expect_status 0 /usr/bin/python3 - <<'END'
import os
from kazoo.client import KazooClient
from kazoo.security import CREATOR_ALL_ACL

client = KazooClient(os.environ["ZKLOCK_SERVERS"].removeprefix("tls://"), use_ssl=True, ca=os.environ["ZKLOCK_TLS_CA"],
                     certfile=os.environ["ZKLOCK_TLS_CERT"], keyfile=os.environ["ZKLOCK_TLS_KEY"])
client.start()
client.create("/a", acl=CREATOR_ALL_ACL)
print(*client.get_acls("/a")[0])
END
  assert_output "ACL(perms=31, acl_list=['ALL'], id=Id(scheme='x509', id='CN=client'))"
  ZKLOCK_SERVERS=$ZKLOCK_PLAIN_SERVERS expect_status 70 znode get /a
  assert_regex "$stderr" "not authenticated"
}

@test "--tls: a server with an address and a program of its own is paused, killed and restarted as without them" {
  on secure
  assert_equal "$(sort "$BATS_FILE_TMPDIR/enter.started" | xargs)" "server1 server2 server3"
  own_certificate
  local old address
  old=$(zk_sandbox leader)
  address=$(zk_sandbox address "$old")
  zk_sandbox pause "$old"
  assert_not_equal "$(zk_sandbox leader)" "$old"
  zk_sandbox kill "$old"
  zk_sandbox restart "$old"
  assert_equal "$(zk_sandbox address "$old")" "$address"
  expect_status 0 by_tls "$address" srvr "${certificate[@]}"
  assert_line "Mode: follower"
  assert_equal "$(tail -n 1 "$BATS_FILE_TMPDIR/enter.started")" "server$old"
  assert_equal "$(wc -l <"$BATS_FILE_TMPDIR/enter.started")" 4
}

@test "--tls-only: no server has a plain port, and words reach them all the same" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  begin --tls-only --servers 3
  assert_equal "$(sh -c "$names")" "ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY"
  assert_regex "$ZKLOCK_SERVERS" '^tls://127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+$'
  assert_equal "${ZKLOCK_PLAIN_SERVERS-unset}" unset
  local n
  for n in 1 2 3; do
    assert says "$n" conf $'\nsecureClientPort='
    assert says "$n" conf "clientPort=-1"
  done
  n=$(zk_sandbox leader)
  zk_sandbox kill "$n"
  expect_status 1 zk_sandbox word "$n" ruok
  assert_not_equal "$(zk_sandbox leader)" "$n"
  zk_sandbox restart "$n"
  assert says "$n" srvr "Mode: follower"
}

@test "--tls: --set can give the servers another certificate, and another version of TLS" {
  openssl req -x509 -config /dev/null -subj /CN=stranger -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout stranger.key -out stranger.pem
  cat stranger.key >>stranger.pem
  begin --tls --set ssl.keyStore.location="$PWD/stranger.pem" --set ssl.protocol=TLSv1.3 \
    --set ssl.ciphersuites=TLS_AES_128_GCM_SHA256
  own_certificate
  local address=${ZKLOCK_SERVERS#tls://}
  expect_status 1 by_tls "$address" srvr "${certificate[@]}"
  assert_regex "$stderr" "self-signed certificate"
  expect_status 1 by_tls "$address" srvr "${certificate[@]}" -CAfile stranger.pem -tls1_2
  expect_status 0 by_tls "$address" srvr "${certificate[@]}" -CAfile stranger.pem -tls1_3
  assert_line "Mode: standalone"
  ln -s "$ZKLOCK_SANDBOX" link
  expect_status 0 zk_sandbox stop link/.
  assert_nothing_left
}

@test "--tls without openssl: one line that helps" {
  mkdir bin
  ln -s /usr/bin/{env,bash,readlink,mktemp,mkdir,ls,rm,grep,sed,cat,setsid,java} bin/
  expect_status 1 env -u JAVA_HOME PATH="$PWD/bin" "$repo/scripts/zk-sandbox" --tls -- true
  assert_equal "$stderr" "zk-sandbox: cannot start a server: there is no openssl; on Debian: apt install openssl"
  assert_nothing_left
}
