# SPDX-License-Identifier: Apache-2.0
# Helpers of all Bats files: `load ../helpers`, then call `setup_zk` in setup and `end_all` in teardown.
#
# A test has its own folder as working directory and its own chroot on the servers of scripts/zk-sandbox. Its processes
# carry a mark in their environment, by which end_all finds them, whatever their parent is. Tests wait for facts
# (wait_until), never for time.
#
#   ZKLOCK_BIN        the program under test (default: build/test/zklock)
#   ZKLOCK_HELPERS    the folder of the programs in tests/helpers, built (default: build/test/tests)
#   ZKLOCK_TEST_WAIT  how many seconds a fact may take (default: 20)
#
# shellcheck shell=bash
set -u
bats_require_minimum_version 1.5.0

# Does what bats_load_library does. Most libraries run a `dirname` for each of their files, and those processes cost
# more than all else that a test needs from here.
load_library() {
  local folder folders file
  IFS=: read -ra folders <<<"$BATS_LIB_PATH"
  for folder in "${folders[@]}"; do
    [[ -d $folder/$1/src ]] || continue
    # shellcheck disable=SC1090
    for file in "$folder/$1"/src/*.bash; do source "$file"; done
    return
  done
  bats_load_library "$1"
}
load_library bats-support
load_library bats-assert

repo=${BASH_SOURCE[0]%/tests/bats/*}
export ZKLOCK_BIN=${ZKLOCK_BIN:-$repo/build/test/zklock}
export PATH=${ZKLOCK_HELPERS:-$repo/build/test/tests}:$PATH

zklock() { "$ZKLOCK_BIN" "$@"; }

zk_sandbox() { "$repo/scripts/zk-sandbox" "$@"; }

# --- before and after a test ---------------------------------------------------------------------

# Moves to the test's folder. Standard input is no terminal.
setup_place() {
  # Screens are compared as text; colours.bats tests the colours. The caller's locale may not be installed, and then
  # each bash prints a warning.
  export NO_COLOR=1 LC_ALL=C.UTF-8
  cd "$BATS_TEST_TMPDIR" || return
  exec </dev/null
  export ZKLOCK_TEST=$BATS_TEST_TMPDIR
}

# Succeeds if the servers want TLS. zklock then finds its TLS settings in the environment, so lists of servers contain
# only addresses, without tls://.
over_tls() { [[ -n ${ZKLOCK_TLS_CA:-} ]]; }

# Prints what a command of zklock's finds in ZKLOCK_SERVERS.
servers_for_command() { if over_tls; then echo "tls://$ZKLOCK_SERVERS"; else echo "$ZKLOCK_SERVERS"; fi; }

# Skips a test that needs two identities: the client's certificate is one, beside those in ZKLOCK_AUTH.
need_no_identity() { if over_tls; then skip "over TLS everybody is the same client"; fi; }

# Prepares a test of zklock: sets a chroot too. Only zklock itself creates it.
setup_zk() {
  [[ -n ${ZKLOCK_SERVERS:-} ]] ||
    fail "ZKLOCK_SERVERS is not set: run the tests by scripts/test, or by scripts/zk-sandbox -- bats …"
  ZKLOCK_SERVERS=${ZKLOCK_SERVERS#tls://}
  export ZKLOCK_SERVERS=${ZKLOCK_SERVERS%/}/t$SRANDOM
  setup_place
}

# For setup_file: starts an ensemble of this file's own, over TLS if all servers are. teardown_file calls stop_ensemble.
ensemble() {
  local lines tls=()
  if over_tls; then tls=(--tls); fi
  # If these servers do not start, stop_ensemble must not stop those of all tests.
  export ZKLOCK_SANDBOX=
  lines=$(zk_sandbox start --servers 3 "${tls[@]}" "$@") || fail "no ensemble" || return
  eval "$lines"
  stop_with_bats
}

# If Bats is killed before teardown_file, the sandbox in ZKLOCK_SANDBOX is stopped a second later.
stop_with_bats() {
  env -i PATH="$PATH" setsid sh -c 'tail --pid="$1" -f /dev/null; exec "$2" stop "$3"' sh \
    $$ "$repo/scripts/zk-sandbox" "$ZKLOCK_SANDBOX" >/dev/null 2>&1 3>&- &
}

stop_ensemble() { [[ -z $ZKLOCK_SANDBOX ]] || zk_sandbox stop; }

# find_marked: sets `marked` to the processes of this test, but not the servers that it may have restarted.
find_marked() {
  local file files
  marked=()
  mapfile -t files < <(ZKLOCK_TEST='' exec grep -lzxF -e "ZKLOCK_TEST=$BATS_TEST_TMPDIR" /proc/[0-9]*/environ 2>/dev/null)
  for file in "${files[@]}"; do
    grep -qzF -e -Dzklock.sandbox= "${file%/*}/cmdline" 2>/dev/null && continue
    file=${file#/proc/}
    marked+=("${file%/*}")
  done
}

# Bats calls teardown in a trap. There, a bare `return` returns the status from before the trap.
none_marked() {
  local marked
  find_marked
  ((${#marked[@]} == 0)) && return 0
  kill -KILL "${marked[@]}" 2>/dev/null
  return 1
}

# Ends every process that this test has started and that still runs.
end_all() { wait_until "all processes of the test end" none_marked; }

# --- waiting -------------------------------------------------------------------------------------

now_us() { echo "${EPOCHREALTIME/[.,]/}"; }
is_past() { ((${EPOCHREALTIME/[.,]/} > $1)); }

# pause SECONDS: sleeps without a process, by reading from a pipe to which nothing is written.
pause() {
  local pipe=$BATS_FILE_TMPDIR/never_written
  [[ -p $pipe ]] || mkfifo "$pipe" 2>/dev/null || [[ -p $pipe ]] || return
  read -rt "$1" _ <>"$pipe" || true
}

# wait_until WHAT CMD…: waits until CMD succeeds. Fails, naming WHAT, if it does not. Starts no process of its own.
wait_until() {
  local - what=$1 deadline
  set +T # Bats traces each command of each function, which takes longer than the command
  shift
  deadline=$((${EPOCHREALTIME/[.,]/} + ${ZKLOCK_TEST_WAIT:-20} * 1000000))
  until "$@" >/dev/null 2>&1; do
    ((${EPOCHREALTIME/[.,]/} < deadline)) || fail "waited in vain until: $what" || return 1
    pause 0.05
  done
}

# has_state STATES PID: PID has one of these letters as its state. A process that is gone has X.
has_state() {
  local stat
  { read -r stat <"/proc/$2/stat"; } 2>/dev/null || stat=') X'
  stat=${stat##*) }
  [[ ${stat%% *} == [$1] ]]
}

# A zombie counts as gone: the tests do not check that it is reaped.
is_gone() { has_state ZX "$1"; }

is_stopped() { has_state T "$1"; }

wait_gone() {
  local pid
  for pid in "$@"; do wait_until "process $pid is gone" is_gone "$pid"; done
}

# has_text TEXT FILE: FILE contains TEXT, which has no NUL.
has_text() {
  local part
  while IFS= read -rd '' part || [[ -n $part ]]; do
    [[ $part != *"$1"* ]] || return 0
  done <"$2"
  return 1
}

# wait_for TEXT FILE: waits until FILE contains TEXT.
wait_for() { wait_until "'$1' in $2" has_text "$1" "$2"; }

# --- running -------------------------------------------------------------------------------------

# Starts CMD in the background; its process id is $!. Redirections may follow. The shell alone would make it ignore
# SIGINT and SIGQUIT and read /dev/null. Bats waits for every process that holds descriptor 3.
background() {
  [[ $1 != zklock ]] || set -- "$ZKLOCK_BIN" "${@:2}"
  {
    trap - INT QUIT
    exec "$@"
  } <&0 3>&- &
}

# with_wall_clock CMD…: starts it in the background, with a wall clock that is wrong by the seconds in the file `wrong`.
with_wall_clock() {
  local library=${PATH%%:*}/preload_wall_clock.so asan=${ASAN_OPTIONS:-}
  background env WALL_CLOCK="$PWD/wrong" ASAN_OPTIONS="${asan:+$asan:}verify_asan_link_order=0" LD_PRELOAD="$library" "$@"
}

# Skips a test that needs pty if there are no terminals here.
need_terminal() {
  export TERM=xterm # the caller's may be one without a cursor
  pty screen.none true </dev/null 2>/dev/null || skip "there are no terminals here: /dev/pts is not mounted"
}

show_run() {
  {
    batslib_print_kv_single 9 command "$*" expected "$expected" status "$status"
    batslib_print_kv_multi output "$output" stderr "$stderr"
  } | batslib_decorate "unexpected exit status"
}

# apart FILE CMD…: runs CMD with its standard error in FILE.
apart() { "${@:2}" 2>"$1"; }

# expect_status N CMD…: runs CMD, which has to end with N. Its output is then in $output and $stderr. `run
# --separate-stderr` would start a `mktemp` for each.
expect_status() {
  local - expected=$1 flags=() file=$BATS_TEST_TMPDIR.stderr.$BASHPID
  set +T # as in wait_until
  shift
  if ((expected == 127)); then flags=(-127); fi # otherwise Bats warns of a command not found
  run "${flags[@]}" apart "$file" "$@" || true
  read -rd '' stderr <"$file" || true
  ((status == expected)) || { show_run "$@" | fail; }
}

# expect_error N TEXT CMD…: CMD ends with N, and its standard error is one line of zklock's that contains TEXT.
expect_error() {
  local text=$2
  expect_status "$1" "${@:3}" || return
  [[ $stderr == "zklock: "*"$text"* && $stderr != *$'\n'* ]] ||
    batslib_print_kv_single_or_multi 8 expected "zklock: …$text…" stderr "$stderr" |
    batslib_decorate "not the one line on standard error that was expected" | fail
}

# expect_end N PID: a child that `background` has started ends with status N.
expect_end() {
  local status=0
  wait_gone "$2" || return
  wait "$2" || status=$?
  ((status == $1)) || fail "process $2 ended with $status, not $1"
}

# column NAME: prints its cells in the table in $output, joined by spaces. No cell to its left may contain a space.
column() {
  awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next }
                    { printf "%s%s", sep, $at; sep = " " }' <<<"$output"
}

# --- holders and waiters -------------------------------------------------------------------------

declare -gA pid=()

# begin NAME ARG…: starts `zklock run ARG…` in the background, as ${pid[NAME]}. Its command writes its process id to
# NAME.held, and ends after `let_go NAME`. See NAME.out, NAME.err.
begin() {
  local name=$1
  shift
  background zklock run "$@" -c "echo \$\$ >$name.held; exec await_file $name.go" \
    >"$name.out" 2>"$name.err"
  pid[$name]=$!
}

# hold NAME ARG…: like begin, but returns when NAME holds the lock.
hold() {
  begin "$@"
  wait_until "$1 holds the lock" test -s "$1.held"
}

# stand NAME LOCK ARG…: like begin for a waiter; returns when there is one node more under LOCK.
stand() {
  local before
  before=$(count_nodes "$2")
  begin "$@"
  wait_until "$1 stands in line" has_nodes "$2" $((before + 1))
}

let_go() { touch "$1.go"; }

# let_all_go NAME…: lets each go, and expects each to end with 0.
let_all_go() {
  local name
  for name in "$@"; do let_go "$name"; done
  for name in "$@"; do expect_end 0 "${pid[$name]}" || return; done
}

# --- nodes ---------------------------------------------------------------------------------------

count_nodes() { znode ls "$1" 2>/dev/null | wc -l; }

# Uses no <(…), because that would be the next $!.
has_nodes() {
  local nodes
  nodes=$(exec znode ls "$1" 2>/dev/null)
  if [[ $nodes ]]; then mapfile -t nodes <<<"$nodes"; else nodes=(); fi
  ((${#nodes[@]} == $2))
}

# its_node [LOCK]: prints the path of the only contender for LOCK, or for /l.
its_node() { echo "${1:-/l}/$(znode ls "${1:-/l}")"; }

# zklock leaves nothing behind but the lock's own node, which the server reaps.
assert_no_nodes() { assert_equal "$(znode ls "$1" 2>&1)" ""; }

# zklock has not even made the chroot.
assert_untouched() { expect_status 1 znode ls /; }

# --- critical sections ---------------------------------------------------------------------------

# enter [-i|-f] NAME ARG…: like begin, but the command is `critical`, which writes its signs of life to the file life.
enter() {
  local flag=()
  if [[ $1 == -? ]]; then flag=("$1") && shift; fi
  local name=$1
  shift
  background zklock run "$@" -- critical "${flag[@]}" life "$name" >"$name.out" 2>"$name.err"
  pid[$name]=$!
}

pids_of() { awk -v name="$1" '$2 == name && !seen[$3]++ { print $3 }' life; }

# lives NAME [N]: N processes of NAME have shown life.
lives() { (($(pids_of "$1" | wc -l) == ${2:-1})); }

# Print the first and the last sign of life of any process of NAME, in microseconds.
first_of() { awk -v name="$1" '$2 == name { print $1; exit }' life; }
last_of() { awk -v name="$1" '$2 == name && $1 > last { last = $1 } END { print last }' life; }

# No two commands were in the critical section together.
assert_alone() { refute grep -F overlaps life; }

# assert_order WHAT MOMENT…: each moment is later than the one before it.
assert_order() {
  local what=$1 before=0 moment
  for moment in "${@:2}"; do
    [[ -n $moment ]] && ((moment > before)) || fail "wrong order of $what: ${*:2}" || return
    before=$moment
  done
}

# start_relay ARG…: starts a `relay`, whose output is in the file relayed.
start_relay() {
  background relay "$@" >relayed
  pid[relay]=$!
  wait_for port relayed
}

# Prints the relay's ports as a list of servers.
relayed_ports() {
  local word number ports=''
  while read -r word number; do
    if [[ $word == port ]]; then ports+=,127.0.0.1:$number; fi
  done <relayed
  echo "${ports#,}"
}

# Prints the child of zklock, which is its guard.
guard_of() { pgrep -P "$1"; }

# kill_both PID: kills zklock and its guard. What they had stays until the session expires.
kill_both() {
  local guard
  guard=$(guard_of "$1") || return
  kill -STOP "$1"
  kill -KILL "$guard" "$1"
}

note() { echo "# $1" >&3; }
