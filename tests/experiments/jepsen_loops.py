# SPDX-License-Identifier: Apache-2.0
"""The contestants, and the loops in which each takes locks, one update after another."""

import itertools
import os
import random
import shutil
import subprocess
import threading
import time
from collections import Counter

import jepsen_judge
from bound import bound
from folders import HERE
from jepsen_nemesis import Nemesis
from jepsen_servers import Etcds, ZooKeepers

TTL = 2  # seconds: of a session, of a lease
LOOPS = 5  # they want the same lock
LONGEST_WAIT = 2.0  # seconds between read and write
AFTER_FAILURE = 0.1  # seconds until the next try: no loop spins while all servers are paused
PYTHON = "/usr/bin/python3"  # this one has Kazoo


def zklock(servers, lock, command):
    return [servers.place.zklock, "run", "-v", "-S", servers.clients_list(), "--session-timeout", f"{TTL}s", f"/{lock}",
            "--", *command]


def etcdctl(servers, lock, command):
    return [*servers.etcdctl(), "lock", f"--ttl={TTL}", lock, "--", *command]


def kazoo(servers, lock, command):
    return [PYTHON, "-B", f"{HERE}/jepsen_kazoo.py", servers.clients_list(), str(TTL), f"/{lock}", *command]


# Their servers, and the function that runs a command under a lock.
CONTESTANTS = {"zklock": (ZooKeepers, zklock), "etcdctl": (Etcds, etcdctl), "Kazoo": (ZooKeepers, kazoo)}


class Loops:
    """One contestant's loops, LOOPS for each of `locks` locks. Each lock has a file, and none knows of another."""

    def __init__(self, servers, words, seed, locks):
        self._servers = servers
        self._words = words
        self._seed = seed
        self._over = threading.Event()
        self._statuses = {lock: {} for lock in range(locks)}
        self._threads = [threading.Thread(target=self._go_round, args=(lock, number))
                         for lock in range(locks) for number in range(LOOPS)]

    def _file(self, lock):
        return self._servers.place.path(f"file-{lock}")

    def start(self):
        for lock in self._statuses:
            with open(self._file(lock), "wb"):
                pass
        for thread in self._threads:
            thread.start()

    def end(self):
        """Ends all loops; current updates end without a success."""
        self._over.set()
        self._servers.place.kill_all()
        for thread in self._threads:
            thread.join()
        self._servers.place.kill_all()

    def _go_round(self, lock, number):
        with open(self._servers.place.path("said"), "ab") as said:
            for turn in itertools.count():
                name = f"{lock}.{number}.{turn}"
                status = self._update(lock, name, said)
                self._statuses[lock][name] = status
                if self._over.wait(AFTER_FAILURE if status else 0):
                    return

    def _update(self, lock, name, said):
        seconds = random.Random(f"{self._seed} {name}").uniform(0, LONGEST_WAIT)
        command = [PYTHON, "-BSE", self._servers.place.holder, self._file(lock), name, f"{seconds:.3f}"]
        return subprocess.run(bound(*self._words(self._servers, f"lock-{lock}", command)), check=False,
                              env=self._servers.place.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                              start_new_session=True).returncode

    def acknowledged(self):
        return sum(1 for statuses in self._statuses.values() for status in list(statuses.values()) if status == 0)

    def judged(self):
        """Returns the verdict on all files, and how often a tool ended with which status."""
        verdict = jepsen_judge.NOTHING
        for lock, statuses in self._statuses.items():
            with open(self._file(lock), encoding="ascii") as file:
                verdict += jepsen_judge.judge(statuses, file.read().splitlines())
        return verdict, Counter(status for statuses in self._statuses.values() for status in statuses.values())


def kept_of(folder):
    return shutil.copytree(folder, f"{folder}.lost", ignore=shutil.ignore_patterns("server"))


def play(name, seed, locks, enough):
    """Plays one contestant; returns its part of the results. `enough` decides when it is over, by the number of
    acknowledged updates and the seconds since the start. If zklock has lost something, files and output are kept."""
    make, words = CONTESTANTS[name]
    with make() as servers:
        loops, nemesis = Loops(servers, words, seed, locks), Nemesis(servers, seed)
        begun = time.monotonic()
        loops.start()
        servers.at_end(loops.end)
        nemesis.start()
        servers.at_end(nemesis.end)
        while not enough(loops.acknowledged(), time.monotonic() - begun):
            nemesis.check()
            time.sleep(0.05)
        seconds, load = time.monotonic() - begun, os.getloadavg()[0]
        nemesis.end()
        loops.end()
        verdict, statuses = loops.judged()
        if name == "zklock" and verdict.lost:
            print(f"kept in {kept_of(servers.place.folder)}")
    return {"name": name, "seconds": round(seconds, 1), "load": round(load, 1), "acknowledged": verdict.acknowledged,
            "kept": verdict.kept, "unacknowledged": verdict.unacknowledged, "lost": list(verdict.lost),
            "statuses": {str(status): count for status, count in sorted(statuses.items())}, "pauses": nemesis.done}
