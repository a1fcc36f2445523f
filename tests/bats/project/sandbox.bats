#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/zk-sandbox. All else is tested on it, so it is tested first.

load ../helpers
load ../sandbox

# `alone` is one server, of a release in ZOOKEEPER_HOME, with settings of its own; `three` is an ensemble.
setup_file() {
  enter_file_folder
  mkdir -p release/lib release/conf
  ln -s /usr/share/java/*.jar release/lib/
  ZOOKEEPER_HOME=$PWD/release share alone --set maxClientCnxns=7 --set minSessionTimeout=1234 \
    --java-property zookeeper.some.thing=x
  share three --servers 3
}

# begin_around NAME [OPTION…]: starts a sandbox around a command that writes ZKLOCK_SERVERS and ZKLOCK_SANDBOX to
# NAME.ready and then stays. Its process is ${pid[NAME]}.
begin_around() {
  # shellcheck disable=SC2016
  background "$repo/scripts/zk-sandbox" "${@:2}" -- \
    sh -c 'printf "%s\n" $ZKLOCK_SERVERS $ZKLOCK_SANDBOX >"$0.new"; mv "$0.new" "$0.ready"; exec sleep 600' "$1"
  pid[$1]=$!
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
  # Descriptor 3 is Bats' own, and ls has one for the folder that it reads.
  expect_status 0 sh -c "exec 3>&-; $list"
  local expected=$output
  expect_status 143 sh -c "exec 3>&-; exec '$repo/scripts/zk-sandbox' -- sh -c '$list; kill -TERM \$\$'"
  assert_output "$expected"
  assert_nothing_left
}

all_ready() { (($(cat ./*.ready | wc -l) == 8)); }

# asked ADDRESS: prints what the server there reports of itself.
asked() { (printf srvr >&0 && cat) 0<>"/dev/tcp/${1/://}"; }

# is_left DIR: something of the sandbox there is left.
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
    # After SIGKILL, another process removes it, which takes a moment.
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

# not_stopped DIR: `stop` refuses it in one line, and all that is in it is still there.
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
