# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that hit a zklock or its guard by signals that kill, freeze, or mean nothing."""

import contextlib
import os
import signal
import time

from contenders import guard_of
from schedule import SESSION, TICK

# A command that should have been killed goes on for so long that the next holder has entered: so the checker sees it.
OUTLIVE = SESSION + 2 * TICK
HARMLESS = (signal.SIGCONT, signal.SIGWINCH, signal.SIGURG, signal.SIGCHLD)
LONGEST_RAIN = 0.4  # seconds
BETWEEN_DROPS = 0.01


class ProcessFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def zklock_hit(self, fault):
        target = self._targets.waiting(fault.lot) if "waiting" in fault.kind else self._targets.holding()
        if not target:
            yield None
            return
        _, run, process = target
        freeze = "frozen" in fault.kind
        hit = self._begin(fault, fault.length + TICK / 2 if "less" in fault.kind else OUTLIVE, run=run)
        process.send_signal(signal.SIGSTOP if freeze else signal.SIGKILL)
        yield hit
        if freeze:
            process.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def group_stopped(self, fault):
        """Stops the group for less than a lease: it may have been granted the lock meanwhile."""
        target = self._targets.waiting(fault.lot)
        if not target:
            yield None
            return
        hit = self._begin(fault, None, run=target[1])
        send_group(target[2], signal.SIGSTOP)
        yield hit
        send_group(target[2], signal.SIGCONT)

    @contextlib.contextmanager
    def crowd_hit(self, fault):
        kind = fault.kind.split()[0]
        target = self._targets.of_crowd(kind, fault.lot)
        if not target:
            yield None
            return
        run, process = target
        freeze = "frozen" in fault.kind
        self._targets.outlive(run, OUTLIVE)
        hit = self._begin(fault, OUTLIVE if kind in ("worker", "number") else None, run=run)
        process.send_signal(signal.SIGSTOP if freeze else signal.SIGKILL)
        yield hit
        if freeze:
            process.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def signals_rain(self, fault):
        pipe = "PIPE" in fault.kind
        # A zklock that has just begun does not ignore it yet.
        target = (self._targets.holding() or (None,))[1:] if pipe else self._targets.anybody(fault.lot)
        if not target:
            yield None
            return
        run, process = target
        hit = self._begin(fault, None, run=run)
        until = time.monotonic() + LONGEST_RAIN * fault.lot / 1000
        drops, drops_of_rain = 0, HARMLESS + (signal.SIGPIPE,) * pipe
        while time.monotonic() < until and not self._over.is_set() and process.returncode is None:
            if not is_frozen(process.pid):
                process.send_signal(drops_of_rain[drops % len(drops_of_rain)])
            drops += 1
            time.sleep(BETWEEN_DROPS)
        yield hit

    @contextlib.contextmanager
    def guard_hit(self, fault):
        target = self._targets.holding()
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


def send(handle, number):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def send_group(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def is_frozen(pid):
    """A process that another fault has stopped must not be continued."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return True


ACTS = {
    "zklock killed": ProcessFaults.zklock_hit,
    "zklock frozen, less than a session": ProcessFaults.zklock_hit,
    "zklock frozen, more than a session": ProcessFaults.zklock_hit,
    "guard killed": ProcessFaults.guard_hit,
    "guard frozen": ProcessFaults.guard_hit,
    "waiting zklock killed": ProcessFaults.zklock_hit,
    "waiting zklock frozen": ProcessFaults.zklock_hit,
    "waiting zklock stopped with its guard": ProcessFaults.group_stopped,
    "consumer killed": ProcessFaults.crowd_hit,
    "consumer frozen, less than a session": ProcessFaults.crowd_hit,
    "consumer frozen, more than a session": ProcessFaults.crowd_hit,
    "worker killed": ProcessFaults.crowd_hit,
    "worker frozen, less than a session": ProcessFaults.crowd_hit,
    "worker frozen, more than a session": ProcessFaults.crowd_hit,
    "pusher frozen": ProcessFaults.crowd_hit,
    "number killed": ProcessFaults.crowd_hit,
    "number frozen, less than a session": ProcessFaults.crowd_hit,
    "number frozen, more than a session": ProcessFaults.crowd_hit,
    "run killed": ProcessFaults.crowd_hit,
    "run frozen, less than a session": ProcessFaults.crowd_hit,
    "run frozen, more than a session": ProcessFaults.crowd_hit,
    "member killed": ProcessFaults.crowd_hit,
    "member frozen": ProcessFaults.crowd_hit,
    "watcher frozen": ProcessFaults.crowd_hit,
    "signals that end nobody": ProcessFaults.signals_rain,
    "signals that end nobody, PIPE among them": ProcessFaults.signals_rain,
}
