# SPDX-License-Identifier: Apache-2.0
"""What else runs in the crowd, as a table: families of loops, each with a promise of its own.

    shared     readers (-s) are in together, writers alone
    slots      never more than three in one of three slots
    several    a run with both locks excludes those with one of them
    nested     a run inside a run, of the same lock and of another one
    once       --once-per: no run for a while after a success, but after a failure
    waits      -w and -n end in time
    restart    --restart goes on, whatever is lost
    groups     a member's command goes on whatever fails; --unique and wait end in time
    numbers    --any (any_of.py)
    values     a counter by --if-version, and its watchers (values.py)
    order      one consumer writes the lines of each pusher in their order (queues.py)
    dead       an item that always fails is given up on after so many attempts, and put back by requeue (queues.py)
    peers      Kazoo stands in the same line (peer.py)
    curator    Curator does too; not in a short run, because a JVM at work takes one processor

A short run has some of them, by its seed.
"""

import random
from dataclasses import dataclass

FAMILIES = ("shared", "slots", "several", "nested", "once", "waits", "restart", "groups", "numbers", "values", "order",
            "dead", "peers", "curator")
IN_A_SHORT_RUN = 4
TOO_HEAVY = ("curator",)
# Each handshake costs a server that has just started 10 to 50 ms of one of two cores.
IN_A_SHORT_RUN_OVER_TLS = 2
TOO_HEAVY_OVER_TLS = (*TOO_HEAVY, "numbers")
ROOT = "/promises/"
ONCE_PER = 3.0  # seconds
WAIT = 1.5
PEERS = KAZOO, CURATOR = ("kazoo",), ("curator",)
JOIN, GROUP = ("group", "join"), "/groups/guests"
SLOTS = 3


@dataclass(frozen=True)
class Spec:
    """`count` loops of `zklock run`, or another `verb`, that are called `name`. `locks` as faults_holder wants them;
    "{loop}" is the loop's name."""
    family: str
    name: str
    count: int
    locks: tuple
    options: tuple = ()
    shortest: int = 50  # milliseconds that the command lives
    longest: int = 400
    failing: int = 0  # one in so many
    inner: str = ""  # the name of another one, which the command runs
    ends_alone: tuple = ()  # statuses of a run that has never entered
    wait: float = None  # seconds, by its options
    verb: tuple = ("run",)
    path: str = ""  # if it is not that of its locks
    kind: str = "run"  # its name for the faults

    def paths(self):
        return [self.path] if self.path else [ROOT + lock.partition(":")[2] for lock in self.locks]

    def locks_of(self, run):
        return [lock.format(loop=run.partition(".")[0]) for lock in self.locks]


SPECS = (
    Spec("shared", "reader", 3, ("s:shared",), ("-s",), 200, 800),
    Spec("shared", "writer", 2, ("x:shared",)),
    Spec("slots", "slot", 5, (f"{SLOTS}:slots",), ("--slots", str(SLOTS))),
    Spec("several", "both", 2, ("x:left", "x:right")),
    Spec("several", "left", 1, ("x:left",)),
    Spec("several", "right", 1, ("x:right",)),
    Spec("nested", "same", 2, ("x:outer",), inner="insame"),
    Spec("nested", "other", 1, ("x:outer",), inner="inother"),
    Spec("nested", "inner", 2, ("x:inner",)),
    Spec("once", "once", 3, ("x:once",), ("--once-per", f"{ONCE_PER:g}s"), failing=3, ends_alone=(75,)),
    Spec("waits", "long", 2, ("x:waits",), (), 500, 2500),
    Spec("waits", "wait", 2, ("x:waits",), ("-w", f"{WAIT:g}s"), ends_alone=(75, 69), wait=WAIT),
    Spec("waits", "try", 1, ("x:waits",), ("-n",), ends_alone=(75, 69), wait=0.0),
    Spec("restart", "standby", 3, ("x:restart",), ("--restart",), 1000, 6000),
    Spec("peers", "fellow", 2, ("x:peers",), ("--peer", "kazoo")),
    Spec("peers", "kazoo", 1, ("x:peers",), (), 100, 1000, ends_alone=(76,), verb=KAZOO, kind="peer"),
    Spec("curator", "neighbour", 2, ("x:curator",)),
    Spec("curator", "curator", 1, ("x:curator",), (), 100, 1000, ends_alone=(76,), verb=CURATOR, kind="peer"),
    Spec("groups", "guest", 2, ("x:{loop}",), (), 500, 5000, verb=JOIN, path=GROUP, kind="member"),
    Spec("groups", "sole", 2, ("x:{loop}",), ("--unique", "--name", "sole", "-w", f"{WAIT:g}s"), 300, 3000, verb=JOIN,
         path=GROUP, kind="member", ends_alone=(75, 69), wait=WAIT),
    Spec("groups", "few", 1, (), ("--at-least", "1", "-w", f"{WAIT:g}s"), verb=("group", "wait"), path=GROUP,
         ends_alone=(0, 75, 69), wait=WAIT),
    Spec("groups", "many", 1, (), ("--at-least", "99", "-w", f"{WAIT:g}s"), verb=("group", "wait"), path=GROUP,
         ends_alone=(75, 69), wait=WAIT),
)
# Only the commands of other runs run these. An inner run of the same lock needs no lock of the kernel's, because it
# inherits the outer one's.
INNER = (
    Spec("nested", "insame", 0, (), (), 50, 400),
    Spec("nested", "inother", 0, ("x:inner",), (), 50, 400),
)
BY_NAME = {spec.name: spec for spec in (*SPECS, *INNER)}
INNER_PATHS = {"insame": ROOT + "outer", "inother": ROOT + "inner"}


def spec_of(run):
    """Returns the Spec of a run, or a loop, whose name is NAME and a number."""
    return BY_NAME[run.partition(".")[0].rstrip("0123456789")]


def chosen(seed, whole, tls=False):
    """Returns the families that a run has."""
    if whole:
        return FAMILIES
    many, heavy = (IN_A_SHORT_RUN_OVER_TLS, TOO_HEAVY_OVER_TLS) if tls else (IN_A_SHORT_RUN, TOO_HEAVY)
    light = [family for family in FAMILIES if family not in heavy]
    return tuple(random.Random(f"{seed} families").sample(light, many))
