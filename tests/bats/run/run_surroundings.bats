#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that the command finds everything as it would without zklock run, and a few variables more.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# same CMD…: CMD prints the same with and without zklock.
same() {
  expect_status 0 "$@"
  local expected=$output$stderr
  expect_status 0 zklock run /l -- "$@"
  assert_equal "$output$stderr" "$expected"
}

# bytes FILE: prints them as text that can be compared.
bytes() { od -An -c "$1"; }

@test "standard input reaches the command, byte for byte, to its end" {
  head -c 3000000 /dev/urandom >input
  # shellcheck disable=SC2016
  sh -c 'cat input | "$ZKLOCK_BIN" run /l -- cat >output'
  assert cmp input output
  expect_status 0 zklock run /l -- cat
  assert_output ""
}

@test "what the command does not read of its input is left for others" {
  # shellcheck disable=SC2016
  run -0 sh -c 'printf "one\ntwo\nthree\n" | { "$ZKLOCK_BIN" run /l -- sh -c "read -r line; echo got \$line"; cat; }'
  assert_output $'got one\ntwo\nthree'
}

@test "a loop of while read is not robbed of its lines" {
  # shellcheck disable=SC2016
  run -0 sh -c 'printf "%s\n" 1 2 3 | while read -r n; do "$ZKLOCK_BIN" run /l -- echo "$n"; done'
  assert_output $'1\n2\n3'
}

@test "standard output and error are the command's own, in its order" {
  # shellcheck disable=SC2016
  "$ZKLOCK_BIN" run -v /quiet -- sh -c 'for n in 1 2 3; do echo out $n; echo err $n >&2; done' >both 2>&1
  assert_equal "$(grep -v ^zklock: both)" $'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3'
  expect_status 0 zklock run /l -- sh -c 'readlink /proc/self/fd/1' >/dev/null
  expect_status 0 zklock run -v /l -- echo result
  assert_output result
}

@test "the files that the command reads and writes are those of the caller" {
  : >in
  # shellcheck disable=SC2016
  "$ZKLOCK_BIN" run /l -- sh -c 'found=$(readlink /proc/$$/fd/[012]); echo "$found" >report' <in >out 2>err
  assert_equal "$(<report)" "$PWD/in"$'\n'"$PWD/out"$'\n'"$PWD/err"
}

@test "arguments arrive byte for byte" {
  local words=(-n --nonblock -- '' ' ' $'new\nline' $'\xff\xfe' -c '*' "\$HOME" "'" '"' '[]' '[a,b]' '[::1]' a=b --label=x
    run --help -V "$(printf 'x%.0s' {1..100000})")
  printf '%s\0' "${words[@]}" >expected
  "$ZKLOCK_BIN" run /l -- printf '%s\0' "${words[@]}" >found
  assert_equal "$(bytes found)" "$(bytes expected)"
}

@test "the command's name arrives as it was typed" {
  ln -s "$(command -v bash)" ./-shell
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -- ./-shell -c 'echo "$0"; cat -v /proc/$$/cmdline; :' '--' -x
  assert_output $'--\n./-shell^@-c^@echo "$0"; cat -v /proc/$$/cmdline; :^@--^@-x^@'
}

@test "the environment arrives byte for byte, with four variables more" {
  # shellcheck disable=SC2016
  env -i PATH="$PATH" ZKLOCK_SERVERS="$ZKLOCK_SERVERS" ZKLOCK_TEST="$ZKLOCK_TEST" EMPTY= NAME=$'two\nlines \xff' '=odd=x' \
    sh -c 'env -0 | grep -zv ^_= >outside; "$0" run /l -- env -0 >inside' "$ZKLOCK_BIN" 2>stderr
  assert_equal "$(tr '\0' '\n' <inside | grep -c '^ZKLOCK_')" 5
  assert_equal "$(grep -zvE '^(ZKLOCK_(PATH|NODE|TOKEN|SERVERS)|_)=' inside | sort -z | tr '\0' '|')" \
    "$(grep -zvE '^(ZKLOCK_SERVERS|_)=' outside | sort -z | tr '\0' '|')"
}

@test "ZKLOCK_PATH, NODE, TOKEN and SERVERS tell the command of its lock" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /a/l -c 'znode ls /a/l; znode stat "$ZKLOCK_NODE" | head -n 1
    echo "$ZKLOCK_PATH $ZKLOCK_NODE $ZKLOCK_TOKEN $ZKLOCK_SERVERS"'
  local node=${lines[0]} token=${lines[1]#czxid=}
  assert_regex "$node" '^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-[0-9]{10}$'
  assert_equal "${lines[2]}" "/a/l /a/l/$node $token $ZKLOCK_SERVERS"
}

@test "within another run the variables are those of the inner lock" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /outer -- "$ZKLOCK_BIN" run /inner -- sh -c 'echo "$ZKLOCK_PATH"; env | grep -c ^ZKLOCK_PATH='
  assert_output $'/inner\n1'
}

@test "ZKLOCK_SERVERS is for the command what zklock was given" {
  local servers=$ZKLOCK_SERVERS
  # shellcheck disable=SC2016
  ZKLOCK_SERVERS=nobody:1 expect_status 0 zklock run -S "$servers" /l -- "$ZKLOCK_BIN" run /m -- sh -c 'echo "$ZKLOCK_SERVERS"'
  assert_output "$servers"
}

@test "tokens grow from one holder to the next, also when the lock's node is new" {
  local n before=0
  for n in 1 2 3 4 5; do
    # shellcheck disable=SC2016
    expect_status 0 zklock run /l -c 'echo "$ZKLOCK_TOKEN"'
    assert [ "$output" -gt "$before" ]
    before=$output
    if ((n == 3)); then znode rm /l; fi
  done
}

@test "the command has no descriptor of ours, and all of the caller's" {
  # 1 and 2 are other pipes each time. find has the folder that it reads open.
  local list='exec 3>&-; exec find /proc/self/fd -type l ! -name "[12]" ! -lname "/proc/*" -printf "%f %l\n"'
  same sh -c "$list"
  : >file
  same sh -c "$list" 5<file 9>other
  assert_line "5 $PWD/file"
  assert_line "9 $PWD/other"
  expect_status 0 zklock run /l -- cat /dev/fd/5 5<<<"from five"
  assert_output "from five"
}

@test "standard streams that are closed are closed for the command too" {
  local closed list='for fd in 0 1 2; do test -e /proc/$$/fd/$fd && echo $fd; done >"$PLACE"'
  for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    PLACE=outside sh -c "sh -c '$list' $closed" || true
    # shellcheck disable=SC2016
    PLACE=inside expect_status 0 sh -c '"$ZKLOCK_BIN" run /l -- sh -c "$1; true" '"$closed" sh "$list"
    assert_equal "$closed: $(xargs <inside)" "$closed: $(xargs <outside)"
  done
}

@test "with standard error closed nothing is written where it does not belong" {
  : >file
  # The first descriptor that is free would be 2.
  expect_status 75 sh -c '"$ZKLOCK_BIN" run /l -c "unset ZKLOCK_NODE; \"\$ZKLOCK_BIN\" run -n -w 0 /l -- true 2>&- 5<>file"'
  assert_equal "$(<file)" ""
}

@test "folder, file mode mask, limits, priority and arguments are the caller's" {
  mkdir deep
  cd deep
  umask 027
  ulimit -n 500
  ulimit -c 0
  # shellcheck disable=SC2016
  same nice -n 3 sh -c 'pwd; umask; ulimit -a; nice; cat /proc/self/oom_score_adj; grep -E "^(Cap|NoNewPrivs|Groups)" /proc/self/status'
}

@test "the node says host, process, user and command, without its arguments" {
  local began node
  began=$(date -u +%s)
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -- sh -c 'znode get "$ZKLOCK_NODE"; echo "$PPID"' --password=geheim
  node=${lines[0]}
  refute_regex "$node" "geheim"
  python3 - "$node" "$began" "$(hostname)" "$(id -un)" <<'END'
import calendar, json, sys, time
note = json.loads(sys.argv[1])
assert list(note) == ["host", "pid", "user", "command", "since"], list(note)
assert note["host"] == sys.argv[3] and note["user"] == sys.argv[4] and note["command"] == "sh", note
assert isinstance(note["pid"], int), note
since = calendar.timegm(time.strptime(note["since"], "%Y-%m-%dT%H:%M:%SZ"))
assert 0 <= since - int(sys.argv[2]) < 20, note
END
}

@test "the node's process is zklock's, and a label is on it" {
  hold h /l --label $'"night" \\ ünï'
  znode get "/l/$(znode ls /l)" >note
  assert grep -qF "\"pid\":${pid[h]}," note
  assert grep -qF '"label":"\"night\" \\ ünï"' note
  expect_error 75 "(pid ${pid[h]}, \"night\" \\ ünï) for" zklock run -n /l -- true
  let_all_go h
}

@test "a label in another encoding keeps no job from running" {
  hold h /l --label $'n\xe4chtlich'
  assert grep -qF '"label":"n\\xe4chtlich"' <(znode get "$(its_node)")
  let_all_go h
}

# In systemd's socket activation, the number has to be that of the process that takes the sockets.
@test "sockets that zklock was handed are its command's" {
  # shellcheck disable=SC2016
  expect_status 0 sh -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$ZKLOCK_BIN" run /l -- sh -c "echo \$LISTEN_PID \$\$; cat <&3"' \
    3<<<handed
  read -r named process <<<"${lines[0]}"
  assert_equal "$named" "$process"
  assert_equal "${lines[1]}" handed
  # shellcheck disable=SC2016
  LISTEN_PID=1 expect_status 0 zklock run /l -- sh -c 'echo "$LISTEN_PID"'
  assert_output 1
}

@test "with -c the command on the node is sh" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run /l -c 'znode get "$ZKLOCK_NODE" # geheim'
  assert_output --partial '"command":"sh"'
  refute_output --partial geheim
}

@test "a chroot that does not exist yet is made" {
  ZKLOCK_SERVERS+=/deep/er expect_status 0 zklock run /a/l -c 'znode ls /a; znode ls /'
  assert_output $'l\na'
  expect_status 0 znode ls /deep/er/a
  assert_output l
}

@test "--acl open: everybody may do everything" {
  # shellcheck disable=SC2016
  expect_status 0 zklock run --acl open /l -c 'znode acl "$ZKLOCK_NODE"; znode acl /l'
  assert_output $'world:anyone:31\nworld:anyone:31'
  ZKLOCK_AUTH=digest:me:geheim expect_status 0 zklock run /l -c 'znode acl "$ZKLOCK_NODE"'
  assert_output "world:anyone:31"
}

@test "--acl creator: only who authenticates in the same way" {
  echo digest:me:geheim >secret
  chmod 600 secret
  hold h --auth-file secret --acl creator /a/l
  expect_error 77 "/a/l" env ZKLOCK_AUTH=digest:me:other "$ZKLOCK_BIN" run /a/l -- true
  refute_regex "$stderr" "other:|geheim"
  expect_error 77 "/a/l" zklock run /a/l -- true
  ZKLOCK_AUTH=digest:me:geheim expect_status 75 zklock run -n /a/l -- true
  ZKLOCK_AUTH_FILE=secret expect_status 75 zklock run -n /a/l -- true
  ZKLOCK_AUTH=digest:me:wrong ZKLOCK_AUTH_FILE=none expect_status 75 zklock run --auth-file secret -n /a/l -- true
  let_all_go h
}

@test "--acl creator-world-read: others read, and no more" {
  export ZKLOCK_AUTH=digest:me:geheim
  hold h --acl creator-world-read /l
  unset ZKLOCK_AUTH
  expect_status 0 znode acl "/l/$(znode ls /l)"
  assert_equal "$(sort <<<"$output")" $'digest:me:31\nworld:anyone:1'
  expect_error 77 "/l" zklock run -n /l -- true
  let_all_go h
}

@test "the command is scheduled as zklock is, though its guard goes before others" {
  local nicer
  nicer=$(nice -n 5 nice) # the tests may be run by nice, too
  # shellcheck disable=SC2016
  expect_status 0 nice -n 5 "$ZKLOCK_BIN" run /l -c 'nice; ps -o cls= -p $$'
  assert_output --regexp "^$nicer"$'\n *TS$'
}

@test "credentials that everybody on the host can read are used, with a word" {
  local line="zklock: everybody on this host can read the credentials in 'secret': chmod o-r it"
  printf 'digest:me:geheim\r\n' >secret
  chmod 640 secret
  expect_status 0 zklock run --auth-file secret --acl creator /a/l -- true
  assert_equal "$stderr" ""
  chmod 644 secret
  expect_status 0 zklock run --auth-file secret --acl creator /a/l -- true
  assert_equal "$stderr" "$line"
  ZKLOCK_AUTH=digest:me:geheim expect_status 0 zklock run /a/l -- true
}

@test "the command does not see credentials that come from a file, and the secret is in no message" {
  echo digest:me:geheim >secret
  # shellcheck disable=SC2016
  expect_status 0 zklock run -v --auth-file secret --acl creator /l -c 'env; tr "\0" " " </proc/$PPID/cmdline'
  assert_output --partial ZKLOCK_TOKEN=
  refute_output --partial geheim
  refute_regex "$stderr" geheim
}

@test "a wall clock that jumps while it waits changes nothing" {
  local began jump
  hold h /l
  began=$(now_us)
  echo 0 >wrong
  with_wall_clock "$ZKLOCK_BIN" run -w 6s --connect-timeout 3s /l -- true 2>stderr
  wait_until "it stands in line" has_nodes /l 2
  for jump in 3600 -3600 7200; do
    echo "$jump" >wrong
    expect_status 75 zklock run -q -w 200ms /l -- true # so much time goes by
    assert has_nodes /l 2
  done
  expect_end 75 $!
  assert [ $(($(now_us) - began)) -ge 6000000 ]
  assert [ $(($(now_us) - began)) -lt 9000000 ]
  assert_regex "$(<stderr)" "for [12]h" # so the clock did jump
  let_all_go h
}

@test "a wall clock that jumps while the command runs changes nothing" {
  local jump
  echo 0 >wrong
  with_wall_clock "$ZKLOCK_BIN" run --session-timeout 1s /l -c 'until [ -e go ]; do sleep 0.02; done; exit 5' 2>stderr
  wait_until "it holds the lock" has_nodes /l 1
  for jump in 3600 -3600; do
    echo "$jump" >wrong
    expect_status 75 zklock run -q -w 1200ms /l -- true # longer than the session
  done
  touch go
  expect_end 5 $!
  assert_equal "$(<stderr)" ""
}

@test "the /proc of another PID namespace is refused, also by the first process of one: 70" {
  unshare --pid --fork true 2>/dev/null || skip "no PID namespace can be made here"
  local what="cannot end commands by the /proc of another PID namespace"
  expect_error 70 "$what" unshare --pid --fork "$ZKLOCK_BIN" run /l -- touch ran
  # shellcheck disable=SC2016
  expect_error 70 "$what" unshare --pid --fork sh -c '"$ZKLOCK_BIN" run /l -- touch ran; exit $?'
  assert [ ! -e ran ]
}

@test "the /proc of its own PID namespace will do for the first process of one" {
  unshare --pid --fork --mount-proc true 2>/dev/null || skip "no /proc can be mounted here, as below chroot"
  expect_status 0 unshare --pid --fork --mount-proc "$ZKLOCK_BIN" run /l -- true
}
