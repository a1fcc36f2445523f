# SPDX-License-Identifier: Apache-2.0
"""Measures what each thing that zklock can do costs the servers."""

import glob
import os
import re
import time

from locks import loops
from processes import end_all, start_many, wait_until
from programs import HELPERS, ZKLOCK, bare, run
from pushes import push
from sandbox import ask, monitored, servers

# Like usual servers, and unlike the sandbox's, they wait for the disk. Without padding, a log is as long as what is
# written to it. They do not look for empty containers each minute: the removals of our locks, a transaction each, would
# be counted in what comes next.
AS_USUAL = [word for setting in ("zookeeper.forceSync=yes", "zookeeper.preAllocSize=0",
                                 "znode.container.checkIntervalMs=86400000") for word in ("--java-property", setting)]
# A heartbeat every sixth of 15 s is twice as much.
MOST = 12
ZNODE = [f"{HELPERS}/znode"]
FIRST = "_c_00000000-0000-4000-8000-000000000000-lock-"  # of a line
UNITS = ("transactions", "packets", "KiB of log", "fsyncs")


def cost(findings, bench):
    """What the server has counted, with all options and ticks as they are by default: a minute of things that stand,
    many at once, and then things that end. A transaction goes through a quorum and into the log of each server. Packets
    are those that the server gets, pings too. The log's size is that of its files, which are not padded here: so it is
    what is written. An fsync is a wait for the disk, here as on usual servers; one may do for several transactions that
    come together. All that wait do so for one lock; the first is another program, whose pings are in their figure. What
    is not: every six session timeouts, which is longer than this looks on, each of them looks at its line, which is a
    transaction too. All idle consumers are those of one queue, which the first of them watches. A busy one runs `true`
    for each item, alone and one at a time; a contended section is `true` under a lock that 20 loops want, and the floor
    of it and of a run is the bare program."""
    with servers(*AS_USUAL):
        account = Account()
        held = standing(findings, bench, account)
        passing(findings, bench, account)
    findings.claim("transactions a minute of a held lock", held[0], at_most=MOST)


def standing(findings, bench, account):
    """What a held lock costs."""
    count = bench.pick(full=50, quick=20, least=3)
    things = {
        "a held lock, a minute": [holding(f"/held{place}") for place in range(count)],
        "a waiter, a minute": [holding("/line")] * count,
        "a group member, a minute": [[*ZKLOCK, "group", "join", "--name", f"m{place}", "/group"]
                                     for place in range(count)],
        "an idle consumer, a minute": [[*ZKLOCK, "queue", "pull", "--follow", "/idle", "--", "true"]] * count}
    first = {"a waiter, a minute": [[*ZNODE, "stand", f"/line/{FIRST}"]]}
    found = {name: a_minute(bench, account, commands, first.get(name, [])) for name, commands in things.items()}
    for name, figures in found.items():
        enter(findings, name, figures)
    return found["a held lock, a minute"]


def a_minute(bench, account, commands, first):
    """Measures one of the commands, all of which stand behind the first."""
    seconds, settle = bench.pick(full=(60, 10), quick=(10, 2), least=(1, 0))
    started = start_many(first, await_ephemerals)
    try:
        started += start_many(commands, lambda number: await_ephemerals(number + len(first)))
        time.sleep(settle)
        begin = time.monotonic()
        spent = account.of(lambda: time.sleep(seconds))
        return scaled(spent, 60 / (time.monotonic() - begin) / len(commands))
    finally:
        end_all(started)
        await_ephemerals(0)


def holding(lock):
    return [*ZKLOCK, "run", lock, "--", "sleep", "3600"]


def passing(findings, bench, account):
    times = bench.pick(full=100, quick=20, least=2)
    workers, each = bench.pick(full=(20, 10), quick=(10, 2), least=(2, 1))
    items = bench.pick(full=4_000, quick=500, least=50)
    contestants = {"zklock": [*ZKLOCK, "run", "/l", "--", "true"], "floor": [*bare("lock"), "/l"]}
    run(contestants["zklock"])
    for name, words in contestants.items():
        spent = account.of(lambda these=words: [run(these) for _ in range(times)])
        enter(findings, f"one run, {name}", scaled(spent, 1 / times))
    for name, words in contestants.items():
        section = loops(words, workers, each)
        spent = account.of(lambda these=section: these(0))
        enter(findings, f"a contended section, {name}", scaled(spent, 1 / (workers * each)))
    push("/busy", bench.lines.file(items))
    spent = account.of(lambda: run([*ZKLOCK, "queue", "pull", "--all", "/busy", "--", "true"]))
    enter(findings, "1,000 items of a busy consumer", scaled(spent, 1_000 / items))


def enter(findings, name, figures):
    for unit, figure in zip(UNITS, figures):
        findings.add(name, unit, [figure])


def scaled(figures, factor):
    return [factor * figure for figure in figures]


def await_ephemerals(count):
    """Each of the standing commands has one ephemeral node."""
    wait_until(f"{count} ephemeral nodes", lambda: int(monitored()["zk_ephemerals_count"]) == count)


class Account:
    """The one server's counters. It must be idle when this is made."""

    def __init__(self):
        first = counted()
        self._look = difference(first, counted())

    def of(self, work):
        """Returns what the work has cost, in the order of UNITS."""
        begin = counted()
        work()
        return difference(self._look, difference(begin, counted()))


def difference(before, after):
    return [new - old for old, new in zip(before, after)]


def counted():
    values = monitored()
    return [transactions(ask("word", "1", "srvr")), int(values["zk_packets_received"]), log_size() / 1024,
            int(values["zk_cnt_fsynctime"])]


def transactions(answer):
    """The lower half of the zxid counts transactions."""
    return int(re.search(r"^Zxid: 0x([0-9a-f]+)", answer, re.MULTILINE).group(1), 16) & 0xFFFFFFFF


def log_size():
    """Returns the size of all log files, in bytes."""
    return sum(os.path.getsize(file) for file in glob.glob(f"{os.environ['ZKLOCK_SANDBOX']}/1/data/version-2/log.*"))
