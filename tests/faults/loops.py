# SPDX-License-Identifier: Apache-2.0
"""Loops of a zklock that pushes, pulls, works, joins or watches; crowd.py says which of them run.

A run is "NAME.COUNT". Every line pushed is "RUN:NUMBER", with a "!" if the command must fail at first, and padding.
"""

import fcntl
import os
import random
import signal
import subprocess
import threading
import time

from bound import bound
from events import now
from schedule import SESSION

LINES, WORK, GROUP = "/queues/lines", "/queues/work", "/groups/faults"
PADDING = 180  # characters: some twenty lines fill a pipe of PIPE bytes
PIPE = 4096
F_SETPIPE_SZ = 1031
FAILS_AT_FIRST = 9  # one in so many
BETWEEN_BEGINS = 0.3  # seconds
PATIENCE = 5.0  # seconds for the last runs to end in order


class Loop:
    """Begins again as soon as it ends, until stop(). `kind` is its name for the faults, `family` for the checkers."""

    kind = ""
    family = "crowd"

    def __init__(self, name, servers, place, events):
        self.name = name
        self.place = place
        self.events = events
        self.chance = random.Random(name)
        self.current = self.run = None
        self.stopped = False
        self._servers = servers
        self._count = 0
        self._earliest = 0.0  # for the next one
        self._alive = 0  # when the current one was last seen alive

    def program(self):
        return [self.place.zklock, "-S", self._servers, "--session-timeout", f"{SESSION:g}s", "--connect-timeout", "2m"]

    def words(self):
        raise NotImplementedError

    def pipes(self):
        return {}

    def begun(self):
        """Called after the new process has started."""

    def outlive(self, seconds):
        """Lets a command live on, so that the checker notices if it is not ended."""

    def begin(self):
        self._count += 1
        self._earliest = time.monotonic() + BETWEEN_BEGINS
        self.run = f"{self.name}.{self._count}"
        with open(self.place.path(f"{self.run}.log"), "wb") as log:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **self.pipes()}
            self.current = subprocess.Popen(
                bound(*self.program(), *self.words()), env=self.place.environment, start_new_session=True, **pipes)
        self._alive = now()
        self.events.add("crowd begin", run=self.run, pid=self.current.pid, family=self.family)
        self.begun()

    def said(self):
        with open(self.place.path(f"{self.run}.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def turn(self):
        looked = now()
        if self.current and (status := self.current.poll()) is not None:
            self.current = None
            self.events.add("crowd end", run=self.run, status=status, said=self.said(), over=self.stopped,
                            family=self.family, alive=self._alive)
        self._alive = looked
        if not self.current and not self.stopped and time.monotonic() > self._earliest:
            self.begin()

    def end(self):
        self.stopped = True
        if self.current:
            self.current.send_signal(signal.SIGCONT)
            self.current.terminate()
            try:
                self.current.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.current.kill()
                self.current.wait()
        self.turn()


class Pusher(Loop):
    kind = "pusher"
    options = ()

    def __init__(self, name, servers, place, events, queue, pause, family="crowd", mark=None):
        super().__init__(name, servers, place, events)
        self._queue = queue
        self._pause = pause  # seconds between two lines, at the longest
        self.family = family
        self._mark = mark or (lambda number: "!" if number % FAILS_AT_FIRST == 0 else "")

    def words(self):
        return ["queue", "push", *self.options, self._queue]

    def pipes(self):
        return {"stdin": subprocess.PIPE}

    def begun(self):
        threading.Thread(target=self._feed, args=(self.current.stdin, self.run), daemon=True).start()

    def _feed(self, pipe, run):
        until, number = time.monotonic() + self.chance.uniform(3, 12), 0
        try:
            while not self.stopped and time.monotonic() < until:
                pipe.write(f"{run}:{number + 1}{self._mark(number + 1)} {'x' * PADDING}\n".encode())
                pipe.flush()
                number += 1
                time.sleep(self.chance.uniform(0.2, 1.0) * self._pause)
            pipe.close()
        except OSError:
            pass
        self.events.add("fed", run=run, queue=self._queue, lines=number, family=self.family)

    def end(self):
        """Ends its input soon; then it ends by itself."""
        self.stopped = True

    def kill(self):
        if self.current:
            self.current.kill()
            self.current.wait()
        self.turn()


class AwaitingPusher(Pusher):
    options = ("--wait",)


class Consumer(Loop):
    kind = "consumer"
    queue, lines = LINES, "lines"  # its source, and the file for its lines

    def words(self):
        return ["queue", "pull", "--follow", self.queue]

    def pipes(self):
        return {"stdout": subprocess.PIPE}

    def begun(self):
        fcntl.fcntl(self.current.stdout, F_SETPIPE_SZ, PIPE)
        self._reader = threading.Thread(target=self._read, args=(self.current.stdout, self.run), daemon=True)
        self._reader.start()

    def _read(self, pipe, run):
        rest = b""
        with pipe, open(self.place.path(self.lines), "ab", buffering=0) as taken:
            while data := os.read(pipe.fileno(), 1024):
                *lines, rest = (rest + data).split(b"\n")
                taken.write(b"".join(b"%s %s\n" % (run.encode(), line.split(b" ")[0]) for line in lines))
                if not self.stopped:
                    # Sometimes pauses for so long that the pipe is full.
                    time.sleep(self.chance.uniform(1, 3) if self.chance.random() < 0.02 else 0.02)

    def end(self):
        super().end()
        self._reader.join(PATIENCE)


class Worker(Loop):
    kind = "worker"
    queue, work = WORK, "work"  # its source, and the file of what is done
    options = ("-j", "2", "--max-attempts", "99", "--retry-delay", "400ms")

    def words(self):
        program = os.path.join(os.path.dirname(self.place.holder), "faults_worker")
        return ["queue", "pull", "--follow", *self.options, self.queue, "--", program, self.place.path(self.work),
                self.place.path("stay"), self.run]


class Member(Loop):
    kind = "member"

    def words(self):
        return ["group", "join", "--name", self.name, GROUP]


class Watcher(Loop):
    kind = "watcher"

    def words(self):
        return ["group", "watch", GROUP]

    def pipes(self):
        # Each run has a file of its own, because it begins with the members of that moment.
        return {"stdout": open(self.place.path(f"{self.run}.changes"), "wb")}

    def is_true(self, names):
        """Returns whether it now reports each of these names, once."""
        said = set()
        with open(self.place.path(f"{self.run}.changes"), encoding="utf-8") as changes:
            for line in changes:
                (said.add if line[0] == "+" else said.discard)(line[1:].strip())
        return sorted(name.rpartition("-")[0] for name in said) == sorted(names)
