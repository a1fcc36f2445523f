# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock run`."""

import os

import etcd
from programs import KAZOO, ZKLOCK, bare, has_kazoo, interleaved, run, run_together, servers


def one_lock(findings, bench):
    """`true` under a lock that nobody else wants."""
    lock = os.path.join(bench.folder, "flock")
    contestants = {"zklock": lambda _: run([*ZKLOCK, "run", "/l", "--", "true"]),
                   "floor": lambda _: run([*bare("lock"), "/l"]),
                   "flock": lambda _: run(["flock", lock, "true"])}
    if has_kazoo():
        contestants["Kazoo"] = lambda _: run([*KAZOO, "lock", "/kazoo"])
    else:
        findings.leave_out("Kazoo", "scripts/setup bench installs it")
    with servers(), etcd.server(findings) as etcdctl:
        if etcdctl:
            contestants["etcdctl"] = lambda _: run([*etcdctl, "lock", "l", "--", "true"])
        interleaved(contestants, 5)  # the lock is made, the servers' code compiled
        samples = interleaved(contestants, bench.pick(full=60, quick=8, least=2))
    wall = {name: findings.add(f"{name} wall", "ms", [1000 * one.wall for one in taken])
            for name, taken in samples.items()}
    cpu = {name: findings.add(f"{name} CPU", "ms", [1000 * one.cpu for one in taken])
           for name, taken in samples.items()}
    for name, taken in samples.items():
        findings.add(f"{name} memory", "MiB", [one.memory for one in taken])
    findings.ratio("wall, zklock to floor", wall["zklock"], wall["floor"], at_most=1.25)
    if "Kazoo" in wall:
        findings.ratio("wall, zklock to Kazoo", wall["zklock"], wall["Kazoo"], at_most=1 / 6)
        findings.ratio("CPU, zklock to Kazoo", cpu["zklock"], cpu["Kazoo"], at_most=1 / 15)
    if "etcdctl" in wall:
        findings.ratio("wall, zklock to etcdctl", wall["zklock"], wall["etcdctl"], at_most=1)
        findings.ratio("CPU, zklock to etcdctl", cpu["zklock"], cpu["etcdctl"], at_most=1 / 3)


def hand_over(findings, bench):
    """20 loops that want the same lock. Kazoo's are one process each, the others' a process a section."""
    workers, sections = 20, bench.pick(full=200, quick=60, least=20)
    each = sections // workers

    def loops(words):
        loop = f"i=0; while [ $i -lt {each} ]; do \"$@\" || exit; i=$((i + 1)); done"
        return lambda _: run_together([["sh", "-c", loop, "sh", *words]] * workers)

    contestants = {"zklock": loops([*ZKLOCK, "run", "/l", "--", "true"]), "floor": loops([*bare("lock"), "/l"])}
    if has_kazoo():
        contestants["Kazoo"] = lambda _: run_together([[*KAZOO, "lock", "/kazoo", str(each)]] * workers)
    else:
        findings.leave_out("Kazoo", "scripts/setup bench installs it")
    with servers(), etcd.server(findings) as etcdctl:
        if etcdctl:
            contestants["etcdctl"] = loops([*etcdctl, "lock", "l", "--", "true"])
        run([*ZKLOCK, "run", "/l", "--", "true"])
        interleaved(contestants, 1)
        samples = interleaved(contestants, bench.pick(full=7, quick=2, least=1))
    rates = {name: findings.add(name, "sections/s", [sections / one.wall for one in taken])
             for name, taken in samples.items()}
    findings.ratio("zklock's rate to floor", rates["zklock"], rates["floor"], at_least=0.85)

