# SPDX-License-Identifier: Apache-2.0
"""Compares `zklock queue pull`, one at a time."""

import os

from peers import has
from programs import ZKLOCK, bare, interleaved, run
from pushes import push
from sandbox import servers


def depth(findings, bench):
    """What one pull and a count take, depending on how much is in the queue."""
    depths = bench.pick(full=(1_000, 10_000, 100_000, 1_000_000), quick=(1_000, 50_000), least=(100, 2_000))
    with servers(heap="1800m"):
        for items in depths:
            push(f"/q{items}", bench.lines.file(items))

        def times(verb):
            words = {items: [*ZKLOCK, "queue", verb, f"/q{items}"] for items in depths}
            samples = interleaved({items: lambda _, words=words[items]: run(words) for items in depths},
                                  bench.pick(full=40, quick=10, least=2))
            series = [findings.add(f"{verb} at depth {items:,}", "ms", [1000 * one.wall for one in samples[items]])
                      for items in depths]
            return series[0], series[-1]

        shallow, deep = times("pull")
        findings.ratio(f"pull at {depths[-1]:,} to {depths[0]:,}", deep, shallow, at_most=1.5)
        shallow, deep = times("count")
        findings.claim(f"count at {depths[-1]:,} longer by", deep.median - shallow.median, at_most=50, unit="ms")


def draining(findings, bench):
    """Items to standard output, claimed, read and removed many at once. The bare program makes the same requests, but
    for those that zklock makes because other consumers may come."""
    count = bench.pick(full=100_000, quick=10_000, least=1_500)
    lines = bench.lines.file(count)
    with servers(heap="1800m"):
        def measure(name, words):
            def one(turn):
                queue, sink = f"/{name}{turn}", os.path.join(bench.folder, "drained")
                push(queue, lines)
                sample = run([*words, queue], stdout=sink)
                if os.path.getsize(sink) != os.path.getsize(lines):
                    raise RuntimeError(f"{name} did not drain all")
                return sample
            return one

        contestants = {"zklock": measure("z", [*ZKLOCK, "queue", "pull", "--all"]), "bare": measure("b", bare("drain"))}
        interleaved(contestants, 1)  # compiles the server's code
        samples = interleaved({name: lambda turn, measure=measure: measure(turn + 1)
                               for name, measure in contestants.items()}, bench.pick(full=6, quick=1, least=1))
        rates = {name: findings.add(f"{name} drain of {count:,}", "items/s", [count / sample.wall for sample in taken])
                 for name, taken in samples.items()}
    findings.claim("zklock items a second", rates["zklock"].median, at_least=20_000)
    findings.ratio("zklock's rate to bare", rates["zklock"], rates["bare"])


def jobs(findings, bench):
    """A command for each item, `true`, four at once: beside xargs, which has no queue, and beside a bare program that
    runs nothing, but claims and removes two items at a time: a write an item, which is also what zklock needs."""
    count = bench.pick(full=4_000, quick=300, least=50)
    lines = bench.lines.file(count)

    def pulling(words, name):
        def one(turn):
            push(f"/{name}{turn}", lines)
            return run([word.replace("QUEUE", f"/{name}{turn}") for word in words])
        return one

    contestants = {"zklock": pulling([*ZKLOCK, "queue", "pull", "--all", "-j", "4", "QUEUE", "--", "true"], "z"),
                   "a write an item": pulling([*bare("drain"), "QUEUE", "4"], "b")}
    if has("xargs"):
        contestants["xargs -P 4 -n 1 true"] = lambda _: run(["xargs", "-P", "4", "-n", "1", "true"], stdin=words)
    words = os.path.join(bench.folder, "words")
    with open(words, "w", encoding="ascii") as file:
        file.writelines(f"{number}\n" for number in range(count))
    with servers():
        samples = interleaved(contestants, bench.pick(full=4, quick=2, least=1))
    rates = {name: findings.add(name, "items/s", [count / sample.wall for sample in taken])
             for name, taken in samples.items()}
    slowest = min((series for name, series in rates.items() if name != "zklock"), key=lambda series: series.median)
    findings.ratio(f"zklock's rate to {slowest.name}", rates["zklock"], slowest, at_least=0.7)
