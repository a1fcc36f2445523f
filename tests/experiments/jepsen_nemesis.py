# SPDX-License-Identifier: Apache-2.0
"""Pauses servers and resumes them, by turns, with Jepsen's intervals and targets.

Times and targets are a pure function of the seed: the same for each contestant, except which server leads.
"""

import itertools
import random
import threading
import time
from dataclasses import dataclass

FIRST = 5.0  # the second at which the first pause may begin
INTERVAL = 5.0  # seconds between two operations, on the average
NUMBERS = (1, 2, 3)


@dataclass(frozen=True)
class Pause:
    at: float  # seconds from the start
    length: float
    whom: str  # "leader" or "all"
    lot: int  # picks the server to pause while none leads


def pauses(seed):
    """Yields pauses without end."""
    lots = random.Random(f"pauses {seed}")
    at = FIRST
    while True:
        at += lots.uniform(0, 2 * INTERVAL)
        pause = Pause(at, lots.uniform(0, 2 * INTERVAL), lots.choice(("leader", "all")), lots.choice(NUMBERS))
        yield pause
        at += pause.length


class Nemesis:
    def __init__(self, servers, seed):
        self._servers = servers
        self._schedule = pauses(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._play)
        self._error = None
        self.done = []  # as the results have them

    def start(self):
        self._start = time.monotonic()
        self._thread.start()

    def end(self):
        """Ends; no server is paused then."""
        self._over.set()
        self._thread.join()

    def check(self):
        """Throws what its thread has thrown."""
        if self._error:
            raise self._error

    def _play(self):
        try:
            for pause in self._schedule:
                if self._wait_until(pause.at):
                    return
                self._perform(pause)
        except Exception as error:
            self._error = error

    def _wait_until(self, at):
        return self._over.wait(max(0.0, self._start + at - time.monotonic()))

    def _perform(self, pause):
        hit = list(NUMBERS) if pause.whom == "all" else [self._servers.leader() or pause.lot]
        at = time.monotonic() - self._start
        for number in hit:
            self._servers.pause(number)
        self._wait_until(pause.at + pause.length)
        for number in hit:
            self._servers.resume(number)
        self.done.append({"at": round(at, 3), "until": round(time.monotonic() - self._start, 3), "servers": hit})


def planned(seed, seconds):
    return list(itertools.takewhile(lambda pause: pause.at < seconds, pauses(seed)))
