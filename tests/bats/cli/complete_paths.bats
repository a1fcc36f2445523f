#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that paths on the server are offered in place of a lock, a queue, a group or a value.

load ../helpers
load ../complete
load ../group

setup() {
  setup_zk
  own_zklock
}

teardown() {
  end_all
  if [[ -e own ]]; then stop_ensemble; fi
}

# completes TEXT PREFIX [WORD…]: after these words, or "show", complete prints the paths of TEXT. It is tried again,
# because a busy machine may need longer than it waits.
completes() { wait_until "complete ${*:2} prints '$1'" prints "$@"; }
prints() {
  local words=("${@:3}")
  if ((${#words[@]} == 0)); then words=(show); fi
  [[ $(zklock complete -- "${words[@]}" "$2" | xargs) == "paths $1" ]]
}

# nothing_at PREFIX: complete offers no path, and prints nothing.
nothing_at() {
  expect_status 0 zklock complete -- show "$1"
  assert_equal "$output$stderr" ""
}

# soon_offers SHELL TEXT LINE
soon_offers() { wait_until "$1 offers '$2' for '$3'" offers "$@"; }

# are_soon_offered SHELL…: for all that `wants` noted. are_soon_typed SHELL LINE EXPECTED…
are_soon_offered() {
  local shell all_lines=("${lines[@]}") all_texts=("${texts[@]}")
  for shell in "$@"; do
    lines=("${all_lines[@]}") texts=("${all_texts[@]}")
    wait_until "$shell offers all that it should" none_is_missing "$shell" || are_offered "$shell" || return
  done
}

# none_is_missing SHELL: forgets the lines for which the shell offers what was noted. Succeeds if none is left. On a
# busy machine, not all come in time at once.
none_is_missing() {
  local at found
  mapfile -t found < <(offers_for_lines "$1")
  for at in "${!lines[@]}"; do
    [[ ${found[at]} != "${texts[at]}" ]] || unset "lines[at]" "texts[at]"
  done
  lines=("${lines[@]}") texts=("${texts[@]}")
  ((${#lines[@]} == 0))
}

are_soon_typed() { wait_until "$1 makes what it should of: $(printf '%s; ' "${@:2}")" are_typed "$@"; }

make_nodes() {
  local path
  for path in "$@"; do znode create "$path"; done
}

@test "the nodes one level below, in order, and nothing that nobody names" {
  make_nodes /locks/b /locks/a /lots
  completes "/locks /lots" /
  completes "/locks /lots" /l
  completes "/locks" /loc
  completes "/locks/a /locks/b" /locks/
  completes "/locks/b" /locks/b
  completes "/locks /lots" ""
  local word
  for word in /locks/c relative // /locks//a /locks/../a --bogus; do nothing_at "$word"; done
}

@test "not who holds a lock and who waits, nor the insides of slots, queues and groups" {
  make_nodes /locks/free /groups/other
  hold h /locks/held
  stand w /locks/held
  hold s --slots 2 /locks/slots
  zklock queue push /queues/q one two
  zklock group create /groups/web
  member web1 /groups/web --unique
  wait_until "web1 is in" has_names /groups/web web1
  completes "/locks/free /locks/held /locks/slots" /locks/
  completes "/groups/other /groups/web" /groups/
  completes "/queues/q" /queues/
  local folder
  for folder in /locks/held /locks/slots /queues/q /queues/q/items /groups/web; do
    [[ $(count_nodes "$folder") -gt 0 ]] || fail "nothing in $folder to be left out"
    nothing_at "$folder/"
  done
  let_all_go h w s
}

@test "a lock of which --once-per keeps only the mark, once" {
  make_nodes /locks/gone.last /locks/here.last /locks/here
  completes "/locks/gone /locks/here" /locks/
}

@test "a value may be any node: with its own name, and whatever it is for" {
  make_nodes /app/limit /app/old.last /app/old.last/below
  zklock queue push /app/queue one
  hold h /app/lock
  completes "/app/limit /app/lock /app/old /app/queue" /app/
  completes "/app/limit /app/lock /app/old.last /app/queue" /app/ value get
  completes "/app/limit /app/lock /app/old.last /app/queue" /app/ -v value watch --json
  completes "/app/queue/items" /app/queue/it value list
  completes "$(its_node /app/lock)" /app/lock/ value get
  let_all_go h
}

@test "the servers and the chroot are those of the command line, in all its forms" {
  make_nodes /a/b/c
  local servers=$ZKLOCK_SERVERS
  export ZKLOCK_SERVERS=127.0.0.1:1
  completes /b / run -S "$servers/a" -n
  completes /b / -vqS "$servers/a" run
  completes /b / "-vS$servers/a" run
  completes /b / run --servers "$servers/a"
  completes /b / run "--servers=$servers/a"
  completes /b / -S 127.0.0.1:1 run "--servers=$servers/a"
  ZKLOCK_SERVERS=$servers/a completes /b/c /b/
  # If the options cannot be parsed, no other servers than theirs are asked.
  ZKLOCK_SERVERS=$servers expect_status 0 zklock complete -- show --tls=no -S 127.0.0.1:1 /
  assert_equal "$output$stderr" ""
  forget_wants
  wants /b "zklock run -S $servers/a /"
  wants /b/c "zklock --servers=$servers/a show /b/"
  are_soon_offered bash fish
  are_soon_typed zsh "zklock -S $servers/a run /" "zklock -S $servers/a run /b"
  are_soon_typed bash "zklock -S $servers/a run /" "zklock -S $servers/a run /b"
  # The user types on with "/" or with a space. "/b/c/" would be refused, because nothing is below it.
  are_soon_typed fish \
    "zklock -S $servers/a run /" "zklock -S $servers/a run /b" \
    "zklock -S $servers/a run /b/" "zklock -S $servers/a run /b/c "
}

@test "with the credentials of the command line where the list needs them" {
  echo digest:alice:secret >auth
  chmod 600 auth
  ZKLOCK_AUTH=digest:alice:secret zklock run --acl creator /private/job -- true
  completes /private/job /private/ run --auth-file auth
  completes /private/job /private/ "--auth-file=auth" run
  nothing_at /private/
}

@test "over TLS, with the files of the command line" {
  ensemble --servers 1 --tls
  touch own
  zklock run /locks/job -- true
  local plain=${ZKLOCK_SERVERS#tls://} files="--tls-ca $ZKLOCK_TLS_CA --tls-cert=$ZKLOCK_TLS_CERT --tls-key $ZKLOCK_TLS_KEY"
  unset ZKLOCK_SERVERS ZKLOCK_TLS_CA ZKLOCK_TLS_CERT ZKLOCK_TLS_KEY
  forget_wants
  wants /locks "zklock -S tls://$plain $files show /lo"
  wants /locks "zklock --tls --servers=$plain $files show /lo"
  are_soon_offered bash fish
  are_soon_typed zsh "zklock -S tls://$plain $files show /lo" "zklock -S tls://$plain $files show /locks"
  are_soon_typed bash "zklock -S tls://$plain $files show /lo" "zklock -S tls://$plain $files show /locks"
}

@test "each shell offers them wherever a lock, a queue, a group or a value is named, and nowhere else" {
  make_nodes /locks/a /locks/b
  local words
  forget_wants
  while read -r words; do
    case $words in
      queue | group | value | help | health | ruok | stat | srvr | mntr | 4lw) wants "" "zklock $words /lo" ;;
      *) wants "/locks/a /locks/b" "zklock $words -v /locks/" ;;
    esac
  done < <(subcommands)
  wants /locks "zklock health --probe /lo"
  wants /locks "zklock run "
  wants /locks "zklock run /locks/a /lo"
  wants /locks "zklock show /locks/a /lo"
  wants "" "zklock break /locks/a /lo"
  wants "" "zklock queue push /locks/a /lo"
  wants "" "zklock value set /locks/a /lo"
  wants "" "zklock value wait --equals /lo"
  wants "" "zklock run -- /lo_"
  ((${#lines[@]} == 42)) || fail "not all subcommands: ${lines[*]}"
  are_soon_offered bash fish
  soon_offers bash /locks "zklock health --probe=/lo"
  soon_offers fish --probe=/locks "zklock health --probe=/lo"
}

@test "zsh offers them wherever a lock, a queue, a group or a value is named" {
  make_nodes /locks/a
  local words lines=() expected=()
  while read -r words; do
    case $words in
      queue | group | value | help | health | ruok | stat | srvr | mntr | 4lw) ;;
      *) lines+=("zklock $words -v /lo") ;;
    esac
  done < <(subcommands)
  lines+=("zklock health --probe=/lo" "zklock run /locks/a /lo" "zklock show /locks/a /lo")
  expected=("${lines[@]/%/cks}")
  lines+=("zklock break /locks/a /lo" "zklock queue push /locks/a /lo")
  expected+=("zklock break /locks/a /lo" "zklock queue push /locks/a /lo")
  ((${#lines[@]} == 28)) || fail "not all subcommands: ${lines[*]}"
  all_typed() { [[ $(tab zsh insert "${lines[@]}" | jq -r .line) == "$(printf '%s\n' "${expected[@]}")" ]]; }
  wait_until "zsh completes all of ${lines[*]}" all_typed
}

# come_whole SHELL QUOTE: each path that SHELL has completed, begun with QUOTE, comes to a command unchanged.
come_whole() {
  local name line lines=()
  for name in "${names[@]}"; do lines+=("zklock run $2/odd/${name:0:1}"); done
  tab "$1" insert "${lines[@]}" | jq -r .line >lines || return
  for name in "${names[@]}"; do
    read -r line
    [[ $("$1" -c "printf '%s|' ${line#zklock run }") == "/odd/$name|" ]] || return
  done <lines
}

@test "names with spaces, quotes, shell code and letters of all kinds come whole to a command, and do nothing else" {
  # shellcheck disable=SC2016
  local name names=("it's a" 'b"$(touch ran)`touch ran`' 'c:d=e' 'd;touch ran&?*[x]{y}#~^' 'e\f|<g>(h)' 'ä ö' 'x$HOME' '-- -x' '日本' 'n!x')
  for name in "${names[@]}"; do znode create "/odd/$name"; done
  wait_until "bash completes all" come_whole bash ""
  wait_until "zsh completes all" come_whole zsh ""
  wait_until "fish completes all" come_whole fish ""
  unset "names[9]" # There is no way to write a "!" within double quotes.
  wait_until "bash completes all in double quotes" come_whole bash '"'
  names=("${names[@]:1}")
  wait_until "bash completes all in single quotes" come_whole bash "'"
  assert [ ! -e ran ]
  # A completed path can be completed further.
  soon_offers bash "/odd/c\\:d\\=e" 'zklock run /odd/c\:'
}
