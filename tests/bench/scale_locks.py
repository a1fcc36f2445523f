# SPDX-License-Identifier: Apache-2.0
"""A thousand in line for one lock, and two thousand locks that one host holds."""

import resource
import time

from cost import await_ephemerals, transactions
from crowd import await_line
from processes import children, end_all, proportional_size, start_many, with_guard
from programs import HELPERS, ZKLOCK, bare, interleaved
from sandbox import ask, monitored, servers
from shares import UNITS, Share, descriptors, enter, exact_cpu_seconds, resident_size

FIRST = "_c_00000000-0000-4000-8000-000000000000-lock-"  # of a line


def in_line(findings, bench):
    """Real processes, each a zklock and its guard, in line for one lock behind another program, which leaves; each
    holds it for `true`. The time is that from then on until the last has ended, the figures of the server are those of
    the whole line, with the session timeout that is usual: what those who wait ask from time to time is in them. CPU
    time is that of each from its start to its end, with some look-ups of ours. The floor is the bare program, which has
    neither guard nor lease. What the server has open is counted while all wait."""
    size = bench.pick(full=1_000, quick=200, least=4)
    contestants = {"zklock": [*ZKLOCK, "run", "/l", "--", "true"], "floor": [*bare("lock"), "/l"]}
    with servers(heap="1g"):
        figures = interleaved({name: lambda _, name=name, words=words: through(findings, name, words, size)
                               for name, words in contestants.items()}, bench.pick(full=3, quick=1, least=1))
    walls = {}
    for name, taken in figures.items():
        for unit, values in zip((*UNITS, "ms CPU each"), zip(*taken)):
            series = findings.add(f"{size:,} in line, {name}", unit, values)
            walls.setdefault(name, series)
    findings.ratio("time of the line, zklock to floor", walls["zklock"], walls["floor"])


def through(findings, name, words, size):
    """Returns the server's cost of the line, in the order of UNITS, and each contender's."""
    spent = cpu_of_ended()
    first = start_many([[f"{HELPERS}/znode", "stand", f"/l/{FIRST}"]], await_line)
    started = []
    try:
        started = start_many([words] * size, lambda count: await_line(count + 1))
        if not any(series.name.endswith(f"waiter, {name}") for series in findings.series):
            standing(findings, name, started)
        share = Share()
        end_all(first)
        if any(one.wait() for one in started):
            raise RuntimeError("a waiter has failed")
        figures = share.so_far()
        return [*figures, 1000 * (cpu_of_ended() - spent) / size]
    finally:
        end_all(first + started)


def cpu_of_ended():
    """Returns the CPU time of children, and of what they have waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def standing(findings, name, started):
    values = monitored()
    findings.add(f"a waiter, {name}", "MiB", [proportional_size(with_guard(one.pid)) for one in started])
    findings.add(f"a waiter, {name}", "descriptors", [sum(map(descriptors, with_guard(one.pid))) for one in started])
    findings.add(f"the server, {name} waiting", "descriptors", [int(values["zk_open_file_descriptor_count"])])
    findings.add(f"the server, {name} waiting", "MiB", [resident_size(int(ask("pid", "1")))])


def held(findings, bench):
    """Locks that one host holds, each by a `zklock run` of its own, a session each, with the usual session timeout: a
    look at all of them for a while in which nothing happens, and TERM to all. Memory is that of zklock and its guard,
    their commands are left out. What a lock costs is by lock and second; the CPU time of a lock is its zklock's and its
    guard's."""
    count = bench.pick(full=2_000, quick=200, least=3)
    seconds, settle = bench.pick(full=(60, 10), quick=(15, 5), least=(1, 0))
    started, title = [], f"{count:,} locks held"
    with servers(heap="1g"):
        try:
            share = Share()
            started = start_many([[*ZKLOCK, "run", f"/held/{number}", "--", "sleep", "86400"]
                                  for number in range(count)], await_ephemerals)
            enter(findings, f"{title}: taken", share.so_far())
            time.sleep(settle)
            everybody = [with_guard(one.pid) for one in started]
            findings.add(f"{title}: a lock", "MiB", [proportional_size(pair) for pair in everybody])
            findings.add(f"{title}: a lock", "descriptors", [sum(map(descriptors, pair)) for pair in everybody])
            findings.add(f"{title}: the server", "MiB", [resident_size(share.pid)])
            findings.add(f"{title}: processes", "processes", [sum(map(tree_size, (one.pid for one in started)))])
            standing_still(findings, title, everybody, seconds)
            share = Share()
            end_all(started)
            await_ephemerals(0)
            enter(findings, f"{title}: given back", share.so_far())
        finally:
            end_all(started)


def standing_still(findings, title, everybody, seconds):
    share, writes, spent = Share(), transactions(ask("word", "1", "srvr")), all_cpu(everybody)
    time.sleep(seconds)
    taken, requests, answers, cpu = share.so_far()
    writes = transactions(ask("word", "1", "srvr")) - writes
    enter(findings, f"{title}: a second", [requests / taken, answers / taken, writes / taken, cpu / taken],
          ("requests", "answers", "transactions", "server CPU s"))
    findings.add(f"{title}: a lock, a minute", "ms CPU",
                 [60_000 * (all_cpu(everybody) - spent) / taken / len(everybody)])
    findings.claim(f"requests a second of a held lock, {len(everybody):,} held", requests / taken / len(everybody),
                   at_most=1)


def all_cpu(everybody):
    return sum(exact_cpu_seconds(pid) for pair in everybody for pid in pair)


def tree_size(pid):
    return 1 + sum(map(tree_size, children(pid)))
