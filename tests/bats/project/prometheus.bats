#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests the script and the rules of zklock-recipes(7) with a real node exporter and a real Prometheus. They go from a
# dead letter to the alert, and until it is over.

load ../helpers
load ../recipes

setup() {
  setup_zk
  mkdir bin folder
  ln -s "$ZKLOCK_BIN" bin/zklock
  export PATH=$PWD/bin:$PATH
}

teardown() { end_all; }

# serve NAME CMD…: starts it in the background, on a free port; its address is in the file NAME.address.
serve() {
  background "${@:2}" --web.listen-address=127.0.0.1:0 >"$1.log" 2>&1
  wait_for 'msg="Listening on"' "$1.log" || return
  sed -n 's/.*msg="Listening on" address=//p' "$1.log" >"$1.address"
}

start_prometheus() {
  serve exporter prometheus-node-exporter --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory="$PWD/folder"
  cat >prometheus.yml <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs:
- job_name: node
  static_configs: [{targets: ['$(<exporter.address)']}]
END
  expect_status 0 promtool check config --lint=all --lint-fatal prometheus.yml
  serve prometheus prometheus --config.file=prometheus.yml --storage.tsdb.path="$PWD/data"
}

# ask PATH: prints what Prometheus answers.
ask() {
  python3 -c 'import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print(opener.open("http://%s/api/v1/%s" % tuple(sys.argv[1:]), timeout=5).read().decode())' \
    "$(<prometheus.address)" "$1"
}

# Prints the dead-letter alerts that fire, as "/queue summary".
dead_letters() {
  ask alerts | jq -r '.data.alerts[] | select(.labels.alertname == "DeadLetters" and .state == "firing") |
    .labels.queue + " " + .annotations.summary'
}

said() { [[ $(dead_letters) == "$1" ]]; }

# Prints the value of a sample, as Prometheus has it.
value() { ask "query?query=$1" | jq -r '.data.result[] | .value[1]'; }

@test "a dead letter makes an alert fire in Prometheus, and an empty queue ends it" {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  script "ALERTS ON LOCKS AND QUEUES" 1 bin/zklock-metrics
  example "ALERTS ON LOCKS AND QUEUES" 3 alerts.yml
  hold h '/locks/a"b\c'
  expect_status 0 zklock queue push /queues/urls bad
  expect_status 123 zklock queue pull --all --max-attempts 1 /queues/urls -- false
  expect_status 0 zklock-metrics folder
  start_prometheus
  wait_until "the alert fires" said "/queues/urls /queues/urls: 1 given up on"
  assert_equal "$(value zklock_lock_held)" 1
  assert_equal "$(value node_textfile_scrape_error)" 0
  assert_equal "$(ask query?query=zklock_lock_held | jq -r '.data.result[].metric.lock')" '/locks/a"b\c'
  expect_status 0 zklock queue requeue /queues/urls
  expect_status 0 zklock-metrics folder
  wait_until "the alert is over" said ""
  assert_equal "$(value zklock_queue_items)" 1
  let_all_go h
}
