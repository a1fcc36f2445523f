# SPDX-License-Identifier: Apache-2.0
# Bash completion for zklock. Source it, or put it where bash-completion looks, under the name zklock.
# shellcheck shell=bash

# _zklock_look: goes through the words before the cursor and sets what the caller has declared: `subcommand`, `lock`,
# `command_at` (of the first word behind `--`), `shell` (-c was given) and `option` (whose value stands at the cursor).
_zklock_look() {
  local i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    option=
    case $word in
      --) command_at=$((i + 1)); return ;;
      --servers | --session-timeout | --connect-timeout | --auth-file | --acl | \
        --timeout | --conflict-exit-code | --command | --grace | --label | --peer | --slots | --min-hold | --once-per | \
        --priority | --count | --replace | --jobs | --max-attempts | --retry-delay | --max-latency | --max-outstanding | \
        --min-servers | --probe | --format | --interval | --name | --data | --data-file | --at-least | --at-most)
        option=$word
        # Readline takes "--acl=open" apart at the "=".
        if [[ ${COMP_WORDS[i + 1]-} == = ]]; then ((++i)); fi
        ((++i))
        ;;
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
          queue | group) subcommand+=" $word" ;;
          *) lock=$word ;;
        esac
        ;;
    esac
    if [[ $option == --command || $option == -*c ]]; then shell=1; fi
  done
  # An option before the cursor that has its value already is done with.
  if ((i == COMP_CWORD)); then option=; fi
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

_zklock() {
  local cur=${COMP_WORDS[COMP_CWORD]} subcommand='' lock='' command_at='' shell='' option='' words=''
  local global='-S --servers --session-timeout --connect-timeout --auth-file --acl -v --verbose -q --quiet -h --help'
  local -A own=(
    [run]='-n --nonblock -s --shared -x --exclusive --slots --peer -w --timeout -E --conflict-exit-code -c --command --grace
      --wait-all --min-hold --once-per --restart --label'
    [show]='-r --recursive --json'
    [break]='-w --timeout --force --yes'
    [health]='-w --timeout --max-latency --max-outstanding --min-servers --probe --format --json --interval'
    [ruok]='-w --timeout --json'
    [stat]='-w --timeout --json'
    [srvr]='-w --timeout --json'
    [mntr]='-w --timeout --json'
    [4lw]='-w --timeout --json'
    [queue push]='-0 --null --whole -p --priority'
    [group join]='--name --unique -w --timeout --data --data-file'
    [group list]='-l --long --json --at-least'
    [group watch]='--json'
    [group wait]='--at-least --at-most -w --timeout'
    [group create]=''
    [group delete]='--force'
    [queue list]='-N --count --dead --json'
    [queue count]='--exact --json'
    [queue requeue]=''
    [queue purge]='--dead --yes'
    [queue delete]='--yes'
    [queue pull]='-N --count --all --follow -w --timeout -0 --null --whole -I --replace -j --jobs --max-attempts
      --retry-delay --halt'
  )
  COMPREPLY=()
  _zklock_look
  # Without a session.
  if [[ $subcommand == @(ruok|stat|srvr|mntr|4lw) ]]; then global='-S --servers -v --verbose -q --quiet -h --help'; fi
  if [[ -n $command_at ]]; then
    _zklock_command "$command_at"
    return
  fi
  if [[ $cur == = ]]; then cur=; fi
  case $option:$cur in
    --acl:*) words='open creator creator-world-read' ;;
    --peer:*) words='curator-rw kazoo kazoo-extra' ;;
    --format:*) words='text json nagios prometheus' ;;
    --auth-file:* | --data-file:*) _zklock_files "$cur"; return ;;
    ?*:*) return ;; # free text, numbers, durations
    :-*) if [[ $subcommand ]]; then words="$global ${own[$subcommand]-}"; else words="$global -V --version"; fi ;;
    :*)
      if [[ -z $subcommand ]]; then
        words='run show break queue group health ruok stat srvr mntr 4lw'
      elif [[ $subcommand == 4lw && -z $lock ]]; then
        words='conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs'
      elif [[ $subcommand == queue ]]; then
        words='push pull list count requeue purge delete'
      elif [[ $subcommand == @(run|queue\ pull) && -n $lock && -z $shell ]]; then
        words=--
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _zklock zklock
