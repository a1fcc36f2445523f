# SPDX-License-Identifier: Apache-2.0
"""Runs two more queues, which queue_checker.py judges.

    order   two pushers feed it slowly, one consumer takes its lines to standard output
    dead    some of its items always fail: they are given up on after MOST attempts, and another process puts
            them back now and then
"""

import json
import subprocess
import time

from loops import Consumer, Loop, Pusher, Worker

ORDER, DEAD = "/queues/order", "/queues/dead"
MOST = 3  # attempts
ALWAYS, AT_FIRST = 3, 4  # one in so many fails
BETWEEN_REQUEUES = 4.0  # seconds


def mark(number):
    return "!!" if number % ALWAYS == 0 else "!" if number % AT_FIRST == 0 else ""


class Single(Consumer):
    """Runs alone, and no fault hits it: after a consumer that was hit, lines come back late."""

    kind = "single"
    family = "order"
    queue, lines = ORDER, "lines.order"


class Undertaker(Worker):
    family = "dead"
    queue, work = DEAD, "work.dead"
    options = ("-j", "2", "--max-attempts", str(MOST), "--retry-delay", "100ms")


class Requeuer(Loop):
    family = "dead"

    def words(self):
        return ["queue", "requeue", "-v", DEAD]

    def begin(self):
        super().begin()
        self._earliest = time.monotonic() + BETWEEN_REQUEUES


class Queues:
    """The queues of a run, if their families are wanted."""

    def __init__(self, families, servers, place, events):
        common = place, events
        self.pushers, self.takers, self._requeuer = [], [], None
        self._families = [family for family in ("order", "dead") if family in families]
        for family in self._families:
            for suffix in ("lines", "work"):
                open(place.path(f"{suffix}.{family}"), "ab").close()
        if "order" in families:
            self.pushers += [Pusher(f"ordered{n}", servers[n % len(servers)], *common, ORDER, 0.3, "order", lambda _: "")
                             for n in (1, 2)]
            self.takers.append(Single("single1", servers[0], *common))
        if "dead" in families:
            self.pushers.append(Pusher("dying1", servers[0], *common, DEAD, 0.8, "dead", mark))
            self._requeuer = Requeuer("requeue1", servers[-1], *common)
            self.takers += [Undertaker(f"undertaker{n}", servers[n % len(servers)], *common) for n in (1, 2)]
            self.takers.append(self._requeuer)
        self._events = events
        self._environment = place.environment
        self._list = [place.zklock, "-S", servers[-1], "--connect-timeout", "3s", "queue", "list", "--json"]

    def stop(self):
        """Stops the requeuer; dead items then stay dead."""
        if self._requeuer:
            self._requeuer.end()

    def _items(self, queue, *options):
        done = subprocess.run([*self._list, *options, queue], check=False, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment)
        return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else None

    def unsettled(self):
        """Yields texts of what is not as it should be after all pushes."""
        for queue, family in ((ORDER, "order"), (DEAD, "dead")):
            if family in self._families and self._items(queue) != []:
                yield f"items are left in {queue}"

    def conclude(self):
        if "dead" not in self._families:
            return
        for where, options in (("queue", ()), ("dead", ("--dead",))):
            for item in self._items(DEAD, *options) or ():
                self._events.add("item", where=where, id=item["id"], attempts=item.get("attempts"),
                                 line=item["begins"].split()[0])
