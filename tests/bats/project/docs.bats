#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Compares the documents and the help with the program.

load ../helpers
load ../complete

# One run of check-docs finds the faults of several tests.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  faults_in_help
  faults_in_pages
}

# Adds an option --frob, a command frob, and an option, a status and a page of show that its section lacks. Removes an
# option of run.
faults_in_help() {
  cat >fake <<'END'
#!/bin/sh
[ "$1" != frob ] || { echo '  --frobnicate  Frob'; exit; }
"$ZKLOCK_BIN" "$@" | case $1 in
  help) sed 's/^Locks: .*/&\n         frob           Frob/' ;;
  show) sed 's/^Options .*/&\n  --label TEXT  Frob/; s/^Exit status: /&76 lost; /; s/^Manual: .*/Manual: zklock-frob(1)/' ;;
  run) sed '/--once-per/d' ;;
  -*) sed '$a\  --frob N                        Frob N times' ;;
  *) cat ;;
esac
END
  chmod +x fake
  check "$repo" "$PWD/fake" >help.said
}

# Makes pages that are wrong, and a zklock without --label.
faults_in_pages() {
  printf '%s\n' '#!/bin/sh' "'$ZKLOCK_BIN' \"\$@\" | grep -v -e --label" >less
  chmod +x less
  mkdir tree
  ln -s "$repo"/.ci "$repo"/* tree/
  rm tree/man
  cp -r "$repo/man" tree/
  sed -i '/^\.It 75$/d' tree/man/zklock.1
  sed -i 's/^\.It 77$/.It 78/; s/^\.Xr zklock-run 1/.Xr zklock-ran 1/' tree/man/zklock-show.1
  sed -i 's,/queues/files$,&/whose/path/is/too/long/for/eighty/columns,' tree/man/zklock-queue.1
  check tree "$PWD/less" >pages.said
}

# check TREE ZKLOCK: prints what check-docs says, and its status.
check() {
  local status=0
  "$1/scripts/check-docs" "$2" 2>&1 || status=$?
  echo "status $status"
}

# said NAME PATTERN: prints what check-docs said of the faults in NAME, if it matches that extended regular expression.
said() { grep -E -e "$2" "$BATS_FILE_TMPDIR/$1.said" | sed 's/^check-docs: //'; }

setup() { setup_place; }

teardown() { end_all; }

@test "manual, completions and documents say what the program does" {
  expect_status 0 "$repo/scripts/check-docs" "$ZKLOCK_BIN"
  assert_equal "$output$stderr" ""
}

# page_of SUBCOMMAND: sets `page` to the manual page that it is in.
page_of() {
  case $1 in
    "" | help) page=zklock ;;
    run | queue* | group* | value*) page=zklock-${1%% *} ;;
    show | break) page=zklock-show ;;
    top) page=zklock-top ;;
    *) page=zklock-health ;;
  esac
}

# No line is wider than a terminal of 80, and no two empty lines are in a row.
is_narrow() {
  refute_output --regexp $'(^|\n)[^\n]{80}'
  refute_output --partial $'\n\n\n'
}

# A terminal of 80 x 24 shows $output whole, with a prompt below.
fits() {
  local ends=${output//[!$'\n']/}
  ((${#ends} < 23)) || fail "too many lines: $output" || return
  is_narrow
}

@test "--help of each subcommand fits a screen, has two examples first and its page last" {
  local words subcommand page all
  mapfile -t all < <(echo && subcommands)
  ((${#all[@]} >= 33)) || fail "help shows too few: ${all[*]}"
  for subcommand in "${all[@]}"; do
    read -ra words <<<"$subcommand"
    expect_status 0 zklock "${words[@]}" --help
    fits
    assert_equal "$stderr" ""
    assert_output --regexp $'(^|\n)Usage: [^\n]+(\n +[^\n]+)?\n+Examples:\n  [^\n]*zklock [^\n]+\n  [^\n]*zklock [^\n]+\n'
    page_of "$subcommand"
    assert_output --regexp $'\nManual: '"$page"'\(1\)$'
    if [[ $subcommand && $subcommand != help ]]; then
      assert_equal "$(zklock help "${words[@]}")" "$output"
    fi
  done
}

@test "help shows every command, by purpose, a line each" {
  expect_status 0 zklock help
  is_narrow
  assert_equal "$(grep -o '^[A-Z][a-z]*:  ' <<<"$output")" $'Locks:  \nQueues:  \nGroups:  \nValues:  \nHealth:  '
  assert_equal "$(grep -c '^.\{7\}  [a-z0-9]' <<<"$output")" 29
  refute_output --partial complete
  # The root's --help names the same commands.
  local words
  words=$(zklock --help | grep -v '^Bugs:' | sed -n 's/^[A-Z][a-z]*: *\([a-z].*,.*\)/\1/p' | tr -s ', ' '\n' | LC_ALL=C sort -u)
  assert_equal "$words" "$(subcommands | grep -vx help | tr ' ' '\n' | LC_ALL=C sort -u)"
}

@test "help about what does not exist: 64, and the nearest" {
  expect_error 64 "unknown command 'queu'; did you mean 'queue'?" zklock help queu
  expect_error 64 "unknown command 'pul'; did you mean 'pull'?" zklock help queue pul
  expect_error 64 "unexpected argument 'x'" zklock help run x
}

@test "an option that stands nowhere is missed in the manual" {
  assert_equal "$(said help '--frob( |$)')" "man/zklock.1 lacks the option --frob
man/zklock-compatibility.7 lacks --frob of zklock"
}

@test "a subcommand without a section in the manual is missed, and so are its options" {
  assert_equal "$(said help 'zklock frob$|--frobnicate')" "no manual has a section zklock frob
man/zklock-compatibility.7 lacks --frobnicate of frob"
}

@test "an option, a status or a page of a subcommand that stands in another page only is missed" {
  assert_equal "$(said help 'show|label|zklock-frob')" "man/zklock-show.1 lacks the option --label
man/zklock-show.1 lacks the exit status 76 of zklock show
man/zklock-compatibility.7 lacks --label of show
there is no manual zklock-frob(1), which is referred to"
}

@test "an option that was promised and is gone is found" {
  assert_equal "$(said help 'once-per')" "the manual names --once-per, which is no option
man/zklock-compatibility.7 promises --once-per of run, which is gone"
}

@test "a page that says what is not so is found" {
  assert_regex "$(said pages 'wider')" '^man/zklock-queue.1 is wider than 80 columns: .*eighty'
  assert_equal "$(said pages '\.1 (lacks|has)|referred' | sort)" "man/zklock-show.1 has 78, which is no exit status
man/zklock-show.1 lacks the exit status 77 of zklock break
man/zklock-show.1 lacks the exit status 77 of zklock show
man/zklock.1 lacks the exit status 75
there is no manual zklock-ran(1), which is referred to"
}

@test "an option that is gone is found in the manual" {
  assert_equal "$(said pages label)" "the manual names --label, which is no option
man/zklock-compatibility.7 promises --label of run, which is gone"
}

@test "check-docs says nothing else of these faults, and ends with 1" {
  assert_equal "$(grep -vE 'frob|show|label|once-per' "$BATS_FILE_TMPDIR/help.said")" "status 1"
  assert_equal "$(grep -vE 'wider|\.1 (lacks|has)|referred|label' "$BATS_FILE_TMPDIR/pages.said")" "status 1"
}
