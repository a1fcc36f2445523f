# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock queue push`."""

import os

from peers import KAZOO, has_kazoo
from programs import ZKLOCK, bare, interleaved, run
from sandbox import servers

LINE = 100  # bytes
SLOW = {"Kazoo Queue": 4, "Kazoo LockingQueue": 4}  # times as few rounds


class Lines:
    """Makes files of lines of 100 bytes, the newline not counted."""

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


def million(findings, bench, count=1):
    """Lines of 100 bytes from a file into a new queue, each time on fresh servers that 10,000 lines have warmed up: on
    old ones the second would find them fuller and better compiled. The bare program sends the same transactions."""
    lines = bench.pick(full=1_000_000 if count == 1 else 200_000, quick=20_000, least=2_000)
    many, warm = bench.lines.file(lines), bench.lines.file(10_000)

    def measure(words):
        def one(_):
            with servers(count=count, heap="1800m" if count == 1 else "1000m"):
                push("/warm", warm)
                return run([*words, "/q"], stdin=many)
        return one

    samples = interleaved({"zklock": measure([*ZKLOCK, "queue", "push"]), "bare": measure(bare("push"))},
                          bench.pick(full=3, quick=1, least=1))
    rates = {name: findings.add(f"{name} push of {lines:,} lines", "lines/s", [lines / sample.wall for sample in taken])
             for name, taken in samples.items()}
    memory = findings.add("zklock memory", "MiB", [sample.memory for sample in samples["zklock"]])
    findings.ratio("zklock's rate to bare", rates["zklock"], rates["bare"], at_least=0.8)
    findings.claim("zklock memory at most", max(memory.values), at_most=32, unit="MiB")


def few(findings, bench):
    """A process that pushes 1 line, and one that pushes 1,000, into a new queue each time. Kazoo's Queue puts a line at
    a time, its LockingQueue all in one transaction; neither can be had for a million lines: that would take Queue about
    a quarter of an hour, and a transaction of that size is refused."""
    contestants = {"zklock": [*ZKLOCK, "queue", "push"], "bare": bare("push")}
    if has_kazoo(findings):
        contestants |= {"Kazoo Queue": [*KAZOO, "put"], "Kazoo LockingQueue": [*KAZOO, "put-all"]}
    with servers():
        for lines in (1, 1_000):
            file = bench.lines.file(lines)
            interleaved(measures(contestants, file, "w"), 4, SLOW)
            samples = interleaved(measures(contestants, file, "q"), bench.pick(full=24, quick=5, least=1), SLOW)
            walls = {name: findings.add(f"{name}, {count_of(lines)}", "ms", [1000 * one.wall for one in taken])
                     for name, taken in samples.items()}
            findings.ratio(f"wall, zklock to bare, {count_of(lines)}", walls["zklock"], walls["bare"])
            if "Kazoo LockingQueue" in walls:
                findings.ratio(f"wall, zklock to LockingQueue, {count_of(lines)}", walls["zklock"],
                               walls["Kazoo LockingQueue"])


def count_of(lines):
    return "1 line" if lines == 1 else f"{lines:,} lines"


def measures(contestants, file, prefix):
    """Gives bare and Kazoo the file by name or as standard input, as they want it."""
    def measure(name, words):
        def one(turn):
            queue = f"/{prefix}-{os.path.basename(file)}-{name.replace(' ', '')}-{turn}"
            return run([*words, queue, file] if name.startswith("Kazoo") else [*words, queue], stdin=file)
        return one

    return {name: measure(name, words) for name, words in contestants.items()}
