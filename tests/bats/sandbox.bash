# SPDX-License-Identifier: Apache-2.0
# What the tests of scripts/zk-sandbox share. Most look at servers that all tests of a file share (`share` in setup_file).
# A file with the name of such a sandbox has what starting it printed.
#
# shellcheck shell=bash disable=SC2034

# For setup_file: the folder of the file, and no servers of others.
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

# on NAME: all that follows is about that sandbox.
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
  # a zombie's command line is empty
  ! grep -qF -e "-Dzklock.sandbox=$TMPDIR/" /proc/[0-9]*/cmdline 2>/dev/null
}

assert_nothing_left() { assert nothing_left; }

begin() {
  local lines
  lines=$(zk_sandbox start --tick 200 "$@")
  eval "$lines"
}

says() { [[ $(zk_sandbox word "$1" "$2") == *"$3"* ]]; }

# What is set for zklock, but for what each sandbox sets.
names="env | sed -n 's/=.*//; /^ZKLOCK_[TPS]/p' | grep -vE 'TEST|ZKLOCK_S' | sort | xargs"
