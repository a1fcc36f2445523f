# SPDX-License-Identifier: Apache-2.0
# Bash completion for zklock. Source it, or put it where bash-completion looks, under the name zklock. What to offer is
# answered by "zklock complete" (src/command/subcommands.h).
# shellcheck shell=bash

# _zklock_words: sets `words`, those up to the cursor as the shell takes them, and `starts`, where in COMP_WORDS each
# begins. Readline breaks "--acl=open" and "zk1:2181" apart at "=" and ":".
_zklock_words() {
  local rest=${COMP_LINE-} word i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i)) && [[ $rest != [[:space:]]* ]]; then
      words[-1]+=$word
    else
      words+=("$word")
      starts+=("$i")
    fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
  done
}

# The command behind `--`, with its own completion where there is one.
_zklock_command() {
  local cur=${COMP_WORDS[COMP_CWORD]} name
  for name in _comp_command_offset _command_offset; do
    if declare -F "$name" >/dev/null; then
      "$name" "$1"
      return
    fi
  done
  if ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    _zklock_files "$cur"
  fi
}

_zklock_files() {
  # Only known while Readline completes.
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# _zklock_quote KEEP QUOTING: leaves out the paths of COMPREPLY that do not match KEEP, and quotes the others.
_zklock_quote() {
  # To go on with "/" or a space is the user's to choose.
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(
    printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C grep -e "$1" | LC_ALL=C sed -e "$2"
  )
}

_zklock() {
  local program=zklock word option='' value typed plain kind at lead='' keep=. quoting=''
  local -a words=() starts=() before
  COMPREPLY=()
  if [[ $1 == */* && -x $1 ]]; then program=$1; fi
  _zklock_words
  word=${words[-1]} value=${words[-1]}
  before=("${words[@]:1:${#words[@]}-2}")
  if [[ $word == --*=* ]]; then option=${word%%=*}= value=${word#*=}; fi
  typed=${COMP_WORDS[COMP_CWORD]}
  if [[ $typed == [:=] ]]; then typed=; fi
  # Where Readline does not break at "=", the option's name is replaced too.
  if [[ $option && $typed == "$word" ]]; then lead=$option; fi
  # shellcheck disable=SC2001 # what a group matched has to come back
  case $value in
    \'*) plain=${value:1} keep="^[^']*\$" ;;
    # There is no way to write a "!" here.
    \"*) plain=$(LC_ALL=C sed 's/\\\([\\"$`]\)/\1/g' <<<"${value:1}") quoting='s/[\\"$`]/\\&/g' keep='^[^!]*$' ;;
    *) plain=$(LC_ALL=C sed 's/\\\(.\)/\1/g' <<<"$value") quoting='s/[] \\"'\''$`!*?[{}()<>|&;#~^:=@,]/\\&/g' ;;
  esac
  {
    read -r kind at
    mapfile -t COMPREPLY
  } < <(command "$program" complete -- "${before[@]//[\\\"\']/}" "$option$plain" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  case $kind in
    words) ;;
    # Behind a ":" that stands bare Readline would put all of a path.
    paths) if [[ $typed == "$lead$value" ]]; then _zklock_quote "$keep" "$quoting"; else COMPREPLY=(); fi ;;
    files) _zklock_files "$value" ;;
    command) _zklock_command "${starts[at + 1]}" ;;
    *) COMPREPLY=() ;;
  esac
  if [[ $lead ]]; then COMPREPLY=("${COMPREPLY[@]/#/"$lead"}"); fi
}

complete -F _zklock zklock
