#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests TLS: wrong files, options and lists are reported before anything is done (64), and right ones are accepted.

load ../helpers
load ../tls

setup_file() {
  certificates_here
  make_authority ca
  make_certificate good ca "$own_names"
  make_certificate client ca extendedKeyUsage=clientAuth
  make_certificate other ca extendedKeyUsage=clientAuth
  openssl genrsa -out rsa.key 2048
  openssl pkey -in client.key -aes256 -passout pass:secret -out locked.key
  openssl ec -in client.key -aes256 -passout pass:secret -out locked_old.key
  cat client.crt locked.key >locked.pem
  chmod 600 ./*.key
}

setup() {
  setup_zk
  unset "${!ZKLOCK_TLS@}"
  plain=${ZKLOCK_SERVERS%%/*} plain=${plain%%,*}
  chroot=/${ZKLOCK_SERVERS#*/}
  cp "$certificates"/{ca.pem,*.key,*.crt,client.pem,locked.pem} .
  chmod 600 ./*.key client.pem
}

teardown() {
  end_all
  [[ -z ${place:-} ]] || rm -rf "$place"
}

zklock() { timeout 20 "$ZKLOCK_BIN" "$@"; }

# usage TEXT OPTION…: `run`, `ruok` and `health` end so, though no server listens there.
usage() {
  local text=$1
  shift
  expect_error 64 "$text" zklock run -S 127.0.0.1:1 "$@" /l -- true
  expect_error 64 "$text" zklock ruok -S 127.0.0.1:1 "$@"
  expect_status 3 zklock health -S 127.0.0.1:1 "$@"
  [[ $stderr == *"$text"* ]] || fail "health says: $stderr"
}

# served OPTION…: these options are good for the server that wants a certificate.
served() {
  [[ -n ${port:-} ]] || tls_server --cert "$certificates/good.pem" --ca "$certificates/ca.pem" --to "$plain"
  expect_status 0 zklock ruok -S "tls://127.0.0.1:$port" "$@"
  assert_equal "$output$stderr" imok
}

# as_nobody CMD…: runs CMD as a user to whom the modes of files apply, in that user's folder, $place.
as_nobody() { (cd "$place" && setpriv --reuid=65534 --regid=65534 --clear-groups "$@"); }

need_nobody() {
  ((EUID == 0)) || skip "only root can be somebody else"
  place=$(mktemp -d)
  cp "$ZKLOCK_BIN" "$place/zklock"
  cp ca.pem client.* "$place"
  chown -R 65534:65534 "$place"
  chmod 755 "$place"
}

@test "files that are not there, or are none" {
  mkdir folder
  usage "cannot use 'none' (--tls-ca): No such file" --tls-ca none
  usage "cannot use 'none' (--tls-cert): No such file" --tls-cert none
  usage "cannot use 'none' (--tls-key): No such file" --tls-cert client.crt --tls-key none
  usage "'folder'" --tls-ca folder
  usage "'folder'" --tls-cert folder
}

@test "files that are no PEM, or that hold something else" {
  head -c 3000 /dev/urandom >noise
  openssl x509 -in client.crt -outform DER -out client.der
  : >empty
  for file in noise empty client.der client.key; do
    usage "'$file'" --tls-ca $file
    usage "'$file'" --tls-cert $file --tls-key client.key
  done
  for file in noise empty client.crt; do
    chmod 600 $file
    usage "'$file'" --tls-cert client.crt --tls-key $file
  done
  chmod 644 client.crt
  usage "there is no key in it" --tls-cert client.crt
  sed '3s/^..../!!!!/' client.crt >spoilt.crt
  usage "'spoilt.crt'" --tls-cert spoilt.crt --tls-key client.key
  usage "'spoilt.crt'" --tls-ca spoilt.crt
  head -c 300 client.crt >cut.crt
  usage "'cut.crt'" --tls-cert cut.crt --tls-key client.key
}

@test "a second certificate that is spoilt spoils the file" {
  sed '3s/^..../!!!!/' other.crt >spoilt.crt
  cat ca.pem spoilt.crt >many.pem
  usage "'many.pem'" --tls-ca many.pem
  cat client.crt spoilt.crt client.key >chain.pem
  chmod 600 chain.pem
  usage "'chain.pem'" --tls-cert chain.pem
  head -c $(($(wc -c <ca.pem) + 200)) <(cat ca.pem other.crt) >cut.pem
  usage "'cut.pem'" --tls-ca cut.pem
}

@test "a key of another certificate, of its kind or of another" {
  usage "'other.key'" --tls-cert client.crt --tls-key other.key
  usage "'rsa.key'" --tls-cert client.crt --tls-key rsa.key
}

@test "a key without a certificate" {
  usage "--tls-cert" --tls-key client.key
}

@test "a key with a passphrase is not asked for" {
  local key
  for key in locked.key locked_old.key; do
    usage "passphrase" --tls-cert client.crt --tls-key $key
  done
  chmod 600 locked.pem
  usage "passphrase" --tls-cert locked.pem
  need_terminal
  expect_status 64 timeout 20 pty screen "$ZKLOCK_BIN" ruok -S 127.0.0.1:1 --tls-cert client.crt --tls-key locked.key
  assert grep -q passphrase screen
  { sed 's/^-----BEGIN.*/&\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n/' client.crt; } >odd.crt
  expect_status 64 timeout 20 pty screen "$ZKLOCK_BIN" ruok -S 127.0.0.1:1 --tls-ca odd.crt
  refute grep -qi "enter" screen
  refute grep -qi "enter" screen
}

@test "a key that others can read is refused, wherever it lies" {
  local mode
  for mode in 604 644 666; do
    chmod $mode client.key client.pem
    usage "'client.key'" --tls-cert client.crt --tls-key client.key
    usage "'client.pem'" --tls-cert client.pem
  done
  chmod 600 client.key
  ln -s client.key link.key
  served --tls-ca ca.pem --tls-cert client.crt --tls-key link.key
  chmod 644 client.crt
  served --tls-ca ca.pem --tls-cert client.crt --tls-key client.key
}

@test "a key that its owner's group can read is refused, but for root's, as in Debian's group ssl-cert" {
  need_nobody
  chmod 640 "$place/client.key"
  expect_error 64 "'client.key'" as_nobody ./zklock ruok -S 127.0.0.1:1 --tls-cert client.crt --tls-key client.key
  chown 0:65534 "$place/client.key"
  tls_server --cert "$certificates/good.pem" --ca "$certificates/ca.pem" --to "$plain"
  expect_status 0 as_nobody ./zklock ruok -S "tls://127.0.0.1:$port" --tls-ca ca.pem --tls-cert client.crt \
    --tls-key client.key
}

@test "files that may not be read" {
  need_nobody
  chmod 000 "$place/client.key" "$place/ca.pem"
  expect_error 64 "'client.key'" as_nobody ./zklock ruok -S 127.0.0.1:1 --tls-cert client.crt --tls-key client.key
  assert_regex "$stderr" "Permission denied"
  expect_error 64 "'ca.pem'" as_nobody ./zklock run -S 127.0.0.1:1 --tls-ca ca.pem /l -- true
  assert_regex "$stderr" "Permission denied"
}

@test "files that are gone later do not matter: what was read before is used" {
  local first
  tls_server --cert "$certificates/good.pem" --ca "$certificates/ca.pem" --to "$plain"
  first=$port
  tls_server --cert "$certificates/good.pem" --ca "$certificates/ca.pem" --to "$plain"
  hold a -v -S "tls://127.0.0.1:$first,127.0.0.1:$port$chroot" --tls-ca ca.pem --tls-cert client.pem /l
  rm ca.pem client.pem
  if grep -q shaken "said.$first"; then kill "${pid[$first]}"; else kill "${pid[$port]}"; fi
  wait_until "it has gone to the other one" eval '[[ $(cat said.* | grep -c shaken) == 2 ]]'
  let_all_go a
}

@test "a file may be a pipe" {
  served --tls-ca <(cat ca.pem) --tls-cert client.crt --tls-key <(cat client.key)
}

@test "lists that are no lists" {
  local list
  for list in tls:// tls:///chroot tls:zk1 tls:/zk1 TLS//zk1 tls://tls://zk1 zk1,tls://zk2 tls://zk1,tls://zk2 \
    tls://zk1:0 tls://zk1:99999 tls://zk1:port "tls://," tls://zk1/chroot/ tls://zk1//a http://zk1 ssl://zk1; do
    expect_status 64 zklock run -S "$list" /l -- true
    assert_equal "$(wc -l <<<"$stderr")" 1
    ZKLOCK_SERVERS=$list expect_error 64 ZKLOCK_SERVERS zklock run /l -- true
  done
  expect_error 64 "tls://" zklock ruok tls://127.0.0.1:1 127.0.0.1:2
  expect_error 64 "tls://" zklock ruok 127.0.0.1:1 tls://127.0.0.1:2
}

@test "the port of TLS is 2281 where none is named" {
  local list
  for list in tls://127.0.0.1 tls://127.0.0.1/chroot; do
    expect_error 69 "127.0.0.1:2281: " zklock ruok -w 1s -S $list
  done
  expect_error 69 "127.0.0.1:2281: " zklock ruok -w 1s --tls 127.0.0.1
  expect_error 69 "127.0.0.1:2181: " zklock ruok -w 1s 127.0.0.1
  expect_error 69 "[::1]:2281: " zklock ruok -w 1s 'tls://[::1]'
}

@test "each variable switches TLS on, an option goes before its variable" {
  export ZKLOCK_CONNECT_TIMEOUT=2s
  tls_server --cert "$certificates/good.pem" --to "$plain"
  expect_error 69 "" zklock run -S "127.0.0.1:$port" /l -- true
  ZKLOCK_TLS_CA=ca.pem expect_status 0 zklock ruok "127.0.0.1:$port"
  SSL_CERT_FILE=ca.pem ZKLOCK_TLS=1 expect_status 0 zklock ruok "127.0.0.1:$port"
  SSL_CERT_FILE=ca.pem ZKLOCK_TLS_SERVER_NAME=localhost expect_status 0 zklock ruok "127.0.0.1:$port"
  SSL_CERT_FILE=ca.pem ZKLOCK_TLS_CERT=client.pem expect_status 0 zklock ruok "127.0.0.1:$port"
  ZKLOCK_TLS_CA=none expect_status 0 zklock ruok --tls-ca ca.pem "127.0.0.1:$port"
  ZKLOCK_TLS_CA=none expect_error 64 "'none'" zklock ruok "127.0.0.1:$port"
  ZKLOCK_TLS=0 expect_status 0 zklock ruok "$plain"
  ZKLOCK_TLS=0 ZKLOCK_TLS_CA=ca.pem expect_status 0 zklock ruok "$plain"
  ZKLOCK_TLS=0 expect_status 0 zklock ruok --tls-ca ca.pem "127.0.0.1:$port"
  ZKLOCK_TLS_CA=ca.pem ZKLOCK_TLS=maybe expect_error 64 ZKLOCK_TLS zklock ruok "$plain"
  ZKLOCK_TLS='' ZKLOCK_TLS_CA='' expect_status 0 zklock ruok "$plain"
  ZKLOCK_TLS=maybe expect_error 64 ZKLOCK_TLS zklock ruok "$plain"
}

@test "what an inner zklock needs is in the environment of the command" {
  tls_server --cert "$certificates/good.pem" --ca "$certificates/ca.pem" --to "$plain"
  expect_status 0 zklock run -S "tls://127.0.0.1:$port$chroot" --tls-ca ca.pem --tls-cert client.crt --tls-key client.key \
    --tls-server-name localhost /l -- env -C / "$ZKLOCK_BIN" run /inner -- env
  assert_line "ZKLOCK_SERVERS=tls://127.0.0.1:$port$chroot"
  assert_line "ZKLOCK_TLS_CA=$PWD/ca.pem"
  assert_line "ZKLOCK_TLS_CERT=$PWD/client.crt"
  assert_line "ZKLOCK_TLS_KEY=$PWD/client.key"
  assert_line "ZKLOCK_TLS_SERVER_NAME=localhost"
}

@test "OpenSSL's configuration file is not read" {
  printf '%s\n' 'openssl_conf = a' '[a]' 'ssl_conf = b' '[b]' 'system_default = c' '[c]' 'MaxProtocol = TLSv1.2' \
    >openssl.cnf
  tls_server --cert "$certificates/good.pem" --to "$plain" --version 1.3
  OPENSSL_CONF=openssl.cnf expect_status 0 zklock ruok --tls-ca ca.pem "127.0.0.1:$port"
}

@test "a name that no certificate can have, or that would stand for many: 64" {
  local name
  for name in .example .zk1.example '*' '[::1]' 'zk1 ' $'zk1\n'; do
    expect_error 64 "for --tls-server-name" zklock run --tls-server-name "$name" /l -- true
  done
}

@test "files that have no end, or only half of one: 64" {
  expect_error 64 "it is larger than 16 MiB" zklock run --tls-ca /dev/zero /l -- true
  { cat ca.pem && head -c 100 ca.pem; } >half.pem
  expect_error 64 "'half.pem' (--tls-ca)" zklock run --tls-ca half.pem /l -- true
}

@test "--tls takes no value that would switch it off: 64" {
  expect_error 64 "--tls takes no value" zklock run --tls=0 /l -- true
  expect_error 64 "--tls takes no value" zklock run --tls=false /l -- true
}
