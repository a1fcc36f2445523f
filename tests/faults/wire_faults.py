# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py on the wire. They need the router in network.py: without it they are left out."""

import contextlib

from ensemble import NUMBERS
from network import CLIENTS

HARD = ("lost", "corrupted")  # bad enough that a contender may wait for longer than the checker allows
BITS = 64_000, 500_000  # of a narrow link
# Each fault is so bad, by the lot: from the first number to the second.
ORDERS = {
    "lost": ("loss", 0.05, 0.3),
    "late": ("delay", 0.01, 0.15),
    "out of order": ("jitter", 0.01, 0.1),
    "doubled": ("double", 0.05, 0.5),
    "corrupted": ("corrupt", 0.02, 0.2),
}
LARGEST = 200, 600  # bytes that pass


def between(least, most, lot):
    return least + (most - least) * lot / 1000


class WireFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def packets_hurt(self, fault):
        to_clients = "clients" in fault.kind
        if fault.kind.startswith("large"):
            order = f"largest {int(between(*LARGEST, fault.lot))}"
        else:
            name, least, most = next(values for word, values in ORDERS.items() if fault.kind.endswith(word))
            order = f"{name} {between(least, most, fault.lot):.3f}"
        hard = fault.kind.endswith(HARD)
        hit = self._begin(fault, servers=NUMBERS, order=order)
        line = self._bad_lines["clients" if to_clients else "servers"]
        with self._nobody_judged(hard):
            line.begin(order)
            yield hit
            line.end()

    @contextlib.contextmanager
    def _nobody_judged(self, hard=True):
        self._ensemble.troubled += hard
        yield
        self._ensemble.troubled -= hard

    @contextlib.contextmanager
    def one_way_cut(self, fault):
        number = self._server(fault)
        other = CLIENTS if "clients" in fault.kind else self._ensemble.leader()
        if "leader" in fault.kind and other != CLIENTS:
            number = self._targets.follower(fault.lot)
        if not number or not other or number == other:
            yield None
            return
        # Pairs the server whose words are lost with those that would hear them.
        mute = "is not heard" in fault.kind or fault.kind == "leader does not hear a follower"
        words = (number, other) if mute else (other, number)
        hit = self._begin(fault, server=number, words=words)
        with self._kept_from(number, other):
            self._network.cut_one_way(*words)
            yield hit
            self._network.join_one_way(*words)

    @contextlib.contextmanager
    def _kept_from(self, number, other):
        if other == CLIENTS:
            self._ensemble.hidden[number] += 1
            yield
            self._ensemble.hidden[number] -= 1
        else:
            with self._held_back([number]):
                yield

    @contextlib.contextmanager
    def link_narrow(self, fault):
        bits = int(between(*BITS, fault.lot))
        hit = self._begin(fault, servers=NUMBERS, bits=bits)
        with self._nobody_judged():
            self._network.narrow(bits)
            yield hit
            self._network.widen()

    @contextlib.contextmanager
    def reset_by_servers(self, fault):
        hit = self._begin(fault, servers=NUMBERS)
        for number in NUMBERS:
            self._network.reset(number)
        yield hit

    @contextlib.contextmanager
    def half_open(self, fault):
        """The server has forgotten the connection, and its clients do not know that."""
        number = self._targets.follower(fault.lot)
        if not number:
            yield None
            return
        hit = self._begin(fault, server=number)
        self._network.cut(CLIENTS, number)
        self._network.reset(number)
        yield hit
        self._network.join(CLIENTS, number)


ACTS = {
    **{f"packets {where} {what}": WireFaults.packets_hurt
       for where in ("between servers", "to and from clients") for what in ORDERS},
    "large packets to and from clients lost": WireFaults.packets_hurt,
    **{kind: WireFaults.one_way_cut for kind in (
        "follower does not hear clients", "leader does not hear clients", "follower is not heard by clients",
        "leader is not heard by clients", "leader does not hear a follower", "follower does not hear the leader")},
    "narrow link to clients": WireFaults.link_narrow,
    "connections reset by servers": WireFaults.reset_by_servers,
    "connections half open": WireFaults.half_open,
}
