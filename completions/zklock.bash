# SPDX-License-Identifier: Apache-2.0
# Bash completion for zklock. Source it, or put it where bash-completion looks, under the name zklock.
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

# _zklock_look: goes through the words before the cursor and sets what the caller has declared: `subcommand`,
# `operand`, `command_at` (of the first word behind `--`), `shell` (-c was given) and `option` (whose value stands at
# the cursor).
_zklock_look() {
  local i word
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    option=
    case $word in
      --) command_at=$((starts[i] + 1)); return ;;
      --servers | --session-timeout | --connect-timeout | --auth-file | --acl | \
        --tls-ca | --tls-cert | --tls-key | --tls-server-name | --timeout | --conflict-exit-code | --command | --grace | --label | --peer | --slots | --min-hold | --once-per | --report | \
        --priority | --count | --replace | --jobs | --max-attempts | --retry-delay | --max-latency | --max-outstanding | \
        --min-servers | --probe | --format | --interval | --name | --data | --data-file | --at-least | --at-most | \
        --default | --if-version | --equals | --newer-than)
        option=$word
        ((++i))
        ;;
      --command=*) shell=1 ;;
      -*)
        # A letter with a value takes the rest of the word, or the next one.
        if [[ $word =~ ^-[hnqrsvVx0l]*[SwEcpNIj]$ ]]; then
          option=$word
          ((++i))
        fi
        ;;
      *)
        case $subcommand in
          '') subcommand=$word ;;
          queue | group | value) subcommand+=" $word" ;;
          help) operand+=" $word" ;;
          *) operand=$word ;;
        esac
        ;;
    esac
    if [[ $option == --command || $option == -*c ]]; then shell=1; fi
  done
  # An option before the cursor that has its value already is done with.
  if ((i == ${#words[@]} - 1)); then option=; fi
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

# _zklock_paths PROGRAM WORD: the nodes that the server has, quoted as the word is. Nothing if no server answers in time.
_zklock_paths() {
  local program=zklock word=$2 prefix quoting keep=.
  # Behind a ":" that stands bare Readline would put all of a path.
  if [[ $word != "$typed" ]]; then return; fi
  if [[ $1 == */* && -x $1 ]]; then program=$1; fi
  # shellcheck disable=SC2001 # what a group matched has to come back
  case $word in
    \'*) prefix=${word:1} quoting='' keep="^[^']*\$" ;;
    # There is no way to write a "!" here.
    \"*) prefix=$(LC_ALL=C sed 's/\\\([\\"$`]\)/\1/g' <<<"${word:1}") quoting='s/[\\"$`]/\\&/g' keep='^[^!]*$' ;;
    *) prefix=$(LC_ALL=C sed 's/\\\(.\)/\1/g' <<<"$word") quoting='s/[] \\"'\''$`!*?[{}()<>|&;#~^:=@,]/\\&/g' ;;
  esac
  # To go on with "/" or a space is the user's to choose.
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(
    command "$program" complete-path "${prefix:-/}" -- "${words[@]//[\\\"\']/}" 2>/dev/null |
      LC_ALL=C grep -e "$keep" | LC_ALL=C sed -e "$quoting"
  )
}

_zklock() {
  local subcommand='' operand='' command_at='' shell='' option='' offered='' value typed lead=''
  local -a words=() starts=()
  local asked='-S --servers --tls --tls-ca --tls-cert --tls-key --tls-server-name -v --verbose -q --quiet --no-color -h --help'
  local global="$asked --session-timeout --connect-timeout --auth-file --acl"
  local asking="$asked -w --timeout --format --json"
  local -A own=(
    [help]='-h --help'
    [queue]='-h --help'
    [group]='-h --help'
    [value]='-h --help'
    [run]="$global --any -n --nonblock -s --shared -x --exclusive --slots --peer -w --timeout -E --conflict-exit-code
      -c --command --grace --wait-all --min-hold --once-per --restart --label --report"
    [show]="$global -l --long -r --recursive --follow --format --json"
    [break]="$global -w --timeout --force --dry-run --yes"
    [health]="$global -l --long -w --timeout --max-latency --max-outstanding --min-servers --probe --format --json --interval"
    [top]="$global --interval --once"
    [ruok]=$asking
    [stat]=$asking
    [srvr]=$asking
    [mntr]=$asking
    [4lw]=$asking
    [queue push]="$global -0 --null --whole -p --priority"
    [queue pull]="$global -N --count --all --follow -w --timeout -0 --null --whole -I --replace -j --jobs --max-attempts
      --retry-delay --halt"
    [queue list]="$global -l --long -N --count --dead --format --json"
    [queue count]="$global --exact --format --json"
    [queue requeue]="$global --dry-run"
    [queue purge]="$global --dead --dry-run --yes"
    [queue delete]="$global --dry-run --yes"
    [group join]="$global --name --unique -w --timeout --data --data-file"
    [group list]="$global -l --long --format --json --at-least"
    [group watch]="$global --format --json --halt"
    [group wait]="$global --at-least --at-most -w --timeout"
    [group create]=$global
    [group delete]="$global --force"
    [value get]="$global --format --json --default"
    [value set]="$global --if-version --if-missing --fenced --print-version"
    [value delete]="$global --if-version --fenced -r --recursive --dry-run --yes"
    [value list]="$global -l --long -r --recursive -0 --null --format --json"
    [value watch]="$global --format --json --list -0 --null --halt"
    [value wait]="$global -w --timeout --gone --equals --newer-than"
  )
  local -A below=(
    [zklock]='run show break queue group value health top ruok stat srvr mntr 4lw help'
    [queue]='push pull list count requeue purge delete'
    [group]='join list watch wait create delete'
    [value]='get set delete list watch wait'
  )
  COMPREPLY=()
  _zklock_words
  _zklock_look
  if [[ -n $command_at ]]; then
    _zklock_command "$command_at"
    return
  fi
  value=${words[-1]}
  if [[ -z $option && $value == --*=* ]]; then option=${value%%=*} value=${value#*=}; fi
  typed=${COMP_WORDS[COMP_CWORD]}
  if [[ $typed == [:=] ]]; then typed=; fi
  # Where Readline does not break at "=", the option's name is replaced too.
  if [[ $typed == "$option=$value" ]]; then lead=$option= typed=$value; fi
  case $option:$value in
    --acl:*) offered='open creator creator-world-read' ;;
    --peer:*) offered='curator-rw kazoo kazoo-extra' ;;
    --format:*)
      case $subcommand in
        health) offered='text json nagios prometheus' ;;
        show | 'queue count' | 'group list') offered='text json prometheus' ;;
        *) offered='text json' ;;
      esac
      ;;
    --auth-file:* | --report:* | --data-file:* | --tls-ca:* | --tls-cert:* | --tls-key:*) _zklock_files "$value" ;;
    --probe:*) _zklock_paths "$1" "$value" ;;
    -*:*) return ;; # free text, numbers, durations
    :-*) if [[ $subcommand ]]; then offered=${own[$subcommand]-}; else offered="$global -V --version"; fi ;;
    *)
      case $subcommand:$operand in
        :* | queue:* | group:* | value:*) offered=${below[${subcommand:-zklock}]} ;;
        help:) offered=${below[zklock]% help} ;;
        'help: queue' | 'help: group' | 'help: value') offered=${below[${operand# }]} ;;
        4lw:) offered='conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs' ;;
        run:?* | 'queue pull':?* | 'group join':?* | 'group watch':?* | 'value watch':?*)
          if [[ $subcommand == run && $value ]]; then
            _zklock_paths "$1" "$value"
          elif [[ -z $shell ]]; then
            offered=--
          fi
          ;;
        show:* | run: | break: | top: | 'queue '*: | 'group '*: | 'value '*:) _zklock_paths "$1" "$value" ;;
      esac
      ;;
  esac
  if [[ $offered ]]; then mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$value"); fi
  if [[ $lead ]]; then COMPREPLY=("${COMPREPLY[@]/#/"$lead"}"); fi
}

complete -F _zklock zklock
