# SPDX-License-Identifier: Apache-2.0
"""Five hundred idle consumers of one queue, and a queue of ten million items."""

import os
import time

from processes import PATIENCE, end_all, start_many, wait_until
from programs import ZKLOCK, interleaved, run
from pushes import push
from sandbox import monitored, servers
from shares import UNITS as SHARE_UNITS
from shares import Share, enter, resident_size, wakes

UNITS = (*SHARE_UNITS, "wakes")
ITEM = 800  # bytes of heap, with something to spare
SETTLE = 1  # seconds after which woken consumers are idle again
LONG_SESSIONS = ("--set", "maxSessionTimeout=3600000")  # so long that no client pings during the count


def idle(findings, bench):
    """That many `queue pull --follow` of one queue, a process each, all idle: their sessions are so long that nobody
    pings while it is counted. One line is pushed, and taken by one of them; and then as many as there are consumers, at
    once. The time is that from the start of the push until all lines are written. A wake is a time that a consumer has
    waited for something, over all of them."""
    count = bench.pick(full=500, quick=100, least=3)
    one, many = bench.lines.file(1), bench.lines.file(count)
    title, sink = f"{count:,} idle consumers", os.path.join(bench.folder, "taken")
    with servers(*LONG_SESSIONS, heap="1g"), open(sink, "ab") as taken:
        started = []
        try:
            words = [*ZKLOCK, "queue", "pull", "--follow", "--session-timeout", "1h", "/q"]
            started = start_many([words] * count, await_idle, stdout=taken)
            time.sleep(SETTLE)
            figures = [pushed(one, sink, started) for _ in range(bench.pick(full=10, quick=5, least=2))]
            for unit, values in zip(UNITS, zip(*figures)):
                series = findings.add(f"{title}: one push", unit, values)
            findings.claim(f"wakes for one push, {count:,} idle", series.median, at_most=40)
            enter(findings, f"{title}: as many pushed", pushed(many, sink, started), UNITS)
        finally:
            end_all(started)


def await_idle(count):
    wait_until(f"{count} idle", lambda: int(monitored()["zk_ephemerals_count"]) == count)


def pushed(lines, sink, started):
    """Returns the figures in the order of UNITS."""
    before, target = all_wakes(started), os.path.getsize(sink) + os.path.getsize(lines)
    share = Share()
    begin = time.monotonic()
    push("/q", lines)
    while os.path.getsize(sink) < target:
        if time.monotonic() > begin + PATIENCE:
            raise RuntimeError("waited in vain: all items taken")
        time.sleep(0.001)
    seconds = time.monotonic() - begin
    time.sleep(SETTLE)
    return [seconds, *share.so_far()[1:], all_wakes(started) - before]


def all_wakes(started):
    return sum(wakes(one.pid) for one in started)


def deep(findings, bench):
    """Short lines, of twelve bytes, pushed to one queue in equal parts by a process each, until there are ten million
    of them; and after the first part and the last one what a line more, one pull, a count and a list of the first ten
    take. They take turns. The heap of the server is four fifths of a KiB for each item, or half of what the machine has
    left where that is less, and then there are as many items as that is good for. An item's memory is what the server
    has grown by, from the first part to the last."""
    items, heap = depth_and_heap(bench.pick(full=10_000_000, quick=200_000, least=4_000))
    parts = bench.pick(full=10, quick=4, least=2)
    items -= items % parts
    part = numbers(bench, items // parts)
    sizes, rates = [], []
    with servers(heap=f"{heap}m"):
        for turn in range(parts):
            share = Share()
            rates.append(items / parts / push("/q", part).wall)
            sizes.append(resident_size(share.pid))
            enter(findings, f"push of {items // parts:,}, {items // parts * turn:,} in", share.so_far())
            if turn in (0, parts - 1):
                operations(findings, bench, items // parts * (turn + 1))
    findings.add("the server", "MiB", [sizes[-1]])
    findings.claim("memory of the server, an item more", (sizes[-1] - sizes[0]) * 2**20 / (items - items // parts),
                   unit="bytes")
    findings.claim("rate of the last push to the first", rates[-1] / rates[0], at_least=0.5)
    medians = {(one.name, one.unit): one.median for one in findings.series}
    first, last = (f"{number:,} in" for number in (items // parts, items))
    for verb in ("one push", "one pull"):
        findings.claim(f"{verb}, {last} to {first}", medians[f"{verb}, {last}", "s"] / medians[f"{verb}, {first}", "s"],
                       at_most=3)


def depth_and_heap(items):
    """Returns the number of items, and MiB."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) // 1024
    heap = max(512, min(items * ITEM // 2**20, free // 2))
    return min(items, heap * 2**20 // ITEM), heap


def numbers(bench, count):
    """Returns a file of that many lines."""
    path = os.path.join(bench.folder, f"{count}.numbers")
    with open(path, "w", encoding="ascii") as lines:
        lines.writelines(f"{number:012d}\n" for number in range(count))
    return path


def operations(findings, bench, items):
    one = numbers(bench, 1)
    words = {"one push": [*ZKLOCK, "queue", "push", "/q"], "one pull": [*ZKLOCK, "queue", "pull", "/q"],
             "count": [*ZKLOCK, "queue", "count", "/q"], "list of 10": [*ZKLOCK, "queue", "list", "-N", "10", "/q"]}

    def costs(name):
        share = Share()
        wall = run(words[name], stdin=one).wall
        return [wall, *share.so_far()[1:]]

    samples = interleaved({name: lambda _, name=name: costs(name) for name in words},
                          bench.pick(full=10, quick=5, least=2))
    for name, taken in samples.items():
        for unit, values in zip(SHARE_UNITS, zip(*taken)):
            findings.add(f"{name}, {items:,} in", unit, values)
