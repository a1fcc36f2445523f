#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value get and set: bytes as they are, versions, and what a value may not be.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

@test "what is set is got, to the byte" {
  expect_status 0 zklock value set /app/config "a b"
  assert_equal "$output$stderr" ""
  printf '%s' "a b" >wanted
  zklock value get /app/config | cmp - wanted
  head -c 100000 /dev/urandom >wanted
  zklock value set /app/config <wanted
  zklock value get /app/config | cmp - wanted
  : >wanted
  zklock value set /app/config - <wanted
  zklock value get /app/config | cmp - wanted
  printf '\n\0\n' >wanted
  zklock value set /app/config <wanted
  zklock value get /app/config | cmp - wanted
  expect_status 0 zklock value set /app/config -- -v
  assert_equal "$(znode get /app/config)" -v
}

@test "a value comes in pieces" {
  mkfifo go
  # shellcheck disable=SC2016
  background sh -c '(printf one; read -r _ <go; printf two) | "$ZKLOCK_BIN" value set /v'
  echo >go
  expect_end 0 $!
  assert_equal "$(znode get /v)" onetwo
}

@test "one that is not there: 1 and a line; --default prints that" {
  expect_error 1 "cannot get /v: there is no such node" zklock value get /v
  assert_equal "$output" ""
  expect_status 0 zklock value get --default "" /v
  assert_equal "$output$stderr" ""
  expect_status 0 zklock value get --default "x y" /v
  assert_equal "$output$stderr" "x y"
  zklock value set /v z
  assert_equal "$(zklock value get --default x /v)" z
  assert_untouched_but v
}

assert_untouched_but() { assert_equal "$(znode ls /)" "$1"; }

@test "--json: version, when it was changed, and bytes that are no text in base64" {
  zklock value set /v ü
  zklock value set /v "ü\"
"
  expect_status 0 zklock value get --json /v
  assert_equal "$(jq -r '[.path, .exists, .version, .value] | join(",")' <<<"$output")" "/v,true,1,ü\""
  assert_regex "$(jq -r .changed <<<"$output")" '^20[0-9-]{8}T[0-9:]{8}Z$'
  printf '\377\0a' | zklock value set /v
  assert_equal "$(zklock value get --json /v | jq -r .value_base64 | base64 -d | od -An -tx1)" " ff 00 61"
  expect_status 1 zklock value get --json /none
  assert_equal "$output" '{"path":"/none","exists":false}'
}

@test "--if-version and --if-missing: 75 names the version that is there" {
  expect_error 75 "cannot set /v: there is no such node" zklock value set --if-version 0 /v a
  expect_status 0 zklock value set --if-missing --print-version /v a
  assert_equal "$output" 0
  expect_error 75 "cannot set /v: it has version 0" zklock value set --if-missing /v b
  expect_error 75 "cannot set /v: it has version 0" zklock value set --if-version 1 /v b
  expect_status 0 zklock value set --if-version 0 --print-version /v b
  assert_equal "$output" 1
  expect_error 75 "cannot set /v: it has version 1" zklock value set --if-version 0 /v c
  expect_status 75 zklock value set -q --if-version 0 /v c
  assert_equal "$stderr" ""
  assert_equal "$(znode get /v)" b
  expect_status 0 zklock value set --print-version /v c
  assert_equal "$output" 2
}

@test "nodes above it are made in the same transaction" {
  zklock value set /a/b/c/d x
  assert_equal "$(znode get /a/b/c/d)" x
  assert_equal "$(znode stat /a/b | grep '^version\|^numChildren' | xargs)" "version=0 numChildren=1"
  zklock value set -S "$ZKLOCK_SERVERS/not/there/yet" /v x
  assert_equal "$(znode get /not/there/yet/v)" x
}

@test "twenty at once make their nodes below the same that is missing: each does" {
  local i pids=()
  # The input of all ends in the same moment.
  mkfifo input
  exec 9<>input
  for i in {1..20}; do
    background zklock value set --if-missing "/a/b/c/n$i" <input 9>&-
    pids+=($!)
  done
  wait_until "they run" eval '(($(pgrep -c -P $$ zklock) == 20))'
  exec 9>&-
  for i in "${pids[@]}"; do expect_end 0 "$i"; done
  assert_equal "$(count_nodes /a/b/c)" 20
}

@test "any node may be read, also what others keep there" {
  hold h /l
  expect_status 0 zklock value get "$(its_node /l)"
  assert_equal "$(jq -r .pid <<<"$output")" "$(jq -r .pid <<<"$(znode get "$(its_node /l)")")"
  zklock queue push /q x
  assert_equal "$(zklock value get /q)" "zklock queue 1"
  expect_status 0 zklock value get -S "${ZKLOCK_SERVERS%%/*}" /zookeeper/quota
  expect_status 0 zklock value get -S "${ZKLOCK_SERVERS%%/*}" /
  expect_error 64 "/zookeeper belongs to the server" zklock value set /zookeeper/quota x
  expect_error 64 "the root cannot be used" zklock value set / x
}

@test "what zklock uses for something else is not written: 65" {
  hold h /l
  expect_error 65 "'$(znode ls /l)' is the name of a contender" zklock value set "$(its_node /l)" x
  expect_error 65 "is the name of a contender" zklock value set /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000001 x
  # These are any contender's name, whichever program made it, and a path below one.
  expect_error 65 "'x-7-0000000001' is the name of a contender" zklock value set /l/x-7-0000000001 x
  expect_error 65 "'x-7-0000000001' is the name of a contender" zklock value set /l/x-7-0000000001/v x
  assert_equal "$(znode ls /l | wc -l)" 1
  znode create /tasks/task-0000000012 old
  expect_status 0 zklock value set /tasks/task-0000000012 new
  expect_status 0 zklock value set /tasks/task-0000000012/state ended
  background zklock group join --name a /g
  wait_until "it is in" has_nodes /g 1
  expect_error 65 "is ephemeral: it belongs to session 0x" zklock value set "$(its_node /g)" x
  expect_error 65 "/g is a group" zklock value set /g x
  zklock queue push /q x
  expect_error 65 "/q is a queue" zklock value set /q x
  expect_error 65 "/q is a queue" zklock value set /q/items/x x
  expect_error 65 "/q is a queue" zklock value set /q/x/y x
  expect_error 65 "is what zklock marks" zklock value set /v "zklock queue 1"
  expect_error 65 "is what zklock marks" zklock value set /v "zklock group 7"
  assert_equal "$(zklock queue count /q | xargs)" "items 1 dead 0"
  # A lock's own node belongs to no client.
  expect_status 0 zklock value set /l x
}

@test "the largest value, and one that is larger: 65, and nothing is made" {
  head -c 1047000 /dev/zero >large
  zklock value set /v <large
  zklock value get /v | cmp - large
  head -c 1100000 /dev/zero >larger
  expect_error 65 "cannot set /w: the value is too large: ZooKeeper takes at most" zklock value set /w <larger
  # It is refused before it is read whole.
  expect_error 65 "cannot set /w: the value is too large: ZooKeeper takes at most" zklock value set /w </dev/zero
  assert_equal "$(znode ls /)" v
}

@test "standard input that cannot be read: 74, nothing is written" {
  expect_error 74 "cannot read standard input" zklock value set /v <.
  assert_untouched
}

@test "who may write but not read writes all the same; who may neither: 77" {
  need_no_identity
  ZKLOCK_AUTH=digest:me:secret zklock value set --acl creator-world-read /v a
  assert_equal "$(zklock value get /v)" a
  expect_error 77 "cannot set /v: " zklock value set /v b
  ZKLOCK_AUTH=digest:me:secret zklock value set --acl creator /w a
  expect_error 77 "cannot get /w: " zklock value get /w
  expect_error 77 "cannot set /w: " zklock value set /w b
  assert_equal "$(ZKLOCK_AUTH=digest:me:secret zklock value get /w)" a
}

@test "--fenced: written while the lock is held, and not without" {
  expect_error 64 "--fenced is for a command of zklock run" env -u ZKLOCK_NODE "$ZKLOCK_BIN" value set --fenced /v a
  expect_error 64 "bad path" env ZKLOCK_NODE=l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 "$ZKLOCK_BIN" value set --fenced /v a
  expect_error 76 "is lost" env ZKLOCK_NODE=/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000 "$ZKLOCK_BIN" value set --fenced /v/w a
  assert_untouched
  expect_status 0 zklock run /l /m -- "$ZKLOCK_BIN" value set --fenced --print-version /v/w a
  assert_equal "$output" 0
  expect_status 0 zklock run /l -- "$ZKLOCK_BIN" run /m -- "$ZKLOCK_BIN" value set --fenced --print-version /v/w b
  assert_equal "$output" 1
  assert_equal "$(znode get /v/w)" b
}

# The command outlives its lock, like a shell of its own session whose zklock is stopped with its guard.
@test "--fenced: 76 and nothing is written once a node of those that were held is gone" {
  hold h /l
  hold i /m
  local nodes
  nodes=$(its_node /l)$'\n'$(its_node /m)
  ZKLOCK_NODE=$nodes expect_status 0 zklock value set --fenced /v a
  znode rm "$(its_node /m)"
  ZKLOCK_NODE=$nodes expect_error 76 "cannot set /v: the lock is lost" zklock value set --fenced /v b
  ZKLOCK_NODE=$nodes expect_error 76 "is lost" zklock value set --fenced --if-version 0 /v b
  ZKLOCK_NODE=$nodes expect_error 76 "is lost" zklock value set --fenced /new/v b
  ZKLOCK_NODE=$nodes expect_error 76 "is lost" zklock value delete --fenced /v
  ZKLOCK_NODE=$(its_node /l) ZKLOCK_OUTER="7 /m/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000" expect_error 76 "is lost" zklock value set --fenced /v b
  # A lock on other servers is not theirs to check.
  ZKLOCK_NODE=$(its_node /l) ZKLOCK_OUTER=$'7 /m/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000000\tother.test:1/x' expect_status 0 zklock value set --fenced /v a
  # The innermost lock is checked whichever list names its servers.
  expect_status 0 env ZKLOCK_NODE="$(its_node /l)" ZKLOCK_SERVERS=other.test:1 \
    "$ZKLOCK_BIN" -S "$ZKLOCK_SERVERS" value set --fenced /v a
  assert_equal "$(znode get /v)" a
  assert_equal "$(znode ls / | xargs)" "l m v"
}

# Other clients may make their nodes again, so these prove nothing.
@test "--fenced in a worker of a queue and in a member of a group: 64, outside of a lock" {
  zklock queue push /q x
  expect_status 64 zklock queue pull --max-attempts 1 /q -- "$ZKLOCK_BIN" value set --fenced /v -
  assert_regex "$stderr" "--fenced is for a command of zklock run"
  expect_error 64 "--fenced is for a command of zklock run" \
    zklock group join /g -- "$ZKLOCK_BIN" value set --fenced /v y
  expect_status 1 znode stat /v
  expect_status 0 zklock group join /g -- "$ZKLOCK_BIN" run /l -- "$ZKLOCK_BIN" value set --fenced /v y
}
