# SPDX-License-Identifier: Apache-2.0
# Helpers for peers_*.bats, loaded after helpers: they drive the locks of other programs, the peers.
#
# A driver (tests/peers) is such a program. It lasts for a whole file, see start_driver and stop_drivers. `peer` sends
# it commands, and `await` waits for its answers.
#
# shellcheck shell=bash

# --- drivers -------------------------------------------------------------------------------------

# start_driver curator|kazoo [NAME]: for setup_file. The driver itself holds its command pipe open, so that neither end
# waits for the other. It does not outlive Bats.
start_driver() {
  export PEER_SERVERS=${ZKLOCK_SERVERS%/} driver=${2:-$1}
  local place=$BATS_FILE_TMPDIR/$driver command=("$repo/tests/peers/kazoo_driver.py")
  if [[ $1 == curator ]]; then
    # Curator writes its host's address on its nodes. It finds none if /etc/hosts and DNS do not know the host.
    echo "127.0.0.1 $(hostname) localhost" >"$place.hosts"
    command=(java -Djdk.net.hosts.file="$place.hosts" -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xshare:auto
      -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$(class_path)" Driver)
  fi
  mkfifo "$place.in"
  background setpriv --pdeathsig KILL "${command[@]}" "$PEER_SERVERS" \
    <>"$place.in" >"$place.out" 2>"$place.log"
  echo $! >"$place.pid"
  ZKLOCK_TEST_WAIT=20 hear "ready driver"
}

class_path() {
  local jar path=${ZKLOCK_HELPERS:-$repo/build/test/tests}/peers.jar
  for jar in curator-recipes curator-framework curator-client zookeeper-recipes-lock zookeeper guava slf4j-simple; do
    path+=:/usr/share/java/$jar.jar
  done
  echo "$path"
}

# For teardown_file: kills the drivers.
stop_drivers() {
  local pids
  mapfile -t pids < <(cat "$BATS_FILE_TMPDIR"/*.pid)
  kill -KILL "${pids[@]}"
  wait "${pids[@]}" || true
}

setup_peers() {
  setup_zk
  above=${ZKLOCK_SERVERS#"$PEER_SERVERS"} # the driver has no chroot
}

# --- talking to them -----------------------------------------------------------------------------

# peer VERB NAME [KIND] [LOCK] [ARG…]: sends the driver a command. NAME is this test's own.
peer() {
  local words=("${@:3:2}")
  words=("$1" "$BATS_TEST_NUMBER.$2" "${words[@]/#\//$above/}" "${@:5}")
  echo "${words[*]}" 1<>"$BATS_FILE_TMPDIR/$driver.in"
}

has_said() { grep -q -e " $1\$" -- "$BATS_FILE_TMPDIR/$driver.out"; }

hear() {
  wait_until "$driver says: $1" has_said "$1" && return
  tail -n 20 -- "$BATS_FILE_TMPDIR/$driver".{out,log}
  return 1
}

# await WORD NAME: waits until the driver answers that.
await() { hear "$1 $BATS_TEST_NUMBER.$2"; }

# Prints when it did, in microseconds.
moment_of() { sed -n "s/ $1 ${BATS_TEST_NUMBER}[.]$2\$//p" "$BATS_FILE_TMPDIR/$driver.out"; }

# take NAME KIND LOCK: the peer takes the lock, and holds it.
take() {
  peer take "$@"
  await held "$1"
}

leave() {
  peer release "$1"
  await released "$1"
}

# --- one cell of the table -----------------------------------------------------------------------

# peer_first KIND OPTION…: the peer holds. zklock is refused, or waits and gets the lock after it.
peer_first() {
  take holder "$1" /a
  expect_error 75 "held by" zklock run -n "${@:2}" /a -- true
  enter waiter -v "${@:2}" /a
  wait_for "waiting for /a" waiter.err
  leave holder
  wait_until "zklock holds the lock" lives waiter
  let_all_go waiter
  assert_order "leaving and entering" "$(moment_of leaves holder)" "$(first_of waiter)"
}

# zklock_first KIND OPTION…: does so the other way round.
zklock_first() {
  enter zklock "${@:2}" /b
  wait_until "zklock holds the lock" lives zklock
  peer try hasty "$1" /b
  await busy hasty
  peer take patient "$1" /b
  wait_until "the peer stands in line" has_nodes /b 2
  let_all_go zklock
  await held patient
  assert_order "leaving and entering" "$(last_of zklock)" "$(moment_of held patient)"
  leave patient
}

exclude() {
  peer_first "$@"
  zklock_first "$@"
}

# passes KIND OPTION…: the peer does not wait for zklock.
passes() {
  hold passed "${@:2}" /c
  take passing "$1" /c
  assert has_nodes /c 2
  leave passing
  let_all_go passed
}

# share KIND OPTION…: both are in together, whichever comes first.
share() {
  take reader "$1" /d
  hold another "${@:2}" /d
  assert has_nodes /d 2
  let_all_go another
  leave reader
  passes "$@"
}

# refused KIND ADVICE OPTIONS…: the peer does not wait for a zklock with any of these OPTIONS (words). So zklock does
# not start beside it, and prints the ADVICE.
refused() {
  local options n=0
  for options in "${@:3}"; do
    read -ra options <<<"$options"
    n=$((n + 1))
    hold "z$n" "${options[@]}" "/r$n"
    take "p$n" "$1" "/r$n"
    expect_error 65 "$2" zklock run "${options[@]}" "/r$n" -- true
    let_all_go "z$n"
    expect_error 65 "$2" zklock run -n "${options[@]}" "/r$n" -- true
    assert has_nodes "/r$n" 1
    leave "p$n"
  done
}
