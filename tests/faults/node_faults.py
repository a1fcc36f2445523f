# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that come through ZooKeeper: to nodes, to sessions, by `zklock break`."""

import contextlib
import subprocess
import time

import sessions
from bound import bound
from contenders import LOCK
from process_faults import OUTLIVE
from schedule import SESSION

BREAK_WAIT = "500ms"
REMOVING = 20.0  # seconds at most in which a server has to answer; the run tries once more at its end


class NodeFaults:
    """A part of Faults, which has what this uses."""

    def _with_node(self, fault):
        """Returns (run, process, path, session) of the holder, or of a waiter."""
        target = self._targets.waiting(fault.lot) if fault.kind.startswith("waiter") else self._targets.holding()
        place = target and self._nodes.of_pid(target[2].pid)
        return (*target[1:], place[0], place[2]) if place else None

    @contextlib.contextmanager
    def node_deleted(self, fault):
        found = self._with_node(fault)
        if not found:
            yield None
            return
        run, _, path, _ = found
        hit = self._begin(fault, OUTLIVE, run=run)
        self._nodes.delete(path)
        yield hit

    @contextlib.contextmanager
    def restored(self, fault):
        """Adds the holder's name and note as from a backup: on a node that no session owns."""
        found = self._with_node(fault)
        made = found and self._nodes.restore(found[2])
        yield self._begin(fault, run=found[0]) if made else None
        until = time.monotonic() + REMOVING
        while not self._nodes.remove_restored() and time.monotonic() < until and not self._over.wait(0.2):
            pass

    @contextlib.contextmanager
    def lock_deleted(self, fault):
        hit = self._begin(fault, OUTLIVE, runs=self._targets.runs())
        self._nodes.delete_lock()
        yield hit

    def _take_session(self, fault, lot):
        """Returns (run, connection)."""
        found = self._with_node(fault)
        password = found and sessions.password_of(found[1].pid, found[3])
        if not password:
            return None
        addresses = self._ensemble.lists()[1].split(",")
        self._begin(fault, OUTLIVE, run=found[0])
        server = sessions.take_up(addresses[lot % len(addresses)], found[3], password, SESSION)
        return found[0], server

    @contextlib.contextmanager
    def session_closed(self, fault):
        taken = self._take_session(fault, fault.lot)
        if taken and taken[1]:
            sessions.close(taken[1])
        yield taken

    @contextlib.contextmanager
    def session_used(self, fault):
        """Moves the session to that server, and zklock has to move it back; it stays the same session."""
        taken = self._take_session(fault, fault.lot)
        yield taken
        if taken and taken[1]:
            taken[1].close()

    @contextlib.contextmanager
    def broken(self, fault):
        target = self._targets.holding()
        if not target:
            yield None
            return
        force = ["--force"] if "force" in fault.kind else []
        # `break` hits the holder that it has found, not a later one.
        hit = self._begin(fault, OUTLIVE, runs=self._targets.runs())
        with open(self._place.path("break.log"), "ab") as log:
            breaker = subprocess.Popen(
                bound(self._place.zklock, "-S", self._ensemble.lists()[0], "--connect-timeout", "5s", "break", "--yes",
                      *force, "-w", BREAK_WAIT, LOCK), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self._place.environment, start_new_session=True)
        yield hit
        with contextlib.suppress(subprocess.TimeoutExpired):
            breaker.wait(5)
        breaker.kill()
        breaker.wait()


ACTS = {
    "holder's node deleted": NodeFaults.node_deleted,
    "waiter's node deleted": NodeFaults.node_deleted,
    "lock deleted with all below it": NodeFaults.lock_deleted,
    "node of a restored tree in line": NodeFaults.restored,
    "holder's session closed by another": NodeFaults.session_closed,
    "waiter's session closed by another": NodeFaults.session_closed,
    "holder's session used by another": NodeFaults.session_used,
    "lock broken": NodeFaults.broken,
    "lock broken by force": NodeFaults.broken,
}
