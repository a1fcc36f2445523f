# SPDX-License-Identifier: Apache-2.0
"""Runs beside the contenders: pushers, consumers, workers, members of a group and its watcher.

    push1 work1in     feed the queues LINES and WORK line by line, through a pipe
    await1            feeds WORK too, and each time ends when all of its items are done (push --wait)
    pull1 pull2       take the lines of LINES to standard output, whose reader is slow
    work1 work2       two commands at a time for the items of WORK, some of which fail at first
    join1 join2       members of GROUP
    watch1            reports the members
    number1 …         more of them than there are numbers (any_of.py)
    …                 the loops of the other families of promises.py
"""

import subprocess
import threading

import any_of
import lock_checker
from events import now, read_events
from lock_loops import lock_loops
from loops import GROUP, LINES, WORK, AwaitingPusher, Consumer, Member, Pusher, Watcher, Worker
from queues import Queues
from values import Values


class Crowd:
    def __init__(self, servers, place, events, families):
        self._place = place
        self._events = events
        self._zklock = place.zklock
        self._servers = servers[-1]
        for name in ("lines", "work", "numbers"):
            with open(place.path(name), "wb"):
                pass
        common = place, events
        self.pushers = [Pusher("push1", servers[0], *common, LINES, 0.08),
                        Pusher("work1in", servers[-1], *common, WORK, 0.5),
                        AwaitingPusher("await1", servers[0], *common, WORK, 1.5)]
        self.members = [Member(f"join{n}", servers[n % len(servers)], *common) for n in (1, 2)]
        self.watcher = Watcher("watch1", servers[0], *common)
        self.takers = [kind(f"{name}{n}", servers[n % len(servers)], *common) for n in (1, 2)
                       for kind, name in ((Consumer, "pull"), (Worker, "work"))]
        self.numbered = [any_of.Contender(f"number{n}", servers[n % len(servers)], *common)
                         for n in range(1, any_of.CONTENDERS + 1) if "numbers" in families]
        self.holders = lock_loops(families, servers, *common)
        self._values = Values("values" in families, servers, *common)
        self._queues = Queues(families, servers, *common)
        self.pushers += self._queues.pushers
        self.all = [*self.pushers, *self.takers, *self.members, self.watcher, *self.numbered, *self.holders,
                    *self._values.watchers, *self._queues.takers]

    def begin(self):
        for loop in self.all:
            loop.begin()
        self._values.begin()

    def turn(self):
        for loop in self.all:
            loop.turn()

    def of_kind(self, kind, lot):
        loops = [loop for loop in self.all if loop.kind == kind and loop.current]
        return loops[lot % len(loops)] if loops else None

    # --- the end of a run ----------------------------------------------------------------------------

    def stop_feeding(self):
        self._calm = now()
        for pusher in self.pushers:
            pusher.end()
        self._queues.stop()
        self._values.stop()

    def _left(self, queue):
        """Returns how many items the queue has; None if no server answers."""
        words = [self._zklock, "-S", self._servers, "--connect-timeout", "3s", "queue", "list", queue]
        try:
            done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=5,
                                  stderr=subprocess.DEVNULL, env=self._place.environment)
        except subprocess.TimeoutExpired:
            return None
        return len(done.stdout.splitlines()) if done.returncode == 0 else None

    def _unturned(self):
        """Returns the loops of the other families that had no turn since the last fault."""
        events = read_events(self._place.path("events"))
        return lock_checker.turned(self._place.folder, events, [loop.name for loop in self.holders], self._calm)

    def _starved(self):
        return any_of.starved(self._place.folder, [loop.name for loop in self.numbered], self._calm)

    def settled(self):
        """Returns whether all pushed items were taken, the watcher is right, and each loop has had a number."""
        if any(pusher.current for pusher in self.pushers) or self._starved():
            return False
        return (self.watcher.is_true([member.name for member in self.members])
                and self._left(LINES) == 0 and self._left(WORK) == 0 and not self._unturned()
                and not list(self._values.unsettled()) and not list(self._queues.unsettled()))

    def conclude(self):
        """Notes for the checker what has not settled."""
        for pusher in self.pushers:
            if pusher.current:
                self._events.add("unsettled", text=f"{pusher.run} has not ended at the end of its input")
        for queue in (LINES, WORK):
            left = self._left(queue)
            if left != 0:
                self._events.add("unsettled", text=f"{left} items are left in {queue}")
            self._events.add("left", queue=queue, items=left)
        for name in self._starved():
            self._events.add("unsettled", text=f"{name} has no number")
        for name in self._unturned():
            self._events.add("unsettled", text=f"{name} had no turn")
        self._events.add("numbers end")
        for text in (*self._values.unsettled(), *self._queues.unsettled()):
            self._events.add("unsettled", text=text)
        self._values.conclude()
        self._queues.conclude()
        if not self.watcher.is_true([member.name for member in self.members]):
            self._events.add("unsettled", text=f"{self.watcher.run} does not say who is in {GROUP}")

    def end(self):
        enders = [threading.Thread(target=loop.end) for loop in self.all if loop not in self.pushers]
        for ender in enders:
            ender.start()
        for ender in enders:
            ender.join()
        for pusher in self.pushers:
            pusher.kill()

    def kill(self):
        """Kills all loops, whichever way the run ended."""
        for loop in self.all:
            loop.stopped = True
            if loop.current:
                loop.current.kill()
                loop.current.wait()
