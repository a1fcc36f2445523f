# SPDX-License-Identifier: Apache-2.0
"""A counter that several clients increment by `value set --if-version`, and its watchers.

Each increment reads the number and its version, and writes the next number if the version is still that. Number and
version begin with 0, so they are always the same. The file `counter` has the result of each attempt, `RUN.told` what
the watchers were told; value_checker.py judges both.
"""

import json
import random
import subprocess
import threading
import time

from bound import bound
from events import Events, now
from loops import Loop

PATH = "/values/counter"
INCREMENTERS = 3
PAUSE = 0.3  # seconds between two attempts of one client, at the longest
PATIENCE = "5s"
TELL = 'read -r number; echo "$ZKLOCK_VALUE_VERSION $number" >>"$0"'


class Incrementer(threading.Thread):
    def __init__(self, number, servers, place, events):
        super().__init__(daemon=True)
        self.name = f"inc{number}"
        self._chance = random.Random(self.name)
        self._place = place
        self._events = events
        self._prefix = [place.zklock, "-S", servers, "--connect-timeout", PATIENCE, "value"]
        self._over = threading.Event()

    def _call(self, *words):
        done = subprocess.run(bound(*self._prefix, *words), check=False, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._place.environment)
        return done.returncode, done.stdout, done.stderr

    def run(self):
        while not self._over.wait(self._chance.uniform(0, PAUSE)):
            begun = now()
            status, text, said = self._call("get", "--json", PATH)
            if status == 0:
                read = json.loads(text)
                self._note("read", begun, status, said, version=read["version"], number=int(read["value"]))
                self._write(read["version"], int(read["value"]) + 1)
            elif status == 1:
                self._note("make", begun, *self._call("set", "--if-missing", PATH, "0")[::2], version=-1, number=0)
            else:
                self._note("read", begun, status, said, version=None, number=None)

    def _write(self, version, number):
        begun = now()
        status, text, said = self._call("set", "--if-version", str(version), "--print-version", PATH, str(number))
        self._note("write", begun, status, said, version=version, number=number,
                   made=int(text) if status == 0 else None)

    def _note(self, what, begun, status, said, **more):
        self._events.add(what, who=self.name, begun=begun, status=status, said=said, **more)

    def stop(self):
        self._over.set()
        if self.ident:
            self.join()


class Watcher(Loop):
    """Watches to standard output, or by a command that notes each state."""

    kind = "watcher"
    family = "value"

    def _told(self):
        return self.place.path(f"{self.run}.told")

    def words(self):
        command = ["--", "sh", "-c", TELL, self._told()] if self.name.endswith("2") else []
        return ["value", "watch", PATH, *command]

    def pipes(self):
        return {"stdout": open(self._told(), "ab")}

    def last(self):
        """Returns the version that was reported last."""
        told = read_told(self._told())
        return told[-1][0] if told else None


def read_told(path):
    """Returns (version, number) of each state; (-1, None) if the node was not there."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                state = json.loads(line)
                found.append((state["version"], int(state["value"])) if state["exists"] else (-1, None))
            else:
                version, _, number = line.partition(" ")
                found.append((int(version or -1), int(number) if number.strip() else None))
    return found


class Values:
    """The counter of a run, if the family is wanted."""

    def __init__(self, wanted, servers, place, events):
        self._wanted = wanted
        self.events = Events(place.path("counter")) if wanted else None
        self._incrementers = [Incrementer(n, servers[n % len(servers)], place, self.events)
                              for n in range(1, INCREMENTERS + 1) if wanted]
        self.watchers = [Watcher(f"told{n}", servers[n % len(servers)], place, events) for n in (1, 2) if wanted]
        self._ask = [place.zklock, "-S", servers[-1], "--connect-timeout", "3s", "value", "get", "--json", PATH]
        self._environment = place.environment
        self.final = None

    def begin(self):
        for one in self._incrementers:
            one.start()

    def stop(self):
        for one in self._incrementers:
            one.stop()

    def unsettled(self):
        """Yields texts of what is not as it should be after all writes."""
        if not self._wanted:
            return
        done = subprocess.run(self._ask, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, env=self._environment)
        if done.returncode != 0:
            yield "the counter cannot be read"
            return
        self.final = json.loads(done.stdout)
        for watcher in self.watchers:
            if watcher.last() != self.final["version"]:
                yield f"{watcher.run} was told version {watcher.last()} last, and {self.final['version']} is there"

    def conclude(self):
        if self.final:
            self.events.add("final", version=self.final["version"], number=int(self.final["value"]))
