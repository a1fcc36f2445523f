#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue pull -- COMMAND if the claims are lost, or can no longer be proved. No command works on an item
# that another worker may have.
#
# shellcheck disable=SC2004,SC2016

load ../helpers
load ../queue_nodes

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=2s
}

teardown() { end_all; }

# work NAME ARG…: pulls from /q. Each command is `critical`, which writes its life to the file life.
work() {
  local name=$1
  shift
  background zklock queue pull "$@" /q -- critical -f life "$name" >"$name.out" 2>"$name.err"
  pid[$name]=$!
}

expect_lost() {
  expect_end 76 "${pid[a]}"
  assert_regex "$(tail -1 a.err)" "^zklock: lost the claim on an item of /q: $1; what ran was stopped\$"
}

@test "a frozen worker: its commands are dead before another one starts, and it ends with 76" {
  queue_of 1 2
  work a --follow -j 2
  wait_until "both run" lives a 8
  kill -STOP "${pid[a]}"
  local began
  began=$(now_us)
  work b -w 1m
  wait_until "the item is taken over" lives b 4
  assert_order "stop, end of a, begin of b" "$began" "$(last_of a)" "$(first_of b)"
  kill -CONT "${pid[a]}"
  expect_lost "no quorum confirmed it for [0-9.]+s"
  # The first worker's claims were its own. The second one still has one item, whichever it heard of first.
  local of_b=0
  is_claimed 0 || of_b=1
  is_claimed $of_b
  touch b.go
  expect_end 0 "${pid[b]}"
  assert_equal "$(znode ls "$segment")" "token-000000000$((1 - of_b))"
  assert_equal "$(attempts $((1 - of_b)))" 1
}

@test "a killed worker: its commands are gone at once, with all they have started, and the items come back counted" {
  queue_of 1 2 3 4
  work a --follow -j 4
  wait_until "all run" lives a 16
  local pids
  pids=$(pids_of a)
  kill -KILL "${pid[a]}"
  # shellcheck disable=SC2086
  wait_gone $pids
  for n in 0 1 2 3; do
    wait_until "item $n is free" is_free $n
    assert_equal "$(attempts $n)" 1
  done
}

@test "a killed guard: the other commands are stopped too, and the items go back uncounted" {
  queue_of 1 2
  work a --follow -j 2
  wait_until "both run" lives a 8
  local pids
  pids=$(pids_of a)
  kill -KILL "$(guard_of "${pid[a]}" | head -1)"
  expect_lost "a guard was killed"
  # shellcheck disable=SC2086
  wait_gone $pids
  for n in 0 1; do
    is_free $n
    assert_equal "$(attempts $n)" 0
  done
}

@test "a claim is deleted by somebody: the command is stopped within a heartbeat" {
  queue_of 1
  work a
  wait_until "it runs" lives a 4
  znode rm "$(item 0)/claim"
  expect_lost "it was deleted"
}

# end_session PID: closes its session without TLS, like a client that has read its password in its memory. If the owner
# takes it back before the request comes, closes it once more. If there is no session then, the request had come.
end_session() {
  python3 -B - "$repo/tests/faults" "$1" "$(jq -r 'select(.event == "session").session' trace | tail -n 1)" \
    "${ZKLOCK_PLAIN_SERVERS:-${ZKLOCK_SERVERS%/*}}" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import sessions
pid, session = int(sys.argv[2]), int(sys.argv[3], 16)
password = sessions.password_of(pid, session)
asked = False
for _ in range(10):
    server = sessions.take_up(sys.argv[4], session, password, 9)
    if sessions.close(server) if server else asked:
        sys.exit(0)
    asked |= server is not None
sys.exit(1)
END
}

@test "the session is ended by somebody: the command is stopped long before the fence" {
  queue_of 1
  ZKLOCK_TRACE=$PWD/trace work a --session-timeout 9s
  wait_until "it runs" lives a 4
  assert end_session "${pid[a]}"
  expect_lost "the session expired"
}

@test "frozen until the guard has killed at the fence what a command left behind: the item is not done" {
  queue_of 1
  background zklock queue pull --follow --session-timeout 9s /q -- sh -c 'touch runs
    until [ -e go ]; do sleep 0.02; done; sleep 60 & echo $! >left.new; mv left.new left' 2>a.err
  pid[a]=$!
  wait_until "it runs" test -e runs
  kill -STOP "${pid[a]}"
  touch go
  wait_until "it has left something behind" test -e left
  wait_until "that is dead" is_gone "$(<left)"
  kill -CONT "${pid[a]}"
  expect_lost "no quorum confirmed it for [0-9.]+s"
  has_nodes "$segment" 1
}

@test "the connection is lost and is back before the fence: no command notices" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  queue_of 1 2
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} work a --all --connect-timeout 1s --session-timeout 6s
  wait_until "it runs" lives a 4
  kill -STOP "${pid[relay]}"
  wait_until "a heartbeat is overdue" is_past $(($(now_us) + 1500000))
  kill -CONT "${pid[relay]}"
  touch a.go
  expect_end 0 "${pid[a]}"
  has_nodes "$segment" 0
}

@test "the session expires while items only wait for their retry: the worker goes on in a new one" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  queue_of 1
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} background zklock queue pull --follow --retry-delay 1m /q -- \
    sh -c 'echo >>tried; [ "$(wc -l <tried)" -ge 2 ]' 2>err
  pid[a]=$!
  wait_until "it waits" has_nodes /q/waiting 1
  kill -STOP "${pid[relay]}"
  wait_until "the claim is gone" is_free 0
  kill -CONT "${pid[relay]}"
  wait_until "it is done" has_nodes "$segment" 0
  assert_equal "$(wc -l <tried)" 2
  kill -TERM "${pid[a]}"
  expect_end 0 "${pid[a]}"
}

@test "the session expires while an item waits for its retry, and somebody else takes it: it has failed" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  queue_of bad
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} background zklock queue pull -N 2 -w 1m --retry-delay 1m /q -- \
    sh -c '[ "$(cat)" = good ]' 2>err
  pid[a]=$!
  wait_until "it waits" has_nodes /q/waiting 1
  kill -STOP "${pid[relay]}"
  wait_until "the claim is gone" is_free 0
  expect_status 0 zklock queue pull /q
  kill -CONT "${pid[relay]}"
  put "$segment" 1 good
  expect_end 123 "${pid[a]}"
  wait_for "an item failed, to be tried again" err
}

@test "a heartbeat keeps claims for longer than the session timeout, and asks for none that has ended" {
  queue_of long good later
  background zklock queue pull -N 3 -j 3 --retry-delay 1ms /q -- \
    sh -c 'case $(cat) in good) ;; later) exit 75 ;; *) until [ -e go ]; do sleep 0.02; done ;; esac'
  pid[a]=$!
  wait_until "the others have gone" eval '[[ $(zklock queue count --json /q | jq .items) == 2 ]] && is_free 2'
  is_claimed 0
  wait_until "three session timeouts are over" is_past $(($(now_us) + 6000000))
  is_claimed 0
  touch go
  expect_end 123 "${pid[a]}"
  has_nodes "$segment" 1
}

in_work() { [[ $(zklock queue count --exact --json /q | jq .in_work) == "$1" ]]; }

@test "frozen with items claimed ahead, which others have done meanwhile: none of them is begun" {
  { seq 100 && seq -f 'long %g' 16 && seq 101 140; } | zklock queue push /q
  background zklock queue pull --follow -j 16 /q -- \
    sh -c 'read -r item; echo "$item" >>begun; [ "${item#long}" = "$item" ] || until [ -e go ]; do sleep 0.02; done' 2>a.err
  pid[a]=$!
  wait_until "the long ones run" eval '(($(grep -c long begun) == 16))'
  kill -STOP "${pid[a]}"
  touch go
  wait_until "nothing is claimed" in_work 0
  zklock queue pull --all /q >other
  kill -CONT "${pid[a]}"
  expect_end 76 "${pid[a]}"
  assert_equal "$(sort begun other | uniq -d | grep -v long)" ""
  assert_equal "$(zklock queue count --json /q | jq .items)" 0
}

@test "a claim that goes with its command's last act: the item could not be removed, and that is 76" {
  queue_of 1
  # shellcheck disable=SC2016
  expect_status 76 zklock queue pull /q -- sh -c '"$ZKLOCK_HELPERS"/znode rm "$ZKLOCK_NODE"'
  has_nodes "$segment" 1
}

# end_with ITEM STATUS: lets the command of that item end.
end_with() { echo "$2" >"$1.new" && mv "$1.new" "$1.go"; }

# The first command's end makes the worker ask for more, without an answer. So it settles no others before the fence.
@test "what had ended at the fence is settled as it ended; who was stopped has not done his item, whatever he says" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  queue_of first good stopped bad
  ZKLOCK_SERVERS=$(relayed_ports)/${ZKLOCK_SERVERS#*/} background zklock queue pull --session-timeout 9s \
    --connect-timeout 1m --follow -j 4 /q -- sh -c 'read -r item; trap "touch $item.term; exit 0" TERM; touch $item.runs
      until [ -s $item.go ]; do sleep 0.02; done; exit $(cat $item.go)' 2>a.err
  pid[a]=$!
  wait_until "all run" eval '(($(compgen -G "*.runs" | wc -l) == 4))'
  kill -STOP "${pid[relay]}"
  end_with first 0
  wait_until "it has ended" runs 3
  end_with good 0
  end_with bad 1
  wait_until "one is left" runs 1
  wait_until "it is stopped" test -e stopped.term
  kill -CONT "${pid[relay]}"
  expect_lost "no quorum confirmed it for [0-9.]+s"
  assert_equal "$(zklock queue list --json /q | jq -r .begins)" $'stopped\nbad'
}

# runs COUNT: so many commands run.
runs() {
  local guard count=0
  for guard in $(guard_of "${pid[a]}"); do count=$((count + $(pgrep -cP "$guard"))); done
  ((count == $1))
}

@test "a killed guard: what the other guards run is asked to end, not killed as if the dead one had left it behind" {
  queue_of one two
  background zklock queue pull --follow -j 2 /q -- sh -c 'read -r item; trap "touch $item.term; exit" TERM
    touch $item.runs; while :; do sleep 0.02; done' 2>a.err
  pid[a]=$!
  wait_until "both run" test -e one.runs -a -e two.runs
  kill -KILL "$(guard_of "${pid[a]}" | head -1)"
  expect_lost "a guard was killed"
  assert_equal "$(compgen -G "*.term" | wc -l)" 1
}

@test "a killed guard: a command that had ended well before has done its item" {
  queue_of 1
  work a --session-timeout 30s --follow
  wait_until "it runs" lives a 4
  kill -STOP "${pid[a]}"
  touch a.go
  wait_until "it has ended" runs 0
  kill -KILL "$(guard_of "${pid[a]}")"
  kill -CONT "${pid[a]}"
  # If it sees the end of its command first, it waits on. If it sees that of its guard first, it ends with 76.
  wait_until "its item is done" has_nodes "$segment" 0
}
