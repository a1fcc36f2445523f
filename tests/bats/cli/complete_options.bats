#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Subcommands, options, values and commands as the shells offer them, against what the program's help says.

load ../helpers
load ../complete

setup() { setup_place; }

teardown() { end_all; }

# offers_options SHELL: of every subcommand exactly its options.
offers_options() {
  local words
  (($(subcommands | wc -l) >= 32)) || fail "help shows too few: $(subcommands)" || return
  while read -ra words; do
    [[ $(options_of "${words[@]}") == *--help* ]] || fail "no options in the help of '${words[*]}'" || return
    offers "$1" "$(options_of "${words[@]}")" "zklock ${words[*]}${words:+ }-" || return
  done <<<$'\n'"$(subcommands)"
}

@test "bash offers the options of zklock, and behind each subcommand those of that" { offers_options bash; }

@test "fish offers the options of zklock, and behind each subcommand those of that" { offers_options fish; }

@test "zsh offers the options of zklock, and behind each subcommand those of that" {
  own_zklock
  local words lines=() found
  mapfile -t words < <(echo; subcommands)
  ((${#words[@]} >= 33)) || fail "help shows too few: ${words[*]}"
  for word in "${words[@]}"; do lines+=("zklock $word${word:+ }-"); done
  tab zsh list "${lines[@]}" >shown
  for word in "${words[@]}"; do
    read -r found
    # What is shown of each option stands behind " -- ".
    found=$(jq -r .screen <<<"$found" | tail -n +2 | sed 's/ -- .*//' |
      { grep -oE -e '(^| )--?[A-Za-z0-9][a-z-]*' || true; } | tr -d ' ' | LC_ALL=C sort -u)
    # shellcheck disable=SC2086 # two words
    assert_equal "$word: $found" "$word: $(options_of $word)"
  done <shown
}

@test "each shell offers the subcommands, and behind help too" {
  local root words shell
  words=$(subcommands | cut -d' ' -f1 | LC_ALL=C sort -u)
  root=${words//$'\n'/ }
  for shell in bash fish; do
    offers "$shell" "$root" "zklock "
    offers "$shell" "${root/help /}" "zklock help "
    offers "$shell" "run ruok" "zklock --acl open r"
    offers "$shell" "run ruok" "zklock --tls --tls-ca ca.pem --tls-server-name zk r"
    offers "$shell" "break" "zklock -vS zk1:2181,[::1]:2182/a b"
    for words in queue group value; do
      offers "$shell" "$(subcommands | sed -n "s/^$words //p")" "zklock $words "
      offers "$shell" "$(subcommands | sed -n "s/^$words //p")" "zklock help $words "
    done
  done
  own_zklock
  assert_equal "$(typed zsh "zklock -S zk1:2181 bre")" "zklock -S zk1:2181 break "
  assert_equal "$(typed zsh "zklock queue requ")" "zklock queue requeue "
  assert_equal "$(typed zsh "zklock help group crea")" "zklock help group create "
  assert_equal "$(typed zsh "zklock value del")" "zklock value delete "
  assert_equal "$(typed zsh "zklock help value ge")" "zklock help value get "
}

@test "each shell offers the values of options, files, and nothing for free text" {
  touch secret.txt
  local shell option
  for shell in bash fish; do
    offers "$shell" "creator creator-world-read open" "zklock run --acl "
    offers "$shell" "curator-rw kazoo kazoo-extra" "zklock run --peer "
    offers "$shell" "json nagios prometheus text" "zklock health --format "
    offers "$shell" "json text" "zklock value get --format "
    offers "$shell" "json text" "zklock mntr --format "
    offers "$shell" "json prometheus text" "zklock show --format "
    offers "$shell" "json prometheus text" "zklock queue count --format "
    offers "$shell" "conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs" "zklock 4lw "
    offers "$shell" "" "zklock 4lw conf "
    offers "$shell" "secret.txt" "zklock run --auth-file sec"
    for option in --tls-ca --tls-cert --tls-key; do
      offers "$shell" "secret.txt" "zklock run $option sec"
      offers "$shell" "secret.txt" "zklock ruok $option sec"
    done
    offers "$shell" "" "zklock srvr --tls-server-name s"
    offers "$shell" "" "zklock run -w "
    offers "$shell" "" "zklock run -nqE "
    offers "$shell" "" "zklock group join --name "
    offers "$shell" "" "zklock value get --default "
    offers "$shell" "" "zklock value set --if-version "
    offers "$shell" "" "zklock value wait --equals "
    offers "$shell" "" "zklock value wait --newer-than "
  done
  offers bash "creator creator-world-read" "zklock run --acl=cr"
  offers bash "secret.txt" "zklock --auth-file=sec"
  offers bash "secret.txt" "zklock mntr --tls-ca=sec"
  offers bash "" "zklock run --label -"
  own_zklock
  assert_equal "$(typed zsh "zklock run --acl=o")" "zklock run --acl=open "
  assert_equal "$(typed zsh "zklock health --format na")" "zklock health --format nagios "
  assert_equal "$(typed zsh "zklock group list --format p")" "zklock group list --format prometheus "
  assert_equal "$(typed zsh "zklock --auth-file sec")" "zklock --auth-file secret.txt "
  assert_equal "$(typed zsh "zklock --tls --tls-key sec")" "zklock --tls --tls-key secret.txt "
  assert_equal "$(typed zsh "zklock stat --tls-cert=sec")" "zklock stat --tls-cert=secret.txt "
  assert_equal "$(typed bash "zklock run --acl=o")" "zklock run --acl=open "
}

@test "each shell offers -- behind the lock, then commands and their files" {
  touch job.txt
  printf '#!/bin/sh\n' >frobnicate
  chmod +x frobnicate
  own_zklock
  PATH=$PWD:$PATH
  export ZKLOCK_SERVERS=127.0.0.1:1
  local shell
  for shell in bash fish; do
    offers "$shell" "--" "zklock run /l "
    offers "$shell" "--" "zklock run -nqE0 --timeout=5 /l "
    offers "$shell" "--" "zklock queue pull /q "
    offers "$shell" "--" "zklock group watch /g "
    offers "$shell" "--" "zklock value watch --list /v "
    offers "$shell" "" "zklock value set --if-version 3 /v "
    offers "$shell" "" "zklock run -c true /l "
    offers "$shell" "" "zklock break /l "
    offers "$shell" "frobnicate" "zklock run -w 5 /l -- frobn"
    offers "$shell" "job.txt" "zklock run /l -- frobnicate jo"
    offers "$shell" "" "zklock run /l -- frobnicate --lab"
  done
  assert_equal "$(typed zsh "zklock run /l ")" "zklock run /l -- "
  assert_equal "$(typed zsh "zklock run /l -- frobnicate jo")" "zklock run /l -- frobnicate job.txt "
  assert_equal "$(typed bash "zklock run /l -- frobnicate jo")" "zklock run /l -- frobnicate job.txt "
}
