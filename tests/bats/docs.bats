#!/usr/bin/env bats
# The documents against the program, and the completions as a shell would ask them.

load helpers

setup() { setup_place; }

teardown() { end_all; }

# options_of ARG…: the option names in that --help, sorted, a line each.
options_of() {
  zklock "$@" --help | sed -nE 's/^ +(-.),(--[a-z-]+).*/\1\n\2/p; s/^ +(--[a-z-]+).*/\1/p' | LC_ALL=C sort
}

# complete_bash WORD…: what bash offers for the last word, sorted.
complete_bash() {
  bash -uc '
    source "$1/completions/zklock.bash"
    COMP_WORDS=(zklock "${@:2}") COMP_CWORD=$(($# - 1))
    _zklock
    ((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"' bash "$repo" "$@" | LC_ALL=C sort -u
}

# offers TEXT WORD…: bash offers the words of TEXT, and nothing else.
offers() { assert_equal "$(complete_bash "${@:2}")" "${1// /$'\n'}"; }

complete_fish() { HOME=$PWD fish -N -c 'source $argv[1]; complete -C $argv[2]' "$repo/completions/zklock.fish" "$1"; }

@test "manual, completions and documents say what the program does" {
  expect_status 0 "$repo/scripts/check-docs" "$ZKLOCK_BIN"
  assert_equal "$output$stderr" ""
}

# subcommands: all of them, a line each, "queue push", as the program's help shows them.
subcommands() {
  zklock help | sed -nE 's/^  (([a-z0-9]+)( [a-z]+)?)  .*/\2\n\1/p' | LC_ALL=C sort -u
}

# page_of SUBCOMMAND: the manual page that it is in.
page_of() {
  case $1 in
    "" | help) echo zklock ;;
    run | queue* | group*) echo "zklock-${1%% *}" ;;
    show | break) echo zklock-show ;;
    *) echo zklock-health ;;
  esac
}

# fits LINES: $output has no more, none longer than 80 columns, and no two empty ones in a row.
fits() {
  assert [ "$(wc -l <<<"$output")" -le "$1" ]
  refute_output --regexp $'(^|\n)[^\n]{81}'
  refute_output --partial $'\n\n\n'
}

@test "--help of each subcommand fits a screen and ends with two examples and its page" {
  local words subcommand
  [[ $(subcommands | wc -l) -ge 24 ]] || fail "help shows too few: $(subcommands)"
  while read -ra words; do
    subcommand=${words[*]}
    expect_status 0 zklock "${words[@]}" --help
    if [[ $subcommand ]]; then fits 30; else fits 24; fi
    assert_equal "$stderr" ""
    assert_output --regexp $'\nExamples:\n  [^\n]*zklock [^\n]+\n  [^\n]*zklock [^\n]+\n\nManual: '"$(page_of "$subcommand")"'\(1\)$'
    if [[ $subcommand && $subcommand != help ]]; then
      assert_equal "$(zklock help "${words[@]}")" "$output"
    fi
  done <<<$'\nhelp\n'"$(subcommands)"
}

@test "help shows every command, by purpose, on one screen" {
  expect_status 0 zklock help
  fits 30
  assert_equal "$(grep '^[A-Z][a-z]*:$' <<<"$output")" $'Locks:\nQueues:\nGroups:\nHealth:'
  assert_equal "$(grep -c '^  ' <<<"$output")" 22
  refute_output --partial complete-path
  # The root's --help names the same ones.
  local words
  words=$(zklock --help | sed -n 's/^[A-Z][a-z]*: *\([a-z].*,.*\)/\1/p' | tr -s ', ' '\n' | LC_ALL=C sort -u)
  assert_equal "$words" "$(subcommands | tr ' ' '\n' | LC_ALL=C sort -u)"
}

@test "help about what does not exist: 64, and the nearest" {
  expect_error 64 "unknown command 'queu'; did you mean 'queue'?" zklock help queu
  expect_error 64 "unknown command 'pul'; did you mean 'pull'?" zklock help queue pul
  expect_error 64 "unexpected argument 'x'" zklock help run x
  expect_error 64 "see zklock help" zklock
}

# with_help LINE…: a zklock whose --help has these lines more.
with_help() {
  printf '%s\n' '#!/bin/sh' "'$ZKLOCK_BIN' \"\$@\"" "cat <<'END'" "$@" END >fake
  chmod +x fake
}

@test "an option that stands nowhere is missed in the manual and in each completion" {
  with_help '  --frob N                        Frob N times'
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_equal "$stderr" "check-docs: the manual lacks the option --frob
check-docs: completions/zklock.bash lacks the option --frob
check-docs: completions/_zklock lacks the option --frob
check-docs: completions/zklock.fish lacks the option --frob"
}

@test "a subcommand without a section in the manual is missed, and so are its options" {
  cat >fake <<'END'
#!/bin/sh
[ "$1" != frob ] || { echo '  --frobnicate  Frob'; exit; }
"$ZKLOCK_BIN" "$@" | sed 's/^  run .*/&\n  frob   Frob/'
END
  chmod +x fake
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_regex "$stderr" "no manual has a section zklock frob"
  assert_regex "$stderr" "completions/_zklock lacks the option --frobnicate"
}

@test "an option that is gone is found in the manual and in each completion" {
  printf '%s\n' '#!/bin/sh' "'$ZKLOCK_BIN' \"\$@\" | grep -v -e --label" >fake
  chmod +x fake
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_equal "$stderr" "check-docs: the manual names --label, which is no option
check-docs: completions/zklock.bash names --label, which is no option
check-docs: completions/_zklock names --label, which is no option
check-docs: completions/zklock.fish names --label, which is no option"
}

@test "bash offers the options of zklock, and behind a subcommand those of that" {
  local global run subcommand
  global=$(options_of)
  run=$(options_of run)
  [[ $global && $run ]] || fail "no options in --help"
  offers "$global" -
  for subcommand in run show break health ruok stat srvr mntr 4lw; do offers "$(options_of "$subcommand")" "$subcommand" -; done
  offers "$run" -v run -n /l -
  offers --nonblock run --n
}

@test "bash offers the subcommand, and -- behind the lock" {
  offers "4lw break group health mntr queue run ruok show srvr stat" ""
  offers "run ruok" -S host r
  offers "run ruok" --acl open r
  offers "conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs" 4lw ""
  offers "" 4lw conf ""
  offers "json nagios prometheus text" health --format ""
  offers "" run ""
  offers "" run -nqE ""
  offers -- run /l ""
  offers -- run -nqE0 --timeout = 5 /l ""
  offers "" run -c true /l ""
  offers "" show -r /l ""
}

@test "bash offers the values of --acl, files for --auth-file, and nothing for free text" {
  touch secret.txt
  offers "creator creator-world-read open" run --acl ""
  offers "creator creator-world-read open" --acl =
  offers "creator creator-world-read" run --acl = cr
  offers secret.txt run --auth-file sec
  offers secret.txt --auth-file = sec
  offers "" run --label -
  offers "" run -w ""
}

@test "bash offers commands behind --, then files" {
  touch job.txt
  printf '#!/bin/sh\n' >frobnicate
  chmod +x frobnicate
  PATH=$PWD:$PATH offers frobnicate run -w 5 /l -- frobn
  offers job.txt run /l -- frobnicate job
  offers "" run /l -- frobnicate --lab
}

@test "fish offers subcommand, options, values and commands" {
  command -v fish >/dev/null || skip "no fish"
  run complete_fish "zklock "
  assert_equal "$(cut -f1 <<<"$output")" $'4lw\nbreak\ngroup\nhealth\nmntr\nqueue\nrun\nruok\nshow\nsrvr\nstat'
  local subcommand
  for subcommand in run show break health ruok 4lw; do
    run complete_fish "zklock $subcommand --"
    assert_equal "$(cut -f1 <<<"$output")" "$(options_of "$subcommand" | grep ^--)"
  done
  run complete_fish "zklock run --acl "
  assert_equal "$(cut -f1 <<<"$output")" $'creator\ncreator-world-read\nopen'
  touch secret.txt
  run complete_fish "zklock run --auth-file sec"
  assert_output --partial secret.txt
  run complete_fish "zklock run /l -- ls sec"
  assert_output --partial secret.txt
}

@test "zsh can read its completion" {
  command -v zsh >/dev/null || skip "no zsh"
  expect_status 0 zsh -n "$repo/completions/_zklock"
  assert_equal "$stderr" ""
}
