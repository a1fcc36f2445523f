# SPDX-License-Identifier: Apache-2.0
"""Does what the schedule says: one thread for each lane.

The network's faults need namespaces (network.py). Without them the proxies cut a server off from the
clients, and a server is cut off from the others by freezing those.
"""

import contextlib
import os
import signal
import threading

from contenders import guard_of
from ensemble import NUMBERS
from events import now
from network import CLIENTS
from schedule import SESSION, TICK, LANES

# How long a command that should have been killed goes on, to be found out: the next holder has entered by then.
OUTLIVE = SESSION + 2 * TICK
SLOW = 0.03, 0.2  # seconds each way
LEAST_PAUSE = 1.0  # seconds between two of a lane even when it is late: zklock and guard are not to die together
REJOIN = 20.0  # seconds that a restarted server may take


class Faults:
    def __init__(self, place, events, targets, ensemble, network, proxies):
        self._stay_path = place.path("stay")
        self._events = events
        self._targets = targets
        self._ensemble = ensemble
        self._network = network
        self._proxies = proxies
        self._over = threading.Event()
        self._stay_until = 0
        self._threads = []
        self._error = None

    def start(self, schedule, start):
        for lane in LANES:
            faults = [fault for fault in schedule if fault.lane == lane.name]
            thread = threading.Thread(target=self._play, args=(faults, start))
            thread.start()
            self._threads.append(thread)

    def are_over(self):
        return not any(thread.is_alive() for thread in self._threads)

    def end(self):
        """Ends the one under way, which heals what it did."""
        self._targets.over = True
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _play(self, faults, start):
        try:
            earliest = 0.0
            for fault in faults:
                if self._over.wait(max(0.0, max(start + fault.at, earliest) - now() / 1e9)):
                    return
                self._perform(fault)
                earliest = now() / 1e9 + LEAST_PAUSE
        except Exception as error:
            self._error = error

    def check(self):
        """Throws what a lane has thrown."""
        if self._error:
            raise self._error

    def _perform(self, fault):
        with ACTS[fault.kind](self, fault) as hit:
            if hit is None:
                self._events.add("skipped", kind=fault.kind, planned=fault.at)
                return
            self._over.wait(fault.length)
        self._events.add("healed", kind=fault.kind)

    def _begin(self, fault, stay=0.0, **details):
        """To be called just before the harm is done."""
        start = now()
        self._stay_until = max(self._stay_until, start + int(1e9 * (stay or fault.length + TICK / 2)))
        with open(self._stay_path, "r+", encoding="ascii") as stay_file:
            stay_file.write(f"{start:020} {self._stay_until:020}\n")
        self._events.add("fault", kind=fault.kind, planned=fault.at, length=fault.length, **details)
        return details

    # --- processes -----------------------------------------------------------------------------------

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

    # --- servers -------------------------------------------------------------------------------------

    def _server(self, fault):
        find = self._targets.leader if fault.kind.startswith("leader ") else self._targets.follower
        return find(fault.lot)

    @contextlib.contextmanager
    def _held_back(self, numbers):
        for number in numbers:
            self._ensemble.held_back[number] += 1
        yield
        for number in numbers:
            self._ensemble.held_back[number] -= 1

    @contextlib.contextmanager
    def server_killed(self, fault):
        number = self._server(fault)
        if not number:
            yield None
            return
        hit = self._begin(fault, server=number)
        with self._held_back([number]):
            self._ensemble.kill(number)
            yield hit
            self._ensemble.restart(number)
            until = now() + REJOIN * 1e9
            while not self._ensemble.serves(number) and now() < until and not self._over.wait(0.02):
                pass

    @contextlib.contextmanager
    def servers_frozen(self, fault):
        number = self._server(fault)
        numbers = self._ensemble.followers() if fault.kind.startswith("followers") else [number]
        if not number:
            yield None
            return
        with self._frozen(numbers):
            yield self._begin(fault, servers=numbers)

    @contextlib.contextmanager
    def _frozen(self, numbers):
        with self._held_back(numbers):
            for number in numbers:
                self._ensemble.pause(number)
            yield
            for number in numbers:
                self._ensemble.resume(number)

    # --- network -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def cut_from_clients(self, fault):
        number = self._server(fault)
        if not number:
            yield None
            return
        self._ensemble.hidden[number] += 1
        hit = self._begin(fault, server=number)
        if self._network:
            self._network.cut(CLIENTS, number)
        else:
            self._proxies.order(number, "silent")
        yield hit
        if self._network:
            self._network.join(CLIENTS, number)
        else:
            self._proxies.order(number, "pass")
        self._ensemble.hidden[number] -= 1

    @contextlib.contextmanager
    def cut_from_servers(self, fault):
        number = self._server(fault)
        others = [other for other in NUMBERS if other != number]
        if not number:
            yield None
        elif not self._network:
            hit = self._begin(fault, server=number)
            with self._frozen(others):
                yield hit
        else:
            hit = self._begin(fault, server=number)
            with self._held_back([number]):
                for other in others:
                    self._network.cut(number, other)
                yield hit
                for other in others:
                    self._network.join(number, other)

    @contextlib.contextmanager
    def connections_reset(self, fault):
        hit = self._begin(fault, servers=NUMBERS)
        for number in NUMBERS:
            self._proxies.order(number, "reset")
        yield hit

    @contextlib.contextmanager
    def links_slow(self, fault):
        seconds = SLOW[0] + (SLOW[1] - SLOW[0]) * (fault.lot / 1000)
        hit = self._begin(fault, servers=NUMBERS, delay=seconds)
        for number in NUMBERS:
            self._proxies.order(number, f"delay {seconds}")
        yield hit
        for number in NUMBERS:
            self._proxies.order(number, "delay 0")


def send(handle, number):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


ACTS = {
    "zklock killed": Faults.zklock_hit,
    "zklock frozen, less than a session": Faults.zklock_hit,
    "zklock frozen, more than a session": Faults.zklock_hit,
    "guard killed": Faults.guard_hit,
    "guard frozen": Faults.guard_hit,
    "waiting zklock killed": Faults.zklock_hit,
    "waiting zklock frozen": Faults.zklock_hit,
    "follower killed": Faults.server_killed,
    "leader killed": Faults.server_killed,
    "follower frozen": Faults.servers_frozen,
    "leader frozen": Faults.servers_frozen,
    "followers frozen": Faults.servers_frozen,
    "follower cut off from clients": Faults.cut_from_clients,
    "leader cut off from clients": Faults.cut_from_clients,
    "follower cut off from servers": Faults.cut_from_servers,
    "leader cut off from servers": Faults.cut_from_servers,
    "connections reset": Faults.connections_reset,
    "slow link": Faults.links_slow,
}
