#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tab.py COMPLETIONS SHELL HOW LINE...: types each LINE and a TAB into an interactive bash, fish or zsh on a terminal,
which has loaded zklock's completion from the folder COMPLETIONS. Prints an object for each, one a line: `line` is what
the command line then has, `screen` what the terminal has shown meanwhile. HOW is `insert`, or `list` for lines that
show a list. Such a line is typed again until it does, because a busy shell shows none if more has been typed already.
Ends with 1 if the shell does not answer as it should within 20 seconds."""

import json
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import fcntl
import time

PATIENCE = 20
DUMP = "\x18z"  # C-x z; zsh ends at C-d
DISCARD = "\x15"  # C-u
READY = "ready> "

BASH = """
PS1='{ready}'
source {completions}/zklock.bash
bind 'set enable-bracketed-paste off' 'set bell-style none' 2>/dev/null
bind 'set enable-bracketed-paste off'
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set show-all-if-ambiguous on'
dump() {{ printf '%s' "$READLINE_LINE" >{place}/new && mv {place}/new {place}/line; }}
bind -x '"\\C-xz": dump'
"""

ZSH = """
PS1='{ready}'
unset zle_bracketed_paste
setopt no_beep
LISTMAX=10000
fpath=({completions} $fpath)
autoload -Uz compinit
compinit -u -d {place}/compdump
dump() {{ print -rn -- "$BUFFER" >{place}/new && mv {place}/new {place}/line }}
zle -N dump
bindkey '^Xz' dump
bindkey '^I' expand-or-complete
bindkey '^U' kill-whole-line
"""


FISH = """
function fish_prompt; printf '{ready}'; end
set -g fish_greeting
set -g fish_autosuggestion_enabled 0
source {completions}/zklock.fish
function dump; commandline -b >{place}/new; mv {place}/new {place}/line; end
bind \\cxz dump
"""

TEXTS = {"bash": BASH, "fish": FISH, "zsh": ZSH}


class Shell:
    def __init__(self, completions, name, place):
        self.place = place
        text = TEXTS[name].format(ready=READY, completions=completions, place=place)
        with open(os.path.join(place, ".zshrc"), "w") as file:
            file.write(text)
        command = {
            "bash": ["bash", "--noprofile", "--rcfile", file.name, "-i"],
            "fish": ["fish", "--no-config", "--private", "-C", f"source {file.name}", "-i"],
            "zsh": ["zsh", "-d", "-i"],
        }[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(HOME=place, ZDOTDIR=place, TERM="xterm", HISTFILE="")
            os.execvp(command[0], command)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 250, 0, 0))
        self.screen = ""
        self.wait_for(lambda: READY in self.screen, "its prompt")

    def read(self, seconds):
        """Adds what it shows within that time to `screen`. Returns False if that is nothing."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        self.screen += os.read(self.terminal, 65536).decode(errors="replace")
        return True

    def wait_for(self, fact, what):
        end = time.monotonic() + PATIENCE
        while not fact():
            if time.monotonic() > end:
                sys.exit(f"tab.py: waited in vain for {what}; the screen: {self.screen!r}")
            self.read(0.02)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def line(self):
        path = os.path.join(self.place, "line")
        self.type(DUMP)
        self.wait_for(lambda: os.path.exists(path), "the command line")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read().removesuffix("\n")
        os.remove(path)
        return text

    def complete(self, line, quiet):
        self.screen = ""
        self.type(line + "\t")
        while self.read(quiet):
            pass
        found = {"line": self.line(), "screen": re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[=>])|[\0\r]", "", self.screen)}
        self.type(DISCARD)
        while self.line():
            pass
        return found

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def main():
    completions, name, how, *lines = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        shell = Shell(os.path.abspath(completions), name, place)
        for line in lines:
            end = time.monotonic() + PATIENCE
            quiet = 0.2
            found = shell.complete(line, quiet)
            while how == "list" and "\n" not in found["screen"].rstrip() and time.monotonic() < end:
                quiet *= 2
                found = shell.complete(line, quiet)
            print(json.dumps(found), flush=True)
        shell.close()


main()
