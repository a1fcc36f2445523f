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

@test "--help of each subcommand fits a screen of 80 columns and ends with two examples" {
  local subcommand
  for subcommand in "" show break health ruok stat srvr mntr 4lw; do
    expect_status 0 zklock ${subcommand:+"$subcommand"} --help
    assert [ "$(wc -l <<<"$output")" -le 36 ]
    refute_output --regexp $'(^|\n)[^\n]{81}'
    assert_output --regexp $'\nExamples:\n  zklock [^\n]+\n  zklock [^\n]+\n\nManual: zklock(-health)?\\(1\\)$'
  done
}

# with_help LINE…: a zklock whose --help has these lines more.
with_help() {
  printf '%s\n' '#!/bin/sh' "'$ZKLOCK_BIN' \"\$@\"" "cat <<'END'" "$@" END >fake
  chmod +x fake
}

@test "an option that stands nowhere is missed in the manual and in each completion" {
  with_help '  --frob N                        Frob N times'
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_equal "$stderr" "check-docs: man/zklock.1 lacks the option --frob
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

@test "an option, a status or a page of a subcommand that stands in another page only is missed" {
  cat >fake <<'END'
#!/bin/sh
"$ZKLOCK_BIN" "$@" | case $1 in
  show) sed 's/^Options:/&\n  --label TEXT  Frob/; s/^Exit status: /&76 lost; /; s/^Manual: .*/Manual: zklock-frob(1)/' ;;
  *) cat ;;
esac
END
  chmod +x fake
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_equal "$stderr" "check-docs: man/zklock-show.1 lacks the option --label
check-docs: man/zklock-show.1 lacks the exit status 76 of zklock show
check-docs: there is no manual zklock-frob(1), which is referred to"
}

@test "a page that says what is not so is found" {
  tar -C "$repo" --exclude=./build --exclude=./.git -c . | tar -x
  sed -i '/^\.It 75$/d' man/zklock.1
  sed -i 's/^\.It 77$/.It 78/; s/^\.Xr zklock-run 1/.Xr zklock-ran 1/' man/zklock-show.1
  sed -i 's,/queues/files$,&/whose/path/is/too/long/for/eighty/columns,' man/zklock-queue.1
  expect_status 1 scripts/check-docs "$ZKLOCK_BIN"
  assert_regex "$stderr" "man/zklock.1 lacks the exit status 75"
  assert_regex "$stderr" "man/zklock-show.1 lacks the exit status 77 of zklock show"
  assert_regex "$stderr" "man/zklock-show.1 has 78, which is no exit status"
  assert_regex "$stderr" "there is no manual zklock-ran\(1\), which is referred to"
  assert_regex "$stderr" "man/zklock-queue.1 is wider than 80 columns: .*eighty"
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
