# SPDX-License-Identifier: Apache-2.0
# Helpers for tests of TLS servers that misbehave: tests/helpers/tls_server.py stands for them, with the real servers
# behind it. A file makes its own certificates, including `ca`.

# shellcheck shell=bash disable=SC2154 # of helpers.bash and tls.bash

setup() {
  setup_zk
  unset "${!ZKLOCK_TLS@}"
  export ZKLOCK_TLS_CA=$certificates/ca.pem
  plain=${ZKLOCK_SERVERS%%/*} plain=${plain%%,*}
  chroot=/${ZKLOCK_SERVERS#*/}
  # An error that can be reported at once must not wait for this.
  export ZKLOCK_CONNECT_TIMEOUT=60s
}

teardown() { end_all; }

# A hang is a failure, not the end of the test run.
zklock() { timeout -k 1 25 "$ZKLOCK_BIN" "$@"; }

# server CERTIFICATE ARG…: starts a server with that certificate before the real one.
server() { tls_server --cert "$certificates/$1.pem" --to "$plain" "${@:2}"; }

# Sets the timeout of what waits as long as it may. It is shorter than the patience with a handshake, or longer.
soon() { export ZKLOCK_CONNECT_TIMEOUT=${1:-1500ms}; }

# both STATUS TEXT [OPTION…]: `run` and `ruok` end so, with the server at $port of $host.
both() {
  local status=$1 text=$2 host=${host:-127.0.0.1}
  shift 2
  expect_error "$status" "$text" zklock run -S "tls://$host:$port$chroot" "$@" /refused -- touch ran
  expect_error "$status" "$text" zklock ruok -S "tls://$host:$port" -w "$ZKLOCK_CONNECT_TIMEOUT" "$@"
  refute [ -e ran ]
  expect_status 1 znode stat /refused
  none_is_left
}

none_is_left() {
  local one marked
  find_marked
  for one in "${marked[@]}"; do
    [[ $(tr '\0' ' ' <"/proc/$one/cmdline") != *"$ZKLOCK_BIN"* ]] || fail "zklock is left: $one" || return
  done
}

# both_succeed [OPTION…]
both_succeed() {
  local host=${host:-127.0.0.1}
  expect_status 0 zklock run -S "tls://$host:$port$chroot" "$@" /l -- echo ran
  assert_equal "$output$stderr" ran
  expect_status 0 zklock ruok -S "tls://$host:$port" "$@"
  assert_equal "$output$stderr" imok
}
