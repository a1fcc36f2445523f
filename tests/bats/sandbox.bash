# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of scripts/zk-sandbox. Most use servers that all tests of a file share (`share` in setup_file).
# The file named like such a sandbox has what starting it printed.
#
# shellcheck shell=bash disable=SC2034

# For setup_file: moves to the file's folder, and forgets other servers.
enter_file_folder() {
  cd "$BATS_FILE_TMPDIR" || return
  unset ZKLOCK_SERVERS ZKLOCK_SANDBOX ZKLOCK_PLAIN_SERVERS "${!ZKLOCK_TLS@}"
}

# share NAME OPTION…
share() {
  zk_sandbox start --tick 200 "${@:2}" >"$1" || fail "no sandbox $1" || return
  (on "$1" && stop_with_bats)
}

teardown_file() {
  local name
  for name in alone three secure; do
    [[ ! -e $BATS_FILE_TMPDIR/$name ]] || (on "$name" && zk_sandbox stop) || true
  done
}

# on NAME: makes all that follows use that sandbox.
on() { eval "$(<"$BATS_FILE_TMPDIR/$1")"; }

setup() {
  unset ZKLOCK_SERVERS ZKLOCK_SANDBOX ZKLOCK_PLAIN_SERVERS "${!ZKLOCK_TLS@}"
  setup_place
  export TMPDIR=$BATS_TEST_TMPDIR # so that what is left over is known to be ours
}

teardown() {
  end_all
  if [[ ${ZKLOCK_SANDBOX:-} == "$TMPDIR"/* && -e $ZKLOCK_SANDBOX ]]; then zk_sandbox stop; fi
}

nothing_left() {
  [[ -z $(find "$TMPDIR" -maxdepth 1 -name 'zk-sandbox.*') ]] || return 1
  # A zombie's command line is empty.
  ! grep -qF -e "-Dzklock.sandbox=$TMPDIR/" /proc/[0-9]*/cmdline 2>/dev/null
}

assert_nothing_left() { assert nothing_left; }

begin() {
  local lines
  lines=$(zk_sandbox start --tick 200 "$@")
  eval "$lines"
}

says() { [[ $(zk_sandbox word "$1" "$2") == *"$3"* ]]; }

# Prints the names that are set for zklock, except those that every sandbox sets.
names="env | sed -n 's/=.*//; /^ZKLOCK_[TPS]/p' | grep -vE 'TEST|ZKLOCK_S' | sort | xargs"
