# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock queue`."""

import os
import subprocess

from programs import KAZOO, ZKLOCK, bare, has, has_kazoo, interleaved, output_of, run, servers

LINE = 100  # bytes


class Lines:
    """Files of lines of 100 bytes, the newline not counted."""

    def __init__(self, folder):
        self._folder = folder

    def file(self, count):
        path = os.path.join(self._folder, f"{count}.lines")
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as lines:
                for number in range(count):
                    lines.write(f"{number:010d} https://example.org/".ljust(LINE, "x") + "\n")
        return path


def push(queue, source):
    return run([*ZKLOCK, "queue", "push", queue], stdin=source)


def pushing(findings, bench):
    """Each on a fresh server, or the second one would find it fuller and better compiled."""
    count = bench.pick(full=1_000_000, quick=50_000, least=2_000)
    many, warm = bench.lines.file(count), bench.lines.file(10_000)

    def measure(words):
        def one(_):
            with servers(heap="1800m"):
                push("/warm", warm)
                return run([*words, "/q"], stdin=many)
        return one

    samples = interleaved({"zklock": measure([*ZKLOCK, "queue", "push"]), "bare": measure(bare("push"))},
                          bench.pick(full=4, quick=2, least=1))
    rates = {name: findings.add(f"{name} push of {count:,} lines", "lines/s", [count / sample.wall for sample in taken])
             for name, taken in samples.items()}
    memory = findings.add("zklock memory", "MiB", [sample.memory for sample in samples["zklock"]])
    findings.ratio("zklock's rate to bare", rates["zklock"], rates["bare"], at_least=0.8)
    findings.claim("zklock memory at most", max(memory.values), at_most=32, unit="MiB")


def depth(findings, bench):
    """What one pull and a count take, depending on how much is in the queue."""
    depths = bench.pick(full=(1_000, 10_000, 100_000, 1_000_000), quick=(1_000, 100_000), least=(100, 2_000))
    with servers(heap="1800m"):
        for items in depths:
            push(f"/q{items}", bench.lines.file(items))

        def times(verb):
            words = {items: [*ZKLOCK, "queue", verb, f"/q{items}"] for items in depths}
            samples = interleaved({items: lambda _, words=words[items]: run(words) for items in depths},
                                  bench.pick(full=40, quick=15, least=2))
            series = [findings.add(f"{verb} at depth {items:,}", "ms", [1000 * one.wall for one in samples[items]])
                      for items in depths]
            return series[0], series[-1]

        shallow, deep = times("pull")
        findings.ratio(f"pull at {depths[-1]:,} to {depths[0]:,}", deep, shallow, at_most=1.5)
        shallow, deep = times("count")
        findings.claim(f"count at {depths[-1]:,} longer by", deep.median - shallow.median, at_most=50, unit="ms")


def draining(findings, bench):
    """Items to standard output, many at once."""
    count = bench.pick(full=100_000, quick=20_000, least=1_500)
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
        interleaved(contestants, 1)  # until the server's code is compiled
        samples = interleaved({name: lambda turn, measure=measure: measure(turn + 1)
                               for name, measure in contestants.items()}, bench.pick(full=7, quick=3, least=1))
        rates = {name: findings.add(f"{name} drain of {count:,}", "items/s", [count / sample.wall for sample in taken])
                 for name, taken in samples.items()}
    findings.claim("zklock items a second", rates["zklock"].median, at_least=20_000)
    findings.ratio("zklock's rate to bare", rates["zklock"], rates["bare"])


def against_kazoo(findings, bench):
    """At a depth of 5,000, where Kazoo takes an item a look."""
    if not has_kazoo():
        return findings.leave_out("Kazoo", "scripts/setup bench installs it")
    deep, taken = 5_000, bench.pick(full=200, quick=40, least=5)
    lines = bench.lines.file(deep)

    def kazoo(verb):
        def one(turn):
            return taken / float(output_of([*KAZOO, verb, f"/kazoo-{verb}-{turn}", lines, str(taken)]))
        return one

    def zklock(turn):
        push(f"/q{turn}", lines)
        return deep / run([*ZKLOCK, "queue", "pull", "--all", f"/q{turn}"]).wall

    with servers():
        rates = {name: findings.add(f"{name} at depth {deep:,}", "items/s", values) for name, values in interleaved(
            {"zklock pull --all": zklock, "Kazoo LockingQueue": kazoo("consume"), "Kazoo Queue": kazoo("get")},
            bench.pick(full=5, quick=2, least=1)).items()}
    findings.ratio("zklock to LockingQueue", rates["zklock pull --all"], rates["Kazoo LockingQueue"], at_least=50)
    return None


def takes_commands():
    with servers():
        return subprocess.run([*ZKLOCK, "queue", "pull", "--all", "/none", "--", "true"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def jobs(findings, bench):
    """A command an item, four at once: beside xargs, and beside the two writes that an item costs."""
    count = bench.pick(full=4_000, quick=500, least=50)
    lines = bench.lines.file(count)
    if not takes_commands():
        return findings.leave_out("pull -- COMMAND", "this zklock does not know it")

    def pulling(words, name):
        def one(turn):
            push(f"/{name}{turn}", lines)
            return run([word.replace("QUEUE", f"/{name}{turn}") for word in words])
        return one

    contestants = {"zklock": pulling([*ZKLOCK, "queue", "pull", "--all", "-j", "4", "QUEUE", "--", "true"], "z"),
                   "two writes an item": pulling([*bare("drain"), "QUEUE", "4"], "b")}
    if has("xargs"):
        contestants["xargs -P 4 -n 1 true"] = lambda _: run(["xargs", "-P", "4", "-n", "1", "true"], stdin=words)
    words = os.path.join(bench.folder, "words")
    with open(words, "w", encoding="ascii") as file:
        file.writelines(f"{number}\n" for number in range(count))
    with servers():
        samples = interleaved(contestants, bench.pick(full=5, quick=3, least=1))
    rates = {name: findings.add(name, "items/s", [count / sample.wall for sample in taken])
             for name, taken in samples.items()}
    slowest = min((series for name, series in rates.items() if name != "zklock"), key=lambda series: series.median)
    findings.ratio(f"zklock's rate to {slowest.name}", rates["zklock"], slowest, at_least=0.7)
    return None
