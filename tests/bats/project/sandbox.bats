#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scripts/zk-sandbox: everything else is tested on it, so it is tested first.

load ../helpers

# Most tests look at servers that all of them share. A file of their name has what starting them printed.
#   alone   one server, of a release in ZOOKEEPER_HOME, with settings of its own
#   three   an ensemble
#   secure  an ensemble over TLS, with addresses of its own, started by a program that notes what it starts
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  unset ZKLOCK_SERVERS ZKLOCK_SANDBOX ZKLOCK_PLAIN_SERVERS "${!ZKLOCK_TLS@}"
  mkdir -p release/lib release/conf
  ln -s /usr/share/java/*.jar release/lib/
  printf '#!/bin/sh\necho "$1" >>"$0.started"; shift; exec "$@"\n' >enter
  chmod +x enter
  ZOOKEEPER_HOME=$PWD/release share alone --set maxClientCnxns=7 --set minSessionTimeout=1234 \
    --java-property zookeeper.some.thing=x
  share three --servers 3
  share secure --tls --servers 3 --host 127.0.1.% --enter "$PWD/enter server%"
}

# share NAME OPTION…
share() {
  zk_sandbox start --tick 200 "${@:2}" >"$1" || fail "no sandbox $1" || return
  (on "$1" && stop_with_bats)
}

teardown_file() {
  local name
  for name in alone three secure; do (on "$name" && zk_sandbox stop) || true; done
}

# on NAME: all that follows is about that sandbox.
on() { eval "$(<"$BATS_FILE_TMPDIR/$1")"; }

setup() {
  unset ZKLOCK_SERVERS ZKLOCK_SANDBOX ZKLOCK_PLAIN_SERVERS "${!ZKLOCK_TLS@}"
  setup_place
  export TMPDIR=$BATS_TEST_TMPDIR # so that what is left over is known to be ours
}

teardown() {
  end_all
  if [[ ${ZKLOCK_SANDBOX:-} == "$TMPDIR"/* && -e $ZKLOCK_SANDBOX ]]; then zk_sandbox stop; fi
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

# begin_around NAME [OPTION…]: a sandbox around a command that writes ZKLOCK_SERVERS and ZKLOCK_SANDBOX to NAME.ready and
# then stays. Its process is ${pid[NAME]}.
begin_around() {
  # shellcheck disable=SC2016
  background "$repo/scripts/zk-sandbox" "${@:2}" -- \
    sh -c 'printf "%s\n" $ZKLOCK_SERVERS $ZKLOCK_SANDBOX >"$0.new"; mv "$0.new" "$0.ready"; exec sleep 600' "$1"
  pid[$1]=$!
}

# What is set for zklock, but for what each sandbox sets.
names="env | sed -n 's/=.*//; /^ZKLOCK_[TPS]/p' | grep -vE 'TEST|ZKLOCK_S' | sort | xargs"

@test "one server answers a command, which has our standard input and output and nobody else's settings, and is gone after it" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  expect_status 0 zk_sandbox -- sh -c "cat; '$repo/scripts/zk-sandbox' word 1 srvr >reply; $names >names" <<<"some input"
  assert_output "some input"
  assert_equal "$stderr" ""
  assert grep -x "Mode: standalone" reply
  assert_equal "$(<names)" ""
  assert_nothing_left
}

@test "three servers are an ensemble with one leader" {
  on three
  expect_status 0 sh -c 'for n in 1 2 3; do "$0" word $n srvr; done; echo $ZKLOCK_SERVERS' "$repo/scripts/zk-sandbox"
  assert_equal "$(grep -c "Mode: follower" <<<"$output")" 2
  assert_equal "$(grep -c "Mode: leader" <<<"$output")" 1
  assert_line --regexp '^127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+,127\.0\.0\.1:[0-9]+$'
}

@test "a signal that was ignored stays ignored for the command, whose status is passed on, and nothing is left" {
  expect_status 37 bash -c "trap '' INT; exec '$repo/scripts/zk-sandbox' -- sh -c 'grep SigIgn /proc/self/status; exit 37'"
  assert_output --regexp '[2367abef]$'
  assert_nothing_left
}

@test "a command that there is not: 127, and nothing is left" {
  expect_status 127 zk_sandbox -- /no/such/command
  assert_nothing_left
}

@test "the command gets the dispositions and descriptors that the sandbox was given; died of a signal it gives 128 and its number" {
  local list='grep -E "SigIgn|SigBlk" /proc/self/status; ls /proc/self/fd'
  # 3 is Bats' own, and ls has one for the folder it reads
  expect_status 0 sh -c "exec 3>&-; $list"
  local expected=$output
  expect_status 143 sh -c "exec 3>&-; exec '$repo/scripts/zk-sandbox' -- sh -c '$list; kill -TERM \$\$'"
  assert_output "$expected"
  assert_nothing_left
}

all_ready() { (($(cat ./*.ready | wc -l) == 8)); }

# asked ADDRESS: what the server there says of itself.
asked() { (printf srvr >&0 && cat) 0<>"/dev/tcp/${1/://}"; }

# is_left DIR: of the sandbox there.
is_left() { [[ -e $1 ]] || grep -qF -e "-Dzklock.sandbox=$1" /proc/[0-9]*/cmdline 2>/dev/null; }

@test "sandboxes at once do not meet; INT, TERM, HUP and KILL each end one, and its command, and leave no server and no folder" {
  local name
  for name in INT TERM HUP; do begin_around $name; done
  begin_around KILL --servers 2 --tick 200
  wait_until "each command runs" all_ready
  assert_equal "$(sed -s '1!d; s/,/\n/' ./*.ready | sort -u | wc -l)" 5
  for name in INT TERM HUP; do
    expect_status 0 asked "$(head -n 1 $name.ready)"
    assert_line "Mode: standalone"
  done
  for name in INT:130 TERM:143 HUP:129 KILL:137; do
    kill -s "${name%:*}" "${pid[${name%:*}]}"
    expect_end "${name#*:}" "${pid[${name%:*}]}"
    # SIGKILL leaves it to a process that takes a moment.
    if [[ $name != KILL:* ]]; then refute is_left "$(sed 1d "${name%:*}.ready")"; fi
  done
  wait_until "nothing is left" nothing_left
}

@test "a signal while the servers start leaves nothing" {
  background "$repo/scripts/zk-sandbox" --servers 3 -- touch ran
  wait_until "a server is started" grep -qr . "$TMPDIR" --include=pid
  kill -TERM $!
  expect_end 143 $!
  assert_nothing_left
  assert [ ! -e ran ]
}

@test "the servers given are used with --reuse" {
  export ZKLOCK_SERVERS=somewhere:2181
  expect_status 0 zk_sandbox --reuse -- sh -c 'echo $ZKLOCK_SERVERS ${ZKLOCK_SANDBOX:-none}'
  assert_output "somewhere:2181 none"
}

@test "--set adds to zoo.cfg or replaces, --tick and --java-property reach the server" {
  on alone
  assert_equal "$(zk_sandbox word 1 conf | grep -E 'maxClient|minSession|tickTime')" \
    "$(printf '%s\n' tickTime=200 maxClientCnxns=7 minSessionTimeout=1234)"
  assert says 1 envi some.thing=x || assert grep -qz some.thing=x "/proc/$(zk_sandbox pid 1)/cmdline"
}

@test "start gives an environment without others' settings, stop takes the servers down; they count as ready though words are not allowed" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  begin --dir here --set 4lw.commands.whitelist=ruok
  assert_equal "$(sh -c "$names")" ""
  assert_equal "$ZKLOCK_SANDBOX" "$TMPDIR/here"
  assert_equal "$(zk_sandbox address 1)" "$ZKLOCK_SERVERS"
  assert says 1 ruok imok
  assert says 1 conf whitelist
  local pid
  pid=$(zk_sandbox pid 1)
  assert_equal "$(readlink "/proc/$pid/fd/"[0-2] | sort -u)" "$(printf '%s\n' /dev/null "$(zk_sandbox log 1)")"
  expect_status 0 zk_sandbox stop here
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
  on alone
  zk_sandbox pause 1
  expect_status 1 zk_sandbox word 1 ruok
  zk_sandbox continue 1
  assert says 1 ruok imok
}

@test "another server leads while the leader is paused" {
  on three
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
  on three
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

@test "without a quorum restart returns when the server answers" {
  on three
  zk_sandbox kill 1
  zk_sandbox kill 2
  zk_sandbox kill 3
  zk_sandbox restart 1
  assert says 1 srvr "not currently serving"
  zk_sandbox restart --no-wait 2
  assert zk_sandbox leader
}

@test "an ensemble of a Bats file goes away when Bats is killed" {
  mkdir tests tests/bats
  ln -s "$repo/scripts" scripts
  cp "$repo/tests/bats/helpers.bash" tests/bats/
  printf '%s\n' 'load helpers' 'setup_file() { ensemble --servers 1; }' 'teardown_file() { stop_ensemble; }' \
    '@test "x" { echo $PPID >"$PLACE/begun"; exec sleep 600; }' >tests/bats/x.bats
  PLACE=$PWD background env -u BATS_RUN_TMPDIR setsid bats tests/bats/x.bats
  wait_until "the inner test runs" test -s begun
  kill -KILL -- "-$!"
  wait_until "nothing is left" nothing_left
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
  on alone
  cp -r "$ZKLOCK_SANDBOX" copy
  not_stopped copy
  mkdir other
  ln -s "$ZKLOCK_SANDBOX/.zk-sandbox" other/
  not_stopped other
  expect_status 64 zk_sandbox stop nowhere
  assert says 1 srvr "Mode: standalone"
}

@test "an unpacked release in ZOOKEEPER_HOME is used" {
  on alone
  assert grep -qz "^$BATS_FILE_TMPDIR/release/conf:" "/proc/$(zk_sandbox pid 1)/cmdline"
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

# by_tls ADDRESS WORD OPTION…: the reply to a four-letter word, by a client that accepts only a server of that name.
by_tls() {
  printf '%s' "$2" | timeout "${ZKLOCK_TEST_WAIT:-20}" openssl s_client -quiet -connect "$1" \
    -CAfile "$ZKLOCK_TLS_CA" -verify_return_error "${@:3}"
}

own_certificate() { certificate=(-cert "$ZKLOCK_TLS_CERT" -key "$ZKLOCK_TLS_KEY"); }

@test "--tls: on a second port each server wants a certificate, and shows one for its address and for localhost" {
  on secure
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
  on secure
  # a follower may not have yet what another one was told
  ZKLOCK_SERVERS=${ZKLOCK_SERVERS%%,*} ZKLOCK_PLAIN_SERVERS=${ZKLOCK_PLAIN_SERVERS%%,*}
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

@test "--tls: a server with an address and a program of its own is paused, killed and restarted as without them" {
  on secure
  assert_equal "$(sort "$BATS_FILE_TMPDIR/enter.started" | xargs)" "server1 server2 server3"
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
  assert_equal "$(tail -n 1 "$BATS_FILE_TMPDIR/enter.started")" "server$old"
  assert_equal "$(wc -l <"$BATS_FILE_TMPDIR/enter.started")" 4
}

@test "--tls-only: no server has a plain port, and words reach them all the same" {
  on secure
  export ZKLOCK_TLS=1 ZKLOCK_TLS_SERVER_NAME=elsewhere
  begin --tls-only --servers 3
  assert_equal "$(sh -c "$names")" "ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY"
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
  ln -s "$ZKLOCK_SANDBOX" link
  expect_status 0 zk_sandbox stop link/.
  assert_nothing_left
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
  on alone
  common=$ZKLOCK_SANDBOX
  run ensemble --tick 0
  assert_failure
  assert_output --partial "no ensemble"
  { ensemble --tick 0 2>/dev/null || stop_ensemble; } >/dev/null
  export ZKLOCK_SANDBOX=$common
  expect_status 0 zk_sandbox word 1 ruok
}
