#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --report: it writes one line of JSON for each run, whatever that ends with.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# reported FILTER WANTED [LINE]: jq's FILTER makes WANTED of the only line of the file `report`, or of this one of
# several.
reported() {
  if (($# < 3)); then assert_equal "$(wc -l <report)" 1; fi
  assert_equal "$(sed -n "${3:-1}p" report | jq -c "$1")" "$2"
}

readonly how='[.path // .paths, .status, .end, .signal, .held != null]'

# ends STATUS HOW ARG…: zklock run ends with that status, and its line says HOW.
ends() {
  rm -f report
  expect_status "$1" zklock run --report report "${@:3}"
  reported "$how" "$2"
}

@test "a command that ends well, that fails, and that dies of a signal" {
  ends 0 '["/l",0,"exited",null,true]' /l -- true
  ends 3 '["/l",3,"exited",null,true]' /l -- sh -c 'exit 3'
  ends 143 '["/l",143,"signal","TERM",true]' /l -c 'kill -TERM $$'
  ends 139 '["/l",139,"signal","SEGV",true]' /l -c 'kill -SEGV $$'
}

@test "who, when, and for how long" {
  local before began
  before=$(date -u +%FT%TZ)
  began=$(now_us)
  # shellcheck disable=SC2016
  expect_status 0 zklock run --report report --label 'a "b"' --min-hold 1s /l -c 'echo "$ZKLOCK_TOKEN" >token'
  reported "(.waited + .held) * 1000000 <= $(($(now_us) - began))" true
  reported '[.host, .user, .command, .label, .token]' "$(jq -c -n --arg host "$(hostname)" --arg user "$(id -un)" \
    --slurpfile token token '[$host, $user, "sh", "a \"b\"", $token[0]]')"
  reported '.held >= 1 and .waited >= 0 and (.pid | type) == "number"' true
  assert [ "$(jq -r .started report)" '>' "$before" -o "$(jq -r .started report)" = "$before" ]
}

@test "how long it waited, and that it was busy: with the status that -E asks for" {
  hold h /l
  ends 75 '["/l",75,"busy",null,false]' -q -w 2s /l -- true
  reported '.waited >= 2 and .token == null' true
  ends 0 '["/l",0,"busy",null,false]' -nqE0 /l -- true
  local began waiter
  began=$(now_us)
  background zklock run --report waited /l -- true
  waiter=$!
  wait_until "it waits" has_nodes /l 2
  expect_status 75 zklock run -q -w 1s /l -- true
  let_all_go h
  expect_end 0 $waiter
  mv waited report
  reported ".waited >= 1 and (.waited + .held) * 1000000 <= $(($(now_us) - began))" true
  reported "$how" '["/l",0,"exited",null,true]'
}

@test "a signal while it waits" {
  hold h /l
  stand w /l --report report
  kill -TERM "${pid[w]}"
  expect_end 143 "${pid[w]}"
  reported "$how" '["/l",143,"signal","TERM",false]'
  let_all_go h
}

@test "the lock is lost" {
  hold h --report report /l
  znode rm "$(its_node)"
  expect_end 76 "${pid[h]}"
  reported "$how" '["/l",76,"lost",null,true]'
}

@test "no server answers; a queue; a command that is not there, or is no program" {
  ends 69 '["/l",69,"unreachable",null,false]' -S 127.0.0.1:1 --connect-timeout 300ms /l -- true
  zklock queue push /q item
  ends 65 '["/q",65,"misfit",null,false]' /q -- true
  ends 127 '["/l",127,"not-run",null,false]' /l -- no-such-command
  ends 126 '["/l",126,"not-run",null,false]' /l -- /
  printf '#!/no/such/interpreter\n' >script
  chmod +x script
  ends 127 '["/l",127,"not-run",null,true]' /l -- ./script
}

@test "who may not: refused" {
  need_no_identity
  ZKLOCK_AUTH=digest:one:secret expect_status 0 zklock value set --acl creator /l/x text
  ZKLOCK_AUTH=digest:two:secret ends 77 '["/l/x",77,"refused",null,false]' /l/x -- true
}

@test "--once-per: a run that was skipped" {
  ends 0 '["/l",0,"exited",null,true]' --once-per 1h /l -- true
  ends 0 '["/l",0,"skipped",null,true]' -qE0 --once-per 1h /l -- true
}

@test "several locks, slots, any of several, and one inside the same one" {
  ends 0 '[["/a","/b"],0,"exited",null,true]' /b /a -- true
  reported '.tokens | length' 2
  ends 0 '["/s",0,"exited",null,true]' --slots 2 /s -- true
  hold h /i/0
  ends 0 '["/i/1",0,"exited",null,true]' --any /i/0 /i/1 -- true
  hold k /i/1
  ends 75 '[["/i/1","/i/0"],75,"busy",null,false]' -nq --any /i/1 /i/0 -- true
  let_all_go h k
  rm report
  expect_status 5 zklock run --report report /l -- "$ZKLOCK_BIN" run --report report /l -- sh -c 'exit 5'
  assert_equal "$(jq -c "$how" report)" $'["/l",5,"exited",null,true]\n["/l",5,"exited",null,true]'
  assert_equal "$(jq .token report | uniq | wc -l)" 1
}

@test "--restart: a line for each run; a signal in the pause has one too" {
  # shellcheck disable=SC2016
  background zklock run --restart --report report /l -- sh -c 'echo >>runs; exec sleep 600' 2>stderr
  wait_until "it runs" test -s runs
  znode rm "$(its_node)"
  wait_until "it runs again" eval '(($(wc -l <runs) == 2))'
  reported "$how" '["/l",76,"lost",null,true]'
  reported .status 76 1
  znode rm "$(its_node)"
  wait_for "trying again in 2.0s" stderr
  kill -TERM $!
  expect_end 143 $!
  reported "$how" '["/l",76,"lost",null,true]' 2
  reported '.waited >= 1' true 2
  reported "$how" '["/l",143,"signal","TERM",false]' 3
  assert_equal "$(wc -l <report)" 3
}

@test "a mistake in the command line writes nothing, nor does a zklock that is killed" {
  expect_status 64 zklock run --report report --slots 0 /l -- true
  expect_status 64 zklock run --report report /l
  assert [ ! -e report ]
  expect_status 64 zklock run --report report --grace 1h /l -- true
  expect_status 64 zklock run --report report -s /l -- "$ZKLOCK_BIN" run --report inner /l -- true
  assert [ ! -s inner ]
  rm -f report
  hold h --report report /l
  kill -KILL "${pid[h]}"
  wait_gone "${pid[h]}"
  wait_until "the lock is free" expect_status 0 zklock run -n /l -- true
  assert [ ! -s report ]
}

@test "a file that cannot be written to: 64, and nothing is begun" {
  mkfifo fifo
  expect_error 64 "cannot write to 'fifo': nobody reads it" zklock run --report fifo /l -- touch ran
  expect_error 64 "cannot write to '.': Is a directory" zklock run --report . /l -- touch ran
  expect_error 64 "cannot write to 'no/file': No such file" zklock run --report no/file /l -- touch ran
  expect_error 64 "cannot write to '': " zklock run --report '' /l -- touch ran
  expect_error 64 "cannot write to '/dev/fd/99': Bad file" zklock run --report /dev/fd/99 /l -- touch ran
  # shellcheck disable=SC2016
  expect_error 64 "cannot write to '-': Bad file" sh -c '"$ZKLOCK_BIN" run --report - /l -- touch ran >&-'
  assert [ ! -e ran ]
  assert_untouched
}

@test "the disk is full: one line says so, and the status is the command's" {
  expect_error 4 "cannot write the report to '/dev/full': No space left" zklock run --report /dev/full /l -- sh -c 'exit 4'
}

@test "a reader that goes, or takes nothing any more, does not hold up the end" {
  mkfifo fifo
  exec 7<>fifo
  # shellcheck disable=SC2016
  background zklock run --report fifo /l -c 'touch runs; until [ -e go ]; do sleep 0.02; done; exit 5' 2>stderr
  wait_until "it runs" test -e runs
  # shellcheck disable=SC2094
  dd if=/dev/zero of=fifo bs=4096 count=1000 oflag=nonblock 2>/dev/null || true
  touch go
  expect_end 5 $!
  assert_equal "$(<stderr)" "zklock: cannot write the report to 'fifo': its reader takes nothing"
  assert_no_nodes /l
  rm go runs
  # shellcheck disable=SC2016
  background zklock run --report fifo /l -c 'touch runs; until [ -e go ]; do sleep 0.02; done; exit 5' 2>stderr 7<&-
  wait_until "it runs" test -e runs
  exec 7<&-
  touch go
  expect_end 5 $!
  assert_equal "$(<stderr)" "zklock: cannot write the report to 'fifo': Broken pipe"
}

@test "standard output gets it behind what the command prints" {
  expect_status 0 zklock run --report - /l -- echo text
  assert_equal "${lines[0]} $(jq -c "$how" <<<"${lines[1]}")" 'text ["/l",0,"exited",null,true]'
}

@test "a descriptor of the caller's: the command does not have it, and its reader is done when zklock is" {
  mkfifo fifo
  background cat fifo >report
  # What the command leaves behind runs on.
  # shellcheck disable=SC2016
  expect_status 0 "$ZKLOCK_BIN" run --report /dev/fd/7 /l -c 'ls /proc/$$/fd >fds; sleep 600 >/dev/null 2>&1 &' 7>fifo
  expect_end 0 $!
  reported "$how" '["/l",0,"exited",null,true]'
  refute grep -qx 7 fds
  expect_status 0 "$ZKLOCK_BIN" run --report named /l -c 'ls -l /proc/self/fd'
  refute_output --partial named
}

@test "a file that is renamed while the command runs: the line is in the new one" {
  echo old >report
  hold h --report report /l
  mv report report.1
  let_all_go h
  reported "$how" '["/l",0,"exited",null,true]'
  assert_equal "$(<report.1)" old
}

@test "a file that is gone, and cannot be made again: one line says so; one that is merely renamed has it" {
  mkdir folder
  hold h --report folder/report /l
  rm -r folder
  let_all_go h
  assert_equal "$(<h.err)" "zklock: cannot write the report to 'folder/report': No such file or directory"
  mkdir folder
  hold i --report folder/report /l
  mv folder/report report
  rmdir folder
  let_all_go i
  assert_equal "$(<i.err)" ""
  reported "$how" '["/l",0,"exited",null,true]'
}

@test "twenty at once append to one file: twenty whole lines, behind what stood there" {
  local n label pids=()
  label=$(printf 'x%.0s' {1..9000})
  echo '"first"' >report
  for n in {1..20}; do
    background zklock run --report report --label "$label$n" --slots 20 /s -c 'until [ -e go ]; do sleep 0.02; done'
    pids+=($!)
  done
  wait_until "all hold a slot" has_nodes /s/leases 20
  touch go
  for n in "${pids[@]}"; do expect_end 0 "$n"; done
  assert_equal "$(head -n 1 report | cut -c-80)" '"first"'
  assert_equal "$(tail -n +2 report | jq -r .label | sort -u | wc -l) $(wc -l <report)" "20 21"
}
