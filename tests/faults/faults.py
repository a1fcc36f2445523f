# SPDX-License-Identifier: Apache-2.0
"""Does what the schedule says: one thread for each lane. This file has faults that hit a server, or cut it off. Each
other subject has its file NAME_faults.py.

The network's faults need namespaces (network.py). Without them, the proxies cut a server off from the
clients, and freezing the other servers cuts it off from those.
"""

import collections
import contextlib
import threading

import clock_faults
import node_faults
import process_faults
import server_faults
import signal_faults
import tree_faults
import wire_faults
from ensemble import NUMBERS
from events import now
from network import CLIENTS
from schedule import TICK, LANES

SLOW = 0.03, 0.2  # seconds each way
TOLD_LATE = 1.0  # seconds at most until the names show that a server has moved
LEAST_PAUSE = 1.0  # seconds between two of a lane even if it is late: zklock and guard must not die together
REJOIN = 20.0  # seconds that a restarted server may take


class Faults(process_faults.ProcessFaults, tree_faults.TreeFaults, node_faults.NodeFaults, signal_faults.SignalFaults,
             server_faults.ServerFaults, wire_faults.WireFaults, clock_faults.ClockFaults):
    """`enough`: no more faults begin after so many (faults, kinds of them)."""

    def __init__(self, place, events, targets, ensemble, network, proxies, bad_lines, nodes, enough=None):
        self._place = place
        self._bad_lines = bad_lines
        self._nodes = nodes
        self._enough = enough
        self._made = collections.Counter()
        self._stay_path = place.path("stay")
        self._events = events
        self._targets = targets
        self._ensemble = ensemble
        self._network = network
        self._proxies = proxies
        self._over = threading.Event()
        self._stay_until = 0
        self._staying = threading.Lock()
        self._threads = []
        self._error = None

    def start(self, schedule, start, seconds):
        """Starts the lanes. A late lane leaves out what it would begin after so many seconds."""
        for lane in LANES:
            faults = [fault for fault in schedule if fault.lane == lane.name]
            thread = threading.Thread(target=self._play, args=(faults, start, start + seconds))
            thread.start()
            self._threads.append(thread)

    def are_over(self):
        return not any(thread.is_alive() for thread in self._threads)

    def end(self):
        """Ends the current faults, and so heals what they did."""
        self._targets.over = True
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _play(self, faults, start, end):
        try:
            earliest = 0.0
            for fault in faults:
                at = max(start + fault.at, earliest)
                if self._is_enough() or at > end or self._over.wait(max(0.0, at - now() / 1e9)):
                    return
                self._perform(fault)
                earliest = now() / 1e9 + LEAST_PAUSE
        except Exception as error:
            self._error = error

    def _is_enough(self):
        return self._enough and self._made.total() >= self._enough[0] and len(self._made) >= self._enough[1]

    def check(self):
        """Throws what a lane has thrown."""
        if self._error:
            raise self._error

    def _perform(self, fault):
        with ACTS[fault.kind](self, fault) as hit:
            if hit is None:
                self._events.add("skipped", kind=fault.kind, planned=fault.at)
                return
            self._made[fault.kind] += 1
            self._over.wait(fault.length)
        self._events.add("healed", kind=fault.kind)

    def _have_stay(self, seconds):
        with self._staying:
            start = now()
            self._stay_until = max(self._stay_until, start + int(1e9 * seconds))
            with open(self._stay_path, "r+", encoding="ascii") as stay_file:
                stay_file.write(f"{start:020} {self._stay_until:020}\n")

    def _begin(self, fault, stay=0.0, **details):
        """Call it just before the harm is done. `stay`: for how many seconds commands go on; None: they do not."""
        if stay is not None:
            self._have_stay(stay or fault.length + TICK / 2)
        self._events.add("fault", kind=fault.kind, planned=fault.at, length=fault.length, **details)
        return details

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
            self._await_servers([number])

    def _await_servers(self, numbers):
        until = now() + REJOIN * 1e9
        while not all(map(self._ensemble.serves, numbers)) and now() < until and not self._over.wait(0.02):
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
        number = self._targets.server_of_next() if fault.kind.endswith("at a grant") else self._server(fault)
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
    def servers_moved(self, fault):
        """Moves each to another address, which their names show a moment later."""
        number = self._server(fault)
        if not self._network or not number:
            yield None
            return
        numbers = NUMBERS if fault.kind.startswith("all") else [number]
        hit = self._begin(fault, servers=numbers)
        for one in numbers:
            self._proxies.move(one)
            self._over.wait(TOLD_LATE * fault.lot / 1000)
            self._place.tell("hosts", self._proxies.hosts())
            self._over.wait(fault.length)
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


ACTS = {
    "follower killed": Faults.server_killed,
    "leader killed": Faults.server_killed,
    "follower frozen": Faults.servers_frozen,
    "leader frozen": Faults.servers_frozen,
    "followers frozen": Faults.servers_frozen,
    "followers frozen, less than a session": Faults.servers_frozen,
    "follower cut off from clients": Faults.cut_from_clients,
    "leader cut off from clients": Faults.cut_from_clients,
    "follower cut off from servers": Faults.cut_from_servers,
    "leader cut off from servers": Faults.cut_from_servers,
    "follower cut off from servers at a grant": Faults.cut_from_servers,
    "connections reset": Faults.connections_reset,
    "slow link": Faults.links_slow,
    "follower moved": Faults.servers_moved,
    "all servers moved one by one": Faults.servers_moved,
    **process_faults.ACTS,
    **tree_faults.ACTS,
    **node_faults.ACTS,
    **signal_faults.ACTS,
    **server_faults.ACTS,
    **wire_faults.ACTS,
    **clock_faults.ACTS,
}
