#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock show lists the holder of a lock and its waiters.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# json EXPRESSION: prints a Python expression about the object `lock` in $output.
json() { python3 -c "import json, sys; lock = json.load(sys.stdin); print($1)" <<<"$output"; }

# stranger NAME PATH TEXT: starts another program's contender; its node is ${node[NAME]}.
declare -gA node=()
stranger() {
  background znode stand "$2" "$3" >"$1.node"
  pid[$1]=$!
  wait_until "$1 stands in line" test -s "$1.node"
  node[$1]=$(<"$1.node")
}

owner_of() { printf '0x%x' "$(znode stat "$1" | sed -n 's/ephemeralOwner=//p')"; }

@test "a holder: host, pid, user, command, session, since and label" {
  hold h --label 'nightly run' /l
  expect_status 0 zklock show /l
  assert_equal "$(wc -l <<<"$output")" 2
  local -a cells
  read -ra cells <<<"${lines[1]}"
  assert_equal "${cells[*]:0:4}" "/l 1 holding exclusive"
  assert_regex "${cells[4]}" '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'
  assert_equal "${cells[*]:5:4}" "$(hostname) ${pid[h]} $(id -un) sh"
  assert_equal "${cells[9]}" "$(owner_of "/l/$(znode ls /l)")"
  assert_equal "${cells[*]:10}" "nightly run"
  assert_equal "$(tr -s ' ' <<<"${lines[0]}")" "LOCK POS STATE KIND SINCE HOST PID USER COMMAND SESSION LABEL"
  let_all_go h
}

@test "holders and waiters, shared and exclusive, in their order" {
  hold a -s /l
  hold b -s /l
  stand c /l
  stand d /l -s
  expect_status 0 zklock show /l
  assert_equal "$(column POS)" "1 2 3 4"
  assert_equal "$(column STATE)" "holding holding waiting waiting"
  assert_equal "$(column KIND)" "shared shared exclusive shared"
  assert_equal "$(column PID)" "${pid[a]} ${pid[b]} ${pid[c]} ${pid[d]}"
  let_all_go a b c d
}

shows_states() {
  output=$(zklock show /s)
  [[ $(column STATE) == "$1" ]]
}

@test "slots: who has one holds, who stands at the gate waits, and nobody is there twice" {
  hold a --slots 2 /s
  hold b --slots 2 /s
  begin c --slots 2 /s
  wait_until "c waits for a lease" shows_states "holding holding waiting"
  begin d --slots 2 /s
  wait_until "d waits at the gate" shows_states "holding holding waiting waiting"
  assert_equal "$(column KIND)" "slot slot slot slot"
  assert_equal "$(column PID)" "${pid[a]} ${pid[b]} ${pid[c]} ${pid[d]}"
  expect_status 0 zklock show --json /s
  assert_equal "$(json 'lock["slots"], lock["state"], len(lock["contenders"])')" "2 held 4"
  let_all_go a b c d
}

@test "slots that nobody has are free" {
  expect_status 0 zklock run --slots 2 /s -- true
  expect_status 0 zklock show /s
  assert_equal "$(column POS) $(column STATE) $(column KIND)" "- free slot"
  expect_status 1 zklock show -q /s
}

@test "a lock of one where there were slots before is held" {
  expect_status 0 zklock run --slots 2 /s -- true
  hold a /s
  expect_status 0 zklock show -q /s
  expect_status 0 zklock show /s
  assert_equal "$(column STATE) $(column KIND) $(column PID)" "holding exclusive ${pid[a]}"
  let_all_go a
}

@test "several locks in the order in which they were named, free ones too" {
  hold a /b
  hold b /a
  expect_status 0 zklock show /b /nothing/there -- /a
  assert_equal "$(column LOCK)" "/b /nothing/there /a"
  assert_equal "$(column STATE)" "holding free holding"
  assert_equal "$(column POS)" "1 - 1"
  let_all_go a b
}

@test "a path that does not exist is free, and is not made" {
  expect_status 0 zklock show /l
  assert_equal "$(column STATE) $(column POS) $(column SESSION)" "free - -"
  assert_untouched
}

@test "-q prints nothing: 0 held, 1 free" {
  hold h /l
  expect_status 0 zklock show -q /l
  assert_equal "$output$stderr" ""
  expect_status 0 zklock -q show --json /l
  assert_equal "$output$stderr" ""
  let_all_go h
  expect_status 1 zklock show -q /l
  assert_equal "$output$stderr" ""
  expect_status 1 zklock show -q /none
}

@test "--json: an object a line, with what is known" {
  hold h --label 'a "label"' /l
  stand w /l -s
  expect_status 0 zklock show --json /l
  assert_equal "$(wc -l <<<"$output")" 1
  assert_equal "$(json 'lock["path"], lock["state"], [c["position"] for c in lock["contenders"]]')" "/l held [1, 2]"
  assert_equal "$(json 'sorted(lock["contenders"][0])')" \
    "['command', 'host', 'kind', 'label', 'node', 'pid', 'position', 'session', 'since', 'state', 'user']"
  assert_equal "$(json '[c.get("label") for c in lock["contenders"]]')" "['a \"label\"', None]"
  assert_equal "$(json '[c["pid"] for c in lock["contenders"]]')" "[${pid[h]}, ${pid[w]}]"
  assert_equal "$(json '[c["state"] + " " + c["kind"] for c in lock["contenders"]]')" \
    "['holding exclusive', 'waiting shared']"
  assert_equal "$(json '"\n".join(sorted(c["node"][len("/l/"):] for c in lock["contenders"]))')" "$(znode ls /l)"
  expect_status 0 zklock show --json /none /l
  assert_equal "${lines[0]}" '{"path":"/none","state":"free","contenders":[]}'
  let_all_go h w
}

@test "contenders of other programs appear with their text, made harmless" {
  stranger curator /l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock- 10.0.0.1
  stranger kazoo /k/3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__ $'\x1b[2J\nspoof'
  stranger asked /m/x-1- __REVOKE__
  expect_status 0 zklock show /l /k /m
  assert_equal "$(column STATE)" "holding holding holding"
  assert_equal "$(column SESSION)" "$(owner_of "${node[curator]}") $(owner_of "${node[kazoo]}") $(owner_of "${node[asked]}")"
  assert_equal "$(column HOST) $(column PID)" "- - - - - -"
  assert_regex "${lines[1]}" '  10\.0\.0\.1$'
  assert_regex "${lines[2]}" '  \\x1b\[2J\\x0aspoof$'
  assert_regex "${lines[3]}" '  asked to let go$'
  assert_regex "$(column SINCE)" '^20[0-9-]+T[0-9:]+Z 20'
  expect_status 0 zklock show --json /k
  assert_equal "$(json 'lock["contenders"][0]["text"]')" $'\x1b[2J\nspoof'
}

@test "a node that is not ephemeral is no contender, except for Kazoo's" {
  znode create /l/x-1-0000000000 left
  stranger a /l/x-1- here
  znode create /k/3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__0000000000 left
  expect_status 0 zklock show /l /k
  assert_equal "$(column LOCK) $(column STATE)" "/l /l /k holding leftover holding"
  assert_regex "${lines[1]}" 'here$'
  assert_regex "${lines[2]}" 'left$'
  assert_regex "${lines[3]}" 'left$'
  assert_equal "$(column SESSION)" "$(owner_of "${node[a]}") - -"
}

@test "the last success is shown where --once-per keeps it" {
  expect_status 0 zklock run --once-per 1d /l -- true
  expect_status 0 zklock show /l /other
  assert_regex "$(column LAST-SUCCESS)" '^20[0-9-]+T[0-9:]+Z -$'
  expect_status 0 zklock show --json /l
  assert_equal "$(json 'lock["state"], lock["last_success"][-1]')" "free Z"
}

@test "a queue is not a lock: 65" {
  znode create /q "zklock queue 1"
  znode create /q/items
  expect_error 65 "cannot show /q: it is a queue" zklock show /q
}

@test "without the permission: 77, and nothing is left" {
  ZKLOCK_AUTH=digest:me:secret hold h --acl creator /l
  expect_error 77 "cannot list /l: ZooKeeper refused it" zklock show /l
  expect_error 77 "cannot list /l" zklock show -q /l
  ZKLOCK_AUTH=digest:me:secret expect_status 0 zklock show /l
  assert_equal "$(column PID)" "${pid[h]}"
  let_all_go h
}

@test "slots of which only the path may be read are not said to be free: 77" {
  znode create /s/other
  ZKLOCK_AUTH=digest:me:secret hold h --slots 2 --acl creator /s
  expect_error 77 "cannot list /s/leases" zklock show -q /s
  expect_error 77 "cannot list /s/leases" zklock break --yes /s
  expect_status 0 zklock show -r /
  assert_equal "$output" ""
  let_all_go h
}

@test "a contender whose text may not be read still has its place" {
  znode create /l/other
  ZKLOCK_AUTH=digest:me:secret hold h --acl creator /l
  expect_status 0 zklock show /l
  assert_equal "$(column STATE) $(column PID) $(column SESSION | cut -c 1-2)" "holding - 0x"
  let_all_go h
}

@test "contenders that come and go while it looks do no harm" {
  hold h -s /l
  for _ in 1 2 3; do
    # shellcheck disable=SC2016
    background sh -c 'until [ -e enough ]; do "$ZKLOCK_BIN" run -qns /l -- true; "$ZKLOCK_BIN" run -qn /l -- true; done'
  done
  wait_until "others come" has_company
  for _ in {1..25}; do
    expect_status 0 zklock show /l
    assert_regex "$(column STATE)" '^holding( holding)*( waiting)*$'
    assert_regex "$(column PID)" "^${pid[h]}( |\$)"
    assert_equal "$stderr" ""
  done
  touch enough
  let_all_go h
}

has_company() { (($(count_nodes /l) > 1)); }

@test "no server: 69; no room for the output: 74" {
  expect_error 69 "127.0.0.1:1" zklock show -S 127.0.0.1:1 --connect-timeout 100ms /l
  # shellcheck disable=SC2016
  expect_error 74 "cannot write to standard output" sh -c '"$ZKLOCK_BIN" show /l >/dev/full'
}

@test "wrong use: 64, in one line that says what would be right" {
  expect_error 64 "no lock named: write zklock show /locks/job" zklock show
  expect_error 64 "bad path 'job': a path begins with /" zklock show /l job
  expect_error 64 "bad path '/': the root cannot be used" zklock show /
  expect_error 64 "-q is about one lock" zklock show -q /a /b
  expect_error 64 "-q is about one lock" zklock show -qr /a
  expect_error 64 "unknown option '--jsn'; did you mean '--json'?" zklock show --jsn /l
  expect_error 64 "unknown command 'shwo'; did you mean 'show'?" zklock shwo /l
  assert_untouched
}
