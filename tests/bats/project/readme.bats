#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Acts as a new user who has README.md alone: runs what it says to type, and checks that it does what it says. Numbers,
# times, ids and hosts are not compared; all else is.

load ../helpers

setup() {
  setup_zk
  mkdir bin
  ln -s "$ZKLOCK_BIN" bin/zklock
  export PATH=$PWD/bin:$PATH
}

teardown() {
  end_all
  if [[ -e own ]]; then stop_ensemble; fi
}

# block KIND TEXT: prints the block of that kind whose first line contains TEXT.
block() {
  awk -v kind="$1" -v text="$2" '
    /^```$/ { inside = 0 }
    first { inside = index($0, text); first = 0 }
    inside
    $0 == "```" kind { first = 1 }' "$repo/README.md"
}

# inline TEXT: prints the command within the text that begins with TEXT.
inline() { tr '\n' ' ' <"$repo/README.md" | grep -o "\`$1[^\`]*\`" | tr -d '\`' | head -n 1; }

# stand_in NAME: makes a program of that name from the text on standard input.
stand_in() {
  cat >"bin/$1"
  chmod +x "bin/$1"
}

# Makes a script of the commands of a console block, which repeats each before its output. What runs in the background
# prints nothing, and is in place before the next one comes.
script_of() {
  cat <<'END'
say() { local status=$?; printf '$ %s\n' "$1"; return "$status"; }
settle() { local i; [[ ${1-} ]] || return; for i in {1..400}; do [[ $(znode ls "$1" 2>/dev/null) ]] && return; sleep 0.05; done; }
END
  while IFS= read -r line; do
    [[ $line == '$ '* ]] || continue
    line=${line#'$ '}
    printf 'say %q\n' "$line"
    if [[ $line == *' &' ]]; then
      printf '%s >>background.out 2>&1 &\nsettle %s\n' "${line% &}" "$(grep -oE '/(locks|groups)/[a-z]+' <<<"$line")"
    else
      printf '%s\n' "${line//zk1,zk2,zk3/${servers:-}}"
    fi
  done
}

# Replaces what may differ from one run to the next.
normalize() {
  sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z +[^ ]+ +[0-9]+ +[^ ]+ /TIME HOST PID USER /' \
    -e 's/(held by |host=)[^ ]+/\1HOST/; s/\(pid [0-9]+/(pid N/; s/time=[^ ]+/time=TIME/' \
    -e 's/[0-9a-f]{12}-[0-9]{10}/ID/g; s/0x[0-9a-f]+/X/g; / serving /s/ [0-9.]+/ N/g' \
    -e 's/(^| )([0-9]+(\.[0-9]+)?(ms|s|m|h))+/\1SPAN/g; s/ +/ /g'
}

# play TEXT: runs the console block whose first line contains TEXT.
play() {
  block console "$1" >promised
  [[ -s promised ]] || fail "README.md has no console block that begins with: $1"
  script_of <promised >script
  timeout 60 bash script >shown 2>&1
  local address number=0 list=${servers:-}
  for address in ${list//,/ }; do sed -i "s/$address/zk$((++number)):2181/g" shown; done
  diff <(normalize <promised) <(normalize <shown) || fail "README.md promises other things (-) than there were (+)"
}

# on_host LINE: does what cron does there for the line of the crontab that contains LINE.
on_host() {
  local table job
  table=$(block crontab ZKLOCK_SERVERS=zk1,zk2,zk3)
  job=$(grep -F "$1" <<<"$table" | cut -d ' ' -f 6-)
  [[ $job ]] || fail "README.md has no crontab with: $1"
  /bin/sh -c "$job"
}

# begin_host LINE NAME: does so in the background.
begin_host() { on_host "$1" >"$2.out" 2>"$2.err" 3>&- & }

items_are() { [[ $(zklock queue count /queues/urls) == "items $1"$'\n'"dead $2" ]]; }

has_lines() { (($(wc -l <"$1") == $2)); }

@test "README: every console block is run by a test here" {
  sed -n "s/^  play '\(.*\)'/\1/p" "$BATS_TEST_FILENAME" >played
  awk '/^```console$/ { getline; print }' "$repo/README.md" >blocks
  assert [ -s blocks ]
  assert_equal "$(grep -vFf played blocks)" ""
}

@test "README: first steps" {
  play 'nightly backup'
}

has_config() { [[ $(tail -n 1 app.conf) == "$1" ]]; }

@test "README: configuration, and the write that only a holder can make" {
  play 'value set /app/config'
  wait_until "the daemon has the last one" has_config 'workers = 8'
  # The lock is lost, and the write comes late.
  zklock run /locks/deploy -- sh -c 'echo "$ZKLOCK_NODE" >node'
  ZKLOCK_NODE=$(<node) expect_error 76 "cannot set /app/version" \
    sh -c "$(sed -n 's/^\$ zklock run .* -- zklock \(value set --fenced .*\)/zklock \1/p' promised)"
}

@test "README: a cron job runs on one host; the others say nothing" {
  stand_in fetch-feed <<<'#!/bin/sh
echo begun >>feeds; until [ -e go ]; do sleep 0.02; done'
  begin_host fetch-feed web1
  local first=$!
  wait_until "one host fetches" test -s feeds
  for _ in web2 web3 web4; do
    expect_status 0 on_host fetch-feed
    assert_equal "$output$stderr" ""
  done
  touch go
  expect_end 0 "$first"
  assert has_lines feeds 1
  assert_equal "$(cat web1.out web1.err)" ""
}

@test "README: a cron job on an ensemble that does not answer is a line for the mail" {
  stand_in fetch-feed <<<'#!/bin/sh'
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=500ms expect_status 69 on_host fetch-feed
  assert_regex "$stderr" '^zklock: [^'$'\n'']+$'
}

@test "README: the backup is made once a night, and again if it failed" {
  stand_in backup <<<'#!/bin/sh
echo "$1" >>backups; [ -e works ]'
  expect_status 1 on_host backup
  touch works
  expect_status 0 on_host backup
  expect_status 0 on_host backup
  assert_equal "$output$stderr" ""
  assert_equal "$(cat backups)" $'/srv\n/srv'
}

@test "README: a crawler's queue with two workers, of which one is killed" {
  local worker urls
  stand_in fetch <<<'#!/bin/bash
read -r url
case $url in */gone) exit 65 ;; esac
echo "$url" >>begun; until [ -e go ]; do sleep 0.02; done; echo "$url" >>fetched'
  export ZKLOCK_SESSION_TIMEOUT=1s
  play '>urls.txt'
  block sh 'zklock queue pull' >worker
  sed -i 's/^/exec /' worker
  background sh worker 2>one.err
  worker=$!
  wait_until "all are begun, one is dead" eval 'items_are 3 1 && has_lines begun 3'
  background sh worker 2>two.err
  kill -KILL "$worker"
  wait_until "the other worker has them" has_lines begun 6
  touch go
  wait_until "the queue is empty" items_are 0 1
  mapfile -t urls < <(sort fetched)
  assert_equal "${urls[*]}" "http://example.org/one http://example.org/three http://example.org/two"
  expect_status 0 sh -c "$(inline 'zklock queue requeue') /queues/urls"
  wait_until "it is tried again, and dies again" items_are 0 1
}

@test "README: a health check of an ensemble with a dead server" {
  ensemble --tick 500
  touch own
  local leader dead other servers
  leader=$(zk_sandbox leader)
  dead=$((leader % 3 + 1)) other=$((dead % 3 + 1))
  servers=$(zk_sandbox address "$other"),$(zk_sandbox address "$leader"),$(zk_sandbox address "$dead")
  zk_sandbox kill "$dead"
  wait_until "the leader knows" eval 'zklock health -S "$servers" | grep "1 in sync"'
  play 'zklock -S zk1,zk2,zk3 health -q'
}

@test "README: who holds it, and how to get it back" {
  play 'release 4.2'
  wait_for "revoked (zklock break)" background.out
}

@test "README: between the steps of a rollout, two hosts that have joined are waited for" {
  local joined
  stand_in server <<<'#!/bin/sh
exec sleep 60'
  background sh -c "exec $(inline 'zklock group join')"
  expect_status 75 sh -c "$(inline 'zklock group wait') -w 0.2"
  background sh -c "exec $(inline 'zklock group join')"
  joined=$(inline 'zklock group wait')
  expect_status 0 timeout 20 sh -c "$joined"
}

@test "README: without an ensemble, a shell that has one" {
  ln -s "$repo/scripts/zk-sandbox" bin/zklock-sandbox
  expect_status 0 sh -c "echo 'zklock run /l -- echo hi' | env -u ZKLOCK_SERVERS $(inline zklock-sandbox)"
  assert_equal "$output" hi
}

# Makes a tree in which README's first commands do all but install and compile: what is built is there.
fresh_tree() {
  mkdir -p tree/scripts tree/tests tree/build
  cp "$repo"/scripts/{try,test,zk-sandbox} tree/scripts
  cp -r "$repo/tests/check" tree/tests
  printf '#!/bin/sh\necho "$*" >>../setup.log\n' >tree/scripts/setup
  chmod +x tree/scripts/setup
  stand_in cmake <<<"#!/bin/sh
ln -sf '$ZKLOCK_BIN' build/zklock"
  unset ZKLOCK_SERVERS
  cd tree || return
}

@test "README: the first command runs a job, at a terminal and without one" {
  local command
  command=$(block sh scripts/try | sed -n '/^scripts\/try/p')
  fresh_tree
  expect_status 0 bash -c "$command"
  assert_output hello
  need_terminal
  background pty ../screen bash -c "$command"
  expect_end 0 $!
  tr '\r' '\n' <../screen | grep -qx hello
  assert_equal "$(sort -u ../setup.log)" "--ask build sandbox"
}

@test "README: the second command tests what has changed, at a terminal and without one" {
  local command
  command=$(block sh scripts/try | sed -n '/^scripts\/test/p')
  fresh_tree
  # Each part is what README says that it is, except for what it runs.
  printf 'print("checked:", *sys.argv[1:])\n' >tests/check/run && sed -i '1i import sys' tests/check/run
  expect_status 0 bash -c "$command"
  assert_output "checked: quick"
  need_terminal
  background pty ../screen bash -c "$command"
  expect_end 0 $!
  assert grep -q '^checked: quick' ../screen
  assert_equal "$(sort -u ../setup.log)" "build sandbox test check"
}

@test "README: has at most 1,300 words" {
  assert [ "$(sed 's/<!--[^>]*-->//g' "$repo/README.md" | wc -w)" -le 1300 ]
}

@test "README: over TLS a lock is for who has the subject of the certificate" {
  stand_in backup <<<'#!/bin/sh
echo "$1" >>backups'
  ensemble --servers 1 --tls
  touch own
  cat "$ZKLOCK_TLS_CERT" "$ZKLOCK_TLS_KEY" >jobs.pem
  chmod 600 jobs.pem
  block sh ZKLOCK_SERVERS=tls:// |
    sed "s,tls://.*,$ZKLOCK_SERVERS,; s,[^=]*/ca.pem,$ZKLOCK_TLS_CA,; s,[^=]*/jobs.pem,$PWD/jobs.pem," >script
  unset ZKLOCK_SERVERS ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY
  expect_status 0 sh -e script
  assert_equal "$(<backups)" /srv
  expect_error 77 "the ACL there does not allow it" zklock -S "$ZKLOCK_PLAIN_SERVERS" show /locks/backup
}
