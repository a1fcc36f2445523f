# SPDX-License-Identifier: Apache-2.0
"""Compares consumers: several of one queue, and Kazoo's."""

import subprocess
import time

from peers import KAZOO, has_kazoo
from programs import ZKLOCK, bare, interleaved, output_of, run, run_together
from pushes import push
from sandbox import servers


def several(findings, bench):
    """1 to 8 consumers of one queue at the same time, all together: for zklock that many `queue pull --all`. The bare
    program cannot share a queue, so each has one of its own. Kazoo's consumers are a process each, which has its
    session when the time begins; they take fewer items, each the same number, from a queue of twice as many."""
    numbers = bench.pick(full=(1, 2, 4, 8), quick=(1, 4), least=(2,))
    items, few = bench.pick(full=30_000, quick=6_000, least=800), bench.pick(full=200, quick=16, least=8)
    kinds = {"zklock": lambda number: sharing(bench, items, number), "bare": lambda number: apart(bench, items, number)}
    if has_kazoo(findings):
        kinds["Kazoo Queue"] = lambda number: kazoo(bench, "get", 2 * few, few, number)
        kinds["Kazoo LockingQueue"] = lambda number: kazoo(bench, "consume", 2 * few, few, number)
    contestants = {(kind, number): measure(number) for kind, measure in kinds.items() for number in numbers}
    with servers(heap="1800m"):
        interleaved({key: measure for key, measure in contestants.items() if key[1] == numbers[0]}, 1)
        samples = interleaved({key: lambda turn, measure=measure: measure(turn + 1)
                               for key, measure in contestants.items()}, bench.pick(full=3, quick=1, least=1))
    rates = {key: findings.add(f"{key[0]}, {key[1]} consumer{'s' if key[1] > 1 else ''}", "items/s", taken)
             for key, taken in samples.items()}
    for kind in kinds:
        findings.ratio(f"{kind}, {numbers[-1]} to {numbers[0]}", rates[kind, numbers[-1]], rates[kind, numbers[0]])


def sharing(bench, items, number):
    def one(turn):
        queue = f"/shared{number}-{turn}"
        push(queue, bench.lines.file(items))
        sample = run_together([[*ZKLOCK, "queue", "pull", "--all", queue]] * number)
        if not output_of([*ZKLOCK, "queue", "count", queue]).startswith("items 0\n"):
            raise RuntimeError(f"{number} consumers left something")
        return items / sample.wall
    return one


def apart(bench, items, number):
    def one(turn):
        queues = [f"/apart{number}-{turn}-{place}" for place in range(number)]
        for queue in queues:
            push(queue, bench.lines.file(items // number))
        return items / run_together([[*bare("drain"), queue] for queue in queues]).wall
    return one


def kazoo(bench, verb, deep, taken, number):
    """Returns how many items a second so many consumers take out of a queue of that depth."""
    def one(turn):
        queue = f"/{verb}-{deep}-{number}-{turn}"
        subprocess.run([*KAZOO, "fill" if verb == "get" else "put-all", queue, bench.lines.file(deep)], check=True)
        consumers = [subprocess.Popen([*KAZOO, verb, queue, str(taken // number)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE) for _ in range(number)]
        for consumer in consumers:
            consumer.stdout.readline()
        start = time.monotonic()
        for consumer in consumers:
            consumer.stdin.close()
        if any([consumer.wait() for consumer in consumers]):
            raise RuntimeError(f"Kazoo's {verb} has failed")
        return taken / (time.monotonic() - start)
    return one


def deep_queues(findings, bench):
    """One consumer of a deep queue: Kazoo's queues are listed as a whole, LockingQueue's for each item."""
    if not has_kazoo(findings):
        return
    deep, taken = bench.pick(full=5_000, quick=2_000, least=1_000), bench.pick(full=200, quick=20, least=5)
    lines = bench.lines.file(deep)

    def zklock(turn):
        push(f"/q{turn}", lines)
        return deep / run([*ZKLOCK, "queue", "pull", "--all", f"/q{turn}"]).wall

    with servers():
        rates = {name: findings.add(f"{name} at depth {deep:,}", "items/s", values) for name, values in interleaved(
            {"zklock pull --all": zklock, "Kazoo LockingQueue": kazoo(bench, "consume", deep, taken, 1),
             "Kazoo Queue": kazoo(bench, "get", deep, taken, 1)}, bench.pick(full=4, quick=1, least=1)).items()}
    findings.ratio("zklock to LockingQueue", rates["zklock pull --all"], rates["Kazoo LockingQueue"], at_least=50)
