# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that hit several servers at once, or one in an odd way."""

import contextlib

from ensemble import NUMBERS

STUTTER = 0.05, 0.3  # seconds that a server stands still, and then runs
SLOW_DISK = 100, 600  # milliseconds that a write takes


class ServerFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def several_killed(self, fault):
        numbers = self._some_servers(fault)
        if not numbers:
            yield None
            return
        hit = self._begin(fault, servers=numbers)
        with self._held_back(numbers):
            for number in numbers:
                self._ensemble.kill(number)
            yield hit
            for number in numbers:
                self._ensemble.restart(number)
            self._await_servers(numbers)

    def _some_servers(self, fault):
        if fault.kind.startswith("all"):
            return list(NUMBERS)
        leader = self._targets.leader(fault.lot)
        followers = self._ensemble.followers()
        return [leader, followers[fault.lot % len(followers)]] if leader and followers else None

    @contextlib.contextmanager
    def all_servers_frozen(self, fault):
        hit = self._begin(fault, servers=NUMBERS)
        with self._frozen(NUMBERS):
            yield hit

    @contextlib.contextmanager
    def restarted_one_by_one(self, fault):
        """Restarts the servers as for an update: the next one when the one before serves again."""
        hit = self._begin(fault, servers=NUMBERS)
        for number in NUMBERS:
            if self._over.is_set():
                break
            with self._held_back([number]):
                self._ensemble.kill(number)
                self._over.wait(fault.length)
                self._ensemble.restart(number)
                self._await_servers([number])
        yield hit

    @contextlib.contextmanager
    def stutters(self, fault):
        number = self._server(fault)
        if not number:
            yield None
            return
        hit = self._begin(fault, server=number)
        longest = max(STUTTER[0], STUTTER[1] * fault.lot / 1000)
        for _ in range(max(2, int(fault.length / (STUTTER[1] + longest)))):
            with self._frozen([number]):
                self._over.wait(longest)
            self._over.wait(STUTTER[1])
        yield hit

    @contextlib.contextmanager
    def disk_slow(self, fault):
        number = self._server(fault)
        if not number:
            yield None
            return
        hit = self._begin(fault, server=number)
        self._place.tell(f"slow-log-{number}", SLOW_DISK[0] + (SLOW_DISK[1] - SLOW_DISK[0]) * fault.lot // 1000)
        yield hit
        self._place.tell(f"slow-log-{number}", 0)


ACTS = {
    "all servers killed": ServerFaults.several_killed,
    "leader and a follower killed": ServerFaults.several_killed,
    "all servers frozen": ServerFaults.all_servers_frozen,
    "servers restarted one by one": ServerFaults.restarted_one_by_one,
    "leader stutters": ServerFaults.stutters,
    "follower stutters": ServerFaults.stutters,
    "leader has a slow disk": ServerFaults.disk_slow,
    "follower has a slow disk": ServerFaults.disk_slow,
}
