#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests TLS with servers whose certificates are not what they should be, each for a session and for a word. zklock
# prints one line, ends with a status, and does nothing.

load ../helpers
load ../tls
load ../tls_server

setup_file() {
  certificates_here
  make_authority ca
  make_authority other
  make_certificate good ca "$own_names"
  make_certificate stranger other "$own_names"
  make_certificate named ca subjectAltName=DNS:zk.example
  make_certificate by_name ca subjectAltName=DNS:localhost
  make_certificate by_address ca subjectAltName=IP:127.0.0.1
  make_certificate expired ca "$own_names" -startdate 20200101000000Z -enddate 20210203040506Z
  make_certificate early ca "$own_names" -startdate 20900102030405Z -enddate 20910101000000Z
  make_certificate fellow ca "$own_names"$'\nextendedKeyUsage=clientAuth'
  make_certificate deputy ca $'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign'
  make_certificate by_deputy deputy "$own_names"
  cat deputy.crt >>by_deputy.pem
  make_certificate by_good good "$own_names"
  cat good.crt >>by_good.pem
  make_certificate old_deputy ca $'basicConstraints=critical,CA:true' -startdate 20200101000000Z -enddate 20210203040506Z
  make_certificate by_old_deputy old_deputy "$own_names"
  cat old_deputy.crt >>by_old_deputy.pem
  make_certificate client ca extendedKeyUsage=clientAuth
  make_certificate renewed ca extendedKeyUsage=clientAuth
  make_certificate foreign_client other extendedKeyUsage=clientAuth
}

@test "a good certificate, by address and by name, and TLS 1.2 or 1.3" {
  server good
  both_succeed
  host=localhost both_succeed
  assert_equal "$(sort -u "said.$port" | grep shaken)" $'shaken TLSv1.3 -\nshaken TLSv1.3 localhost'
  server good --version 1.2
  both_succeed
}

@test "a chain by way of an authority of which only the server knows" {
  server by_deputy
  both_succeed
}

@test "a wrong name, or a name where the address was given: 69" {
  server named
  both 69 "its certificate is for zk.example, not for 127.0.0.1"
  host=localhost both 69 "its certificate is for zk.example, not for localhost"
  server by_name
  both 69 "its certificate is for localhost, not for 127.0.0.1"
  host=localhost both_succeed
  # If both are named, the name decides.
  expect_status 0 zklock run -S "tls://localhost:$port,127.0.0.1:$port$chroot" /l -- true
  server by_address
  host=localhost both 69 "its certificate is for 127.0.0.1, not for localhost"
  both_succeed
}

@test "--tls-server-name makes a wrong name right, and a right one wrong" {
  server named
  both_succeed --tls-server-name zk.example
  assert grep -q "shaken TLSv1.3 zk.example" "said.$port"
  ZKLOCK_TLS_SERVER_NAME=zk.example both_succeed
  server good
  both 69 "its certificate is for 127.0.0.1, localhost, not for zk.example" --tls-server-name zk.example
  both_succeed --tls-server-name localhost
}

@test "another authority: 69, with --tls too, and that server is told nothing" {
  server stranger
  both 69 "not trusted here"
  refute grep shaken "said.$port"
  both_succeed --tls-ca "$certificates/other.pem"
  unset ZKLOCK_TLS_CA
  both 69 "not trusted here" --tls
}

@test "the system's authorities are those of SSL_CERT_FILE, and of SSL_CERT_DIR" {
  unset ZKLOCK_TLS_CA
  server good
  both 69 "not trusted here"
  SSL_CERT_FILE=$certificates/ca.pem both_succeed
  SSL_CERT_FILE=$certificates/ca.pem both_succeed --tls
  SSL_CERT_FILE=$certificates/ca.pem both 69 "not trusted here" --tls-ca "$certificates/other.pem"
  mkdir trusted
  cp "$certificates/ca.pem" trusted
  openssl rehash trusted
  SSL_CERT_DIR=$PWD/trusted both_succeed --tls
}

@test "what a certificate may not be for: a client's for a server, a server's for an authority" {
  server fellow
  both 69 "its certificate is not good"
  server by_good
  both 69 "its authority's certificate is not good"
}

@test "expired, not yet valid, or by an authority that has expired: 69, with the moment" {
  server expired
  both 69 "its certificate expired at 2021-02-03T04:05:06Z"
  server early
  both 69 "its certificate is not valid before 2090-01-02T03:04:05Z"
  server by_old_deputy
  both 69 "expired at 2021-02-03T04:05:06Z"
}

@test "a client's certificate is asked for: none, and one by another authority, is 77; a good one does" {
  local version
  for version in 1.2 1.3; do
    server good --ca "$certificates/ca.pem" --version $version
    both 77 "it refuses a client without a certificate"
    both 77 "it refuses our certificate" --tls-cert "$certificates/foreign_client.pem"
    both_succeed --tls-cert "$certificates/client.pem"
    both_succeed --tls-cert "$certificates/client.crt" --tls-key "$certificates/client.key"
    ZKLOCK_TLS_CERT=$certificates/client.crt ZKLOCK_TLS_KEY=$certificates/client.key both_succeed
  done
}

# shaken N NAME: so many handshakes were with a client of that name.
shaken() { (($(grep -cx "shaken TLSv1.3 - $2" "said.$port") == $1)); }

# lose N NAME: loses the connection; then there are so many.
lose() {
  kill -USR2 "${pid[relay]}"
  wait_until "there were $1 handshakes as $2" shaken "$@"
}

@test "a certificate that is renewed is used for the next connection; half a file is not, which is said once" {
  server good --ca "$certificates/ca.pem"
  start_relay "127.0.0.1:$port"
  cp "$certificates/client.pem" own.pem
  hold h -S "tls://$(relayed_ports)$chroot" --session-timeout 6s --tls-cert own.pem /l
  lose 2 client
  cp -p "$certificates/renewed.pem" next.pem
  mv next.pem own.pem
  lose 1 renewed
  lose 2 renewed
  assert_equal "$(<h.err)" ""
  head -c 300 "$certificates/client.pem" >own.pem
  lose 3 renewed
  lose 4 renewed
  assert_equal "$(grep -c "^zklock: cannot use 'own.pem' (--tls-cert): .*; going on with what was there before$" h.err)" 1
  rm own.pem
  lose 5 renewed
  cp -p "$certificates/client.pem" own.pem
  lose 3 client
  let_all_go h
}

@test "a certificate that is renewed before its key is used once the key is there, too" {
  server good --ca "$certificates/ca.pem"
  start_relay "127.0.0.1:$port"
  cp "$certificates"/client.{crt,key} .
  hold h -S "tls://$(relayed_ports)$chroot" --session-timeout 6s --tls-cert client.crt --tls-key client.key /l
  cp "$certificates/renewed.crt" client.crt
  lose 2 client
  assert_regex "$(<h.err)" "the key is not that of 'client.crt'; going on with what was there before"
  cp "$certificates/renewed.key" client.key
  lose 1 renewed
  let_all_go h
}

@test "servers that are gone are not said to refuse our certificate, though one of them did before" {
  local refusing
  server good --ca "$certificates/other.pem"
  refusing=$port
  server good --ca "$certificates/ca.pem"
  start_relay "127.0.0.1:$port"
  background zklock queue pull --follow -S "tls://$(relayed_ports),127.0.0.1:$refusing$chroot" --session-timeout 12s \
    --connect-timeout 4s --tls-cert "$certificates/client.pem" /q >got 2>err
  pid[pull]=$!
  wait_until "it is connected" shaken 1 client
  lose 2 client # it has tried the other one first
  ZKLOCK_TLS_CA='' expect_status 0 zklock queue push /q item
  wait_for item got
  kill "${pid[$refusing]}"
  wait_gone "${pid[$refusing]}"
  kill "${pid[relay]}"
  wait_gone "${pid[pull]}"
  assert_regex "$(<err)" "cannot reach ZooKeeper at "
  refute grep "refuses our certificate" err
}

# Prints how many connections to the relay were closed before it accepted them.
given_up() { awk -v "port=:$(printf %04X "$1")\$" '$2 ~ port && $4 == "08"' /proc/net/tcp | wc -l; }

# Attempts that are given up keep a busy server busy, so that hundreds of clients never come back after an outage.
@test "a server that takes connections and does not end the TLS handshake is tried ever less often" {
  server good --ca "$certificates/ca.pem"
  start_relay "127.0.0.1:$port"
  background zklock queue pull --follow -S "tls://$(relayed_ports)$chroot" --session-timeout 1500ms \
    --tls-cert "$certificates/client.pem" /q
  pid[pull]=$!
  wait_until "it is connected" shaken 1 client
  kill -STOP "${pid[relay]}"
  sleep 6 # four times T: with a limit of T/6, there are 22 attempts
  local attempts
  attempts=$(given_up "$(sed -n 's/^port //p' relayed)")
  note "$attempts attempts given up"
  ((attempts > 2 && attempts < 20))
  kill -CONT "${pid[relay]}"
  kill "${pid[pull]}"
  wait_gone "${pid[pull]}"
}

@test "the authorities in SSL_CERT_FILE are read again when they have changed" {
  unset ZKLOCK_TLS_CA
  server stranger
  local other=$port
  server good
  cp "$certificates/ca.pem" trusted.pem
  SSL_CERT_FILE=$PWD/trusted.pem hold h -S "tls://127.0.0.1:$port,127.0.0.1:$other$chroot" --session-timeout 20s /l
  refute grep ^shaken "said.$other"
  cp "$certificates/other.pem" next.pem
  mv next.pem trusted.pem
  kill "${pid[$port]}"
  wait_until "the other server is trusted" grep ^shaken "said.$other"
  let_all_go h
}

@test "a client's certificate brings the chain that leads to its authority" {
  server good --ca "$certificates/ca.pem"
  both_succeed --tls-cert "$certificates/by_deputy.pem"
}

@test "of several servers those with a bad certificate are left out" {
  local list=tls:// certificate
  for certificate in expired good stranger named; do
    server $certificate
    list+=127.0.0.1:$port,
  done
  for certificate in 1 2 3 4 5 6; do
    expect_status 0 zklock run -S "${list%,}$chroot" /l -- true
    assert_equal "$stderr" ""
  done
}

@test "all of several servers are bad: each was tried, and no time is waited for" {
  local list=tls://
  server expired
  list+=127.0.0.1:$port,
  server named
  list+=127.0.0.1:$port
  expect_error 69 "certificate" zklock run -S "$list$chroot" /l -- touch ran
  refute [ -e ran ]
  assert_untouched
}

@test "health tells which server is bad, and why" {
  local good
  server good
  good=127.0.0.1:$port
  server expired
  expect_status 1 zklock health -S "tls://$good,127.0.0.1:$port"
  assert_output --partial "its certificate expired at 2021-02-03T04:05:06Z"
}

@test "a holder is killed: its guard knows the server by the name that was given" {
  export ZKLOCK_SESSION_TIMEOUT=60s
  server by_name
  background zklock run -S "tls://localhost:$port$chroot" /l -- sleep 1000
  wait_until "it holds" has_nodes /l 1
  kill -KILL $!
  expect_status 0 zklock run -S "tls://localhost:$port$chroot" /l -- true
}
