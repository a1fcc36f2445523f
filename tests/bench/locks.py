# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock run`."""

import os
import subprocess

import etcd
from peers import CURATOR, KAZOO, has, has_curator, has_kazoo
from processes import peak_size, with_guard
from programs import ZKLOCK, bare, interleaved, run, run_together
from sandbox import servers

SLOW = {"Curator": 6}  # times as few rounds


def one_lock(findings, bench, count=1):
    """`true` under a lock that nobody else wants, a process each time. The floor is a C program that makes the same
    requests and does nothing else; `zklock --version` is what it takes to start zklock. Curator is a fresh JVM with
    flags for a quick start, flock has a file on the local disk, etcd keeps its data in memory, because it would wait
    for the disk where the ZooKeeper servers here do not. Memory is the peak of the largest process; for zklock with its
    guard, the sum of both peaks while the lock is held."""
    with servers(count=count), etcd.server(findings, count) as etcdctl:
        contestants = one_lock_contestants(findings, bench, etcdctl)
        interleaved(contestants, 4, {"Curator": 2})  # makes the lock, and compiles the servers' code
        samples = interleaved(contestants, bench.pick(full=60, quick=8, least=2), SLOW)
        held = [held_size() for _ in range(bench.pick(full=5, quick=3, least=1))]
    wall = {name: findings.add(f"{name} wall", "ms", [1000 * one.wall for one in taken])
            for name, taken in samples.items()}
    cpu = {name: findings.add(f"{name} CPU", "ms CPU", [1000 * one.cpu for one in taken])
           for name, taken in samples.items()}
    for name, taken in samples.items():
        findings.add(f"{name} memory", "MiB", [one.memory for one in taken])
    findings.add("zklock memory, with its guard", "MiB", held)
    judge_one_lock(findings, wall, cpu)


def one_lock_contestants(findings, bench, etcdctl):
    lock = os.path.join(bench.folder, "flock")
    words = {"zklock": [*ZKLOCK, "run", "/l", "--", "true"], "floor": [*bare("lock"), "/l"],
             "zklock --version": [*ZKLOCK, "--version"]}
    if has("flock"):
        words["flock"] = ["flock", lock, "true"]
    if etcdctl:
        words["etcdctl"] = [*etcdctl, "lock", "l", "--", "true"]
    if has_kazoo(findings):
        words["Kazoo"] = [*KAZOO, "lock", "/kazoo"]
    if has_curator(findings):
        words["Curator"] = [*CURATOR, "/curator"]
    return {name: lambda _, these=these: run(these) for name, these in words.items()}


def held_size():
    """Returns the size of a zklock that holds a lock, and its guard."""
    with subprocess.Popen([*ZKLOCK, "run", "/l", "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as zklock:
        zklock.stdin.write(b"held\n")
        zklock.stdin.flush()
        if not zklock.stdout.readline():
            raise RuntimeError("zklock run -- cat has failed")
        return peak_size(with_guard(zklock.pid))


def judge_one_lock(findings, wall, cpu):
    findings.ratio("wall, zklock to floor", wall["zklock"], wall["floor"], at_most=1.2)
    findings.ratio("CPU, zklock to floor", cpu["zklock"], cpu["floor"], at_most=1.5)
    if "Kazoo" in wall:
        findings.ratio("wall, zklock to Kazoo", wall["zklock"], wall["Kazoo"], at_most=1 / 6)
        findings.ratio("CPU, zklock to Kazoo", cpu["zklock"], cpu["Kazoo"], at_most=1 / 15)
    if "etcdctl" in wall:
        findings.ratio("wall, zklock to etcdctl", wall["zklock"], wall["etcdctl"], at_most=1)
        findings.ratio("CPU, zklock to etcdctl", cpu["zklock"], cpu["etcdctl"], at_most=1 / 3)
    if "Curator" in wall:
        findings.ratio("wall, zklock to Curator", wall["zklock"], wall["Curator"])
        findings.ratio("CPU, zklock to Curator", cpu["zklock"], cpu["Curator"])


def hand_over(findings, bench, count=1):
    """20 loops that want the same lock, each for `true`, again and again; all start at once. Kazoo's loops are a
    process each, which keeps its session; the others start a process for each section. The CPU time is theirs and their
    loops', without the servers'."""
    workers, each = 20, bench.pick(full=10, quick=2, least=1)
    with servers(count=count), etcd.server(findings, count) as etcdctl:
        contestants = hand_over_contestants(findings, etcdctl, workers, each)
        run([*ZKLOCK, "run", "/l", "--", "true"])
        interleaved({name: contestants[name] for name in ("zklock", "floor")}, 1)  # compiles the servers' code
        samples = interleaved(contestants, bench.pick(full=6 if count == 1 else 4, quick=1, least=1))
    sections = workers * each
    rates = {name: findings.add(name, "sections/s", [sections / one.wall for one in taken])
             for name, taken in samples.items()}
    cpu = {name: findings.add(f"{name} CPU a section", "ms CPU", [1000 * one.cpu / sections for one in taken])
           for name, taken in samples.items()}
    findings.ratio("zklock's rate to floor", rates["zklock"], rates["floor"], at_least=0.85)
    findings.ratio("CPU a section, zklock to floor", cpu["zklock"], cpu["floor"], at_most=1.5)
    for peer in ("Kazoo", "etcdctl"):
        if peer in rates:
            findings.ratio(f"zklock's rate to {peer}", rates["zklock"], rates[peer])


def loops(words, workers, each):
    loop = f"i=0; while [ $i -lt {each} ]; do \"$@\" || exit; i=$((i + 1)); done"
    return lambda _: run_together([["sh", "-c", loop, "sh", *words]] * workers)


def hand_over_contestants(findings, etcdctl, workers, each):
    contestants = {"zklock": loops([*ZKLOCK, "run", "/l", "--", "true"], workers, each),
                   "floor": loops([*bare("lock"), "/l"], workers, each)}
    if etcdctl:
        contestants["etcdctl"] = loops([*etcdctl, "lock", "l", "--", "true"], workers, each)
    if has_kazoo(findings):
        contestants["Kazoo"] = lambda _: run_together([[*KAZOO, "lock", "/kazoo", str(each)]] * workers)
    return contestants
