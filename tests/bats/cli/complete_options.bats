#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Compares the subcommands, options, values and commands that the shells offer with the program's help.

load ../helpers
load ../complete

setup() {
  setup_place
  own_zklock
}

teardown() { end_all; }

# Reads the help of each subcommand once.
setup_file() {
  local words
  mkdir "$BATS_FILE_TMPDIR/options"
  while read -ra words; do options_of "${words[@]}" >"$BATS_FILE_TMPDIR/options/of ${words[*]}"; done <<<$'\n'"$(subcommands)"
}

# kept_options SUBCOMMAND: prints its options_of.
kept_options() { printf '%s' "$(<"$BATS_FILE_TMPDIR/options/of $1")"; }

# offers_options SHELL: it offers exactly the options of every subcommand.
offers_options() {
  local words all options
  mapfile -t all < <(echo && subcommands)
  ((${#all[@]} >= 33)) || fail "help shows too few: ${all[*]}" || return
  forget_wants
  for words in "${all[@]}"; do
    options=$(kept_options "$words")
    [[ $options == *--help* ]] || fail "no options in the help of '$words'" || return
    wants "$options" "zklock $words${words:+ }-"
  done
  are_offered "$1"
}

@test "bash offers the options of zklock, and behind each subcommand those of that" { offers_options bash; }

@test "fish offers the options of zklock, and behind each subcommand those of that" { offers_options fish; }

@test "zsh offers the options of zklock, and behind each subcommand those of that" {
  local words lines=()
  mapfile -t words < <(echo; subcommands)
  ((${#words[@]} >= 33)) || fail "help shows too few: ${words[*]}"
  for word in "${words[@]}"; do lines+=("zklock $word${word:+ }-"); done
  tab zsh list "${lines[@]}" >shown
  # The description of each option follows " -- ".
  jq -rn '[inputs] | to_entries[] | "\($ARGS.positional[.key])\t\(.value.screen | split("\n")[1:][])"' shown --args "${words[@]}" |
    awk -F '\t' -v OFS='\t' '{
      sub(/ -- .*/, "", $2)
      count = split($2, offers, " ")
      for (i = 1; i <= count; ++i)
        if (match(offers[i], /^--?[A-Za-z0-9][a-z-]*/)) print $1, substr(offers[i], 1, RLENGTH)
    }' | LC_ALL=C sort -u >found
  awk -v OFS='\t' '{ subcommand = FILENAME; sub(/.*\/of /, "", subcommand); print subcommand, $0 }' \
    "$BATS_FILE_TMPDIR"/options/* | LC_ALL=C sort -u >expected
  assert_equal "$(cut -f 1 expected | uniq)" "$(printf '%s\n' "${words[@]}" | LC_ALL=C sort -u)"
  assert_equal "$(<found)" "$(<expected)"
}

@test "each shell offers the subcommands, and behind help too" {
  local root words
  words=$(subcommands | cut -d' ' -f1 | LC_ALL=C sort -u)
  root=${words//$'\n'/ }
  forget_wants
  wants "$root" "zklock "
  wants "${root/help /}" "zklock help "
  wants "run ruok" "zklock --acl open r"
  wants "run ruok" "zklock --tls --tls-ca ca.pem --tls-server-name zk r"
  wants "break" "zklock -vS zk1:2181,[::1]:2182/a b"
  for words in queue group value; do
    wants "$(subcommands | sed -n "s/^$words //p")" "zklock $words "
    wants "$(subcommands | sed -n "s/^$words //p")" "zklock help $words "
  done
  are_offered bash fish
  are_typed zsh \
    "zklock -S zk1:2181 bre" "zklock -S zk1:2181 break " \
    "zklock queue requ" "zklock queue requeue " \
    "zklock help group crea" "zklock help group create " \
    "zklock value del" "zklock value delete " \
    "zklock help value ge" "zklock help value get "
}

@test "each shell offers the values of options, files, and nothing for free text" {
  touch secret.txt
  local option
  forget_wants
  wants "creator creator-world-read open" "zklock run --acl "
  wants "curator-rw kazoo kazoo-extra standard" "zklock run --peer "
  wants "json nagios prometheus text" "zklock health --format "
  wants "json text" "zklock value get --format "
  wants "json text" "zklock mntr --format "
  wants "json prometheus text" "zklock show --format "
  wants "json prometheus text" "zklock queue count --format "
  wants "conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs" "zklock 4lw "
  wants "" "zklock 4lw conf "
  wants "secret.txt" "zklock run --auth-file sec"
  for option in --tls-ca --tls-cert --tls-key; do
    wants "secret.txt" "zklock run $option sec"
    wants "secret.txt" "zklock ruok $option sec"
  done
  wants "" "zklock srvr --tls-server-name s"
  wants "" "zklock run -w "
  wants "" "zklock run -nqE "
  wants "" "zklock run -n --nonb"
  wants "--no-color --nonblock" "zklock run -s --no"
  wants "" "zklock group join --name "
  wants "" "zklock value get --default "
  wants "" "zklock value set --if-version "
  wants "" "zklock value wait --equals "
  wants "" "zklock value wait --newer-than "
  are_offered bash fish
  forget_wants
  wants "creator creator-world-read" "zklock run --acl=cr"
  wants "secret.txt" "zklock --auth-file=sec"
  wants "secret.txt" "zklock mntr --tls-ca=sec"
  wants "" "zklock run --label -"
  are_offered bash
  are_typed zsh \
    "zklock run --acl=o" "zklock run --acl=open " \
    "zklock health --format na" "zklock health --format nagios " \
    "zklock group list --format p" "zklock group list --format prometheus " \
    "zklock --auth-file sec" "zklock --auth-file secret.txt " \
    "zklock --tls --tls-key sec" "zklock --tls --tls-key secret.txt " \
    "zklock stat --tls-cert=sec" "zklock stat --tls-cert=secret.txt "
  are_typed bash \
    "zklock run --acl=o" "zklock run --acl=open "
}

@test "each shell offers -- behind the lock, then commands and their files" {
  touch job.txt
  printf '#!/bin/sh\n' >frobnicate
  chmod +x frobnicate
  PATH=$PWD:$PATH
  export ZKLOCK_SERVERS=127.0.0.1:1
  forget_wants
  wants "--" "zklock run /l "
  wants "--" "zklock run -nqE0 --timeout=5 /l "
  wants "--" "zklock queue pull /q "
  wants "--" "zklock group watch /g "
  wants "--" "zklock value watch --list /v "
  wants "" "zklock value set --if-version 3 /v "
  wants "" "zklock run -c true /l "
  wants "" "zklock break /l "
  wants "frobnicate" "zklock run -w 5 /l -- frobn"
  wants "job.txt" "zklock run /l -- frobnicate jo"
  wants "" "zklock run /l -- frobnicate --lab"
  wants "" "zklock queue push /q -- frobn"
  are_offered bash fish
  are_typed zsh \
    "zklock run /l " "zklock run /l -- " \
    "zklock run /l -- frobnicate jo" "zklock run /l -- frobnicate job.txt "
  are_typed bash \
    "zklock run /l -- frobnicate jo" "zklock run /l -- frobnicate job.txt "
}
