# SPDX-License-Identifier: Apache-2.0
"""The loops of `zklock run`, and of `group join` and `wait`, in the table of promises.py."""

import os

from events import now
from loops import Loop
from promises import INNER_PATHS, PEERS, SPECS, spec_of
from schedule import SESSION


class Holder(Loop):
    family = "run"

    def __init__(self, name, servers, place, events):
        super().__init__(name, servers, place, events)
        self.spec = spec_of(name)
        self.kind = self.spec.kind
        for path in (self._history(), self._stay()):
            open(path, "ab").close()
        # Half of them also stay for faults that hit others; if all did, they would be slow.
        self._others_stay = place.path("stay") if int(name[-1]) % 2 else os.devnull

    def _history(self):
        return self.place.path(f"history.{self.spec.family}")

    def _stay(self):
        return f"{self._history()}.stay"

    def outlive(self, seconds):
        """Lets the current commands of this family go on for so long, unless they are ended."""
        with open(self._stay(), "r+", encoding="ascii") as stay:
            stay.write(f"{now():020} {now() + int(seconds * 1e9):020}\n")

    def words(self):
        command = self._command(self.spec, self.run)
        if self.spec.verb != ("run",):
            # A member has no lock, so no token.
            command = ["env", "ZKLOCK_TOKEN=1", *command] if self.spec.locks else []
        return [*self.spec.verb, *self.spec.options, *self.spec.paths(), *(["--", *command] if command else [])]

    def _command(self, spec, run):
        manner = ["failing"] if spec.failing and self.chance.randrange(spec.failing) == 0 else []
        manner += ["stubborn"] if self.chance.random() < 0.5 else []
        inner = ["--", *self._inner(spec.inner)] if spec.inner else []
        length = self.chance.randrange(spec.shortest, spec.longest)
        return [self.place.holder, self._history(), self._others_stay, run, str(length), *spec.locks_of(run), *manner,
                *inner]

    def _inner(self, name):
        command = self._command(spec_of(name), f"in{self.run}")
        return [self.place.zklock, "--session-timeout", f"{SESSION:g}s", "--connect-timeout", "2m", "run",
                INNER_PATHS[name], "--", *command]


class Peer(Holder):
    """Has no TLS, because Kazoo does not speak it."""

    def program(self):
        return ["/usr/bin/python3", "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py"),
                *self.spec.verb, self.place.plain or self._servers]

    def words(self):
        return [*self.spec.paths(), self._history(), self.run,
                str(self.chance.randrange(self.spec.shortest, self.spec.longest))]


def lock_loops(families, servers, place, events):
    return [(Peer if spec.verb in PEERS else Holder)(f"{spec.name}{number}", servers[number % len(servers)], place, events)
            for spec in SPECS if spec.family in families for number in range(1, spec.count + 1)]
