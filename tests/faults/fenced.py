# SPDX-License-Identifier: Apache-2.0
"""Holders that lose their locks, and their writers, which go on with `zklock value set --fenced`.

Each lock has a holder and a waiter. The command under the lock tells what it holds. A writer, which no guard can kill
because it is not below it, writes that repeatedly in the holder's name. Then the holder is hit. Its
writer goes on until the next holder's has written, and for some more attempts. In half of the rounds the current
attempt is frozen before the holder is hit, at some moment of its life, and goes on when the next holder's has written.
The file `fenced` has the outcome of each attempt; fenced_checker.py judges it.
"""

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import threading
import time

from bound import bound
from contenders import guard_of
from events import Events, now
from proxies import Proxies

LOCK, VALUE = "/fenced/locks/", "/fenced/values/"
KINDS = ("frozen with its guard", "cut off", "node deleted", "killed with its guard")
TELL = 'echo "$$ $ZKLOCK_TOKEN $ZKLOCK_NODE"; exec sleep 1000'
TRIES = 3  # attempts after the next holder's first write
LONGEST_ATTEMPT = 0.02  # seconds within which an attempt is frozen
PATIENCE = 30.0  # seconds for a step; then the round is given up
WRITERS_PATIENCE = "5s"
STOPPED = 5.0  # seconds that a zklock may take to end


class Over(Exception):
    """The run is over, or a step takes too long."""


class Writer(threading.Thread):
    """Writes in the name of a holder; each attempt is a process."""

    def __init__(self, scene, lock, run, token, node):
        super().__init__(daemon=True)
        self._scene = scene
        self._words = ["value", "set", "--fenced", "--print-version", f"{VALUE}{lock}"]
        self._about = {"lock": lock, "run": run, "token": token}
        self._environment = {**scene.place.environment, "ZKLOCK_NODE": node}
        self.node = node
        self._process = None
        self._over = threading.Event()
        self.freeze_after = None  # seconds after which the next attempt is frozen
        self.frozen = threading.Event()
        self.first = None  # when the first write was acknowledged
        self.refused = False
        self.begins = []  # of all attempts that have ended

    def run(self):
        while not self._over.is_set():
            self._attempt()
            self._over.wait(self._scene.pause)

    def _attempt(self):
        about = {**self._about, "number": len(self.begins) + 1, "begun": now()}
        text = f"{about['token']} {about['run']} {about['number']}"
        words = bound(self._scene.place.zklock, "-S", self._scene.direct, "--connect-timeout", WRITERS_PATIENCE,
                      *self._words, text)
        self._process = subprocess.Popen(words, env=self._environment, stdin=subprocess.DEVNULL, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.freeze_after is not None:
            time.sleep(self.freeze_after)
            self._process.send_signal(signal.SIGSTOP)
            self.freeze_after = None
            self.frozen.set()
            if self._over.is_set():  # end() may have come before the attempt was frozen
                self.thaw()
        said, complaint = self._process.communicate()
        status = self._process.returncode
        self._scene.events.add("write", **about, status=status, version=int(said or -1) if status == 0 else None,
                               said=complaint)
        if status == 0:
            self.first = self.first or now()
        self.refused |= status == 76
        self.begins.append(about["begun"])

    def thaw(self):
        if self.frozen.is_set():
            self._process.send_signal(signal.SIGCONT)

    def tries_since(self, moment):
        return sum(1 for begun in list(self.begins) if begun > moment)

    def end(self):
        self._over.set()
        self.thaw()
        self.join()


class Holder:
    """A `zklock run` behind a proxy of its own and, once it has its lock, its writer."""

    def __init__(self, scene, lock, run, proxies):
        self._scene = scene
        self._lock = lock
        self.run = run
        self.proxies = proxies
        self.writer = None
        self._said = b""
        self._command = None
        words = ["-S", ",".join(proxies.addresses), "--session-timeout", f"{scene.session:g}s", "--connect-timeout",
                 "2m", "run", f"{LOCK}{lock}", "--", "sh", "-c", TELL]
        with open(scene.place.path(f"fenced-{lock}.log"), "ab") as log:
            self._zklock = subprocess.Popen(bound(scene.place.zklock, *words), env=scene.place.environment,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                            start_new_session=True)

    def is_writing(self):
        """Returns whether it holds the lock; starts its writer then."""
        while not self.writer and select.select([self._zklock.stdout], [], [], 0)[0]:
            piece = os.read(self._zklock.stdout.fileno(), 4096)
            self._said += piece
            if not piece:
                raise Over(f"{self.run} has ended before it held the lock")
            if self._said.endswith(b"\n"):
                pid, token, node = self._said.decode().split()
                self._command = int(pid)
                self.writer = Writer(self._scene, self._lock, self.run, int(token), node)
                self.writer.start()
        return self.writer is not None

    def has_written(self):
        return self.is_writing() and (self.writer.first or self.writer.refused)

    def hit(self, kind):
        """Returns False if that was not possible."""
        if kind == "cut off":
            self._order("silent")
        elif kind == "node deleted":
            return self._scene.remove(self.writer.node)
        else:
            guard = guard_of(self._zklock.pid)
            if guard is None:
                return False
            self._zklock.send_signal(signal.SIGSTOP)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(guard, signal.SIGKILL if kind.startswith("killed") else signal.SIGSTOP)
            os.close(guard)
            if kind.startswith("killed"):
                self._zklock.kill()
        return True

    def _order(self, order):
        for number in range(1, len(self.proxies.addresses) + 1):
            self.proxies.order(number, order)

    def heal(self):
        """Heals the holder and ends it."""
        if self.writer:
            self.writer.end()
        self._zklock.terminate()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._zklock.pid, signal.SIGCONT)
        self._order("pass")
        try:
            self._zklock.wait(STOPPED)
        except subprocess.TimeoutExpired:
            self._zklock.kill()
            self._zklock.wait()
        with contextlib.suppress(ProcessLookupError):
            if self._command:
                os.kill(self._command, signal.SIGKILL)
        self._zklock.stdout.close()


class Lock(threading.Thread):
    """Plays a lock's rounds, one after another."""

    def __init__(self, scene, number):
        super().__init__(daemon=True)
        self._scene = scene
        self._number = number
        self._chance = random.Random(f"{scene.seed} fenced {number}")
        self._deck = []
        self._count = 0
        self.rounds = 0
        self.error = None

    def run(self):
        proxies = [Proxies(self._scene.direct.split(",")) for _ in range(2)]
        holder = self._begin(proxies[0])
        try:
            while not self._scene.over.is_set():
                holder = self._play(holder, proxies[self._count % 2])
        except Exception as error:
            self.error = error
        finally:
            holder.heal()
            for one in proxies:
                one.end()

    def _begin(self, proxies):
        self._count += 1
        return Holder(self._scene, self._number, f"{self._number}.{self._count}", proxies)

    def _await(self, what, fact):
        until = time.monotonic() + PATIENCE
        while not fact():
            if self._scene.over.is_set() or time.monotonic() > until:
                raise Over(what)
            time.sleep(0.01)

    def _play(self, holder, proxies):
        """Plays a round. Returns the Holder that has the lock afterwards, or will."""
        following = None
        try:
            self._await("the holder writes", holder.has_written)
            following = self._begin(proxies)
            self._lose(holder, following)
        except Over as given_up:
            if not self._scene.over.is_set():
                self._scene.events.add("given up", lock=self._number, run=holder.run, text=str(given_up))
            if following:
                following.heal()
            following = self._begin(proxies)
        finally:
            holder.heal()
        return following

    def _lose(self, holder, following):
        if self._chance.random() < 0.5:
            holder.writer.freeze_after = self._chance.uniform(0, LONGEST_ATTEMPT)
            self._await("an attempt is frozen", holder.writer.frozen.is_set)
        self._deck = self._deck or self._chance.sample(KINDS, len(KINDS))
        kind = self._deck.pop()
        if not holder.hit(kind):
            kind = "by itself"
        self._scene.events.add("loss", lock=self._number, run=holder.run, kind=kind,
                               frozen=holder.writer.frozen.is_set())
        self._await("the next one writes", following.has_written)
        since = following.writer.first or now()
        holder.writer.thaw()
        self._await("the loser has tried again", lambda: holder.writer.tries_since(since) >= TRIES)
        self.rounds += 1


class Fenced:
    """All locks. `direct`: the servers; `plain`: those for programs without TLS. `pause`: seconds between two
    attempts."""

    def __init__(self, place, direct, plain, seed, count, session, pause):
        self.place = place
        self.direct = direct
        self._plain = plain
        self.seed = seed
        self.session = session
        self.pause = pause
        self.over = threading.Event()
        self.events = Events(place.path("fenced"))
        self._locks = [Lock(self, number) for number in range(1, count + 1)]

    def begin(self):
        for lock in self._locks:
            lock.start()

    def rounds(self):
        return sum(lock.rounds for lock in self._locks)

    def remove(self, node):
        """Removes the node behind its owner's back. Returns False if that was not possible."""
        environment = {**self.place.environment, "ZKLOCK_SERVERS": self._plain}
        environment.pop("ZKLOCK_PLAIN_SERVERS", None)
        znode = os.path.join(os.path.dirname(self.place.holder), "znode")
        return subprocess.run([znode, "rm", node], check=False, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def check(self):
        """Throws what a lock's thread has thrown."""
        for lock in self._locks:
            if lock.error:
                raise lock.error

    def end(self):
        """Ends all holders and attempts."""
        self.over.set()
        for lock in self._locks:
            if lock.ident:
                lock.join()

    def conclude(self):
        """Notes the final values; the servers must still be there."""
        for lock in range(1, len(self._locks) + 1):
            words = [self.place.zklock, "-S", self.direct, "value", "get", "--json", f"{VALUE}{lock}"]
            done = subprocess.run(words, check=False, env=self.place.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            there = json.loads(done.stdout) if done.stdout else {"exists": False}
            if there["exists"]:
                self.events.add("final", lock=lock, token=int(there["value"].split()[0]), version=there["version"])
