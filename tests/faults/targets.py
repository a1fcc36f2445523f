# SPDX-License-Identifier: Apache-2.0
"""Chooses a fault's target when it begins, so that it hits the current holder, and the server in use."""

import os
import re
import subprocess
import time

from events import now

TAIL = 1 << 14
SOON = 2.5  # seconds until the holder uses the server wanted
LINE = 256  # longer than any line
QUICK = 0.002  # seconds between checks for a moment
YOUNG = 40_000_000  # nanoseconds
FRESH = 50_000_000  # nanoseconds
PATIENCE = 6.0  # seconds until a contender holds the lock, or a server leads


class Targets:
    def __init__(self, place, contenders, crowd, ensemble, numbers_of):
        self._history = place.path("history")
        self._contenders = contenders
        self._crowd = crowd
        self._ensemble = ensemble
        self._numbers_of = numbers_of  # from addresses that clients use to servers
        self.over = False

    def _await(self, find, patience=PATIENCE, pause=0.02):
        until = time.monotonic() + patience
        while not self.over and time.monotonic() < until:
            if (found := find()) is not None:
                return found
            time.sleep(pause)
        return None

    def _last_words(self):
        with open(self._history, "rb") as history:
            history.seek(max(0, os.path.getsize(self._history) - LINE))
            lines = history.read().decode("ascii", "replace").splitlines()
        return lines[-1].split() if lines else []

    def holding(self):
        """Returns (contender, its run, its process), or None if no contender enters for too long."""
        return self._await(self._holding)

    def _holding(self):
        with open(self._history, "rb") as history:
            history.seek(max(0, os.path.getsize(self._history) - TAIL))
            words = history.read().decode("ascii", "replace").splitlines()
        if not words or words[-1].startswith("exit") or words[-1].count(" ") != 4:
            return None
        _, run, _, at, _ = words[-1].split()
        if now() - int(at) > FRESH:  # its command is dead
            return None
        contender = self._contenders.of_run(run)
        if not contender or contender.current.returncode is not None:
            return None
        return contender, run, contender.current

    def waiting(self, lot):
        held = self.holding()
        others = [c for c in self._contenders.all if held and c is not held[0]]
        if not others:
            return None
        contender = others[lot % len(others)]
        return contender, contender.run, contender.current

    def at_line(self, word):
        """The (contender, run, process) whose line with `word` is the history's last, as soon as one is written."""
        before = self._last_words()

        def written():
            words = self._last_words()
            return words if words != before and words[:1] == [word] else None
        words = self._await(written, pause=QUICK)
        contender = words and self._contenders.of_run(words[1])
        return (contender, words[1], contender.current) if contender else None

    def fresh(self):
        """One that has just begun."""
        def begun():
            return next((c for c in self._contenders.all if now() - c.begun_at < YOUNG), None)
        contender = self._await(begun, pause=QUICK)
        return (contender, contender.run, contender.current) if contender else None

    def of_pid(self, pid):
        return next(((c, c.run, c.current) for c in self._contenders.all if c.current.pid == pid), None)

    def runs(self):
        return [contender.run for contender in self._contenders.all]

    def of_crowd(self, kind, lot):
        """(its run, its process)"""
        loop = self._crowd.of_kind(kind, lot)
        process = loop and loop.current
        return (loop.run, process) if process else None

    def outlive(self, run, seconds):
        """Lets the run's command live on, if its loop has one that can."""
        for loop in self._crowd.all:
            if loop.run == run:
                loop.outlive(seconds)

    def anybody(self, lot):
        """Returns the holder in half of the cases."""
        held = self._holding() if lot % 2 else None
        if held:
            return held[1:]
        loops = [loop for loop in [*self._contenders.all, *self._crowd.all] if loop.current]
        loop = loops[lot // 2 % len(loops)]
        process = loop.current
        return (loop.run, process) if process else None

    def server_of_next(self):
        """Returns the follower that the next holder's zklock uses, as soon as it holds the lock, or None."""
        first = self._holding()

        def next_one():
            held = self._holding()
            number = self._in_use() if held and (not first or held[1] != first[1]) else 0
            return number if number in self._ensemble.followers() else None
        return self._await(next_one)

    def leader(self, lot):
        """Returns the leader. In half of the cases it waits until the holder's zklock uses it, if that happens soon."""
        if lot % 2:
            self._await(lambda: True if self._in_use() == self._ensemble.leader() else None, SOON)
        return self._await(self._ensemble.leader)

    def follower(self, lot):
        """Returns the follower that the holder's zklock uses, if it soon uses one; otherwise another one."""
        def used():
            number = self._in_use()
            return number if number in self._ensemble.followers() else None
        number = self._await(used, SOON)
        if number:
            return number
        followers = self._await(lambda: self._ensemble.followers() or None)
        return followers[lot % len(followers)] if followers else None

    def _in_use(self):
        """Returns the server's number, 0 if there is none."""
        held = self._holding()
        if not held:
            return 0
        lines = subprocess.run(["ss", "-Htnp", "state", "established"], check=False, stdout=subprocess.PIPE,
                               text=True).stdout
        for line in lines.splitlines():
            if re.search(rf"pid={held[2].pid},", line):
                return self._numbers_of.get(line.split()[3])
        return 0
