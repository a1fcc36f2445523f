# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue pull -- COMMAND at its edges: what failed counts to the end, no consumer waits for ever without a
# server, and none holds what others could work on.
# shellcheck disable=SC2016,SC2154
setup() {
  load ../helpers
  setup_zk
}
teardown() { end_all; }


# by_relay: sets $relayed to a way to the server that ends when ${pid[relay]} does.
by_relay() {
  start_relay "${ZKLOCK_SERVERS%%/*}"
  relayed=$(relayed_ports)/${ZKLOCK_SERVERS#*/}
}

works() { wait_until "$1 is worked on" test -e "$1.works"; }
ended() { wait_until "$1 has ended" test -e "$1.ended"; }

# begin_pull ARG…: starts `zklock queue pull ARG…`. Its command reads its item, and ends with the status in ITEM.go.
begin_pull() {
  background zklock queue pull "$@" -- sh -c 'read -r item; touch "$item.works"
    until [ -s "$item.go" ]; do sleep 0.02; done; touch "$item.ended"; exit "$(cat "$item.go")"' >out 2>err
  pid[pull]=$!
}
end_with() { echo "$1" >"$2.new" && mv "$2.new" "$2.go"; }

in_work() { [[ $(zklock queue count --exact --json "$1" | jq .in_work) == "$2" ]]; }

@test "a consumer whose claims cannot be proved any more ends with 76, its commands with it" {
  by_relay
  zklock queue push /q a b
  begin_pull -S "$relayed" --session-timeout 3s --connect-timeout 1s --all -j 2 /q
  works a
  works b
  kill -KILL "${pid[relay]}"
  expect_end 76 "${pid[pull]}"
  wait_until "its items come back" in_work /q 0
  assert_equal "$(zklock queue count --json /q | jq -c '[.items, .dead]')" "[2,0]"
}

@test "a command that ends while there is no server does not let its consumer wait for one for ever" {
  by_relay
  zklock queue push /q a
  begin_pull -S "$relayed" --session-timeout 30s --connect-timeout 1s --all /q
  works a
  kill -KILL "${pid[relay]}"
  # The command may not end before that is known.
  wait_until "the connection is lost" refute_connected "${pid[pull]}"
  end_with 65 a
  expect_end 69 "${pid[pull]}"
}

# refute_connected PID: no socket of it is connected.
refute_connected() {
  local inode
  for inode in $(readlink /proc/"$1"/fd/* | sed -n 's/^socket:\[\(.*\)\]$/\1/p'); do
    ! awk -v inode="$inode" '$10 == inode && $4 == "01" { found = 1 } END { exit !found }' /proc/net/tcp || return 1
  done
}

@test "an item that failed counts at the end, even if its retry delay has passed by then" {
  local how
  for how in "-N 2" "--all --halt"; do
    zklock queue push /q a b
    # shellcheck disable=SC2086
    begin_pull $how -j 2 --retry-delay 10ms /q
    works a
    works b
    end_with 1 a
    ended a
    wait_until "it is given back" in_work /q 1
    end_with 0 b
    expect_end 123 "${pid[pull]}"
    wait_for "an item failed, to be tried again" err
    zklock queue purge --yes /q
    rm ./*.works ./*.ended ./*.go
  done
}

@test "-w counts from when none of its own items is in work" {
  zklock queue push /q a
  begin_pull --follow -j 2 -w 2s /q
  works a
  sleep 2.1
  end_with 0 a
  wait_until "it is removed" in_work /q 0
  zklock queue push /q b
  end_with 0 b
  works b
  expect_end 0 "${pid[pull]}"
}

@test "items with short retry delays come due while others are waited for" {
  zklock queue push /q 1 2 3 4 5 6 7 8
  expect_status 123 zklock queue pull --all -j 2 --retry-delay 3ms /q -- false
  assert_equal "$(zklock queue count --json /q | jq -c '[.items, .dead]')" "[0,8]"
}

@test "with -I and standard input closed the command has /dev/null all the same" {
  zklock queue push /q /proc/self/fd/0
  expect_status 0 zklock queue pull -I {} /q -- readlink {} <&-
  assert_output /dev/null
}

@test "what was claimed ahead of short commands does not wait for a long one" {
  seq 100 | zklock queue push /q
  zklock queue push /q long
  seq 100 | zklock queue push /q
  background zklock queue pull -N 201 /q -- sh -c 'read -r item; [ "$item" != long ] || {
    touch long.works; until [ -e go ]; do sleep 0.02; done; }'
  pid[pull]=$!
  works long
  wait_until "only that is in work" in_work /q 1
  # The others count neither as tried nor as taken.
  assert_equal "$(zklock queue list --json /q | jq -s 'map(.attempts) | add')" 1
  touch go
  expect_end 0 "${pid[pull]}"
  assert_equal "$(zklock queue count --json /q | jq .items)" 0
}

@test "a command that ends while its worker waits for more items is settled at once" {
  zklock queue push /q a
  begin_pull --follow -j 2 /q
  works a
  wait_until "it waits" has_nodes /q/waiting 1
  end_with 0 a
  wait_until "it is done" eval '[[ $(zklock queue count --json /q | jq .items) == 0 ]]'
}

@test "nothing is claimed ahead of a command of which nobody knows that it is short" {
  zklock queue push /q a b c
  begin_pull --all /q
  works a
  in_work /q 1
}

@test "a guard without room for the item does not run its command on nothing" {
  local guard
  begin_pull --follow /q
  wait_until "it waits" has_nodes /q/waiting 1
  guard=$(guard_of "${pid[pull]}")
  prlimit --pid "$guard" --nofile=5:5
  zklock queue push /q a
  expect_end 126 "${pid[pull]}"
  wait_for "Too many open files" err
  assert_equal "$(zklock queue count --json /q | jq -c '[.items, .dead]')" "[1,0]"
}

@test "a worker that gets TERM while nobody answers the removal of what was done: 76" {
  by_relay
  zklock queue push /q a
  begin_pull -S "$relayed" --session-timeout 60s --connect-timeout 20s --follow /q
  works a
  kill -STOP "${pid[relay]}"
  end_with 0 a
  ended a
  wait_gone_but_guard
  kill -TERM "${pid[pull]}"
  expect_end 76 "${pid[pull]}"
  assert_regex "$(tail -1 err)" "^zklock: cannot pull from /q: an item that was worked on is not known to be removed; it may be worked on twice"
}

# Nothing of the command is left.
wait_gone_but_guard() { wait_until "the command is reaped" eval '[[ -z $(pgrep -P "$(guard_of "${pid[pull]}")") ]]'; }
