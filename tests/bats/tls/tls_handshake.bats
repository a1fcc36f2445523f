#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests TLS with servers that do not go through the handshake as they should, or are no ZooKeeper after it. zklock
# prints one line, ends with a status in time, and does nothing.

load ../helpers
load ../tls
load ../tls_server

setup_file() {
  certificates_here
  make_authority ca
  make_certificate good ca "$own_names"
  make_certificate client ca extendedKeyUsage=clientAuth
}

# The certificate is not what is wrong, whether there is one or not.
@test "a server with no cipher in common: 69" {
  server good --version 1.2 --ciphers ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0
  both 69 "no version or cipher of TLS in common"
  both 69 "no version or cipher of TLS in common" --tls-cert "$certificates/client.pem"
}

@test "TLS 1.1 is not spoken: 69" {
  server good --version 1.1
  both 69 "TLS 1.2"
}

@test "a server that is silent in the handshake, from the beginning or from its middle: 69, in time" {
  soon
  tls_server --cert "$certificates/good.pem" --say half-silent
  both 69 "TLS handshake"
  tls_server --cert "$certificates/good.pem" --say silent
  both 69 "TLS handshake"
  soon 4s
  both 69 "TLS handshake"
}

@test "a handshake that comes byte by byte is not waited for: 69, in time" {
  soon
  tls_server --cert "$certificates/good.pem" --say drip
  both 69 "TLS handshake"
}

# A sixth of the session timeout is 667 ms.
@test "a handshake that takes longer than a server may be silent leads to a session" {
  tls_server --cert "$certificates/good.pem" --to "$plain" --pause 1
  expect_status 0 zklock run -S "tls://127.0.0.1:$port" --session-timeout 4s /l -- echo ran
  assert_equal "$output$stderr" ran
}

# It takes so long if many connect at once.
@test "a handshake that takes longer than a first attempt leads to a session" {
  tls_server --cert "$certificates/good.pem" --to "$plain" --pause 4
  expect_status 0 zklock run -S "tls://127.0.0.1:$port" --connect-timeout 30s /l -- echo ran
  assert_equal "$output$stderr" ran
}

@test "garbage for a handshake: 69" {
  tls_server --cert "$certificates/good.pem" --say garbage
  both 69 "what it answers is no TLS"
}

# OpenSSL reads on as long as there is more of it.
@test "a handshake without an end: each command ends within its bound" {
  tls_server --cert "$certificates/good.pem" --say hellos
  both 69 "its TLS handshake has no end"
  expect_status 2 zklock health -S "tls://127.0.0.1:$port"
  assert_output --partial "its TLS handshake has no end"
  expect_status 2 zklock health -S "tls://127.0.0.1:$port" --probe /l
  expect_error 69 "its TLS handshake has no end" zklock value get -S "tls://127.0.0.1:$port" /v
  expect_error 69 "its TLS handshake has no end" zklock top --once -S "tls://127.0.0.1:$port"
  expect_status 0 zklock complete -- show -S "tls://127.0.0.1:$port" /
  assert_equal "$output$stderr" ""
}

@test "a handshake without an end, beside a server that is silent: TERM ends the wait" {
  local silent before
  tls_server --cert "$certificates/good.pem" --say silent
  silent=127.0.0.1:$port
  tls_server --cert "$certificates/good.pem" --say hellos
  background zklock run -S "tls://127.0.0.1:$port,$silent" /l -- true
  wait_for greeting "said.$port"
  pause 1 # it is in the middle of the handshake
  before=$(now_us)
  kill -TERM $!
  expect_end 143 $!
  (($(now_us) - before < 3000000)) || fail "it took $(($(now_us) - before)) us"
}

@test "a server that closes, at once or in the middle of the handshake: 69, in time" {
  local kind
  soon
  for kind in close half; do
    tls_server --cert "$certificates/good.pem" --say $kind
    both 69 "TLS handshake"
  done
  # The reset may come before the handshake begins.
  tls_server --cert "$certificates/good.pem" --say reset
  both 69 "127.0.0.1:$port"
}

@test "behind a good handshake is no ZooKeeper: garbage, silence, the end: 69, in time" {
  local kind
  soon
  for kind in garbage silent close; do
    tls_server --cert "$certificates/good.pem" --then $kind
    both 69 "127.0.0.1:$port"
  done
}
