#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run inside zklock run, under the same lock.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# This script of a command under /l runs a command under /l.
# shellcheck disable=SC2016
inner_sleeper='"$ZKLOCK_BIN" run /l -- sh -c "echo \$\$ >inner; exec sleep 600"; echo "inner $?" >>ends; sleep 600'

# start_nested ARG…: starts `zklock run ARG… /l` with that script.
start_nested() {
  background zklock run "$@" /l -- sh -c "echo \$\$ >outer; $inner_sleeper" 2>stderr
  wait_until "both run" test -s inner
}

@test "the same lock inside itself: no waiting, no second node, the inner status comes out" {
  # shellcheck disable=SC2016
  expect_status 7 zklock run /l -- sh -c '"$ZKLOCK_BIN" run -n /l -- sh -c "znode ls /l; echo \$ZKLOCK_NODE; exit 7"; status=$?
    echo "$ZKLOCK_NODE"; znode ls /l; exit $status'
  assert_equal "${#lines[@]} $stderr" "4 "
  assert_equal "${lines[1]}" "/l/${lines[0]}"
  assert_equal "${lines[*]:2}" "${lines[1]} ${lines[0]}"
  assert_no_nodes /l
}

@test "shared in exclusive or shared is fine; exclusive in shared would wait for itself: 64" {
  local outer
  for outer in -x -s; do
    # shellcheck disable=SC2016
    expect_status 0 zklock run $outer /l -c '"$ZKLOCK_BIN" run -s /l -- true'
  done
  # shellcheck disable=SC2016
  expect_error 64 "holds it shared, and we would wait for ourselves: give --exclusive there" \
    zklock run -s /l -c '"$ZKLOCK_BIN" run /l -- touch ran'
  assert [ ! -e ran ]
}

@test "three levels, /a in /b in /a, and several at once: none waits" {
  # shellcheck disable=SC2016
  expect_status 3 zklock run /a -c '"$ZKLOCK_BIN" run /b -c "\"\$ZKLOCK_BIN\" run -n /a /b -c \"znode ls /a; znode ls /b; exit 3\""'
  assert_equal "${#lines[@]}" 2
  # shellcheck disable=SC2016
  expect_status 0 zklock run /a /b -c '"$ZKLOCK_BIN" run -n /b /c -c "\"\$ZKLOCK_BIN\" run -n /a /c -- printenv ZKLOCK_PATH"'
  assert_equal "$output" $'/a\n/c'
}

@test "slots inside the same slots: one lease; another number, or a plain lock there, is refused as ever" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run --slots 1 /s -c '"$ZKLOCK_BIN" run --slots 1 /s -- znode ls /s/leases'
  assert_equal "${#lines[@]}" 1
  # shellcheck disable=SC2016
  expect_status 65 zklock run --slots 2 /s -c '"$ZKLOCK_BIN" run --slots 3 /s -- true'
  # shellcheck disable=SC2016
  expect_status 65 zklock run --slots 2 /s -c '"$ZKLOCK_BIN" run /s -- true'
  # shellcheck disable=SC2016
  expect_status 65 zklock run /l -c '"$ZKLOCK_BIN" run --slots 2 /l -- true'
}

@test "a script locks itself" {
  cat >job <<'END'
#!/bin/sh
PATH=${ZKLOCK_BIN%/*}:$PATH
[ "${ZKLOCK_PATH-}" = /l ] || exec zklock run /l -- "$0" "$@"
echo "job $*: $(znode ls /l | grep -c .)"
exit 5
END
  chmod +x job
  expect_status 5 ./job one "two words"
  assert_equal "$output" "job one two words: 1"
  # shellcheck disable=SC2016
  expect_status 5 zklock run /l -c './job again'
  assert_equal "$output" "job again: 1"
}

@test "the outer one's node is deleted: both commands are stopped, 76" {
  start_nested
  znode rm "$(its_node /l)"
  expect_end 76 $!
  assert is_gone "$(<outer)"
  assert is_gone "$(<inner)"
  # The inner one may have had no time to print it, or may have ended before the outer one had heard of it.
  local how="(; the command was stopped|, maybe before the command had ended)"
  refute grep -vE "^zklock: lost /l: its node was deleted$how\$" stderr
  assert [ -s stderr ]
}

@test "the outer one is frozen, and its node is deleted: the inner one notices by itself, 76" {
  start_nested --session-timeout 60s
  kill -STOP $!
  znode rm "$(its_node /l)"
  wait_for "inner 76" ends
  assert is_gone "$(<inner)"
  kill -CONT $!
  expect_end 76 $!
}

@test "the inner one is frozen, the outer node is deleted, and the inner command ends: 76 for it too" {
  # shellcheck disable=SC2016
  background zklock run --session-timeout 60s /l -c 'trap "" TERM
    "$ZKLOCK_BIN" run --session-timeout 60s /l -c "echo \$PPID >inner; echo \$\$ >it; until [ -e go ]; do sleep 0.02; done"
    echo "inner $?" >ends' 2>stderr
  wait_until "both run" test -s it
  kill -STOP "$!" "$(ps -o ppid= -p "$(<inner)")"
  znode rm "$(its_node /l)"
  touch go
  wait_gone "$(<it)"
  kill -CONT "$(ps -o ppid= -p "$(<inner)")"
  wait_for "inner 76" ends
  kill -CONT "$!"
  expect_end 76 $!
  refute grep -vF "zklock: lost /l: its node was deleted, maybe before the command had ended" stderr
}

# left_behind SCRIPT: a command under /l leaves it in the background, and ends. SCRIPT writes a process id to left.
left_behind() {
  background zklock run /l -c "echo \$\$ >it; ($1) & until [ -s left ]; do sleep 0.02; done" 2>stderr
  pid[a]=$!
  wait_until "it is there" test -s left
  wait_gone "$(<it)"
}

@test "a zklock left behind under the same lock keeps it until it ends; the status is the command's" {
  # shellcheck disable=SC2016
  left_behind 'exec "$ZKLOCK_BIN" run /l -c "echo \$\$ >left; until [ -e left.go ]; do sleep 0.02; done"'
  expect_error 75 "pid ${pid[a]}" zklock run -w 3s /l -- true
  refute is_gone "${pid[a]}"
  refute is_gone "$(<left)"
  let_go left
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
}

@test "a zklock left behind by an inner one under the same lock keeps that one, too" {
  # shellcheck disable=SC2016
  background zklock run /l -c '"$ZKLOCK_BIN" run /l -c "
    \"\$ZKLOCK_BIN\" run /l -c \"echo \\\$\\\$ >left; until [ -e left.go ]; do sleep 0.02; done\" &
    until [ -s left ]; do sleep 0.02; done"; echo "inner $?" >ends; until [ -e left.go ]; do sleep 0.02; done' 2>stderr
  pid[a]=$!
  wait_until "it is there" test -s left
  expect_error 75 "pid ${pid[a]}" zklock run -w 3s /l -- true
  assert [ ! -e ends ]
  let_go left
  expect_end 0 "${pid[a]}"
  assert_equal "$(<ends)" "inner 0"
}

# is_closed PID: an inner one uses the lock of that zklock, and no new one may.
is_closed() { [[ -s left ]] && ! readlink "/proc/$1/fd/"* | grep -q zklock-open; }

# third_one LOCK ARG…: the command of `zklock run ARG…` has ended, but an inner one under /l goes on. It then runs a
# third one under LOCK.
third_one() {
  printf '%s\n' 'echo $$ >left' 'until [ -e left.go ]; do sleep 0.02; done' \
    "\"\$ZKLOCK_BIN\" run -w 5s $1 -- touch third" 'echo "third $?" >ends' >inner.sh
  background zklock run "${@:2}" -c '("$ZKLOCK_BIN" run /l -- sh inner.sh) & until [ -s left ]; do sleep 0.02; done' 2>stderr
  pid[a]=$!
  wait_until "the outer one only waits for the inner one" is_closed "${pid[a]}"
  let_go left
  wait_until "the third one has ended" test -s ends
  expect_end 0 "${pid[a]}"
}

@test "what an inner one starts when the outer command has ended uses the lock as well, and does not wait for ever" {
  third_one /l /l
  assert_equal "$(<ends)" "third 0"
  assert [ -e third ]
  assert_no_nodes /l
}

@test "so it does with another lock of the outer one" {
  third_one /m /l /m
  assert_equal "$(<ends)" "third 0"
  assert_no_nodes /m
}

parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status"; }

@test "a zklock that was left behind is killed: its lock is kept until its guard has killed its command" {
  local guard inner
  # shellcheck disable=SC2016
  left_behind 'exec "$ZKLOCK_BIN" run /l -c "echo \$\$ >left; exec sleep 600"'
  guard=$(parent_of "$(<left)")
  inner=$(parent_of "$guard")
  kill -STOP "$inner"
  kill -STOP "$guard"
  kill -KILL "$inner"
  expect_error 75 "pid ${pid[a]}" zklock run -w 2s /l -- true
  refute is_gone "$(<left)"
  kill -CONT "$guard"
  expect_end 0 "${pid[a]}"
  assert is_gone "$(<left)"
}

@test "the lock is lost while a zklock that was left behind keeps it: that is stopped, 76" {
  # shellcheck disable=SC2016
  left_behind 'exec "$ZKLOCK_BIN" run /l -c "echo \$\$ >left; exec sleep 600"'
  expect_status 75 zklock run -qn /l -- true
  znode rm "$(its_node /l)"
  expect_end 76 "${pid[a]}"
  assert is_gone "$(<left)"
}

@test "TERM while a zklock that was left behind keeps the lock: that is ended, and the status stays the command's" {
  # shellcheck disable=SC2016
  left_behind 'exec "$ZKLOCK_BIN" run /l -c "echo \$\$ >left; exec sleep 600"'
  expect_status 75 zklock run -qn /l -- true
  kill -TERM "${pid[a]}"
  expect_end 0 "${pid[a]}"
  assert is_gone "$(<left)"
  expect_status 0 zklock run -n /l -- true
}

@test "a zklock left behind under another lock does not keep it, nor does any other process" {
  # shellcheck disable=SC2016
  left_behind 'exec "$ZKLOCK_BIN" run /other -c "echo \$\$ >left; until [ -e left.go ]; do sleep 0.02; done"'
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
  refute is_gone "$(<left)"
  let_go left
  wait_gone "$(<left)"
  rm left left.go
  left_behind 'echo $$ >left; until [ -e left.go ]; do sleep 0.02; done'
  expect_end 0 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
  let_go left
}

@test "in the environment of one that has ended, zklock takes the lock as ever" {
  local var
  while IFS= read -r var; do export "${var?}"; done < <(zklock run /l -c 'env | grep ^ZKLOCK_[NPT]')
  assert_regex "$ZKLOCK_NODE" '^/l/'
  # shellcheck disable=SC2016
  expect_status 0 zklock run -n /l -c 'echo "$ZKLOCK_NODE"'
  assert [ "$output" != "$ZKLOCK_NODE" ]
  hold h /l
  expect_error 75 "held by" zklock run -n /l -- true
  let_all_go h
}

@test "another's node in the environment, or one of other servers, is not believed" {
  hold h /l
  local node token
  node=$(its_node /l)
  token=$(znode stat "$node" | sed -n 's/czxid=//p')
  ZKLOCK_PATH=/l ZKLOCK_NODE=$node ZKLOCK_TOKEN=$token expect_error 75 "pid ${pid[h]}" zklock run -n /l -- true
  ZKLOCK_OUTER="$token $node" expect_error 75 "pid ${pid[h]}" zklock run -n /l -- true
  # This is the same path in another chroot.
  # shellcheck disable=SC2016
  expect_error 75 "pid ${pid[h]}" env OTHER="$ZKLOCK_SERVERS" ZKLOCK_SERVERS="$ZKLOCK_SERVERS/x" \
    "$ZKLOCK_BIN" run /l -c '"$ZKLOCK_BIN" run -S "$OTHER" -n /l -- true'
  let_all_go h
}

# In containers process ids coincide, and the environment travels.
@test "one whose note names another host, or whose token is another node's, is not believed though that process runs us" {
  # shellcheck disable=SC2016
  expect_error 75 "held by" zklock run /l -c 'note=$(znode get "$ZKLOCK_NODE" | sed "s/\"host\":\"[^\"]*/&.else/")
    znode set "$ZKLOCK_NODE" "$note"; "$ZKLOCK_BIN" run -n /l -- touch ran'
  # shellcheck disable=SC2016
  expect_error 75 "held by" zklock run /a /b -c 'ZKLOCK_TOKEN=$(echo "$ZKLOCK_TOKEN" | tac) "$ZKLOCK_BIN" run -n /a -- touch ran'
  assert [ ! -e ran ]
}

@test "one who is not believed to hold it, and waits for it, is not waited for" {
  # shellcheck disable=SC2016
  background zklock run /l -c 'note=$(znode get "$ZKLOCK_NODE" | sed "s/\"host\":\"[^\"]*/&.else/")
    znode set "$ZKLOCK_NODE" "$note"; "$ZKLOCK_BIN" run /l -c "echo \$\$ >left" &
    until [ "$(znode ls /l | grep -c .)" = 2 ]; do sleep 0.02; done' 2>stderr
  expect_end 0 $!
  wait_until "it has had the lock" test -s left
}

@test "one of another kind that runs us is no lock of ours: 65, as ever" {
  # shellcheck disable=SC2016
  expect_status 65 zklock run --peer kazoo /l -c '"$ZKLOCK_BIN" run -n /l -- touch ran'
  assert [ ! -e ran ]
}

@test "a text that is no node in the environment does no harm" {
  local text
  for text in / // x /l "/l/ " $'\n\n' "/l/x-lock-0000000000" $'/l/\xff'; do
    ZKLOCK_NODE=$text ZKLOCK_TOKEN=1 ZKLOCK_OUTER="1 $text" expect_status 0 zklock run -n /l -- true
    ZKLOCK_NODE=$text ZKLOCK_TOKEN=x ZKLOCK_OUTER="$text" expect_status 0 zklock run -n /l -- true
  done
}

# has_unread PORT: what listens there has not read what was sent to it.
has_unread() { awk -v port="$(printf ':%04X$' "$1")" '$2 ~ port && $5 !~ /:00000000$/' /proc/net/tcp | grep -q .; }

left_one_has_looked() { [[ -s inner ]] || has_nodes /l 2; }

@test "an outer one that is about to give the lock back is no longer believed: who was left behind takes it itself" {
  local port
  start_relay "${ZKLOCK_SERVERS%/*}"
  port=$(relayed_ports)
  # shellcheck disable=SC2016
  background env DIRECT="$ZKLOCK_SERVERS" "$ZKLOCK_BIN" run --session-timeout 60s -S "$port/${ZKLOCK_SERVERS#*/}" /l -c '
    (until [ -e now ]; do sleep 0.02; done
     exec "$ZKLOCK_BIN" run -S "$DIRECT" /l -c "echo \$\$ >inner; until [ -e inner.go ]; do sleep 0.02; done") 2>inner.err &
    echo $! >left; until [ -e go ]; do sleep 0.02; done'
  pid[a]=$!
  wait_until "it runs" test -s left
  kill -STOP "${pid[relay]}"
  touch go
  wait_until "it gives the lock back" has_unread "${port#*:}"
  touch now
  wait_until "the one that is left has the lock or waits for it" left_one_has_looked
  kill -CONT "${pid[relay]}"
  expect_end 0 "${pid[a]}"
  wait_until "the one that is left runs" test -s inner
  expect_error 75 "pid $(<left)" zklock run -n /l -- true
  touch inner.go
  wait_gone "$(<left)"
  assert_equal "$(<inner.err)" ""
}

@test "under a zklock that cannot be seen, in another PID namespace, it says whom it waits for" {
  unshare -pf --mount-proc true 2>/dev/null || skip "it takes root, and PID namespaces of our own"
  expect_status 75 zklock run /l -- unshare -pf --mount-proc "$ZKLOCK_BIN" run -w 500ms /l -- touch ran
  assert [ ! -e ran ]
  assert_regex "$stderr" "^zklock: /l is held by pid [0-9]+ on [^ ]*, which by ZKLOCK_NODE runs us, but is not seen"
  # A run that does not wait prints nothing of that.
  expect_error 75 "held by" zklock run /l -- unshare -pf --mount-proc "$ZKLOCK_BIN" run -n /l -- touch ran
}

@test "the same lock by the path that it has for another chroot: no waiting" {
  local chroot=/${ZKLOCK_SERVERS#*/}
  # shellcheck disable=SC2016
  expect_status 7 zklock run /l -- sh -c '"$ZKLOCK_BIN" run -w 5s -S "$1" "$2/l" -- sh -c "printenv ZKLOCK_PATH; exit 7"' \
    sh "${ZKLOCK_SERVERS%"$chroot"}" "$chroot"
  assert_output "$chroot/l"
  assert_no_nodes /l
  # shellcheck disable=SC2016
  expect_status 7 env FULL="$ZKLOCK_SERVERS" ZKLOCK_SERVERS="${ZKLOCK_SERVERS%"$chroot"}" "$ZKLOCK_BIN" run "$chroot/l" -- \
    sh -c '"$ZKLOCK_BIN" run -w 5s -S "$FULL" /l -- sh -c "exit 7"'
}

@test "the same lock, with the servers written with a / at their end: no waiting" {
  local servers=${ZKLOCK_SERVERS%%/*}
  # shellcheck disable=SC2016
  ZKLOCK_SERVERS=$servers/ expect_status 7 zklock run "/slash$$" -- \
    sh -c '"$ZKLOCK_BIN" run -w 5s "$1" -- sh -c "exit 7"' sh "/slash$$"
}

@test "inside a command of queue pull, the lock around that is known: no waiting" {
  zklock queue push /q item
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -c '"$ZKLOCK_BIN" queue pull /q -- "$ZKLOCK_BIN" run -w 5s /l -- touch ran'
  assert [ -e ran ]
  assert_no_nodes /l
}

@test "Kazoo's lock inside, with the extra node, would wait for itself: 64" {
  # shellcheck disable=SC2016
  expect_error 64 "we would wait for ourselves: give --peer kazoo-extra there" \
    zklock run --peer kazoo /k -c '"$ZKLOCK_BIN" run -w 5s --peer kazoo-extra /k -- touch ran'
  assert [ ! -e ran ]
}

@test "an outer lock on other servers is passed on as one" {
  ZKLOCK_NODE=/m/_c_0-lock-0000000000 ZKLOCK_TOKEN=7 expect_status 0 \
    env OTHER="$ZKLOCK_SERVERS" ZKLOCK_SERVERS=other.test:1 sh -c '"$ZKLOCK_BIN" run -S "$OTHER" /l -- printenv ZKLOCK_OUTER'
  assert_output $'7 /m/_c_0-lock-0000000000\tother.test:1'
  ZKLOCK_OUTER=$output expect_status 0 zklock run /l -- printenv ZKLOCK_OUTER
  assert_output $'7 /m/_c_0-lock-0000000000\tother.test:1'
}
