# SPDX-License-Identifier: Apache-2.0
# What the files of completions share: what the program's help says that there is, and what the shells then offer.
#
# shellcheck shell=bash

# subcommands: all of them, a line each, "queue push", as the program's help shows them.
subcommands() {
  zklock help | sed -nE 's/^([A-Z][a-z]+:)? +(([a-z0-9]+)( [a-z]+)?)  .*/\3\n\2/p' | LC_ALL=C sort -u
  echo help
}

# options_of WORD…: the names of the options that it has, sorted, a line each. Those that its help only names are
# explained by the root's, where --tls has the others of TLS beside it; for --no-color their line has no room.
options_of() {
  local name
  {
    zklock "$@" --help
    for name in $(zklock "$@" --help | sed -nE 's/^zklock -h: (.*)/\1 --no-color/p'); do
      zklock --help | grep -E -e "^ +($name|-.,$name)[, ]" || echo "  $name-is-nowhere-explained"
    done
  } | sed -nE '/^ +--tls,/{s/[ A-Z]+//g; s/,/\n/g; p; d}
    s/^ +(-.),(--[a-z-]+).*/\1\n\2/p; s/^ +(--[a-z-]+).*/\1/p; s/^Options \((-.),(--[a-z]+):.*/\1\n\2/p' |
    LC_ALL=C sort
}

# offers_of_bash LINE: what bash offers at the end of the line, sorted; nothing else of what it says is lost.
# Readline breaks words at ":" and "=", too.
offers_of_bash() {
  bash -uc '
    source "$1/completions/zklock.bash"
    COMP_LINE=$2 COMP_WORDS=()
    rest=$2
    while [[ $rest =~ ^[[:space:]]*([:=]+|([^[:space:]:=\\]|\\.)+)(.*)$ ]]; do
      COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${BASH_REMATCH[3]}
    done
    if [[ $2 == *[[:space:]] && $2 != *\\[[:space:]] ]]; then COMP_WORDS+=(""); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _zklock zklock "${COMP_WORDS[COMP_CWORD]}"
    ((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"' bash "$repo" "$1" | LC_ALL=C sort -u
}

# offers_of_fish LINE: the same, without what fish tells of each, and without the way on from the only path, "/locks/".
offers_of_fish() {
  HOME=$PWD fish -N -c 'source $argv[1]; complete -C $argv[2]' "$repo/completions/zklock.fish" "$1" |
    sed 's/\t.*//; s/\([^/]\)\/$/\1/' | LC_ALL=C sort -u
}

# The programs under test are called zklock where a shell looks for them.
own_zklock() {
  mkdir -p bin
  ln -sf "$ZKLOCK_BIN" bin/zklock
  export PATH=$PWD/bin:$PATH
}

# offers SHELL TEXT LINE: it offers the words of TEXT, and nothing else.
offers() { assert_equal "$("offers_of_$1" "$3")" "${2// /$'\n'}"; }

# tab SHELL HOW LINE…: an object for each line that was typed into an interactive shell, with a TAB: see tab.py.
tab() { "$repo/tests/helpers/tab.py" "$repo/completions" "$@"; }

# typed SHELL LINE: what the command line is after the TAB.
typed() { tab "$1" insert "$2" | jq -r .line; }
