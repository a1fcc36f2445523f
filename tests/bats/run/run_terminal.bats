#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run at a terminal: what is typed, and what is shown.

load ../helpers

setup() {
  setup_zk
  mkfifo keys
  exec 7<>keys # so that neither end waits for the other
  export PS1='$ ' HISTFILE=/dev/null
}

teardown() {
  exec 7>&-
  end_all
}

# on_terminal CMD…: runs CMD with `press` for its keys and the file screen. Its process id is $!.
on_terminal() {
  need_terminal
  : >screen
  background pty screen "$@" <keys 7>&-
}

# Starts a shell on the terminal that knows zklock by its own name.
shell_on_terminal() {
  on_terminal bash --norc --noprofile -i
  press $'PS1="$ "; zklock() { "$ZKLOCK_BIN" "$@"; }; stty -echo; echo re\'\'ady\n'
  wait_for ready screen
}

press() { printf '%s' "$1" >&7; }

# matches FILE REGEX: all of FILE matches it, with line ends as \n.
matches() { [[ $(tr -d '\r' <"$1") =~ $2 ]]; }

state_of() { ps -o stat= -p "$1"; }

is_stopped() { [[ $(state_of "$1") == T* ]]; }

is_running() { [[ $(state_of "$1") != T* ]]; }

@test "Ctrl-C gives the command one INT" {
  on_terminal "$ZKLOCK_BIN" run /l -- print_signals USR1
  wait_for ready screen
  press $'\x03'
  wait_for INT screen
  press $'\x1c'
  wait_for QUIT screen
  kill -USR1 "$(awk '/^ready/ { print $2 }' screen | tr -d '\r')"
  expect_end 0 $!
  assert_equal "$(grep -c INT screen) $(grep -c QUIT screen)" "1 1"
}

@test "Ctrl-C ends the command, and zklock dies of INT" {
  on_terminal ended end "$ZKLOCK_BIN" run /l -- sh -c 'trap "exit 0" TERM; echo re""ady; exec sleep 600'
  wait_for ready screen
  press $'\x03'
  wait_for "signal INT" end
  expect_status 0 zklock run -n /l -- true
}

@test "Ctrl-C ends a loop of bash" {
  shell_on_terminal
  press $'for n in 1 2 3; do echo round $n; zklock run /l -- sleep 600; done; echo not reached\n'
  wait_for "round 1" screen
  wait_until "it holds the lock" expect_status 75 zklock run -nq /l -- true
  press $'\x03'
  press $'echo the shell is th""ere\n'
  wait_for "the shell is there" screen
  assert_equal "$(grep -cE 'round 2|^not reached' screen)" 0
}

@test "the command reads from the terminal" {
  # shellcheck disable=SC2016
  on_terminal "$ZKLOCK_BIN" run /l -- sh -c 'echo name?; read -r name; echo "hello $name"'
  wait_for "name?" screen
  press $'you\n'
  wait_for "hello you" screen
  expect_end 0 $!
}

@test "the command of an interactive shell reads from the terminal, in the foreground" {
  shell_on_terminal
  # shellcheck disable=SC2016
  press $'zklock run /l -- sh -c \'echo na""me?; read -r name; echo "hello $name"; test -t 0 && echo tty\'\n'
  wait_for "name?" screen
  press $'you\n'
  wait_for "hello you" screen
  wait_for tty screen
}

# The shell has job control, because the kernel does not stop an orphaned group. The command forks nothing, because it
# would not stop in a vfork.
@test "Ctrl-Z: the command is continued at once, and it is said" {
  mkfifo go
  # shellcheck disable=SC2016
  on_terminal bash -mc '"$ZKLOCK_BIN" run /l -- sh -c "echo \$\$ >pid; read -r _ <go"; exit $?'
  wait_until "it runs" test -s pid
  press $'\x1a'
  wait_for "zklock: continued: a command that is stopped would lose its lock" screen
  wait_until "the command runs again" is_running "$(<pid)"
  echo >go
  expect_end 0 $!
  assert_equal "$(grep -c continued screen)" 1
}

# The file may be empty for a moment.
has_counted_past() { ((10#0$(<count) > $1)); }

# It does not stop before its child is executed, nor then, if the child was stopped before that.
@test "Ctrl-Z in the middle of a vfork of the command's: it runs on" {
  # shellcheck disable=SC2016
  on_terminal bash -mc '"$ZKLOCK_BIN" run /l -- dash -c "n=0; until [ -e go ]; do /bin/true; n=\$((n + 1)); echo \$n >count; done"; exit $?'
  wait_until "it runs" test -s count
  for _ in {1..12}; do
    press $'\x1a'
    wait_until "the command goes on" has_counted_past $((10#0$(<count) + 20))
  done
  touch go
  expect_end 0 $!
}

@test "Ctrl-Z in an interactive shell, twice: the command runs on, in the foreground" {
  shell_on_terminal
  # shellcheck disable=SC2016
  press $'zklock run /l -- sh -c \'echo $$ >pid; read -r line; echo "got $line"\'; echo "stat""us $?"\n'
  wait_until "it runs" test -s pid
  press $'\x1a'
  wait_until "it is said once" matches screen 'continued'
  press $'\x1a'
  wait_until "it is said twice" matches screen 'continued.*continued'
  press $'a line\n'
  wait_for "got a line" screen
  wait_for "status 0" screen
}

@test "a command that handles Ctrl-Z itself is left alone" {
  on_terminal "$ZKLOCK_BIN" run /l -- print_signals USR1
  wait_for ready screen
  press $'\x1a'
  wait_for TSTP screen
  kill -USR1 "$(awk '/^ready/ { print $2 }' screen | tr -d '\r')"
  expect_end 0 $!
  # It may have had a CONT, had it been in vfork.
  assert_equal "$(grep -c continued screen) $(grep -c TSTP screen)" "0 1"
}

@test "Ctrl-Z while it waits stops zklock; after fg it waits on, and gets the lock" {
  hold h /l
  shell_on_terminal
  press $'zklock run --session-timeout 30s /l -- echo "it""s turn"; echo "stat""us $?"\n'
  wait_until "it stands in line" has_nodes /l 2
  press $'\x1a'
  wait_for "Stopped" screen
  wait_for "status 148" screen
  press $'fg\n'
  let_all_go h
  wait_for "its turn" screen
}

@test "Ctrl-C while it waits: zklock goes, and its node" {
  hold h /l
  on_terminal ended end "$ZKLOCK_BIN" run /l -- touch ran
  wait_until "it stands in line" has_nodes /l 2
  press $'\x03'
  wait_for "signal INT" end
  assert has_nodes /l 1
  let_all_go h
  assert [ ! -e ran ]
}

@test "who holds the lock is shown after a second, kept up to date, and wiped" {
  hold first /l --label nightly
  on_terminal "$ZKLOCK_BIN" run /l -- echo "at last"
  local began host
  began=$(now_us)
  host=$(hostname)
  wait_for "zklock: waiting for /l: held by $host (pid ${pid[first]}, nightly) for " screen
  assert [ $(($(now_us) - began)) -ge 800000 ]
  # The holder changes, and another one stands between.
  stand between /l
  let_all_go first
  wait_for "at last" screen
  let_all_go between
  expect_end 0 $!
  assert matches screen $'\r?\x1b\\[K[^\x1b]*\r?\x1b\\[Kat last'
}

@test "the line shows the holder of now and how many stand before us" {
  hold first /l
  stand second /l
  on_terminal "$ZKLOCK_BIN" run /l -- echo "at last"
  wait_for "held by $(hostname) (pid ${pid[first]}) for " screen
  wait_for ", 2 before us" screen
  let_all_go first
  wait_for "held by $(hostname) (pid ${pid[second]}) for " screen
  let_all_go second
  wait_for "at last" screen
  expect_end 0 $!
  assert_equal "$(tr -d '\n' <screen | tr '\r' '\n' | tail -n 1 | tr -d '\033')" "[Kat last"
}

@test "a line longer than the terminal is wide is cut" {
  hold h /l --label "$(printf 'x%.0s' {1..200})"
  on_terminal "$ZKLOCK_BIN" run /l -- true
  wait_for "waiting for" screen
  let_all_go h
  expect_end 0 $!
  assert_equal "$(tr '\r' '\n' <screen | sed 's/\x1b\[K//g; s/…/./' | awk '{ if (length() > 79) print }')" ""
}

@test "a wait of less than a second shows nothing" {
  hold h /l
  on_terminal "$ZKLOCK_BIN" run /l -- echo "at last"
  wait_until "it stands in line" has_nodes /l 2
  let_all_go h
  expect_end 0 $!
  assert_equal "$(tr -d '\r' <screen)" "at last"
}

@test "a busy -w shows the line and then the error, alone on its line" {
  hold h /l
  on_terminal "$ZKLOCK_BIN" run -w 1.5 /l -- true
  expect_end 75 $!
  assert matches screen $'waiting for /l[^\n]*\x1b\\[Kzklock: cannot take /l: held by [^\n]*\n?$'
  let_all_go h
}

@test "waiting in the background of a terminal shows nothing" {
  hold h /l
  shell_on_terminal
  press $'zklock run /l -- touch ran &\n'
  wait_until "it stands in line" has_nodes /l 2
  # One in the foreground has shown it, so the other would have, too.
  press $'zklock run -w 2s /l -- true; echo "stat""us $?"\n'
  wait_for "status 75" screen
  assert_equal "$(tr '\r' '\n' <screen | grep -c 'waiting for /l')" "$(tr '\r' '\n' <screen | grep -c '2 before us')"
  let_all_go h
  wait_until "the background one has run" test -e ran
}

@test "with standard error elsewhere the terminal stays clean" {
  hold h /l
  # shellcheck disable=SC2016
  on_terminal sh -c '"$ZKLOCK_BIN" run -w 1.5 /l -- true 2>stderr; echo over'
  wait_for over screen
  assert_equal "$(tr -d '\r' <screen)" over
  assert_equal "$(grep -c . stderr)" 1
  let_all_go h
}

@test "a terminal that goes away hangs up the command and zklock" {
  # shellcheck disable=SC2016
  on_terminal "$ZKLOCK_BIN" run /l -- sh -c 'echo $$ >pid; exec sleep 600'
  wait_until "it runs" test -s pid
  kill -KILL $!
  wait_gone "$(<pid)"
  expect_status 0 zklock run -w 10s /l -- true
}
