#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Runs the examples of zklock-recipes(7), as they are in the page, and checks that they do what it says. Programs other
# than zklock are stand-ins of the names that the page uses.

load ../helpers
load ../recipes

setup() {
  setup_zk
  mkdir bin
  ln -s "$ZKLOCK_BIN" bin/zklock
  export PATH=$PWD/bin:$PATH BATS_TEST_TMPDIR
}

teardown() {
  end_all
  if [[ -e own ]]; then stop_ensemble; fi
}

# --- cron ----------------------------------------------------------------------------------------

@test "cron: one host runs the job, the others skip it silently, and a dead ensemble is reported" {
  stand_in fetch-feed
  crontab_line CRON 1 line
  expect_status 0 sh line
  assert_equal "$output$stderr" ""
  assert_runs fetch-feed 1
  hold other /locks/feed
  expect_status 0 sh line
  assert_equal "$output$stderr" ""
  assert_runs fetch-feed 1
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms expect_error 69 127.0.0.1:1 sh line
  let_all_go other
}

@test "cron: once a day, and again if it failed" {
  stand_in report '[ -e works ]'
  crontab_line CRON 2 line
  expect_status 1 sh line
  touch works
  expect_status 0 sh line
  assert_runs report 2
  expect_status 0 sh line
  assert_equal "$output$stderr" ""
  assert_runs report 2
}

@test "cron: a quick job is not run again by a host whose clock is late" {
  stand_in tick
  crontab_line CRON 3 line
  background sh line
  wait_until "it was run" was_run tick 1
  expect_status 0 sh line
  assert_equal "$output$stderr" ""
  assert_runs tick 1
}

# --- scripts -------------------------------------------------------------------------------------

@test "a script that locks itself: it runs once at a time, with its arguments" {
  # shellcheck disable=SC2016
  stand_in job 'until [ -e go ]; do sleep 0.02; done; printf "<%s>" "$@"; exit 3'
  script "A SCRIPT THAT LOCKS ITSELF" 1 myself
  background ./myself "a b" c >out
  local first=$!
  wait_until "it runs" was_run job 1
  expect_error 75 "cannot take /locks/job: held by " ./myself
  touch go
  expect_end 3 "$first"
  assert_equal "$(<out)" "<a b><c>"
  assert_runs job 1
  assert_no_nodes /locks/job
}

@test "a part of a script that is locked: only that part, and its failure ends the script" {
  local name
  for name in fetch-release announce; do stand_in "$name" '! zklock show -q /locks/deploy || touch locked'; done
  stand_in install-release 'zklock show -q /locks/deploy && [ ! -e broken ] || exit 4'
  stand_in restart-service 'zklock show -q /locks/deploy'
  script "A SCRIPT THAT LOCKS ITSELF" 2 deploy
  expect_status 0 ./deploy "4 2"
  assert [ ! -e locked ]
  assert_equal "$(cat {fetch-release,install-release,restart-service,announce}.ran)" $'4 2\n4 2\n\n4 2'
  touch broken
  expect_status 4 ./deploy "4 3"
  assert_runs restart-service 1
  assert_runs announce 1
}

@test "set -e: busy, lost and failed are told apart" {
  stand_in publish-report
  # shellcheck disable=SC2016
  stand_in make-report 'read -r how <how; case $how in lose) znode rm "$ZKLOCK_NODE"; sleep 60 ;; *) exit $how ;; esac'
  script "SCRIPTS WITH SET -E OR WHILE READ" 1 it
  echo 0 >how
  expect_status 0 ./it
  assert_runs publish-report 1
  echo 7 >how
  expect_status 7 ./it
  echo lose >how
  expect_status 76 ./it
  assert_regex "$stderr" "lost the lock, the report is half$"
  hold other /locks/report
  expect_status 0 ./it
  assert_equal "$output" "another host is at it"
  let_all_go other
  assert_runs publish-report 1
  assert_runs make-report 3
}

@test "while read: a command that reads does not eat the list" {
  stand_in update 'cat >>eaten'
  example "SCRIPTS WITH SET -E OR WHILE READ" 2 loop
  printf '%s\n' web1 web2 web3 >hosts.txt
  expect_status 0 sh -e loop
  assert_equal "$(<update.ran) $(cat eaten)" $'web1\nweb2\nweb3 '
}

@test "in a pipe the command reads what comes" {
  stand_in dump-table 'seq 100000'
  stand_in load-table 'cat >loaded'
  example "SCRIPTS WITH SET -E OR WHILE READ" 3 pipe
  expect_status 0 sh pipe
  cmp loaded <(seq 100000)
}

# --- services ------------------------------------------------------------------------------------

readonly standby="ONE HOST ACTIVE, THE OTHERS STANDING BY"

# start_unit NAME: runs the unit's line, like a host of that name.
start_unit() {
  background env HOST="$1" sh line 2>"$1.err"
  pid[$1]=$!
}

active() { [[ $(tail -n 1 active 2>/dev/null) == "$1" ]]; }

setup_importer() {
  # shellcheck disable=SC2016
  stand_in importer 'echo "$HOST" >>active; exec sleep 600'
  unit_line "$standby" 1 line
  start_unit a
  wait_until "a is active" active a
  start_unit b
  wait_until "b stands by" has_nodes /services/importer 2
}

@test "a service on one host: when it is stopped, or fails, the next one takes over" {
  export ZKLOCK_SESSION_TIMEOUT=1s
  setup_importer
  kill -TERM "${pid[a]}"
  wait_until "b is active" active b
  wait_gone "${pid[a]}"
  start_unit c
  wait_until "c stands by" has_nodes /services/importer 2
  kill -KILL "${pid[b]}"
  wait_until "c is active" active c
  assert_equal "$(xargs <active)" "a b c"
}

@test "a service on one host: who is active, and how to have the next one take over" {
  setup_importer
  example "$standby" 3 who
  expect_status 0 sh who
  assert_equal "$output" "$(hostname)"
  example "$standby" 4 next
  expect_status 0 sh next
  wait_until "b is active" active b
  wait_until "a stands in line again" has_nodes /services/importer 2
  assert_equal "$(xargs <active)" "a b"
}

@test "systemd has nothing to say about the units" {
  example "$standby" 1 importer.service
  example "$standby" 2 notify
  command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
  sed "/^\[Service/{r notify
    d}" importer.service >notify.service
  example "ROLLING RESTART OF A FLEET" 1 web.service
  example "CONFIGURATION THAT IS RELOADED" 2 follow.service
  # The units get a program that is there.
  sed -Ei 's,/usr/(local/)?s?bin/(zklock|importer|httpd|install-config),/bin/true,' ./*.service
  expect_status 0 systemd-analyze verify "$PWD"/*.service
  assert_equal "$(grep -F "$PWD" <<<"$stderr")" ""
}

# --- numbers -------------------------------------------------------------------------------------

@test "a number for each host: the first that is free, the same one for what runs inside, and who has which" {
  script "A NUMBER FOR EACH HOST" 1 numbered
  hold zero /ids/0
  expect_status 0 ./numbered sh -c 'echo "$WORKER_ID"; ./numbered printenv WORKER_ID'
  assert_equal "$output" $'1\n1'
  example "A NUMBER FOR EACH HOST" 2 line
  expect_status 0 sh line
  assert_equal "$(column LOCK)" /ids/0
  let_all_go zero
}

# --- a fleet -------------------------------------------------------------------------------------

readonly fleet="ROLLING RESTART OF A FLEET"

members() { zklock group list -q --at-least "$1" /groups/web; }

# Starts six members. `systemctl restart web` ends the one of its host, notes how many are left, and starts it again
# unless the host is broken.
setup_fleet() {
  stand_in httpd 'exec sleep 600'
  unit_line "$fleet" 1 unit_start
  cat >start <<'END'
    setsid sh unit_start >/dev/null 2>&1 3>&- &
    echo $! >"$HOST.pid"
END
  # shellcheck disable=SC2016
  stand_in systemctl 'pid=$(<"$HOST.pid"); kill "$pid"
    tail -s 0.1 --pid="$pid" -f /dev/null
    zklock group list /groups/web | wc -l >>left
    [ -e "$HOST.broken" ] || . ./start'
  local host
  for host in {1..6}; do HOST=$host bash start; done
  wait_until "all are in" members 6
}

# restart_all STATUS: runs on all hosts at once; each ends with STATUS.
restart_all() {
  local host
  for host in {1..6}; do
    background env HOST="$host" sh rolling >"$host.out" 2>"$host.err"
    pid[web$host]=$!
  done
  for host in {1..6}; do expect_end "$1" "${pid[web$host]}" || return; done
}

@test "a rolling restart: all are restarted, and four of six are always in" {
  setup_fleet
  example "$fleet" 2 rolling
  restart_all 0
  assert_runs systemctl 6
  assert_equal "$(sort -u systemctl.ran)" "restart web"
  assert [ "$(sort -n left | head -n 1)" -ge 4 ]
  wait_until "all are in" members 6
}

@test "a rolling restart: when two do not come back it ends there" {
  setup_fleet
  example "$fleet" 2 rolling
  sed -i 's/-w 10m/-w 1s/' rolling
  touch {1..6}.broken
  restart_all 75
  assert_runs systemctl 2
  members 4
}

# --- values --------------------------------------------------------------------------------------

readonly reload="CONFIGURATION THAT IS RELOADED"

setup_config() {
  stand_in systemctl
  stand_in check-config '! grep -q bad "$1"'
  mkdir etc
  export APP_DIR=$PWD/etc
  example "$reload" 1 write
  unit_line "$reload" 2 follow
  script "$reload" 3 bin/install-config
  echo one >app.conf
  expect_status 0 sh write
}

is_config() { [[ $(cat etc/app.conf) == "$1" ]]; }

write_config() {
  echo "$1" >app.conf
  expect_status 0 sh write
}

@test "configuration: at the start and after each change it is installed and the daemon reloaded" {
  setup_config
  background sh follow 2>follow.err
  wait_until "it is there" is_config one
  write_config two
  wait_until "it has changed" is_config two
  wait_until "it was reloaded twice" was_run systemctl 2
  assert_equal "$(sort -u systemctl.ran)" "reload app"
  write_config bad
  wait_until "it was looked at" was_run check-config 3
  wait_for "zklock: " follow.err
  is_config two
  zklock value delete /app/config
  write_config three
  wait_until "it has changed" is_config three
}

@test "configuration: an edit that somebody else's change comes before is refused, and undoes nothing" {
  setup_config
  script "$reload" 4 edit
  stand_in vi '. ./meanwhile; echo edited >"$1"'
  : >meanwhile
  EDITOR='' expect_status 0 ./edit
  assert_equal "$(zklock value get /app/config)" edited
  echo 'zklock value set /app/config theirs' >meanwhile
  EDITOR='' expect_error 75 "cannot set /app/config: it has version 2" ./edit
  assert_equal "$(zklock value get /app/config)" theirs
}

@test "a feature flag: off until somebody sets it, and without a server" {
  local name
  for name in new old; do stand_in "$name-search"; done
  stand_in announce-search
  script "A FEATURE FLAG" 1 search
  example "A FEATURE FLAG" 2 switch
  expect_status 0 ./search a b
  assert_equal "$stderr" ""
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms expect_error 0 127.0.0.1:1 ./search
  assert_runs old-search 2
  background sh -c "$(tail -n 1 switch)"
  expect_status 0 sh -c "$(head -n 1 switch)"
  expect_status 0 ./search a b
  assert_equal "$(<new-search.ran)" "a b"
  wait_until "it was announced" was_run announce-search 1
}

readonly deployed="A VERSION THAT ONLY THE DEPLOYING HOST CAN SET"

@test "a deployed version: the hosts that use it see the next one" {
  script "$deployed" 1 deploy
  script "$deployed" 2 use
  stand_in install-release
  stand_in use-release
  expect_status 0 ./deploy 4.1
  background ./use
  wait_until "it is in use" was_run use-release 1
  expect_status 0 ./deploy 4.2
  expect_end 0 $!
  assert_equal "$(<use-release.ran)" 4.1
  assert_equal "$(zklock value get /app/version)" 4.2
}

@test "a deployed version: a write that comes after the lock was lost is not made" {
  script "$deployed" 1 deploy
  stand_in install-release 'echo "$ZKLOCK_NODE" >node; [ "$1" != late ] || { znode rm "$ZKLOCK_NODE"; sleep 60; }'
  expect_status 76 ./deploy late
  expect_status 0 ./deploy 4.2
  ZKLOCK_NODE=$(<node) expect_error 76 "cannot set /app/version: " zklock value set --fenced /app/version late
  assert_equal "$(zklock value get /app/version)" 4.2
}

readonly numbers="NUMBERS THAT NOBODY ELSE GETS"

@test "numbers of builds: ten at once are ten numbers" {
  local n
  example "$numbers" 1 next
  echo 'echo "$number" >>given' >>next
  for n in {1..10}; do
    background sh next
    pid[h$n]=$!
  done
  for n in {1..10}; do expect_end 0 "${pid[h$n]}"; done
  assert_equal "$(sort -n given | xargs)" "0 1 2 3 4 5 6 7 8 9"
}

@test "a stock: nobody takes what is not there, however many do it at once" {
  local n got=0 status
  script "$numbers" 2 take
  expect_error 1 "cannot get /stock: there is no such node" ./take /stock 3
  zklock value set /stock 11
  for n in {1..5}; do
    background ./take /stock 3 >"left.$n" 2>"err.$n"
    pid[h$n]=$!
  done
  for n in {1..5}; do
    status=0
    wait "${pid[h$n]}" || status=$?
    ((status == 1)) || { ((status == 0)) && got=$((got + 1)); } || fail "$status: $(cat err."$n")"
    assert_equal "$(<"err.$n")" ""
  done
  assert_equal "$got" 3
  assert_equal "$(cat left.* | sort -n | xargs)" "2 5 8"
  assert_equal "$(zklock value get /stock)" 2
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms expect_error 69 127.0.0.1:1 ./take /stock 1
}

readonly latch="A LATCH, AND A BARRIER ON BOTH SIDES"

@test "a latch: who waits goes on when it is opened, who comes later at once" {
  stand_in import
  stand_in report
  example "$latch" 1 waiter
  example "$latch" 2 opener
  background sh waiter
  expect_status 0 sh opener
  expect_end 0 $!
  expect_status 0 sh waiter
  assert_runs report 2
}

@test "a barrier: three begin together and go on together" {
  local n
  stand_in compute 'echo "begin" >>events; sleep 0.$((RANDOM % 5)); echo "end" >>events'
  script "$latch" 3 together
  for n in 1 2 3; do
    background sh -c './together && echo on >>events' 2>"err.$n"
    pid[h$n]=$!
  done
  for n in 1 2 3; do expect_end 0 "${pid[h$n]}"; done
  assert_equal "$(grep -c begin events) $(tail -n 3 events | xargs)" "3 on on on"
}

@test "a barrier: two of three give up" {
  local n
  stand_in compute
  script "$latch" 3 together
  sed -i 's/-w 1h/-w 0.5/' together
  for n in 1 2; do
    background ./together 2>"err.$n"
    pid[h$n]=$!
  done
  for n in 1 2; do expect_end 75 "${pid[h$n]}"; done
  assert_runs compute 0
}

@test "a migration: one makes it, the others wait; where it fails the next one tries" {
  local n
  stand_in migrate-to '[ -e works ]'
  script "A MIGRATION THAT IS MADE ONCE" 1 migrate
  expect_status 1 ./migrate
  expect_error 1 "there is no such node" zklock value get /app/schema-7
  touch works
  for n in 1 2 3; do
    background ./migrate
    pid[h$n]=$!
  done
  for n in 1 2 3; do expect_end 0 "${pid[h$n]}"; done
  assert_runs migrate-to 2
  assert_equal "$(zklock value get /app/schema-7)" "$(hostname)"
}

readonly subtree="A SUBTREE AS A FILE"

# Prints it as paths and values, sorted.
tree_below() { zklock value list -r --json "$1" | jq -c --arg at "$1" '[.path[($at | length):], .value, .value_base64]'; }

@test "a subtree: written to a file and read back, with all bytes" {
  example "$subtree" 1 export
  script "$subtree" 2 import
  example "$subtree" 3 use
  zklock value set /app "the root's"
  printf 'a\0\xff\n' | zklock value set "/app/some bytes"
  printf '\n two\n\n' | zklock value set '/app/a\b/ c "d" $HOME'
  zklock value set /app/empty ''
  zklock value set /app/zero < <(printf 'a\0b')
  zklock value set /app/cache/page old
  expect_status 0 sh export
  ZKLOCK_SERVERS=$ZKLOCK_SERVERS/new expect_status 0 sh -c "$(sed -n 1p use | sed 's/^[^ ]* //')"
  assert_equal "$(ZKLOCK_SERVERS=$ZKLOCK_SERVERS/new tree_below /app)" "$(tree_below /app)"
  assert_equal "$(tree_below /app | wc -l)" 8
  expect_status 0 sh -c "$(sed 1d use)"
  assert_equal "$(tree_below /copy/app)" "$(tree_below /app | grep -v /cache)"
}

@test "a subtree with a queue in it: 65, and the import ends there" {
  script "$subtree" 2 import
  zklock queue push /app/q item
  zklock value set /app/z last
  zklock value list -r --json /app >app.jsonl
  expect_error 65 "cannot set /copy/app/q: " ./import /copy <app.jsonl
  expect_status 1 znode get /copy/app/q
  expect_status 1 znode get /copy/app/z
}

# --- a crawler -----------------------------------------------------------------------------------

readonly crawler="A CRAWLER AND ITS DEAD LETTERS"

count_is() { [[ $(zklock queue count --exact --json /queues/urls) == "$1" ]]; }

# A file named like an address has its code, and a 503 is used only once.
setup_crawler() {
  # shellcheck disable=SC2016
  stand_in curl 'name=${!#}; name=${name##*/}; code=200; [ ! -e "$name" ] || code=$(<"$name")
    [ "$code" != 503 ] || rm "$name"
    echo "$ZKLOCK_ATTEMPT $name" >>attempts
    [[ $1 == -sS && $2 == -o && $4 == -w && $5 == "%{http_code}" ]] && echo "${!#}" >"$3" && printf %s "$code"'
  example "$crawler" 1 push
  script "$crawler" 2 fetch
  printf 'http://web/%s\n' a gone busy b >urls.txt
  echo 404 >gone
  echo 503 >busy
  expect_status 0 sh push
}

pages() { cat ./*.html | sed 's,.*/,,' | sort | xargs; }

@test "a crawler: each address is fetched, what is busy later, what is gone becomes a dead letter and comes back" {
  setup_crawler
  example "$crawler" 3 work
  background sh -c "exec $(<work)" 2>worker.err
  local worker=$!
  wait_until "all is done" count_is '{"items":0,"dead":1,"in_work":0}'
  assert_equal "$(sort attempts | xargs)" "1 a 1 b 1 busy 1 busy 1 gone"
  assert_equal "$(pages)" "a b busy gone"
  rm gone
  example "$crawler" 5 again
  expect_status 0 sh again
  assert_regex "$output" "exit status 65.*http://web/gone"
  wait_until "it is fetched" count_is '{"items":0,"dead":0,"in_work":0}'
  assert_equal "$(tail -n 1 attempts)" "1 gone"
  kill -TERM "$worker"
  expect_end 0 "$worker"
}

@test "a crawler that ends: what follows is done if nothing has become a dead letter" {
  stand_in publish
  setup_crawler
  example "$crawler" 4 all
  expect_status 123 sh all
  assert_runs publish 0
  rm gone
  expect_status 0 sh push
  expect_status 0 sh all
  assert_runs publish 1
}

# --- xargs ---------------------------------------------------------------------------------------

readonly many="XARGS FOR MANY HOSTS"

# Starts two workers, as on two hosts. Broken pictures become dead letters.
setup_pictures() {
  stand_in publish
  # shellcheck disable=SC2016
  stand_in shrink '[[ $(<"$1") != broken ]] || exit 65'
  example "$many" 1 work
  script "$many" 2 publish-pictures
  mkdir folder
  touch folder/{1..9}.png 'folder/a b.png' folder/readme
  local n
  for n in 1 2; do
    background sh -c "exec $(<work)" 2>"worker$n.err"
    pid[worker$n]=$!
  done
}

stop_workers() {
  kill -TERM "${pid[worker1]}" "${pid[worker2]}"
  expect_end 0 "${pid[worker1]}"
  expect_end 0 "${pid[worker2]}"
}

@test "xargs for many hosts: each picture is converted once, then all are published" {
  setup_pictures
  expect_status 0 ./publish-pictures
  assert_equal "$output$stderr" ""
  assert_equal "$(sort shrink.ran)" "$(find . -name '*.png' | sort)"
  assert_runs shrink 10
  assert_runs publish 1
  stop_workers
}

@test "xargs for many hosts: nothing is published if a picture is broken, or if the time is over" {
  setup_pictures
  echo broken >folder/3.png
  expect_error 123 "/queues/pictures: 9 of 10 items done, 1 dead letter" ./publish-pictures
  stop_workers
  sed -i 's/-w 6h/-w 0.1/' publish-pictures
  expect_error 75 "not all is done after 100ms; 10 of 10 items are left in /queues/pictures" ./publish-pictures
  assert_runs publish 0
}

# --- monitoring ----------------------------------------------------------------------------------

# check SERVERS: runs the command as Nagios would.
check() {
  local line
  line=$(sed -n 's/^ *command_line //p' command)
  # shellcheck disable=SC2016
  sh -c "${line//'$ARG1$'/$1}"
}

@test "Nagios: status, line and performance data" {
  example MONITORING 1 command
  expect_status 0 check "$ZKLOCK_SERVERS"
  assert_regex "$output" "^ZOOKEEPER OK - .* \| 'serving'=1;"
  expect_status 2 check 127.0.0.1:1
  assert_regex "$output" "^ZOOKEEPER CRITICAL - .* \| 'serving'=0;"
}

@test "Prometheus: the file is whole, and there when the ensemble is down too" {
  script MONITORING 2 metrics
  mkdir folder
  expect_status 0 ./metrics folder
  assert_equal "$output$stderr$(ls folder)" zookeeper.prom
  assert grep -qx "zklock_health_status 0" folder/zookeeper.prom
  ZKLOCK_SERVERS=127.0.0.1:1 expect_status 0 ./metrics folder
  assert_equal "$(ls folder)" zookeeper.prom
  assert grep -qx "zklock_health_status 2" folder/zookeeper.prom
  expect_status 2 ./metrics no-such-folder
}

readonly alerts="ALERTS ON LOCKS AND QUEUES"

@test "metrics: a file each, whole or as it was before" {
  stand_in logger cat
  script "$alerts" 1 bin/zklock-metrics
  crontab_line "$alerts" 2 line
  mkdir folder
  sed -i 's,zklock-metrics 2,zklock-metrics folder 2,' line
  expect_status 0 zklock queue push /queues/urls one
  expect_status 0 sh line
  assert_equal "$output$stderr$(ls folder)" $'zklock-locks.prom\nzklock-urls.prom\nzklock-web.prom'
  assert_equal "$(grep -h '^zklock' folder/zklock-{urls,web}.prom | grep -v timestamp)" \
    $'zklock_queue_items{queue="/queues/urls",priority="100"} 1\nzklock_queue_dead_items{queue="/queues/urls"} 0
zklock_group_members{group="/groups/web"} 0'
  sha256sum folder/* >before
  ZKLOCK_SERVERS=127.0.0.1:1 ZKLOCK_CONNECT_TIMEOUT=300ms expect_status 0 sh line
  assert_equal "$(grep -c 127.0.0.1:1 <<<"$output")" 3
  expect_status 0 sha256sum --quiet -c before
  assert_equal "$(find folder -mindepth 1 | wc -l)" 3
  expect_status 2 zklock-metrics no-such-folder
}

# judge_alerts: tests by promtool what the file alerts.yml makes of series.
judge_alerts() {
  cat >judged.yml <<'END'
rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'zklock_lock_last_success_timestamp_seconds{lock="/locks/backup"}', values: '60x1700'}
  - {series: 'zklock_lock_first_waiter_timestamp_seconds{lock="/l"}', values: '_x60 3600x100'}
  - {series: 'zklock_queue_dead_items{queue="/q"}', values: '0x60 2x60'}
  - {series: 'zklock_queue_items{queue="/q",priority="100"}', values: '100x60 300x200'}
  - {series: 'zklock_queue_items{queue="/q",priority="7"}', values: '_x60 1x200'}
  - {series: 'node_textfile_mtime_seconds{file="/a/zklock-x.prom"}', values: '60+60x60 3660x100'}
  - {series: 'node_textfile_mtime_seconds{file="/a/other.prom"}', values: '60x200'}
  alert_rule_test:
  - {alertname: BackupTooOld, eval_time: 26h, exp_alerts: []}
  - alertname: BackupTooOld
    eval_time: 26h15m
    exp_alerts: [{exp_annotations: {summary: no backup has succeeded for 26 hours}}]
  - {alertname: LockWaitedFor, eval_time: 119m, exp_alerts: []}
  - alertname: LockWaitedFor
    eval_time: 121m
    exp_alerts:
    - {exp_labels: {lock: /l}, exp_annotations: {summary: /l is waited for for more than an hour}}
  - {alertname: LockWaitedFor, eval_time: 170m, exp_alerts: []}
  - {alertname: DeadLetters, eval_time: 60m, exp_alerts: []}
  - alertname: DeadLetters
    eval_time: 62m
    exp_alerts: [{exp_labels: {queue: /q}, exp_annotations: {summary: '/q: 2 given up on'}}]
  - {alertname: QueueGrows, eval_time: 60m, exp_alerts: []}
  - {alertname: QueueGrows, eval_time: 85m, exp_alerts: []}
  - alertname: QueueGrows
    eval_time: 95m
    exp_alerts: [{exp_labels: {queue: /q}, exp_annotations: {summary: '/q: 201 more than an hour ago'}}]
  - {alertname: QueueGrows, eval_time: 130m, exp_alerts: []}
  - {alertname: ZklockMetricsOld, eval_time: 70m, exp_alerts: []}
  - alertname: ZklockMetricsOld
    eval_time: 72m
    exp_alerts:
    - exp_labels: {file: /a/zklock-x.prom}
      exp_annotations: {summary: /a/zklock-x.prom is not written any more}
- interval: 1m
  alert_rule_test:
  - alertname: BackupTooOld
    eval_time: 11m
    exp_alerts: [{exp_annotations: {summary: no backup has succeeded for 26 hours}}]
END
  promtool test rules judged.yml
}

@test "alerts: promtool has nothing to say, and each comes when it should and goes" {
  example "$alerts" 3 alerts.yml
  expect_status 0 promtool check rules --lint=all --lint-fatal alerts.yml
  assert_output --partial "SUCCESS: 5 rules found"
  expect_status 0 judge_alerts
}

# --- accounting ----------------------------------------------------------------------------------

@test "how long jobs wait: a histogram, and how often each lock was held, busy and lost" {
  local jobs="HOW LONG JOBS WAIT FOR EACH OTHER"
  stand_in deploy
  example "$jobs" 1 run
  example "$jobs" 2 histogram
  example "$jobs" 3 table
  expect_status 0 sh run
  assert_equal "$(jq -r .end runs.jsonl)" exited
  printf '%s\n' >runs.jsonl '{"path":"/a","waited":0.004,"held":0,"end":"exited"}' \
    '{"path":"/a","waited":10,"held":2.5,"end":"lost"}' '{"path":"/b","waited":60,"end":"busy"}' \
    '{"path":"/b","waited":11.2,"held":1,"end":"signal"}' '{"path":"/a","waited":3,"held":1,"end":"exited"}'
  expect_status 0 sh histogram
  assert_equal "$output" $'up to 1 s: 1\nup to 10 s: 2\nup to 100 s: 1'
  expect_status 0 sh table
  assert_equal "$(jq -c . <<<"$output")" '{"path":"/a","held":3,"seconds":3.5,"busy":0,"lost":1}
{"path":"/b","held":1,"seconds":1,"busy":1,"lost":0}'
}

# --- a database ----------------------------------------------------------------------------------

readonly database="A FENCING TOKEN IN A DATABASE"

saved() { sqlite3 state.db "SELECT value FROM state"; }

@test "the fencing token: what an earlier holder writes late is refused" {
  # shellcheck disable=SC2016
  stand_in make-report 'date "+it'\''s %s%N" | tee report.txt >>reports; echo "$ZKLOCK_TOKEN" >>tokens'
  example "$database" 1 create
  script "$database" 2 save-report
  example "$database" 3 run
  expect_status 0 sh create
  local n
  for n in 1 2; do
    expect_status 0 sh run
    assert_equal "$(saved)" "$(sed -n "${n}p" reports)"
  done
  echo late >report.txt
  expect_status 1 env ZKLOCK_TOKEN="$(head -n 1 tokens)" ./save-report
  assert_equal "$stderr" "not saved: a later holder of the lock has written"
  assert_equal "$(saved)" "$(tail -n 1 reports)"
  # The last holder may write twice.
  expect_status 0 env ZKLOCK_TOKEN="$(tail -n 1 tokens)" ./save-report
  assert_equal "$(saved)" late
}

# --- TLS -----------------------------------------------------------------------------------------

@test "stunnel: neither a dead server nor one of another name is used, and the third one is" {
  local first=$((10000 + SRANDOM % 20000)) servers
  example "TLS BY STUNNEL" 1 stunnel.conf
  example "TLS BY STUNNEL" 2 list
  command -v stunnel >/dev/null || skip "no stunnel"
  ensemble --servers 1 --tls
  touch own
  sed -i -e "s,= .*/ca.pem,= $ZKLOCK_TLS_CA,; s,= .*/jobs.pem,= $ZKLOCK_TLS_CERT,; s,= .*/jobs.key,= $ZKLOCK_TLS_KEY," \
    -e "s/zk1:2281/127.0.0.1:1/; s/zk[23]:2281/${ZKLOCK_SERVERS#tls://}/; s/checkHost = zk3/checkHost = localhost/" \
    -e "s/:22811/:$first/; s/:22812/:$((first + 1))/; s/:22813/:$((first + 2))/" stunnel.conf
  servers=$(sed "s/^ZKLOCK_SERVERS=//; s/:22811/:$first/; s/:22812/:$((first + 1))/; s/:22813/:$((first + 2))/" list)
  unset ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY
  background stunnel stunnel.conf 2>log
  wait_until "there is a way through the third port" zklock ruok "${servers##*,}"
  expect_status 0 zklock run -S "$servers" /l -- echo ran
  assert_output ran
  expect_status 69 zklock ruok "${servers%%,*}"
  expect_status 69 zklock ruok "127.0.0.1:$((first + 1))"
  assert grep -F "CERT: Subject checks failed" log
}

# --- the page ------------------------------------------------------------------------------------

@test "mandoc shows the examples as they were run" {
  local line shown
  shown=$(mandoc -T utf8 -O width=200 "$page")
  while IFS= read -r line; do
    [[ $shown == *"$line"* ]] || fail "not in the page: $line"
  done < <(example_lines | cut -f3-)
}

@test "every example of the page was run by one of the tests above" {
  assert_equal "$(sort -u "$BATS_FILE_TMPDIR/used")" "$(example_lines | cut -f1,2 | sort -u)"
}
