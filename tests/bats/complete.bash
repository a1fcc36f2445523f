# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of completions: they compare the program's help with what the shells offer.
#
# shellcheck shell=bash

# subcommands: prints all of them as the program's help shows them, one a line, such as "queue push".
subcommands() {
  zklock help | sed -nE 's/^([A-Z][a-z]+:)? +(([a-z0-9]+)( [a-z]+)?)  .*/\3\n\2/p' | LC_ALL=C sort -u
  echo help
}

# options_of WORD…: prints its option names, sorted, one a line. The root's help explains those that its help only
# names. There --tls has the other TLS options beside it. The line that names them has no room for --no-color.
options_of() {
  { zklock --help && printf '\f\n' && zklock "$@" --help; } | awk '
    /^\f/ { behind = 1; next }
    !behind { root[++count] = $0; next }
    { print }
    sub(/^zklock -h: /, "") {
      names = split($0 " --no-color", name, " ")
      for (i = 1; i <= names; ++i) {
        explained = "  " name[i] "-is-nowhere-explained"
        for (j = 1; j <= count; ++j) if (root[j] ~ "^ +(-.,)?" name[i] "[, ]") explained = root[j]
        print explained
      }
    }' | sed -nE '/^ +--tls,/{s/[ A-Z]+//g; s/,/\n/g; p; d}
    s/^ +(-.),(--[a-z-]+).*/\1\n\2/p; s/^ +(--[a-z-]+).*/\1/p; s/^Options \((-.),(--[a-z]+):.*/\1\n\2/p' |
    LC_ALL=C sort
}

# all_offers_of_bash LINE…: prints what bash offers at the end of each line, sorted, after the line's number and a tab.
# Anything else that bash prints is kept. Readline breaks words at ":" and "=", too.
all_offers_of_bash() {
  bash -uc '
    source "$1/completions/zklock.bash"
    for ((number = 1; number < $#; ++number)); do
      COMP_LINE=${@:number + 1:1} COMP_WORDS=() COMPREPLY=()
      rest=$COMP_LINE
      while [[ $rest =~ ^[[:space:]]*([:=]+|([^[:space:]:=\\]|\\.)+)(.*)$ ]]; do
        COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${BASH_REMATCH[3]}
      done
      if [[ $COMP_LINE == *[[:space:]] && $COMP_LINE != *\\[[:space:]] ]]; then COMP_WORDS+=(""); fi
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _zklock zklock "${COMP_WORDS[COMP_CWORD]}"
      ((${#COMPREPLY[@]} == 0)) || printf "$number\t%s\n" "${COMPREPLY[@]}"
    done' bash "$repo" "$@" | LC_ALL=C sort -u
}

# all_offers_of_fish LINE…: prints that, without fish's descriptions and the last "/" of the only path, "/locks/".
all_offers_of_fish() {
  HOME=$PWD fish -N -c 'source $argv[1]
    for at in (seq 2 (count $argv))
      complete -C $argv[$at] | string replace -r "^" (math $at - 1)\t
    end' "$repo/completions/zklock.fish" "$@" |
    sed -E 's/^([0-9]+\t[^\t]*)\t.*/\1/; s/([^/\t])\/$/\1/' | LC_ALL=C sort -u
}

# Print that for one line, without its number.
offers_of_bash() { all_offers_of_bash "$1" | cut -f 2-; }
offers_of_fish() { all_offers_of_fish "$1" | cut -f 2-; }

# Puts the program under test into PATH as zklock, where a shell looks for it.
own_zklock() {
  mkdir -p bin
  ln -sf "$ZKLOCK_BIN" bin/zklock
  export PATH=$PWD/bin:$PATH
}

# offers SHELL TEXT LINE: the shell offers exactly the words of TEXT.
offers() { assert_equal "$("offers_of_$1" "$3")" "${2// /$'\n'}"; }

# One shell is asked for many lines: `wants TEXT LINE` notes that exactly the words of TEXT are to be offered for LINE.
# `are_offered SHELL…` asserts all that was noted, and `forget_wants` begins again.
forget_wants() { declare -ga texts=() lines=(); }

wants() {
  texts+=("$1")
  lines+=("$2")
}

are_offered() {
  local shell
  for shell in "$@"; do
    assert_equal "$shell:"$'\n'"$(paste -d ':' <(printf '%s\n' "${lines[@]}") <(offers_for_lines "$shell"))" \
      "$shell:"$'\n'"$(paste -d ':' <(printf '%s\n' "${lines[@]}") <(printf '%s\n' "${texts[@]//$'\n'/ }"))" || return
  done
}

# offers_for_lines SHELL: prints the words that are offered for each noted line, in one line. It uses awk, because Bats
# traces each command of a shell loop, which takes long.
offers_for_lines() {
  "all_offers_of_$1" "${lines[@]}" | awk -F '\t' -v count=${#lines[@]} '
    { found[$1] = found[$1] (found[$1] ? " " : "") $2 }
    END { for (i = 1; i <= count; ++i) print found[i] }'
}

# are_typed SHELL LINE EXPECTED…: types all LINEs into one shell, which turns each into what is EXPECTED.
are_typed() {
  local shell=$1 given=() expected=()
  shift
  while (($#)); do
    given+=("$1") expected+=("$2")
    shift 2
  done
  assert_equal "$(tab "$shell" insert "${given[@]}" | jq -r .line)" "$(printf '%s\n' "${expected[@]}")"
}

# tab SHELL HOW LINE…: types each line and a TAB into an interactive shell. Prints an object for each: see tab.py.
tab() { "$repo/tests/helpers/tab.py" "$repo/completions" "$@"; }

