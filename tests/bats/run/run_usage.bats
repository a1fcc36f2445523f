#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what may be typed in zklock run. All else ends with 64 and one line, and nothing is made.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# wrong TEXT ARG…: `zklock ARG…` is wrong use, and the one line contains TEXT.
wrong() {
  expect_error 64 "$1" zklock "${@:2}"
  assert_equal "$output" ""
}

@test "a bad path is named, with what would be right" {
  local bad
  wrong "bad path 'nightly': a path begins with /" run nightly -- true
  wrong "bad path '': " run "" -- true
  wrong "bad path '/': " run / -- true
  wrong "bad path '//': " run // -- true
  wrong "bad path '/a//b': " run /a//b -- true
  wrong "bad path '/a/': a path does not end with /" run /a/ -- true
  for bad in /. /.. /./a /../a /a/. /a/.. /a/./b /a/../b; do wrong "bad path '$bad': " run "$bad" -- true; done
  wrong "bad path '/zookeeper': /zookeeper belongs to the server" run /zookeeper -- true
  wrong "bad path '/zookeeper/locks/job': /zookeeper belongs" run /zookeeper/locks/job -- true
  assert_untouched
}

@test "a path that is no text is named without harm to the terminal" {
  local bad
  for bad in $'a\nb' $'a\tb' $'a\x01b' $'a\x7fb' $'a\x1b[31mb' $'a\xc2\x9bb'; do
    wrong "it has a control character" run "/$bad" -- true
    refute_regex "$stderr" $'[\x01-\x09\x1b\x7f]'
  done
  for bad in $'\xff' $'a\xc3' $'\xc0\xaf' $'\xed\xa0\x80' $'\xf5\x80\x80\x80'; do
    wrong "it is not UTF-8" run "/$bad" -- true
  done
  wrong "bad path '/a\\x0ab': " run $'/a\nb' -- true
  wrong "that ZooKeeper refuses" run $'/a\xef\xbf\xbf' -- true
  assert_untouched
}

@test "unusual paths that are fine" {
  local path
  for path in /a /zookeepers /zookeeper2/x "/with space" "/-w" /ünï/コード /a.b /... /a..b /[x] /a,b '/%s{}' /run; do
    expect_status 0 zklock run "$path" -- sh -c 'printf %s "$ZKLOCK_PATH"'
    assert_output "$path"
  done
}

@test "a bad duration is named, with what would be right" {
  local bad
  for bad in soon 5x -1 1.2.3 5mm 's' '1h-30m' '5 m' 0x10 1e3 '' ' ' 99999999999d $'5\n'; do
    wrong "for --timeout: write one like 500ms" run -w "$bad" /l -- true
  done
  wrong "bad duration 'soon' for --session-timeout" run --session-timeout soon /l -- true
  wrong "bad duration 'soon' for --connect-timeout" --connect-timeout=soon run /l -- true
  wrong "bad duration '0' for --session-timeout: " run --session-timeout 0 /l -- true
  wrong "bad duration '100d' for --connect-timeout: " run --connect-timeout 100d /l -- true
  assert_untouched
}

@test "a bad duration in a variable is named by the variable" {
  ZKLOCK_SESSION_TIMEOUT=soon wrong "bad duration 'soon' for ZKLOCK_SESSION_TIMEOUT" run /l -- true
  ZKLOCK_CONNECT_TIMEOUT=soon wrong "bad duration 'soon' for ZKLOCK_CONNECT_TIMEOUT" run /l -- true
  ZKLOCK_CONNECT_TIMEOUT=soon expect_status 0 zklock run --connect-timeout 5s /l -- true
}

@test "durations that are fine" {
  local good
  for good in 500ms 0.5 .5 5. 30 30s 5m 1h30m 1d 1d1h1m1s1ms 0.5h 36500d; do
    expect_status 0 zklock run -w "$good" /l -- echo ran
    assert_output ran
  done
}

@test "a bad server list is named with its culprit and where it came from" {
  local bad
  for bad in host:0 host:65536 host:port host:-1 host: host:21812181218 '[::1]:x' host:2181:2181; do
    wrong "bad server list '$bad' (from --servers): " run -S "$bad" /l -- true
  done
  for bad in ',' :2181 'a b' '[::1' '[::1]x' ::1 '[]:1'; do
    wrong "bad server list '$bad' (from --servers): " run -S "$bad" /l -- true
  done
  ZKLOCK_SERVERS=a:b wrong "bad server list 'a:b' (from ZKLOCK_SERVERS): a port is a number" run /l -- true
}

@test "a bad chroot is named" {
  local bad
  for bad in a:1// a:1/x/ a:1/x//y a:1/x/../y a:1/x,b:1 a:1/x,b:1/y $'a:1/\xff'; do
    wrong "bad server list" run -S "$bad" /l -- true
  done
  wrong "/zookeeper belongs to the server" run -S a:1/zookeeper/x /l -- true
}

@test "an empty server list as an option is wrong, not the default; an empty variable is none" {
  wrong "(from --servers)" run --connect-timeout 100ms -S '' /l -- true
  ZKLOCK_SERVERS='' expect_error 69 "127.0.0.1:2181 (from the default)" zklock run --connect-timeout 100ms /l -- true
}

@test "no command, or none behind --" {
  wrong "no command: write zklock run /l -- COMMAND" run /l
  wrong "no command: write zklock run /l -- COMMAND" run /l --
  wrong "unexpected argument 'true': write -- before the command" run /l true
  wrong "unexpected argument 'sh': write -- before the command" run -n /l sh -c true
  wrong "give either -c STRING or -- COMMAND, not both" run /l -c true -- true
  assert_untouched
}

@test "no lock, or none of two" {
  wrong "no lock named: write zklock run /locks/job -- COMMAND" run
  wrong "no lock named" run -- true
  wrong "no lock named" run -n -c true
  wrong "bad path '/m/'" run /l /m/ -- true
  wrong "unexpected argument 'm'" run /l m -- true
  assert_untouched
}

@test "no subcommand, or one that does not exist: the nearest is named" {
  wrong "unknown command ''" ''
  wrong "no command named" -v
  wrong "unknown command 'rum'; did you mean 'run'?" rum /l -- true
  wrong "unknown command 'urn'; did you mean 'run'?" urn
  wrong "unknown command 'Run'; did you mean 'run'?" Run /l -- true
  wrong "unknown command '/l'" /l -- true
  wrong "unknown command 'teapot'" teapot run /l -- true
  refute_regex "$stderr" "did you mean"
}

@test "an option that does not exist: the nearest is named" {
  wrong "unknown option '--nonblok'; did you mean '--nonblock'?" run --nonblok /l -- true
  wrong "unknown option '--timout=5'; did you mean '--timeout'?" run --timout=5 /l -- true
  wrong "unknown option '--verbos'; did you mean '--verbose'?" --verbos run /l -- true
  wrong "unknown option '-z'" run -z /l -- true
  wrong "unknown option '-z'" run -nz /l -- true
  wrong "unknown option '-z'" run /l -z -- true
  wrong "unknown option '-5'" run -5 /l -- true
  assert_untouched
}

@test "an option without its value, or with one that it does not take" {
  local option
  for option in --timeout --conflict-exit-code --command --label --servers --session-timeout --auth-file --acl; do
    wrong "$option" run /l "$option"
    wrong "$option" run /l "$option" -- true
  done
  wrong "--timeout" run /l -w -- true
  wrong "--servers" -S
  wrong "--nonblock" run --nonblock=maybe /l -- true
  assert_untouched
}

@test "-E wants a number from 0 to 255" {
  local bad
  for bad in 256 -1 1000 x '' 7x 0x7 99999999999999999999; do
    wrong "for --conflict-exit-code: write a number from 0 to 255" run -n -E "$bad" /l -- true
  done
  assert_untouched
}

@test "--acl wants one of three words, and credentials" {
  wrong "bad value 'closed' for --acl: write open, creator or creator-world-read" run --acl closed /l -- true
  wrong "--acl creator needs credentials: set ZKLOCK_AUTH, --auth-file or --tls-cert" run --acl creator /l -- true
  wrong "--acl creator-world-read needs credentials" --acl creator-world-read run /l -- true
  assert_untouched
}

@test "bad credentials are refused, and never shown" {
  local bad
  for bad in geheim user:geheim digest:geheim digest: digest::geheim basic:user:geheim $'digest:geheim:\xff'; do
    ZKLOCK_AUTH=$bad wrong "ZKLOCK_AUTH" run /l -- true
    refute_regex "$stderr" "geheim"
    echo "$bad" >file
    wrong "file" run --auth-file file /l -- true
    refute_regex "$stderr" "geheim"
  done
  assert_untouched
}

@test "a file of credentials that cannot be read is named" {
  mkdir folder
  : >empty
  wrong "no-such-file" run --auth-file no-such-file /l -- true
  ZKLOCK_AUTH_FILE=no-such-file wrong "no-such-file" run /l -- true
  wrong "folder" run --auth-file folder /l -- true
  wrong "empty" run --auth-file empty /l -- true
  assert_untouched
}

@test "blanks in a server list, and commas without a server, are passed over" {
  local plain=${ZKLOCK_SERVERS%%/*} chroot=/${ZKLOCK_SERVERS#*/}
  # shellcheck disable=SC2016
  expect_status 0 zklock run -S " $plain, ${plain%%,*},$chroot" /l -- sh -c 'echo "$ZKLOCK_SERVERS"'
  assert_output "$(servers_for_command | cut -d/ -f1),${plain%%,*}$chroot"
}

@test "a file of credentials without an end: 64" {
  wrong "'/dev/zero': its first line has no end" run --auth-file /dev/zero /l -- true
  assert_untouched
}

@test "names too long for the command's environment: 64, before anything is taken" {
  local n name paths=()
  name=$(printf '%0200d' 0)
  for n in {1..9}; do paths+=("/$n$(printf "/$name%.0s" {1..75})"); done
  wrong "too long for the command's environment" run "${paths[@]}" -- true
  assert_untouched
  expect_status 0 zklock run --any "${paths[@]}" -- true
}

@test "options of all commands stand before or behind the subcommand; behind wins" {
  local servers=$ZKLOCK_SERVERS
  unset ZKLOCK_SERVERS
  expect_status 0 zklock -S "$servers" run /l -- true
  expect_status 0 zklock run -S "$servers" /l -- true
  expect_status 0 zklock run /l "--servers=$servers" -- true
  expect_status 0 zklock -S 127.0.0.1:1 run -S "$servers" /l -- true
  expect_status 0 zklock --servers "bad::list" --session-timeout soon run --session-timeout 5 -S "$servers" /l -- true
  ZKLOCK_SERVERS=bad::list expect_status 0 zklock -S "$servers" run /l -- true
  expect_error 69 "127.0.0.1:1" zklock -S "$servers" --connect-timeout 200ms run -S 127.0.0.1:1 /l -- true
}

@test "an option given twice: the last one wins" {
  hold h /l
  expect_status 7 zklock run -n -E 5 -E 6 -E 7 /l -- true
  expect_status 6 zklock run -w 1h -n -w 0 -E x -E 6 /l -- true
  expect_status 75 zklock run -w x -w 50ms -w 0 /l -- true
  wrong "bad duration 'x'" run -w 1 -w x /l -- true
  let_all_go h
}

@test "letters can be put together, and their value too" {
  hold h /l
  expect_status 0 zklock run -nqE0 /l -- touch ran
  assert_equal "$output$stderr" ""
  expect_status 4 zklock run -qnE 4 /l -- touch ran
  expect_status 3 zklock run -qE3 -w0 /l -- touch ran
  assert_equal "$stderr" ""
  expect_status 75 zklock run -w.05s /l -- touch ran
  expect_status 75 zklock run /l -n -- touch ran
  assert [ ! -e ran ]
  let_all_go h
}

@test "-w 0 is -n, and both may stand together" {
  hold h /l
  expect_error 75 "cannot take /l: held by" zklock run -w 0 /l -- touch ran
  expect_error 75 "cannot take /l: held by" zklock run -w 0s /l -- touch ran
  expect_error 75 "cannot take /l: held by" zklock run -n -w 1h /l -- touch ran
  expect_error 75 "cannot take /l: held by" zklock run -w 1h -n /l -- touch ran
  assert [ ! -e ran ]
  let_all_go h
  expect_status 0 zklock run -w 0 /l -- touch ran
  assert [ -e ran ]
}

@test "--help goes to standard output, fits 80 columns and has examples" {
  local words
  for words in --help -h "run --help" "run -h" "run -n --help" "-v run --help"; do
    # shellcheck disable=SC2086
    expect_status 0 env -u ZKLOCK_SERVERS "$ZKLOCK_BIN" $words
    assert_equal "$stderr" ""
    assert_output --partial "Usage: zklock"
    assert_output --partial "Examples:"
    refute_output --regexp $'(^|\n)[^\n]{81}'
    refute_output --partial $'\n\n\n'
  done
}

@test "--help of run names every option" {
  expect_status 0 zklock run --help
  local option
  for option in -n -w -E -c -S -v -q -h,--help --nonblock --timeout --conflict-exit-code --command --label \
    --session-timeout --connect-timeout --auth-file --acl --tls "zklock -h:"; do
    assert_output --partial -- "$option"
  done
  expect_status 0 zklock -h
  assert_output --partial "-S,--servers LIST"
  assert_output --partial ZKLOCK_SERVERS
}

@test "-V prints the version on the first line, then the C client's, OpenSSL's and the build" {
  local said
  expect_status 0 zklock -V
  said=$output
  assert_line --index 0 --regexp '^zklock [0-9]+\.[0-9]+\.[0-9]+$'
  assert_line --index 1 --regexp '^ZooKeeper C client [0-9]+\.[0-9]+\.[0-9]+$'
  assert_line --index 2 --regexp '^(TLS by OpenSSL [0-9]+\.[0-9]+\.[0-9]+|no TLS)$'
  assert_line --index 3 --regexp \
    '^built with [A-Za-z]+ [0-9.]+, [A-Za-z]+(, static)?(, sanitizers)?(, commit [0-9a-f]{12,}(-dirty)?)?$'
  assert_equal "${#lines[@]}" 4
  expect_status 0 zklock --version
  assert_output "$said"
}

@test "--help and -V to a full disk: 74" {
  local option
  for option in --help -V "run --help"; do
    # shellcheck disable=SC2016,SC2086
    expect_error 74 "cannot write to standard output" sh -c '"$ZKLOCK_BIN" "$@" >/dev/full' sh $option
  done
}
