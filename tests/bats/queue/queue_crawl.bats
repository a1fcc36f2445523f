#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests a crawl in miniature: producers, a queue, and workers that fetch from a web server. Fetches fail or are killed,
# and workers and servers are killed. Every address is fetched, none is lost, and the dead letters are exactly those
# that always fail.

load ../helpers

setup() { setup_zk; }

teardown() {
  end_all
  if [[ -e own ]]; then stop_ensemble; fi
}

# start_web: serves "N" for /N, but always answers 500 if N is divisible by 50. The file served has what was served
# well, one a line.
start_web() {
  background python3 - >web <<'END'
import http.server, socketserver
served = open("served", "a", buffering=1)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        number = int(self.path[1:])
        bad = number % 50 == 0
        self.send_response(500 if bad else 200)
        self.end_headers()
        if not bad:
            self.wfile.write(b"%d" % number)
            print(number, file=served)
    def log_message(self, *words): pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256
server = Server(("127.0.0.1", 0), Page)
print(server.server_address[1], flush=True)
server.serve_forever()
END
  wait_until "the web server runs" test -s web
}

# Makes fetch, which works on an address. It fails in one of 20 runs, and is killed in another.
write_fetch() {
  cat >fetch <<'END'
#!/bin/bash
IFS= read -r url
case $((RANDOM % 20)) in 0) exit 1 ;; 1) kill -KILL $$ ;; esac
exec 3<>"/dev/tcp/127.0.0.1/${url%/*}" || exit 1
printf 'GET /%s HTTP/1.0\r\n\r\n' "${url#*/}" >&3
IFS= read -r answer <&3
[[ $answer == *" 200 "* ]] && printf '%s\n' "$url" >>fetched
END
  chmod +x fetch
}

# produce FIRST LAST
produce() { seq -f "$(<web)/%.0f" "$1" "$2" | "$ZKLOCK_BIN" queue push /crawl; }

# Runs a worker until the queue is empty, and starts it again whenever it was killed or lost its claims.
work() {
  background bash -c 'until "$ZKLOCK_BIN" queue pull --all -j 2 --retry-delay 10ms --max-attempts 9 /crawl -- ./fetch 2>>err
    do status=$?; echo "$status" >>statuses; ((status != 123)) || exit 0; done'
}

# crawl ADDRESSES: runs three producers and eight workers, and meanwhile calls `disturb` again and again.
crawl() {
  local n third=$(($1 / 3))
  local producers=()
  workers=()
  start_web
  write_fetch
  for n in 0 1 2; do
    produce $((n * third + 1)) $((n == 2 ? $1 : (n + 1) * third)) &
    producers+=($!)
  done
  wait_until "there is work" eval '(($(zklock queue count /crawl | sed -n "s/items //p") > 100))'
  for n in {1..8}; do
    work
    workers+=($!)
  done
  for n in "${producers[@]}"; do wait "$n"; done
  disturb
  ZKLOCK_TEST_WAIT=240 wait_gone "${workers[@]}"
}

# Each address that can be fetched was, the others are the dead letters, and nothing is left.
check_crawl() {
  local port
  port=$(<web)
  cmp <(sort -u fetched) <(seq -f "$port/%.0f" "$1" | awk -F/ '$2 % 50' | sort)
  cmp <(zklock queue list --dead --json /crawl | jq -r .begins | sort) \
    <(seq -f "$port/%.0f" "$1" | awk -F/ '$2 % 50 == 0' | sort)
  expect_status 0 zklock queue count --json --exact /crawl
  assert_output "{\"items\":0,\"dead\":$(($1 / 50)),\"in_work\":0}"
  # An address is fetched twice if a worker was killed, or lost its claim, before it could report the first time.
  note "$1 addresses, $(($(wc -l <fetched) - $(sort -u fetched | wc -l))) done more than once, ended early: $(sort statuses | uniq -c | tr -s ' \n' ' ')"
}

# kill_worker N: kills its zklock, which begins again at once.
kill_worker() { pkill -KILL -P "${workers[$1]}" zklock || true; }

# kill_guard N: kills one of that worker's two.
kill_guard() { pkill -KILL -o -P "$(pgrep -P "${workers[$1]}" zklock)" zklock || true; }

@test "a crawl of 250 addresses, with fetches and workers that fail and are killed" {
  export ZKLOCK_SESSION_TIMEOUT=2s
  disturb() {
    local n
    for n in 1 2 3 4 5 6; do
      ZKLOCK_TEST_WAIT=120 wait_until "a part is done" eval "((\$(wc -l <fetched) >= $n * 30))"
      if ((n % 3)); then kill_worker "$n"; else kill_guard "$n"; fi
    done
  }
  crawl 250
  check_crawl 250
}

@test "the same with the leader of three servers killed twice" {
  ensemble --tick 250
  touch own
  export ZKLOCK_SERVERS=$ZKLOCK_SERVERS/crawl ZKLOCK_SESSION_TIMEOUT=4s
  disturb() {
    local n leader
    for n in 1 2; do
      ZKLOCK_TEST_WAIT=120 wait_until "a part is done" eval "((\$(wc -l <fetched) >= $n * 50))"
      leader=$(zk_sandbox leader)
      zk_sandbox kill "$leader"
      zk_sandbox restart "$leader"
      kill_worker "$n"
    done
  }
  crawl 150
  check_crawl 150
}
