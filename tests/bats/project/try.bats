#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/try and what scripts/setup prints, with stand-ins for apt, sudo and the build: nothing is installed.

load ../helpers

# Hides this machine's tools, so that some are missing.
setup() {
  local tool
  setup_place
  mkdir bin
  for tool in awk bash cat chmod env flock grep head mkdir mktemp nproc rm sed sh tail true; do
    ln -s "$(type -P "$tool")" bin
  done
  stand_in id 'echo 0'
  stand_in apt-get 'echo "apt-get $*" >>apt.log
    case $* in
      *--print-uris*)
        echo "2 upgraded, 148 newly installed, 0 to remove and 3 not upgraded."
        echo "Need to get 12.5 MB/182 MB of archives."
        echo "After this operation, 624 MB of additional disk space will be used." ;;
    esac'
}

teardown() { end_all; }

# stand_in NAME SCRIPT
stand_in() { printf '#!%s\n%s\n' "$BASH" "$2" >"bin/$1" && chmod +x "bin/$1"; }

# at_terminal STATUS TYPED CMD…: runs CMD at a terminal, and sets $shown to what that shows.
at_terminal() {
  local pty
  pty=$(command -v pty)
  background env PATH="$PWD/bin" "$pty" screen "${@:3}" <<<"$2"
  expect_end "$1" $! || return
  shown=$(tr -d '\r' <screen)
}

# set_up STATUS ARG…: runs scripts/setup without a terminal.
set_up() { expect_status "$1" env PATH="$PWD/bin" bash "$repo/scripts/setup" "${@:2}"; }

assert_installed() { assert grep -q '^apt-get .*-y .*install .*cmake' apt.log; }

refute_installed() { refute grep -q -e ' -y ' -e update apt.log; }

plan="setup: with what they need, apt installs 150 packages, 12.5 MB to fetch, 624 MB on disk, as root"

@test "it says what apt installs before it does" {
  set_up 0 build
  assert_regex "$stderr" "^setup: missing: g\+\+ cmake make .*"$'\n'"$plan"$'\n'"setup: installing, "
  assert_installed
}

@test "--ask: without a terminal it says what apt installs, and does not ask" {
  set_up 0 --ask build
  assert_regex "$stderr" "$plan"$'\n'"setup: installing, "
  assert_installed
}

@test "--ask: at a terminal a yes installs" {
  at_terminal 0 y bash "$repo/scripts/setup" --ask build
  assert_regex "$shown" "$plan"$'\n'"setup: go on\? "
  assert_installed
}

@test "--ask: at a terminal anything else installs nothing" {
  at_terminal 1 "" bash "$repo/scripts/setup" --ask build
  assert_regex "$shown" "setup: nothing is installed$"
  refute_installed
}

@test "nothing is said or asked where nothing is missing" {
  PATH=/usr/local/bin:/usr/bin:/bin expect_status 0 "$repo/scripts/setup" --ask build sandbox
  assert_equal "$output$stderr" ""
}

@test "without root and without sudo it says what root is to run" {
  stand_in id 'echo 1000'
  set_up 1 build
  assert_regex "$stderr" "there is no sudo; as root, run
  apt-get update && apt-get install --no-install-recommends g\+\+ cmake [^
]*$"
  refute_installed
}

@test "sudo installs, and where it refuses the line for root is there too" {
  stand_in id 'echo 1000'
  stand_in sudo 'if [[ $1 == -n ]]; then shift; fi; echo "sudo $1" >>sudo.log; exec "$@"'
  set_up 0 build
  assert_installed
  assert grep -q "^sudo apt-get" sudo.log
  rm apt.log
  stand_in sudo 'echo "sudo: a password is required" >&2; exit 1'
  set_up 1 build
  assert_regex "$stderr" "sudo refuses; as root, run"$'\n'"  apt-get update && apt-get install "
  refute_installed
}

@test "what a package would start is masked before it is installed, and disabled after" {
  stand_in id 'echo 1000'
  stand_in sudo 'if [[ $1 == -n ]]; then shift; fi; echo "$*" >>sudo.log' # it does nothing
  set_up 0 test bench
  assert_equal "$(sed -nE 's/.* (install) .*/\1/p; s/^ln .*system[/]|^update-rc.d //p' sudo.log)" \
    "prometheus.service
prometheus-node-exporter.service
etcd.service
install
prometheus disable
prometheus-node-exporter disable
etcd disable"
}

@test "without a network one line says so" {
  stand_in apt-get 'case $* in
      *--print-uris*) echo "0 upgraded, 9 newly installed" ;;
      *update*) for n in 1 2 3; do echo "W: Failed to fetch http://debian/$n  Temporary failure resolving" >&2; done ;;
      *) for n in {1..3000}; do echo "E: Failed to fetch http://debian/deb$n  Temporary failure resolving" >&2; done
        exit 100 ;;
    esac'
  set_up 1 build
  assert_equal "$(sed 1,2d <<<"$stderr")" "setup: installing, which may take some minutes
setup: nothing is installed: cannot fetch http://debian/deb1: Temporary failure resolving"
}

@test "without a network and without lists nothing is asked" {
  stand_in apt-get 'echo "W: Failed to fetch http://debian/1  Temporary failure resolving" >&2
    echo "E: Unable to locate package" >&2; exit 100'
  at_terminal 1 y bash "$repo/scripts/setup" --ask build
  assert_regex "$shown" "setup: missing: [^"$'\n'"]*"$'\n'"setup: nothing is installed: cannot fetch http://debian/1: "
  refute_regex "$shown" "go on"
}

@test "what else apt says as it fails is shown" {
  stand_in apt-get 'case $* in
      *--print-uris*) echo "0 upgraded, 9 newly installed" ;;
      *update*) echo "W: Failed to fetch http://elsewhere/1  404  Not Found" >&2 ;;
      *) echo "E: dpkg was interrupted" >&2; exit 100 ;;
    esac'
  set_up 1 build
  assert_regex "$stderr" "E: dpkg was interrupted"$'\n'"setup: could not install: g\+\+ cmake "
}

# tree_with_cmake SCRIPT: makes a tree with scripts/try, whose build is a cmake that runs SCRIPT.
tree_with_cmake() {
  mkdir -p tree/scripts
  cp "$repo/scripts/try" tree/scripts
  printf '#!/bin/sh\necho "setup $*" >>setup.log\n' >tree/scripts/setup
  # shellcheck disable=SC2016
  printf '#!%s\nshift 2; exec "$@"\n' "$BASH" >tree/scripts/zk-sandbox
  chmod +x tree/scripts/*
  stand_in cmake "$1"
}

good_build='case $1 in
  -S) >tree/build/Makefile ;;
  *) echo "[ 50%] Building CXX object x.dir/src/zk/session.cc.o"
     echo "[100%] Linking CXX executable zklock"
     printf "#!/bin/sh\necho zklock \$*\n" >tree/build/zklock; chmod +x tree/build/zklock ;;
esac'

@test "try asks, unless -y; what follows are zklock's arguments" {
  tree_with_cmake "$good_build"
  expect_status 0 env PATH="$PWD/bin" bash tree/scripts/try run /l -- true
  assert_output "zklock run /l -- true"
  expect_status 0 env PATH="$PWD/bin" bash tree/scripts/try -y run /l -- true -y
  assert_output "zklock run /l -- true -y"
  assert_equal "$(cat setup.log)" "setup --ask build sandbox
setup build sandbox"
}

@test "try shows the build's progress in one line at a terminal, and nowhere else" {
  tree_with_cmake "$good_build"
  at_terminal 0 "" bash tree/scripts/try run
  assert grep -qF $'\rtry: [ 50%] session.cc.o ' screen
  assert_equal "$(grep -c %] screen)" 1
  expect_status 0 env PATH="$PWD/bin" bash tree/scripts/try run
  assert_equal "$stderr" ""
  assert grep -q 50% tree/build/try.log
}

@test "try shows the last lines of a build that fails, says where all of it is, and tries again" {
  tree_with_cmake 'for ((n = 1; n <= 100; ++n)); do echo "line $n of $1"; done; exit 2'
  expect_status 70 env PATH="$PWD/bin" bash tree/scripts/try run
  assert_equal "${stderr##*$'\n'}" "try: cannot build zklock; all that the build said is in $PWD/tree/build/try.log"
  assert_equal "$(grep -c ^line <<<"$stderr")" 20
  assert_equal "$(wc -l <tree/build/try.log)" 100
  expect_status 70 env PATH="$PWD/bin" bash tree/scripts/try run
  assert_regex "$stderr" "line 100 of -S"
}

@test "the demonstration shows who holds the lock while the second command waits for it" {
  setup_zk
  tree_with_cmake 'mkdir -p tree/build; ln -sf "$ZKLOCK_BIN" tree/build/zklock'
  PATH=$PWD/bin:$PATH expect_status 0 tree/scripts/try
  assert_output "first: I have the lock for 3.5 s
second: now I have it"
  assert_regex "$stderr" "waiting for /locks/demo: held by [^ ]+ \(pid [0-9]+\) for .*zklock: took /locks/demo after "
}
