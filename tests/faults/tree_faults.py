# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that hit a guard, a command, or zklock and all that it runs."""

import contextlib
import os
import signal
import time

from contenders import children_of, guard_of, handle_on
from process_faults import OUTLIVE, send
from schedule import TICK

ROUNDS = 50  # of looking for processes that a forking one has made meanwhile


class TreeFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def waiting_guard_hit(self, fault):
        target = self._targets.waiting(fault.lot)
        guard = target and guard_of(target[2].pid)
        if not guard:
            yield None
            return
        freeze = "frozen" in fault.kind
        hit = self._begin(fault, OUTLIVE, run=target[1])
        send(guard, signal.SIGSTOP if freeze else signal.SIGKILL)
        yield hit
        if freeze:
            send(guard, signal.SIGCONT)
        os.close(guard)

    @contextlib.contextmanager
    def command_hit(self, fault):
        """What a killed command has started lives on without the lock; here not for long."""
        target = self._targets.holding()
        command = target and command_of(target[2].pid)
        if not command:
            yield None
            return
        freeze = "frozen" in fault.kind
        hit = self._begin(fault, run=target[1])
        send(command, signal.SIGSTOP if freeze else signal.SIGKILL)
        yield hit
        if freeze:
            send(command, signal.SIGCONT)
        else:
            self._place.kill_run(target[1])
        os.close(command)

    @contextlib.contextmanager
    def both_killed(self, fault):
        """Kills both at one moment, so that neither can act on the other's death."""
        target = self._targets.holding()
        guard = target and guard_of(target[2].pid)
        if not guard:
            yield None
            return
        hit = self._begin(fault, OUTLIVE, run=target[1])
        target[2].send_signal(signal.SIGSTOP)
        send(guard, signal.SIGKILL)
        target[2].send_signal(signal.SIGKILL)
        yield hit
        self._place.kill_run(target[1])
        os.close(guard)

    @contextlib.contextmanager
    def all_frozen(self, fault):
        """Freezes all like a container; the command is thawed first, which is the worst order."""
        target = self._targets.holding()
        if not target:
            yield None
            return
        hit = self._begin(fault, OUTLIVE, run=target[1])
        frozen = freeze_tree(target[2].pid)
        yield hit
        self._events.add("thawed", kind=fault.kind, run=target[1])
        for handle in reversed(frozen):
            send(handle, signal.SIGCONT)
            os.close(handle)

    @contextlib.contextmanager
    def stopped_from_keyboard(self, fault):
        target = self._targets.waiting(fault.lot) if "waiting" in fault.kind else self._targets.holding()
        if not target:
            yield None
            return
        hit = self._begin(fault, fault.length + TICK / 2, run=target[1])
        target[2].send_signal(signal.SIGTSTP)
        yield hit
        target[2].send_signal(signal.SIGCONT)


def command_of(pid):
    """Returns a handle on the command, the oldest child of the guard; None if there is none."""
    guards = children_of(pid)
    commands = children_of(guards[0]) if guards else []
    return handle_on(commands[0], guards[0]) if commands else None


def tree_of(pid):
    """Returns the process with all below it, parents first."""
    found = [pid]
    for parent in found:
        found += children_of(parent)
    return found


def freeze_tree(pid):
    """Returns handles on all of it, parents first."""
    frozen = {}
    for _ in range(ROUNDS):
        new = [found for found in tree_of(pid) if found not in frozen]
        if not new:
            break
        for found in new:
            with contextlib.suppress(OSError):
                frozen[found] = os.pidfd_open(found)
                send(frozen[found], signal.SIGSTOP)
        time.sleep(0.001)
    return list(frozen.values())


ACTS = {
    "waiting guard killed": TreeFaults.waiting_guard_hit,
    "waiting guard frozen": TreeFaults.waiting_guard_hit,
    "command killed": TreeFaults.command_hit,
    "command frozen": TreeFaults.command_hit,
    "zklock and guard killed": TreeFaults.both_killed,
    "all that runs frozen, less than a session": TreeFaults.all_frozen,
    "all that runs frozen, more than a session": TreeFaults.all_frozen,
    "TSTP and CONT while waiting": TreeFaults.stopped_from_keyboard,
    "TSTP and CONT while running": TreeFaults.stopped_from_keyboard,
}
