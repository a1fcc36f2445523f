#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue pull -- COMMAND: what a command gets, and what its end means for the item.

load ../helpers
load ../queue_nodes

setup() { setup_zk; }

teardown() { end_all; }

# pull ARG…: pulls from /q, with a delay too short to wait for.
pull() { zklock queue pull --retry-delay 10ms /q "$@"; }

dead_ones() { zklock queue list --dead --json /q | jq -r "$1"; }

@test "each item is the standard input of a command of its own, byte for byte" {
  queue_of '[]' '' $'two\nlines' $'\xff\xfe' "$(long_text)"
  # shellcheck disable=SC2016
  expect_status 0 zklock queue pull --all /q -- sh -c 'cat >"got$ZKLOCK_ITEM_ID"'
  local number=0 text
  for text in '[]' '' $'two\nlines' $'\xff\xfe' "$(long_text)"; do
    cmp "gottoken-000000000$((number++))" <(printf %s "$text")
  done
  has_nodes "$segment" 0
}

@test "an item may have a NUL in it" {
  printf 'a\0b' | zklock queue push --whole /q
  zklock queue pull /q -- cat >got
  cmp got <(printf 'a\0b')
}

@test "-I puts the item into the arguments, byte for byte, and standard input is empty" {
  queue_of '[a,b]' $'$x "y"\n' -- -5
  expect_status 0 zklock queue pull --all -I {} /q -- printf '%s|' 'a{}b{}' {}
  assert_equal "$output" $'a[a,b]b[a,b]|[a,b]|a$x "y"\nb$x "y"\n|$x "y"\n|a--b--|--|a-5b-5|-5|'
  zklock queue push /q x
  expect_status 0 zklock queue pull -I ITEM /q -- sh -c 'readlink /proc/self/fd/0; cat' ITEM
  assert_equal "$output" /dev/null
}

@test "with -I an item that no argument can hold goes to the dead letters, with the reason" {
  printf 'a\0b' | zklock queue push --whole /q
  head -c 131072 /dev/zero | tr '\0' x | zklock queue push --whole /q
  head -c 131071 /dev/zero | tr '\0' x | zklock queue push --whole /q
  expect_status 123 zklock queue pull --all -I {} /q -- sh -c 'printf %s "$1" | wc -c' sh {}
  assert_equal "$output" 131071
  assert_regex "$stderr" "zklock: /q: 2 items went to the dead letters$"
  assert_equal "$(dead_ones .why.reason)" $'it holds a NUL byte, which no argument (-I) can\nit is too long for an argument (-I)'
  # An item may be too long only together with the rest, which is no reason to give up on all.
  zklock queue requeue /q
  zklock queue purge --yes /q
  head -c 120000 /dev/zero | tr '\0' x | zklock queue push --whole /q
  ulimit -s 512
  expect_status 123 zklock queue pull --all -I {} /q -- true {} {}
  assert_equal "$(dead_ones .why.reason)" "could not be executed: Argument list too long"
}

@test "-I without anything to replace is a usage error, and takes nothing" {
  queue_of one
  expect_error 64 "no '{}' in the command's arguments" zklock queue pull -I {} /q -- echo item
  expect_error 64 "bad value '' for --replace" zklock queue pull -I "" /q -- echo item
  is_free 0
}

@test "the command is told about its item" {
  zklock queue push -p 7 /q one
  # shellcheck disable=SC2016
  zklock queue pull /q -- sh -c 'exit 75' || true
  zklock queue pull /q -- false || true
  expect_status 0 zklock queue pull /q -- sh -c 'env | grep ^ZKLOCK_; echo "$ZKLOCK_NODE"'
  assert_line ZKLOCK_PATH=/q
  assert_line ZKLOCK_ATTEMPT=2
  assert_line ZKLOCK_PRIORITY=7
  assert_line --regexp '^ZKLOCK_ITEM_ID=[0-9a-f]{12}-0000000000$'
  assert_line --regexp '^ZKLOCK_ENQUEUED=20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$'
  assert_line --regexp '^ZKLOCK_NODE=/q/items/007-0000000000/[0-9a-f]{12}-0000000000/claim$'
  assert_line "ZKLOCK_SERVERS=$(servers_for_command)"
  assert_line --regexp '^ZKLOCK_TOKEN=[0-9]+$'
}

@test "the token is the claim's creation: it grows from one attempt to the next" {
  queue_of one
  # shellcheck disable=SC2016
  local show='echo "$ZKLOCK_TOKEN"; znode stat "$ZKLOCK_NODE" | sed -n s/^czxid=//p; exit 1' first second
  first=$(zklock queue pull /q -- sh -c "$show") || true
  second=$(zklock queue pull /q -- sh -c "$show") || true
  assert_equal "${first%$'\n'*}" "${first#*$'\n'}"
  assert [ "${second%$'\n'*}" -gt "${first%$'\n'*}" ]
}

@test "a command has a process group of its own, and the caller's other descriptors only" {
  queue_of one two
  expect_status 0 zklock queue pull --all /q -- sh -c 'set -- $(cat /proc/self/stat); ls -l /proc/self/fd; test $5 = $$'
  refute_output --partial socket
  refute_output --partial anon_inode
}

@test "0 removes the item" {
  queue_of one two
  expect_status 0 zklock queue pull /q -- true
  assert_equal "$(znode ls "$segment")" token-0000000001
}

@test "a failure gives one item back, counted; the status is the command's" {
  queue_of one
  expect_status 3 zklock queue pull /q -- sh -c 'exit 3'
  assert_equal "$stderr" ""
  is_free 0
  assert_equal "$(attempts 0)" 1
}

@test "one item: a signal that people end programs by is passed on, others are 128 and their number" {
  queue_of one
  expect_status 143 zklock queue pull /q -- sh -c 'kill $$'
  expect_status 137 zklock queue pull /q -- sh -c 'kill -KILL $$'
  assert_equal "$(attempts 0)" 2
}

@test "after the last attempt the item is dead, with status, host and time" {
  queue_of bad good
  expect_status 123 pull --all --max-attempts 3 -- sh -c 'test $(cat) = good || exit 3'
  assert_regex "$stderr" "zklock: /q: an item went to the dead letters$"
  has_nodes "$segment" 0
  assert_equal "$(dead_ones .begins)" bad
  assert_equal "$(dead_ones '.why | "\(.reason), \(.attempts)"')" "exit status 3, 3"
  assert_equal "$(dead_ones .why.host)" "$(hostname)"
  assert_regex "$(dead_ones .why.time)" "^20[0-9-]{8}T[0-9:]{8}Z$"
}

@test "65 buries at once, and a dead letter says by which signal its command was killed" {
  queue_of one two
  expect_status 65 zklock queue pull /q -- sh -c 'exit 65'
  assert_equal "$(dead_ones .why.reason)" "exit status 65"
  expect_status 123 pull -N 2 --max-attempts 1 -- sh -c 'kill -KILL $$'
  assert_equal "$(dead_ones .why.reason)" $'exit status 65\nkilled by SIGKILL'
  zklock queue requeue /q
  expect_status 0 zklock queue pull --all /q -- true
  expect_status 0 zklock queue count --exact /q
  assert_output $'items 0\ndead 0\nin_work 0'
}

@test "75 puts the item back, and does not count; it is tried again after the delay" {
  queue_of one
  expect_status 75 zklock queue pull /q -- sh -c 'exit 75'
  assert_equal "$stderr" ""
  assert_equal "$(attempts 0)" 0
  assert_equal "$(znode get "$(item 0)")" one
  # shellcheck disable=SC2016
  expect_status 0 pull --all -- sh -c 'echo "$ZKLOCK_ATTEMPT" >>tries; test $(wc -l <tries) -ge 3 || exit 75'
  assert_equal "$(<tries)" $'1\n1\n1'
}

@test "127 and 126 leave the queue as it was, and nothing more is taken" {
  queue_of one two
  printf '#!/no/such/interpreter\n' >bad
  chmod +x bad
  expect_status 127 zklock queue pull --all /q -- sh -c 'echo >>ran; exit 127'
  expect_status 126 zklock queue pull --all /q -- sh -c 'echo >>ran; exit 126'
  assert_equal "$(wc -l <ran)" 2
  expect_error 127 "cannot run ./bad: its interpreter was not found" zklock queue pull --all /q -- ./bad
  for n in 0 1; do
    is_free $n
    assert_equal "$(attempts $n)" 0
  done
}

@test "a typing error in the command is told before anything is claimed" {
  queue_of one
  expect_error 127 "cannot run fecth: command not found" zklock queue pull --follow /q -- fecth
  expect_error 126 "Permission denied" zklock queue pull --follow /q -- /etc/passwd
  assert_equal "$(znode stat "$(item 0)" | grep cversion)" cversion=0
}

@test "a failed item waits under its claim for its delay, and others go on with the next ones" {
  queue_of bad good
  background zklock queue pull --follow --retry-delay 1m /q -- sh -c 'test $(cat) = good' 2>err
  wait_until "the good one is done" has_nodes "$segment" 1
  is_claimed 0
  expect_error 75 "all items are in work" zklock queue pull /q
  kill -TERM $!
  expect_end 0 $!
  is_free 0
  assert_equal "$(attempts 0)" 1
}

# tried_before ITEM TIMES: other consumers tried it, and died.
tried_before() {
  for ((i = 0; i < $2; ++i)); do znode create "$(item "$1")/claim" && znode rm "$(item "$1")/claim"; done
}

@test "the delay doubles with each failure; after 75 it does not" {
  queue_of bad later
  tried_before 0 4
  tried_before 1 8
  # shellcheck disable=SC2016
  expect_status 0 zklock queue pull --all --max-attempts 100 --retry-delay 200ms /q -- bash -c '
    read -r item; echo "${EPOCHREALTIME/[.,]/}" >>"$item"
    (($(wc -l <"$item") == 2)) || { [ "$item" = bad ] && exit 1 || exit 75; }'
  local of_bad of_later
  mapfile -t of_bad <bad
  mapfile -t of_later <later
  # The delay is sixteen times the first one after the fifth attempt. It would have been a minute after the ninth.
  ((of_bad[1] - of_bad[0] >= 3200000))
  ((of_later[1] < of_bad[1]))
}

@test "while 64 failed items wait, nothing new is taken: none burns its attempts" {
  seq 70 | zklock queue push /q
  background zklock queue pull --follow --retry-delay 1m -j 4 /q -- sh -c 'echo >>tried; exit 1'
  # Up to three more commands were running when the last of them failed.
  wait_until "64 have failed" eval '(($(wc -l <tried) >= 64))'
  kill -TERM $!
  expect_end 0 $!
  assert [ "$(wc -l <tried)" -ge 64 ]
  assert [ "$(wc -l <tried)" -le 67 ]
  assert_equal "$(zklock queue list --json /q | jq -s 'map(.attempts) | [add, max]' -c)" "[$(wc -l <tried),1]"
}

@test "-j runs so many at a time" {
  seq 12 | zklock queue push /q
  # Each waits until three are there, so with fewer none would ever end.
  background zklock queue pull --all -j 3 /q -- sh -c 'i=$(cat); touch run$i
    while [ $(ls run* | wc -l) -lt 3 ] && [ ! -e go ]; do sleep 0.02; done; touch go; ls run* | wc -l >>seen; rm run$i'
  expect_end 0 $!
  assert_equal "$(sort -n seen | tail -1)" 3
  assert_equal "$(wc -l <seen)" 12
}

@test "-N takes so many; without them what is there" {
  queue_of 1 2 3 4 5
  expect_status 0 zklock queue pull -N 3 -j 2 /q -- cat
  assert_equal "$(tr -d '\n' <<<"$output" | fold -w1 | sort | tr -d '\n')" 123
  expect_status 0 zklock queue pull -N 1 -j 4 /q -- cat
  assert_output 4
  expect_status 0 zklock queue pull -N 10 /q -- cat
  assert_output 5
  expect_error 75 "no items" zklock queue pull -N 10 /q -- cat
  expect_status 0 zklock queue pull --all /q -- cat
}

@test "-N: an item that failed and stays in the queue is told" {
  queue_of good bad
  expect_error 123 "an item failed, to be tried again" pull -N 2 -- sh -c 'test $(cat) = good'
  is_free 1
}

@test "-N: one that failed counts though another one that failed was taken again in its place" {
  queue_of one two
  expect_error 123 "an item failed, to be tried again" zklock queue pull -N 3 --retry-delay 200ms /q -- \
    sh -c 'test "$ZKLOCK_ATTEMPT" = 2'
  expect_status 0 zklock queue count /q
  assert_line "items 1"
}

@test "--halt stops at the first failure: the item stays, the rest is not begun" {
  queue_of good bad more
  expect_error 123 "an item failed" zklock queue pull --all --halt /q -- sh -c 'cat >>ran; tail -c 3 ran | grep -vq bad'
  assert_equal "$(<ran)" goodbad
  assert_equal "$(attempts 1)" 1
  is_free 1
  assert_equal "$(attempts 2)" 0
  expect_status 123 zklock queue pull --all --halt /q -- sh -c 'exit 65'
  assert_equal "$(zklock queue count /q)" $'items 1\ndead 1'
}

@test "--all waits for what failed, and for what others work on" {
  queue_of one two
  wait_for_file() { wait_until "$1 is there" test -e "$1"; }
  background zklock queue pull /q -- sh -c 'touch began; until [ -e go ]; do sleep 0.02; done; exit 1'
  local other=$!
  wait_for_file began
  background zklock queue pull --all /q -- sh -c 'cat >>got'
  pid[all]=$!
  wait_until "it waits" has_nodes /q/waiting 1
  touch go
  expect_end 1 "$other"
  expect_end 0 "${pid[all]}"
  assert_equal "$(<got)" twoone
}

@test "-w is the longest idle time: while a command runs nobody is idle" {
  queue_of one
  # -w covers connecting, too, which takes a while by TLS
  expect_status 0 zklock queue pull --follow -w 1s /q -- sleep 2
  expect_error 75 "no items" zklock queue pull --follow -w 1s /q -- true
}

@test "an idle worker takes what is pushed while another command runs" {
  queue_of one
  background zklock queue pull --follow -j 2 /q -- sh -c 'if [ $(cat) = one ]; then until [ -e go ]; do sleep 0.02; done; else touch go; fi'
  wait_until "it waits" has_nodes /q/waiting 1
  zklock queue push /q two
  wait_until "both are done" eval '(($(zklock queue count /q | sed -n "s/items //p") == 0))'
  kill -TERM $!
  expect_end 0 $!
}

@test "what a command leaves behind runs on, and holds up nothing" {
  queue_of one two
  expect_status 0 zklock queue pull --all /q -- sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >>left'
  for left in $(<left); do assert kill -0 "$left"; done
}

@test "a dead letter is told at once, a failure with -v" {
  queue_of one
  expect_status 123 pull --all --max-attempts 2 -v -- sh -c 'exit 9'
  assert_regex "$stderr" "zklock: item token-0000000000 of /q was not done: exit status 9 \(attempt 1 of 2\)"
  assert_regex "$stderr" "zklock: item token-0000000000 of /q goes to the dead letters: exit status 9 \(attempt 2\)"
}

@test "options that need a command, or do not go with one, are refused" {
  for option in -I{} -j2 --max-attempts=3 --retry-delay=1s --halt; do
    expect_error 64 "needs a command" zklock queue pull "$option" /q
  done
  for option in -0 --whole; do
    expect_error 64 "is for items on standard output" zklock queue pull "$option" /q -- true
  done
  expect_error 64 "bad number '0' for --jobs" zklock queue pull -j 0 /q -- true
  expect_error 64 "bad number 'x' for --max-attempts" zklock queue pull --max-attempts x /q -- true
  expect_error 64 "more than the longest, 1m" zklock queue pull --retry-delay 2m /q -- true
  expect_error 64 "no command behind --" zklock queue pull /q --
  expect_error 64 "unexpected argument 'fetch': write -- before the command" zklock queue pull /q fetch
}

@test "a dead letter that is there already keeps the item where it is: 65" {
  queue_of bad
  znode create /q/dead/100-0000000000 '' "/q/dead/100-0000000000/token-0000000000" old
  expect_status 65 pull -- sh -c 'exit 65'
  assert_equal "$(tail -1 <<<"$stderr")" "zklock: cannot make $(item 0) a dead letter: /q/dead/100-0000000000/token-0000000000 is there already; requeue or purge that one first"
  assert_equal "$(znode get "$(item 0)") $(znode get /q/dead/100-0000000000/token-0000000000)" "bad old"
}
