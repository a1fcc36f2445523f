# SPDX-License-Identifier: Apache-2.0
"""The holders' common file, read back: which runs were inside, from when to when.

A line is "WORD RUN TOKEN NANOSECONDS PID". It is written at once to the file's end, after the clock was read.
So both orders count: that of the clock, and that of the lines, in which a process that was frozen between
reading the clock and writing cannot hide. An entering command has tried to lock a file, as holder.cc says, and notes an
overlap if another process has it. So the kernel, which knows no order, confirms it too.
"""

import os
import re
from dataclasses import dataclass, field

LINE = re.compile(r"(enter|overlap|alive|exit|fail) ([a-z]*[0-9]+\.[0-9]+) ([0-9]+(?:,[0-9]+)*) ([0-9]+) ([0-9]+)\n")
BLOCK = 1 << 20
BEGINS, ENDS = ("enter", "overlap"), ("exit", "fail")


@dataclass(frozen=True)
class Line:
    number: int
    word: str
    run: str
    tokens: tuple
    at: int

    def __str__(self):
        return f"line {self.number}: {self.word} {self.run} token {self.token} at {self.at / 1e9:.6f}"

    @property
    def token(self):
        return self.tokens[0]


@dataclass
class Section:
    """A section lasts from a run's first line to the last one of any of its processes."""
    enter: Line
    last: Line  # in the order of the file
    latest: Line  # as the clock has it
    exit: Line = None
    oddities: list = field(default_factory=list)
    pid: int = 0  # of the command itself

    @property
    def run(self):
        return self.enter.run

    def take(self, line, excused=False):
        if line.word in BEGINS or line.tokens != self.enter.tokens or self.exit:
            self.oddities.append(line)
        if line.word in ENDS:
            self.exit = line
        if excused:
            return
        self.last = line
        if line.at > self.latest.at:
            self.latest = line


@dataclass
class History:
    sections: list  # in order of entering
    unreadable: list  # numbers and texts of lines
    homeless: list  # lines of runs that have not entered


def nothing(*_):
    return False


def read_history(path, again=False, excused=nothing):
    """Reads it. `again`: a run may enter more than once, each time with a new token. `excused`: see excuses.py."""
    found = History([], [], [])
    sections = {}
    with open(path, "rb") as lines:
        for number, raw in enumerate(lines, 1):
            text = raw.decode("utf-8", "backslashreplace")
            match = LINE.fullmatch(text)
            if not match:
                found.unreadable.append((number, text))
                continue
            word, run, token, at, pid = match.groups()
            line = Line(number, word, run, tuple(map(int, token.split(","))), int(at))
            if run in sections and not (again and word in BEGINS and line.tokens != sections[run].enter.tokens):
                sections[run].take(line, excused(run, line.at, int(pid) == sections[run].pid))
            elif word in BEGINS:
                sections[run] = Section(line, line, line, pid=int(pid))
                found.sections.append(sections[run])
            else:
                found.homeless.append(line)
    return found


def runs_since(path, since):
    """Returns the runs that have written after that moment. Reads from the end, because a long run has 100 MB."""
    runs, rest = set(), b""
    with open(path, "rb") as lines:
        end = lines.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - BLOCK)
            lines.seek(start)
            first, *whole = (lines.read(end - start) + rest).split(b"\n")
            rest, end = first, start
            words = [line.split() for line in (whole if start else [first, *whole])]
            timed = [(word[1].decode(), int(word[3])) for word in words if len(word) == 5 and word[3].isdigit()]
            late = {run for run, at in timed if at > since}
            if timed and not late:
                break
            runs |= late
    return runs
