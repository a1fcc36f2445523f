# SPDX-License-Identifier: Apache-2.0
"""Runs loops of `zklock run` that compete for one lock; each begins again as soon as it ends."""

import os
import random
import subprocess

from bound import bound
from events import now
from schedule import SESSION

LOCK = "/locks/faults"


class Contender:
    """One loop; `current` is its zklock, in its run "NUMBER.COUNT"."""

    def __init__(self, number, servers, place):
        self.number = number
        self._servers = servers
        self._place = place
        self._chance = random.Random(number)
        self._session = place.sessions.get(number, SESSION)
        self._count = 0
        self.current = None
        self.run = None
        self.begun_at = 0

    def begin(self):
        self._count += 1
        self.run = f"{self.number}.{self._count}"
        with open(self._place.path(f"contender-{self.number}.log"), "ab") as log:
            log.write(f"--- run {self.run}\n".encode())
            log.flush()
            self.current = subprocess.Popen(
                bound(self._place.zklock, *self._arguments()),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._place.environment, start_new_session=True)
        self.begun_at = now()

    def _arguments(self):
        length = self._chance.randrange(50, 500)
        holder = [self._place.holder, self._place.path("history"), self._place.path("stay"), self.run, str(length),
                  "x:lock"]
        manner = ["forking"] if self.number in self._place.forkers else ["stubborn"] if self.number % 2 else []
        return ["-v", "-S", self._servers, "--session-timeout", f"{self._session:g}s", "--connect-timeout", "2m",
                "run", LOCK, "--", *holder, *manner]


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            return [int(word) for word in children.read().split()]
    except OSError:
        return []


def handle_on(pid, parent):
    """Returns None if that parent no longer has such a child."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            if int(stat.read().rpartition(")")[2].split()[1]) == parent:
                return handle
    except (OSError, IndexError):
        pass
    os.close(handle)
    return None


def guard_of(pid):
    """Returns a handle on the process between a zklock and its command; None if it is gone."""
    children = children_of(pid)
    return handle_on(children[0], pid) if children else None


class Contenders:
    def __init__(self, servers, place, events):
        self._events = events
        self.all = [Contender(number, servers[number % len(servers)], place) for number in range(1, place.count + 1)]

    def begin(self):
        for contender in self.all:
            self._begin(contender)

    def _begin(self, contender):
        contender.begin()
        self._events.add("begin", run=contender.run, pid=contender.current.pid)

    def turn(self):
        for contender in self.all:
            status = contender.current.poll()
            if status is not None:
                self._events.add("end", run=contender.run, status=status)
                self._begin(contender)

    def of_run(self, run):
        return next((contender for contender in self.all if contender.run == run), None)

    def end_in_order(self, patience):
        """Ends the contenders as users would; they must leave nothing by themselves."""
        for contender in self.all:
            contender.current.terminate()
        for contender in self.all:
            try:
                contender.current.wait(patience)
            except subprocess.TimeoutExpired:
                pass

    def end(self):
        for contender in self.all:
            if contender.current:
                contender.current.kill()
                contender.current.wait()
