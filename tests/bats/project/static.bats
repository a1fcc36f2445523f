#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests the static program, which a Release build makes: it needs nothing of the system, and nothing of the system
# crashes it. Here it is made of the tested build's objects.

load ../helpers

setup_file() { export STATIC=${ZKLOCK_BIN%/*}/tests/zklock_static; }

setup() { setup_zk; }

teardown() { end_all; }

need_root() {
  ((EUID == 0)) || skip "not root"
  unshare --mount true 2>/dev/null || skip "no mount namespace can be made here"
}

# with_nsswitch LINE…: sets nsswitched. A command after it has only those lines in /etc/nsswitch.conf.
with_nsswitch() {
  printf '%s\n' "$@" >nsswitch.conf
  # shellcheck disable=SC2016
  nsswitched=(unshare --mount sh -c 'mount --bind nsswitch.conf /etc/nsswitch.conf && exec "$@"' sh)
}

@test "it keeps what it relocates read-only, and loads nothing" {
  expect_status 0 readelf -hldW "$STATIC"
  assert_line --regexp '^ *Type: *EXEC '
  assert_line --regexp '^ *GNU_RELRO '
  assert_line --regexp '^ *GNU_STACK .* RW '
  refute_line --regexp 'INTERP|\(NEEDED\)'
}

@test "a user that only a module of the system may know does not crash it" {
  need_root
  local modules
  for modules in "files systemd" compat "ldap sss"; do
    with_nsswitch "passwd: $modules" "hosts: files"
    expect_status 0 "${nsswitched[@]}" setpriv --reuid 54321 --clear-groups "$STATIC" run /l -- echo ran
    assert_equal "$output$stderr" ran
  done
}

@test "it runs in a folder that holds nothing else, but for what it sees of processes" {
  need_root
  mkdir -p root/proc
  cp "$STATIC" root/zklock
  expect_status 0 chroot root /zklock --version
  assert_line --index 0 --regexp '^zklock [0-9.]+$'
  # shellcheck disable=SC2016
  expect_status 0 unshare --mount sh -c 'mount --bind /proc root/proc && exec "$@"' sh \
    chroot root /zklock run /l -- /zklock --version
  assert_line --index 0 --regexp '^zklock [0-9.]+$'
  expect_status 0 chroot root /zklock queue push /q item
  expect_status 0 chroot root /zklock health
}

@test "it knows names of /etc/hosts, and asks getent for those that others know" {
  local list=${ZKLOCK_SERVERS//127.0.0.1/localhost}
  expect_status 0 "$STATIC" run -S "$list" /l -- echo ran
  assert_output ran
  mkdir bin
  # shellcheck disable=SC2016
  printf '%s\n' '#!/bin/sh' '[ "$3" = printer.invalid ] && echo "127.0.0.1 STREAM printer"' >bin/getent
  chmod +x bin/getent
  list=${ZKLOCK_SERVERS//127.0.0.1/printer.invalid}
  expect_status 0 env PATH="$PWD/bin:$PATH" "$STATIC" run -S "$list" /l -- echo ran
  assert_equal "$output$stderr" ran
  expect_error 69 nobody.invalid env PATH="$PWD/bin:$PATH" "$STATIC" run -S nobody.invalid /l -- echo ran
}
