# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, when and for how long: a pure function of the seed.

The lanes run side by side, each with one fault after another: on the contenders' processes; on their nodes and
sessions, and by signals that they obey; on the ensemble and its network; on the network to its clients; on clocks; on
clients of queues and groups, numbers or other locks; and harmless signals. So faults of different lanes coincide, but
faults of one lane never do. For example, killing zklock while its guard is frozen leaves no process to keep the
promise, and without the whole ensemble no contender could get a lock that the holder has lost.
excuses.py has what is not promised after some of them. The pauses let a fault of one lane alone run its course now and
then. A lane takes its kinds from a shuffled deck, so that each comes before any comes twice.
"""

import random
from dataclasses import dataclass, replace

SESSION = 2.0  # seconds; two ticks, the shortest that zklock makes its promise for
TICK = 1.0
FIRST = 1.0  # the second of a run from which on a fault may come


@dataclass(frozen=True)
class Kind:
    name: str
    shortest: float  # how long it lasts, in sessions
    longest: float


@dataclass(frozen=True)
class Lane:
    name: str
    shortest_pause: float  # between its faults, in seconds
    longest_pause: float
    kinds: tuple


LANES = (
    Lane("processes", 2.0, 4.0, (
        Kind("zklock killed", 0, 0),
        Kind("zklock frozen, less than a session", 0.2, 0.6),
        Kind("zklock frozen, more than a session", 1.6, 3.0),
        Kind("guard killed", 0, 0),
        Kind("guard frozen", 1.0, 1.5),
        Kind("waiting zklock killed", 0, 0),
        Kind("waiting zklock frozen", 0.3, 2.0),
        Kind("waiting zklock stopped with its guard", 0.05, 0.3),
        Kind("waiting guard killed", 0, 0),
        Kind("waiting guard frozen", 0.3, 1.5),
        Kind("command killed", 0.5, 1.0),
        Kind("command frozen", 0.3, 2.0),
        Kind("zklock and guard killed", 1.5, 2.5),
        Kind("all that runs frozen, less than a session", 0.1, 0.4),
        Kind("all that runs frozen, more than a session", 1.6, 3.0),
        Kind("TSTP and CONT while waiting", 0.1, 1.0),
        Kind("TSTP and CONT while running", 0.1, 1.0),
    )),
    Lane("orders", 2.0, 3.5, (
        Kind("holder's node deleted", 0, 0),
        Kind("waiter's node deleted", 0, 0),
        Kind("lock deleted with all below it", 0, 0),
        Kind("holder's session closed by another", 0, 0),
        Kind("holder's session used by another", 0.1, 0.5),
        Kind("waiter's session closed by another", 0, 0),
        Kind("node of a restored tree in line", 0.5, 2.0),
        Kind("lock broken", 0.5, 1.0),
        Kind("lock broken by force", 0.5, 1.0),
        Kind("signal while connecting", 0, 0),
        Kind("signal while waiting", 0, 0),
        Kind("signal to the next at a release", 0, 0),
        Kind("signal at a grant", 0, 0),
        Kind("signal while running", 0.3, 0.6),
        Kind("signal while giving back", 0, 0),
    )),
    Lane("servers", 1.5, 3.0, (
        Kind("follower killed", 0.3, 1.5),
        Kind("leader killed", 0.3, 1.5),
        Kind("follower frozen", 0.5, 2.5),
        Kind("leader frozen", 0.3, 3.0),
        Kind("followers frozen", 1.0, 2.0),
        Kind("followers frozen, less than a session", 1 / 6, 1.0),
        Kind("follower cut off from servers at a grant", 2.0, 2.7),
        Kind("follower cut off from servers", 2.0, 2.7),
        Kind("leader cut off from servers", 2.0, 2.7),
        Kind("leader does not hear a follower", 1.0, 2.7),
        Kind("follower does not hear the leader", 1.0, 2.7),
        Kind("packets between servers lost", 1.0, 2.5),
        Kind("packets between servers late", 1.0, 2.5),
        Kind("packets between servers out of order", 1.0, 2.5),
        Kind("packets between servers doubled", 1.0, 2.5),
        Kind("packets between servers corrupted", 1.0, 2.5),
        Kind("all servers killed", 0.3, 1.0),
        Kind("all servers frozen", 0.3, 1.5),
        Kind("leader and a follower killed", 0.3, 1.0),
        Kind("servers restarted one by one", 0, 0.2),
        Kind("leader stutters", 1.0, 2.0),
        Kind("follower stutters", 1.0, 2.0),
        Kind("leader has a slow disk", 1.0, 2.5),
        Kind("follower has a slow disk", 1.0, 2.5),
    )),
    Lane("network", 2.0, 3.5, (
        Kind("follower cut off from clients", 0.5, 2.0),
        Kind("leader cut off from clients", 0.5, 2.0),
        Kind("connections reset", 0, 0),
        Kind("slow link", 0.5, 1.5),
        Kind("follower moved", 0, 0),
        Kind("all servers moved one by one", 0.05, 0.5),
        Kind("follower does not hear clients", 0.5, 2.0),
        Kind("leader does not hear clients", 0.5, 2.0),
        Kind("follower is not heard by clients", 0.5, 2.0),
        Kind("leader is not heard by clients", 0.5, 2.0),
        Kind("packets to and from clients lost", 0.5, 2.5),
        Kind("packets to and from clients late", 0.5, 2.5),
        Kind("packets to and from clients out of order", 0.5, 2.5),
        Kind("packets to and from clients doubled", 0.5, 2.5),
        Kind("packets to and from clients corrupted", 0.5, 2.5),
        Kind("large packets to and from clients lost", 0.5, 2.0),
        Kind("narrow link to clients", 0.5, 2.0),
        Kind("connections reset by servers", 0, 0),
        Kind("connections half open", 0.05, 0.3),
    )),
    Lane("clocks", 2.0, 4.0, (
        Kind("wall clock of clients an hour ahead", 0.5, 3.0),
        Kind("wall clock of clients an hour behind", 0.5, 3.0),
        Kind("wall clock of a server an hour ahead", 0.5, 3.0),
        Kind("wall clock of a server an hour behind", 0.5, 3.0),
    )),
    Lane("crowd", 1.0, 2.0, (
        Kind("consumer killed", 0, 0),
        Kind("consumer frozen, less than a session", 0.2, 0.6),
        Kind("consumer frozen, more than a session", 1.2, 2.5),
        Kind("worker killed", 0, 0),
        Kind("worker frozen, less than a session", 0.2, 0.6),
        Kind("worker frozen, more than a session", 1.6, 3.0),
        Kind("pusher frozen", 0.3, 2.0),
        Kind("member killed", 0, 0),
        Kind("member frozen", 0.3, 2.0),
        Kind("watcher frozen", 0.3, 2.0),
    )),
    Lane("numbers", 1.5, 3.0, (
        Kind("number killed", 0, 0),
        Kind("number frozen, less than a session", 0.2, 0.6),
        Kind("number frozen, more than a session", 1.6, 3.0),
    )),
    Lane("runs", 1.0, 2.0, (
        Kind("run killed", 0, 0),
        Kind("run frozen, less than a session", 0.2, 0.6),
        Kind("run frozen, more than a session", 1.6, 3.0),
    )),
    Lane("signals", 1.3, 1.7, (
        Kind("signals that end nobody", 0, 0),
        Kind("signals that end nobody, PIPE among them", 0, 0),
    )),
)


@dataclass(frozen=True)
class Fault:
    at: float  # seconds after the start
    lane: str
    kind: str
    length: float  # seconds
    lot: int  # picks one if several could be hit

    def __str__(self):
        return f"{self.at:7.2f} s  {self.kind}" + (f" for {self.length:.2f} s" if self.length else "")


def schedule(seed, seconds, only="", without=()):
    """Returns the faults of all lanes that begin in the first `seconds`, by time. `only`: kinds with this in their
    name; `without`: not these."""
    faults = []
    for lane in LANES:
        kinds = tuple(kind for kind in lane.kinds if only in kind.name and kind.name not in without)
        # Each lane has its own generator, so that a change to one leaves the others as they were.
        faults += lane_schedule(random.Random(f"{seed} {lane.name}"), replace(lane, kinds=kinds), seconds)
    return sorted(faults, key=lambda fault: fault.at)


def lane_schedule(chance, lane, seconds):
    faults, deck = [], []
    at = FIRST + chance.uniform(0, lane.longest_pause)
    while lane.kinds and at < seconds:
        if not deck:
            deck = list(lane.kinds)
            chance.shuffle(deck)
        kind = deck.pop()
        length = round(chance.uniform(kind.shortest, kind.longest) * SESSION, 2)
        faults.append(Fault(round(at, 2), lane.name, kind.name, length, chance.randrange(1000)))
        at += length + chance.uniform(lane.shortest_pause, lane.longest_pause)
    return faults
