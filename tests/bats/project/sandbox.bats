#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scripts/zk-sandbox: everything else is tested on it, so it is tested first.

load ../helpers

setup() {
  unset ZKLOCK_SERVERS ZKLOCK_SANDBOX ZKLOCK_PLAIN_SERVERS "${!ZKLOCK_TLS@}"
  setup_place
  export TMPDIR=$BATS_TEST_TMPDIR # so that what is left over is known to be ours
}

teardown() {
  end_all
  if [[ -e ${ZKLOCK_SANDBOX:-/none} ]]; then zk_sandbox stop; fi
}

nothing_left() {
  [[ -z $(find "$TMPDIR" -maxdepth 1 -name 'zk-sandbox.*') ]] || return 1
  # a zombie's command line is empty
  ! grep -qF -e "-Dzklock.sandbox=$TMPDIR/" /proc/[0-9]*/cmdline 2>/dev/null
}

assert_nothing_left() { assert nothing_left; }

begin() {
  local lines
  lines=$(zk_sandbox start --tick 200 "$@")
  eval "$lines"
}

says() { [[ $(zk_sandbox word "$1" "$2") == *"$3"* ]]; }

# A sandbox around a command that says it runs and then stays; sets $sandbox.
begin_around() {
  background "$repo/scripts/zk-sandbox" "$@" -- sh -c 'echo ready >ready; exec sleep 600'
  sandbox=$!
  wait_until "the command runs" test -e ready
}

@test "one server answers, and is gone when the command has ended" {
  expect_status 0 zk_sandbox -- "$repo/scripts/zk-sandbox" word 1 srvr
  assert_line "Mode: standalone"
  assert_nothing_left
}

@test "three servers are an ensemble with one leader" {
  expect_status 0 zk_sandbox --servers 3 --tick 200 -- sh -c '
    for n in 1 2 3; do "$0" word $n srvr; done; echo $ZKLOCK_SERVERS' "$repo/scripts/zk-sandbox"
  assert_equal "$(grep -c "Mode: follower" <<<"$output")" 2
  assert_equal "$(grep -c "Mode: leader" <<<"$output")" 1
  assert_line --regexp '^127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+$'
}

@test "the command's status is passed on, and nothing is left after a failure" {
  expect_status 37 zk_sandbox -- sh -c 'exit 37'
  assert_nothing_left
  expect_status 127 zk_sandbox -- /no/such/command
  assert_nothing_left
}

@test "a command that died of a signal gives 128 and its number" {
  expect_status 143 zk_sandbox -- sh -c 'kill -TERM $$'
  assert_nothing_left
}

@test "standard input reaches the command, and only its output comes out" {
  expect_status 0 zk_sandbox -- cat <<<"some input"
  assert_output "some input"
  assert_equal "$stderr" ""
}

@test "the command gets the dispositions and descriptors that the sandbox was given" {
  local list='grep -E "SigIgn|SigBlk" /proc/self/status; ls /proc/self/fd'
  # 3 is Bats' own, and ls has one for the folder it reads
  expect_status 0 sh -c "exec 3>&-; $list"
  local expected=$output
  expect_status 0 sh -c "exec 3>&-; exec '$repo/scripts/zk-sandbox' -- sh -c '$list'"
  assert_output "$expected"
}

@test "a signal that was ignored stays ignored for the command" {
  expect_status 0 bash -c "trap '' INT; exec '$repo/scripts/zk-sandbox' -- grep SigIgn /proc/self/status"
  assert_output --regexp '[2367abef]$'
}

@test "INT, TERM and HUP end the sandbox and its command" {
  local name status
  for name in INT:130 TERM:143 HUP:129; do
    rm -f ready
    begin_around
    kill -s "${name%:*}" "$sandbox"
    status=0
    wait "$sandbox" || status=$?
    assert_equal "$name $status" "$name ${name#*:}"
    assert_nothing_left
  done
}

@test "a signal while the servers start leaves nothing" {
  background "$repo/scripts/zk-sandbox" --servers 3 -- touch ran
  wait_until "a server is started" grep -qr . "$TMPDIR" --include=pid
  kill -TERM $!
  expect_end 143 $!
  assert_nothing_left
  assert [ ! -e ran ]
}

@test "SIGKILL of the sandbox leaves no server and no folder" {
  begin_around --servers 3 --tick 200
  kill -KILL "$sandbox"
  expect_end 137 "$sandbox"
  wait_until "nothing is left" nothing_left
}

@test "two sandboxes at once do not meet" {
  background "$repo/scripts/zk-sandbox" -- sh -c 'echo $ZKLOCK_SERVERS; read -r line' >one < <(exec sleep 600)
  wait_until "the first one runs" grep -q : one
  expect_status 0 zk_sandbox -- sh -c 'echo $ZKLOCK_SERVERS; "$0" word 1 srvr' "$repo/scripts/zk-sandbox"
  refute_line "$(<one)"
  assert_line "Mode: standalone"
}

@test "the servers given are used with --reuse" {
  export ZKLOCK_SERVERS=somewhere:2181
  expect_status 0 zk_sandbox --reuse -- sh -c 'echo $ZKLOCK_SERVERS ${ZKLOCK_SANDBOX:-none}'
  assert_output "somewhere:2181 none"
}

@test "--set adds to zoo.cfg or replaces, --tick and --java-property reach the server" {
  begin --set maxClientCnxns=7 --set minSessionTimeout=1234 --java-property zookeeper.some.thing=x
  assert_equal "$(zk_sandbox word 1 conf | grep -E 'maxClient|minSession|tickTime')" \
    "$(printf '%s\n' tickTime=200 maxClientCnxns=7 minSessionTimeout=1234)"
  assert says 1 envi some.thing=x || assert grep -qz some.thing=x "/proc/$(zk_sandbox pid 1)/cmdline"
}

@test "servers whose four-letter words are not allowed count as ready" {
  begin --set 4lw.commands.whitelist=ruok
  assert says 1 ruok imok
  assert says 1 conf whitelist
}

@test "start gives an environment, stop takes the servers down" {
  begin --dir "$TMPDIR/here"
  assert_equal "$ZKLOCK_SANDBOX" "$TMPDIR/here"
  assert_equal "$(zk_sandbox address 1)" "$ZKLOCK_SERVERS"
  assert says 1 ruok imok
  local pid
  pid=$(zk_sandbox pid 1)
  assert_equal "$(readlink "/proc/$pid/fd/"[0-2] | sort -u)" "$(printf '%s\n' /dev/null "$(zk_sandbox log 1)")"
  expect_status 0 zk_sandbox stop
  assert is_gone "$pid"
  assert [ ! -e "$TMPDIR/here" ]
}

@test "a folder that holds something is refused and left alone" {
  mkdir mine
  touch mine/data
  expect_status 1 zk_sandbox --dir mine -- true
  assert_equal "$stderr" "zk-sandbox: mine is not empty"
  expect_status 64 zk_sandbox stop mine
  assert [ -e mine/data ]
}

@test "a paused server says nothing until it is continued" {
  begin
  zk_sandbox pause 1
  expect_status 1 zk_sandbox word 1 ruok
  zk_sandbox continue 1
  assert says 1 ruok imok
}

@test "another server leads while the leader is paused" {
  begin --servers 3
  local old new
  old=$(zk_sandbox leader)
  zk_sandbox pause "$old"
  new=$(zk_sandbox leader)
  assert_not_equal "$old" "$new"
  zk_sandbox continue "$old"
  wait_until "the old leader follows" says "$old" srvr "Mode: follower"
  assert_equal "$(zk_sandbox leader)" "$new"
}

@test "a killed leader is followed by another, and comes back on the same port" {
  begin --servers 3
  local old address
  old=$(zk_sandbox leader)
  address=$(zk_sandbox address "$old")
  zk_sandbox kill "$old"
  expect_status 1 zk_sandbox pid "$old"
  assert_not_equal "$(zk_sandbox leader)" "$old"
  zk_sandbox restart "$old"
  assert_equal "$(zk_sandbox address "$old")" "$address"
  assert says "$old" srvr "Mode: follower"
}

@test "a server that was killed while it joined comes back with what the others have" {
  begin --servers 3
  local n=1
  if [[ $(zk_sandbox leader) == 1 ]]; then n=2; fi
  zk_sandbox kill "$n"
  # what such a death leaves: a snapshot of an epoch that the server does not know of yet
  touch "$ZKLOCK_SANDBOX/$n/data/version-2/snapshot.900000000"
  zk_sandbox restart "$n"
  assert says "$n" srvr "Mode: follower"
}

@test "an ensemble of a Bats file goes away when Bats is killed" {
  mkdir tests tests/bats
  ln -s "$repo/scripts" scripts
  cp "$repo/tests/bats/helpers.bash" tests/bats/
  printf '%s\n' 'load helpers' 'setup_file() { ensemble --tick 200; }' 'teardown_file() { stop_ensemble; }' \
    '@test "x" { echo $PPID >"$PLACE/begun"; exec sleep 600; }' >tests/bats/x.bats
  PLACE=$PWD background env -u BATS_RUN_TMPDIR setsid bats tests/bats/x.bats
  wait_until "the inner test runs" test -s begun
  kill -KILL -- "-$!"
  wait_until "nothing is left" nothing_left
}

@test "without a quorum restart returns when the server answers" {
  begin --servers 3
  zk_sandbox kill 1
  zk_sandbox kill 2
  zk_sandbox kill 3
  zk_sandbox restart 1
  assert says 1 srvr "not currently serving"
  zk_sandbox restart --no-wait 2
  assert zk_sandbox leader
}

@test "a server that cannot start is named, with the end of its log" {
  expect_status 1 zk_sandbox --heap 1k -- touch ran
  assert_regex "$stderr" '^zk-sandbox: server 1 .*log ends'
  assert [ ! -e ran ]
  assert_nothing_left
}

# not_stopped DIR: it is refused in one line, and all that is in it is still there.
not_stopped() {
  local before
  before=$(find "$1/" | sort)
  expect_status 64 zk_sandbox stop "$1"
  assert_equal "$stderr" "zk-sandbox: $(readlink -m "$1") is not a sandbox: nothing in it says so (.zk-sandbox)"
  assert_equal "$(find "$1/" | sort)" "$before"
}

@test "stop removes nothing that it has not made: a folder with an entry java, a sandbox's copy, a link's target" {
  mkdir -p project/java project/1
  touch project/java/Main.java project/1/zoo.cfg
  not_stopped project
  not_stopped "$PWD/project/"
  begin
  cp -r "$ZKLOCK_SANDBOX" copy
  not_stopped copy
  mkdir other
  ln -s "$ZKLOCK_SANDBOX/.zk-sandbox" other/
  not_stopped other
  expect_status 64 zk_sandbox stop nowhere
  assert says 1 srvr "Mode: standalone"
}

@test "stop takes a sandbox's name in any form" {
  begin
  ln -s "$ZKLOCK_SANDBOX" link
  expect_status 0 zk_sandbox stop link/.
  assert_nothing_left
  mkdir folder
  begin --dir folder
  expect_status 0 zk_sandbox stop folder
  assert [ ! -e folder ]
}

@test "an unpacked release in ZOOKEEPER_HOME is used" {
  mkdir -p release/lib release/conf
  ln -s /usr/share/java/*.jar release/lib/
  export ZOOKEEPER_HOME=$PWD/release
  begin
  assert grep -qz "^$PWD/release/conf:" "/proc/$(zk_sandbox pid 1)/cmdline"
}

@test "without ZooKeeper or with a wrong word there is one line that helps" {
  mkdir bin
  ln -s /usr/bin/{env,bash,readlink,mktemp,mkdir,ls,rm,grep,sed,cat,setsid} bin/
  expect_status 1 env -u JAVA_HOME PATH="$PWD/bin" "$repo/scripts/zk-sandbox" -- true
  assert_equal "$stderr" \
    "zk-sandbox: cannot start a server: there is no java; on Debian: apt install default-jre-headless"
  expect_status 64 zk_sandbox --server 3 -- true
  assert_equal "$stderr" "zk-sandbox: unknown word '--server'; see zk-sandbox --help"
  expect_status 64 zk_sandbox --servers many -- true
  assert_nothing_left
}

@test "servers have addresses of their own and are started by a program given" {
  printf '#!/bin/sh\necho "$1" >>"$0.started"; shift; exec "$@"\n' >enter
  chmod +x enter
  begin --servers 2 --host 127.0.1.% --enter "$PWD/enter server%"
  assert_regex "$ZKLOCK_SERVERS" '^127\.0\.1\.1:[0-9]+,127\.0\.1\.2:[0-9]+$'
  zk_sandbox restart 2
  expect_status 0 zk_sandbox address 2
  assert_equal "$output" "${ZKLOCK_SERVERS#*,}"
  wait_until "server 2 follows or leads" says 2 srvr "Mode: "
  assert_equal "$(sort enter.started | xargs)" "server1 server2 server2"
}

# by_tls ADDRESS WORD OPTION…: the reply to a four-letter word, by a client that accepts only a server of that name.
by_tls() {
  printf '%s' "$2" | timeout "${ZKLOCK_TEST_WAIT:-20}" openssl s_client -quiet -connect "$1" \
    -CAfile "$ZKLOCK_TLS_CA" -verify_return_error "${@:3}"
}

own_certificate() { certificate=(-cert "$ZKLOCK_TLS_CERT" -key "$ZKLOCK_TLS_KEY"); }

@test "--tls: on a second port each server wants a certificate, and shows one for its address and for localhost" {
  begin --tls --servers 3 --host 127.0.1.%
  assert_regex "$ZKLOCK_SERVERS" '^tls://127\.0\.1\.1:[0-9]+,127\.0\.1\.2:[0-9]+,127\.0\.1\.3:[0-9]+$'
  assert_regex "$ZKLOCK_PLAIN_SERVERS" '^127\.0\.1\.1:[0-9]+,127\.0\.1\.2:[0-9]+,127\.0\.1\.3:[0-9]+$'
  own_certificate
  local address host all=${ZKLOCK_SERVERS#tls://}
  for address in ${all//,/ }; do
    for host in ip:"${address%:*}" ip:127.0.0.1 ip:::1 hostname:localhost; do
      expect_status 0 by_tls "$address" srvr "${certificate[@]}" "-verify_${host%%:*}" "${host#*:}"
      assert_line --regexp '^Mode: (leader|follower)$'
    done
    expect_status 1 by_tls "$address" srvr "${certificate[@]}" -verify_hostname elsewhere
    expect_status 1 by_tls "$address" srvr
    assert_output ""
    assert_regex "$stderr" "alert bad certificate"
  done
  assert says 2 srvr "Mode: "
  assert_equal "$(zk_sandbox address 3)" "$address"
  assert_equal "$(find "$ZKLOCK_SANDBOX/tls" -perm /077)" ""
}

@test "--tls: the client's certificate is an identity for ACLs" {
  begin --tls
  expect_status 0 /usr/bin/python3 - <<'END'
import os
from kazoo.client import KazooClient
from kazoo.security import CREATOR_ALL_ACL

client = KazooClient(os.environ["ZKLOCK_SERVERS"].removeprefix("tls://"), use_ssl=True, ca=os.environ["ZKLOCK_TLS_CA"],
                     certfile=os.environ["ZKLOCK_TLS_CERT"], keyfile=os.environ["ZKLOCK_TLS_KEY"])
client.start()
client.create("/a", acl=CREATOR_ALL_ACL)
print(*client.get_acls("/a")[0])
END
  assert_output "ACL(perms=31, acl_list=['ALL'], id=Id(scheme='x509', id='CN=client'))"
  ZKLOCK_SERVERS=$ZKLOCK_PLAIN_SERVERS expect_status 70 znode get /a
  assert_regex "$stderr" "not authenticated"
}

@test "--tls: a server is paused, killed and restarted as without it" {
  begin --tls --servers 3
  own_certificate
  local old address
  old=$(zk_sandbox leader)
  address=$(zk_sandbox address "$old")
  zk_sandbox pause "$old"
  assert_not_equal "$(zk_sandbox leader)" "$old"
  zk_sandbox kill "$old"
  zk_sandbox restart "$old"
  assert_equal "$(zk_sandbox address "$old")" "$address"
  expect_status 0 by_tls "$address" srvr "${certificate[@]}"
  assert_line "Mode: follower"
}

@test "--tls-only: no server has a plain port, and words reach them all the same" {
  begin --tls-only --servers 3
  assert_regex "$ZKLOCK_SERVERS" '^tls://127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+$'
  assert_equal "${ZKLOCK_PLAIN_SERVERS-unset}" unset
  local n
  for n in 1 2 3; do
    assert says "$n" conf $'\nsecureClientPort='
    assert says "$n" conf "clientPort=-1"
  done
  n=$(zk_sandbox leader)
  zk_sandbox kill "$n"
  expect_status 1 zk_sandbox word "$n" ruok
  assert_not_equal "$(zk_sandbox leader)" "$n"
  zk_sandbox restart "$n"
  assert says "$n" srvr "Mode: follower"
}

@test "--tls: --set can give the servers another certificate, and another version of TLS" {
  openssl req -x509 -config /dev/null -subj /CN=stranger -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout stranger.key -out stranger.pem
  cat stranger.key >>stranger.pem
  begin --tls --set ssl.keyStore.location="$PWD/stranger.pem" --set ssl.protocol=TLSv1.3 \
    --set ssl.ciphersuites=TLS_AES_128_GCM_SHA256
  own_certificate
  local address=${ZKLOCK_SERVERS#tls://}
  expect_status 1 by_tls "$address" srvr "${certificate[@]}"
  assert_regex "$stderr" "self-signed certificate"
  expect_status 1 by_tls "$address" srvr "${certificate[@]}" -CAfile stranger.pem -tls1_2
  expect_status 0 by_tls "$address" srvr "${certificate[@]}" -CAfile stranger.pem -tls1_3
  assert_line "Mode: standalone"
}

@test "of another sandbox's settings none is left" {
  local name
  begin --tls
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  local names="env | sed -n 's/=.*//; /^ZKLOCK_[TPS]/p' | grep -vE 'TEST|ZKLOCK_S' | sort | xargs"
  expect_status 0 zk_sandbox -- sh -c "$names"
  assert_output ""
  expect_status 0 zk_sandbox --tls-only -- sh -c "$names"
  assert_output "ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY"
  expect_status 0 bash -c "eval \"\$('$repo/scripts/zk-sandbox' start)\"; $names; '$repo/scripts/zk-sandbox' stop"
  assert_output ""
}

@test "--tls without openssl: one line that helps" {
  mkdir bin
  ln -s /usr/bin/{env,bash,readlink,mktemp,mkdir,ls,rm,grep,sed,cat,setsid,java} bin/
  expect_status 1 env -u JAVA_HOME PATH="$PWD/bin" "$repo/scripts/zk-sandbox" --tls -- true
  assert_equal "$stderr" "zk-sandbox: cannot start a server: there is no openssl; on Debian: apt install openssl"
  assert_nothing_left
}

@test "an ensemble of a file's own that does not start does not take down the servers of all" {
  local common
  eval "$(zk_sandbox start)"
  common=$ZKLOCK_SANDBOX
  run ensemble --tick 0
  assert_failure
  assert_output --partial "no ensemble"
  { ensemble --tick 0 2>/dev/null || stop_ensemble; } >/dev/null
  export ZKLOCK_SANDBOX=$common
  expect_status 0 zk_sandbox word 1 ruok
}
