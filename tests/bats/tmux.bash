# SPDX-License-Identifier: Apache-2.0
# Runs programs on a terminal of tmux's, reads its screen, and presses keys. Loaded after helpers.
#
# shellcheck shell=bash

tm() { tmux -S terminal -f /dev/null "$@"; }

new_terminal() {
  command -v tmux >/dev/null || skip "there is no tmux"
  need_terminal
  env -u TMUX TERM=xterm tmux -S terminal -f /dev/null new-session -d -x "$1" -y "$2" "${@:3}" </dev/null 3>&- ||
    fail "no tmux"
}

# on_tmux COLUMNS ROWS CMD…: runs CMD in a terminal of that size, for `wait_screen` and `press`. Its process id is in
# the file pid and, when it has ended, its status in the file end. `stty -a` has written stty.before and stty.after. The
# terminal stays until the test's end, or `tm kill-server`.
on_tmux() {
  rm -f end pid terminal
  cat >on_tmux.sh <<'END'
trap : INT
stty -a >stty.before
sh -c 'echo $$ >pid; exec "$@"' sh "$@"
echo $? >end.new
stty -a >stty.after
mv end.new end
exec sleep 600
END
  new_terminal "$1" "$2" sh on_tmux.sh "${@:3}"
}

# shell_on_tmux COLUMNS ROWS: starts an interactive bash, with job control.
shell_on_tmux() {
  new_terminal "$1" "$2" bash --norc --noprofile -i
  press 'PS1="$ "' Enter
}

screen() { tm capture-pane -p; }

# press KEY…: sends keys by their tmux names, Enter, C-c, PageDown, or text.
press() { tm send-keys "$@"; }

resize() { tm resize-window -x "$1" -y "$2"; }

has_screen() { grep -qE -e "$1" <<<"$(screen)"; }
lacks_screen() { ! has_screen "$1"; }

# wait_screen REGEX: waits until a line of the screen matches it.
wait_screen() { wait_until "'$1' is on the screen" has_screen "$1" || { screen | fail; }; }
wait_no_screen() { wait_until "'$1' is not on the screen" lacks_screen "$1" || { screen | fail; }; }

# pane NAME: prints a format of tmux's pane, such as alternate_on or cursor_flag.
pane() { tm display-message -p "#{$1}"; }

# The program that has ended left the terminal as it was before.
assert_terminal_as_before() {
  assert_equal "$(sed 's/rows.*columns [0-9]*//' stty.after)" "$(sed 's/rows.*columns [0-9]*//' stty.before)"
  assert_equal "alternate $(pane alternate_on), cursor $(pane cursor_flag), keypad $(pane keypad_flag)" \
    "alternate 0, cursor 1, keypad 0"
}
