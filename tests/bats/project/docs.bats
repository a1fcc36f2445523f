#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The documents, the help and the completions against the program; what the shells make of these: complete_*.bats.

load ../helpers
load ../complete

setup() { setup_place; }

teardown() { end_all; }

@test "manual, completions and documents say what the program does" {
  expect_status 0 "$repo/scripts/check-docs" "$ZKLOCK_BIN"
  assert_equal "$output$stderr" ""
}

# page_of SUBCOMMAND: the manual page that it is in.
page_of() {
  case $1 in
    "" | help) echo zklock ;;
    run | queue* | group* | value*) echo "zklock-${1%% *}" ;;
    show | break) echo zklock-show ;;
    top) echo zklock-top ;;
    *) echo zklock-health ;;
  esac
}

# No line is wider than a terminal of 80, and no two empty lines are in a row.
is_narrow() {
  refute_output --regexp $'(^|\n)[^\n]{80}'
  refute_output --partial $'\n\n\n'
}

# A terminal of 80 x 24 shows $output whole, with a prompt below.
fits() {
  (($(wc -l <<<"$output") <= 23)) || fail "too many lines: $output" || return
  is_narrow
}

@test "--help of each subcommand fits a screen, has two examples first and its page last" {
  local words subcommand
  (($(subcommands | wc -l) >= 32)) || fail "help shows too few: $(subcommands)"
  while read -ra words; do
    subcommand=${words[*]}
    expect_status 0 zklock "${words[@]}" --help
    fits
    assert_equal "$stderr" ""
    assert_output --regexp $'(^|\n)Usage: [^\n]+(\n +[^\n]+)?\n+Examples:\n  [^\n]*zklock [^\n]+\n  [^\n]*zklock [^\n]+\n'
    assert_output --regexp $'\nManual: '"$(page_of "$subcommand")"'\(1\)$'
    if [[ $subcommand && $subcommand != help ]]; then
      assert_equal "$(zklock help "${words[@]}")" "$output"
    fi
  done <<<$'\n'"$(subcommands)"
}

@test "help shows every command, by purpose, a line each" {
  expect_status 0 zklock help
  is_narrow
  assert_equal "$(grep -o '^[A-Z][a-z]*:  ' <<<"$output")" $'Locks:  \nQueues:  \nGroups:  \nValues:  \nHealth:  '
  assert_equal "$(grep -c '^.\{7\}  [a-z0-9]' <<<"$output")" 29
  refute_output --partial complete-path
  # The root's --help names the same ones.
  local words
  words=$(zklock --help | grep -v '^Bugs:' | sed -n 's/^[A-Z][a-z]*: *\([a-z].*,.*\)/\1/p' | tr -s ', ' '\n' | LC_ALL=C sort -u)
  assert_equal "$words" "$(subcommands | grep -vx help | tr ' ' '\n' | LC_ALL=C sort -u)"
}

@test "help about what does not exist: 64, and the nearest" {
  expect_error 64 "unknown command 'queu'; did you mean 'queue'?" zklock help queu
  expect_error 64 "unknown command 'pul'; did you mean 'pull'?" zklock help queue pul
  expect_error 64 "unexpected argument 'x'" zklock help run x
}

# with_help LINE…: a zklock whose --help has these lines more.
with_help() {
  printf '%s\n' '#!/bin/sh' "'$ZKLOCK_BIN' \"\$@\"" "cat <<'END'" "$@" END >fake
  chmod +x fake
}

@test "an option that stands nowhere is missed in the manual and in each completion" {
  with_help '  --frob N                        Frob N times'
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_regex "$stderr" "check-docs: man/zklock-compatibility.7 lacks --frob of zklock"
  assert_equal "$(grep -v compatibility <<<"$stderr")" "check-docs: man/zklock.1 lacks the option --frob
check-docs: completions/zklock.bash lacks the option --frob
check-docs: completions/_zklock lacks the option --frob
check-docs: completions/zklock.fish lacks the option --frob"
}

@test "a subcommand without a section in the manual is missed, and so are its options" {
  cat >fake <<'END'
#!/bin/sh
[ "$1" != frob ] || { echo '  --frobnicate  Frob'; exit; }
"$ZKLOCK_BIN" "$@" | sed 's/^Locks: .*/&\n         frob           Frob/'
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
  show) sed 's/^Options .*/&\n  --label TEXT  Frob/; s/^Exit status: /&76 lost; /; s/^Manual: .*/Manual: zklock-frob(1)/' ;;
  *) cat ;;
esac
END
  chmod +x fake
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_equal "$stderr" "check-docs: man/zklock-show.1 lacks the option --label
check-docs: man/zklock-show.1 lacks the exit status 76 of zklock show
check-docs: man/zklock-compatibility.7 lacks --label of show
check-docs: there is no manual zklock-frob(1), which is referred to"
}

@test "an option that was promised and is gone is found" {
  cat >fake <<'END'
#!/bin/sh
"$ZKLOCK_BIN" "$@" | case $1 in
  run) sed '/--once-per/d' ;;
  *) cat ;;
esac
END
  chmod +x fake
  expect_status 1 "$repo/scripts/check-docs" "$PWD/fake"
  assert_regex "$stderr" "check-docs: man/zklock-compatibility.7 promises --once-per of run, which is gone"
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
check-docs: completions/zklock.fish names --label, which is no option
check-docs: man/zklock-compatibility.7 promises --label of run, which is gone"
}
