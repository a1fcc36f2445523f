# SPDX-License-Identifier: Apache-2.0
# Helpers for recipes.bats: they take the examples from man/zklock-recipes.7 and prepare what those are run with.
#
# The title of its section and its number there name an example. `example` writes it to a file and notes that it was
# used.
#
# shellcheck shell=bash
page=$repo/man/zklock-recipes.7

# Prints each line of each example as a reader would see it, with title and number before it.
example_lines() {
  awk '/^\.Sh / { title = substr($0, 5); number = 0 }
       /^\.Bd -literal/ { inside = 1; ++number; next }
       /^\.Ed/ { inside = 0 }
       inside { gsub(/\\e/, "\\"); sub(/^\\&/, ""); print title "\t" number "\t" $0 }' "$page"
}

# example TITLE NUMBER FILE
example() {
  example_lines | awk -F '\t' -v title="$1" -v number="$2" \
    '$1 == title && $2 == number { sub(/^[^\t]*\t[^\t]*\t/, ""); print }' >"$3"
  [[ -s $3 ]] || fail "man/zklock-recipes.7 has no example $2 in $1" || return
  printf '%s\t%s\n' "$1" "$2" >>"$BATS_FILE_TMPDIR/used"
}

# script TITLE NUMBER FILE: writes a whole script, and makes it executable.
script() {
  example "$@" || return
  [[ $(head -c 9 "$3") == "#!/bin/sh" ]] || fail "example $2 in $1 is no script" || return
  chmod +x "$3"
}

# crontab_line TITLE NUMBER FILE: writes the command of the only line that has five fields and a command. Any other line
# has to set ZKLOCK_SERVERS.
crontab_line() {
  example "$1" "$2" crontab || return
  ! grep -vE '^(ZKLOCK_SERVERS=[a-z0-9,]+|([0-9*/,-]+ ){5}[a-z].*)$' crontab || fail "no crontab" || return
  grep -v = crontab | sed -E 's/^([^ ]+ ){5}//' >"$3" || fail "no line for cron"
}

# unit_line TITLE NUMBER FILE: writes the command that the unit starts, with its programs looked up in PATH.
unit_line() {
  example "$1" "$2" unit || return
  grep -qx 'KillMode=mixed' unit || fail "the unit has no KillMode=mixed" || return
  sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' unit | sed -n 's/^ExecStart=/exec /p' |
    sed -E 's,/usr/(local/)?s?bin/,,g' >"$3"
}

# stand_in NAME [LINE…]: makes a program of that name, a shell script of these lines. Each run adds a line to NAME.ran.
stand_in() {
  {
    echo '#!/bin/bash'
    # shellcheck disable=SC2016
    echo 'echo "$*" >>"$BATS_TEST_TMPDIR/${0##*/}.ran"'
    if (($# > 1)); then printf '%s\n' "${@:2}"; fi
  } >"bin/$1"
  chmod +x "bin/$1"
}

# Prints how often a stand-in was run.
runs_of() { if [[ -e $1.ran ]]; then wc -l <"$1.ran"; else echo 0; fi; }
was_run() { (($(runs_of "$1") == $2)); }
assert_runs() { assert_equal "$1: $(runs_of "$1")" "$1: $2"; }
