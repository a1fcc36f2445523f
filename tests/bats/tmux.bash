# SPDX-License-Identifier: Apache-2.0
# Programs on a terminal of tmux's: what its screen shows, and keys. Beside helpers.bash.
#
# shellcheck shell=bash

tm() { tmux -S terminal -f /dev/null "$@"; }

# on_tmux COLUMNS ROWS CMD…: CMD in a terminal of that size, `wait_screen` and `press` for what it shows and is sent.
# When it has ended, its status is in the file end, what `stty -a` said before and after in stty.before and stty.after.
# The terminal stays until the test's end.
on_tmux() {
  command -v tmux >/dev/null || skip "there is no tmux"
  need_terminal
  printf '%s\n' 'stty -a >stty.before; "$@"; echo $? >end.new; stty -a >stty.after; mv end.new end; exec sleep 600' >on_tmux.sh
  rm -f end
  env -u TMUX TERM=xterm tmux -S terminal -f /dev/null \
    new-session -d -x "$1" -y "$2" sh on_tmux.sh "${@:3}" </dev/null 3>&- || fail "no tmux"
}

# shell_on_tmux COLUMNS ROWS: an interactive bash, with job control.
shell_on_tmux() {
  command -v tmux >/dev/null || skip "there is no tmux"
  need_terminal
  env -u TMUX TERM=xterm tmux -S terminal -f /dev/null \
    new-session -d -x "$1" -y "$2" bash --norc --noprofile -i </dev/null 3>&- || fail "no tmux"
  press 'PS1="$ "' Enter
}

screen() { tm capture-pane -p; }

# press KEY…: as tmux calls them: Enter, C-c, PageDown, or text.
press() { tm send-keys "$@"; }

resize() { tm resize-window -x "$1" -y "$2"; }

has_screen() { grep -qE -e "$1" <<<"$(screen)"; }
lacks_screen() { ! has_screen "$1"; }

# wait_screen REGEX: until a line of the screen has it.
wait_screen() { wait_until "'$1' is on the screen" has_screen "$1" || { screen | fail; }; }
wait_no_screen() { wait_until "'$1' is not on the screen" lacks_screen "$1" || { screen | fail; }; }

# format NAME: of tmux's pane, like alternate_on, cursor_flag.
pane() { tm display-message -p "#{$1}"; }

# What a program leaves behind that has given the terminal back.
assert_terminal_as_before() {
  assert_equal "$(<stty.after)" "$(<stty.before)"
  assert_equal "alternate $(pane alternate_on), cursor $(pane cursor_flag), keypad $(pane keypad_flag)" \
    "alternate 0, cursor 1, keypad 0"
}
