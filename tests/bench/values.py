# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock value`."""

import os
import subprocess
import time

import etcd
from groups import Watcher
from peers import KAZOO, ZOOKEEPER_SHELL, has_kazoo, has_zookeeper_shell
from programs import ZKLOCK, bare, interleaved, output_of, run
from sandbox import addresses, servers

SHELL = "ZooKeeperMain"
SLOW = {SHELL: 5}  # times as few rounds
VALUE = [*ZKLOCK, "value"]
BARE = bare("value")
PAYLOAD = "x" * 100


def value(findings, bench):
    """A process for each: the value of a node read; written, whatever was there; and written if the node has the version
    that is named. The values are 100 bytes. The floor reads behind a sync, as zklock does, or writes without a look;
    the others do as they do: etcdctl with `get`, `put` and `txn`, ZooKeeper's own shell, a fresh JVM with flags for a
    quick start, with `get`, `set` and `set -v`, and Kazoo with a Python that imports it, `get` and `set`. etcd keeps its
    data in memory, and so does the server of ZooKeeper."""
    rounds = bench.pick(full=100, quick=20, least=2)
    with servers(), etcd.server(findings) as etcdctl:
        peers = Peers(findings, bench, etcdctl)
        for what, contestants in (("get", peers.get()), ("set", peers.set()), ("compare and set", peers.cas())):
            interleaved(contestants, bench.pick(full=5, quick=5, least=1), SLOW)
            judge(findings, what, interleaved(contestants, rounds, SLOW))
        peers.check()


def judge(findings, what, samples):
    walls, cpus = ({name: findings.add(f"{what}, {name}, {quantity}", unit, [1000 * of(one) for one in taken])
                    for name, taken in samples.items()}
                   for quantity, unit, of in (("wall", "ms", lambda one: one.wall), ("CPU", "ms CPU", lambda one: one.cpu)))
    for name in list(walls)[1:]:
        at_most = {"floor": None, SHELL: 0.05}.get(name) if what == "get" else None
        findings.ratio(f"wall of {what}, zklock to {name}", walls["zklock"], walls[name], at_most=at_most)
    if "floor" in cpus:
        findings.ratio(f"CPU of {what}, zklock to floor", cpus["zklock"], cpus["floor"],
                       at_most=1.2 if what == "get" else None)


class Peers:
    """Finds the programs that are there, and returns {name: function of the round} for each operation. Each compares
    and sets in its own node, whose version counts its writes."""

    def __init__(self, findings, bench, etcdctl):
        self._folder = bench.folder
        self._etcdctl = etcdctl
        self._kazoo = has_kazoo(findings)
        host, port = addresses()[0]
        self._shell = [*ZOOKEEPER_SHELL, "-server", f"{host}:{port}"] if has_zookeeper_shell(findings) else None
        self._versions = {}
        run([*VALUE, "set", "/v", PAYLOAD])
        for name in ("zklock", "Kazoo", SHELL):
            run([*VALUE, "set", f"/cas-{name}", PAYLOAD])
        for key in ("/v", "/cas"):
            if etcdctl:
                run([*etcdctl, "put", key, PAYLOAD])

    def _there(self, words):
        """Returns those whose program is there, of {name: words, or a function of the round}."""
        there = {"etcdctl": self._etcdctl, "Kazoo": self._kazoo, SHELL: self._shell}
        return {name: these if callable(these) else lambda _, these=these: run(these)
                for name, these in words.items() if there.get(name, True)}

    def get(self):
        return self._there({"zklock": [*VALUE, "get", "/v"], "floor": [*BARE, "get", "/v"],
                            "etcdctl": [*(self._etcdctl or []), "get", "--print-value-only", "/v"],
                            "Kazoo": [*KAZOO, "read", "/v"], SHELL: [*(self._shell or []), "get", "/v"]})

    def set(self):
        return self._there({"zklock": [*VALUE, "set", "/v", PAYLOAD], "floor": [*BARE, "set", "/v", PAYLOAD],
                            "etcdctl": [*(self._etcdctl or []), "put", "/v", PAYLOAD],
                            "Kazoo": [*KAZOO, "write", "/v", PAYLOAD],
                            SHELL: [*(self._shell or []), "set", "/v", PAYLOAD]})

    def cas(self):
        def numbered(name, words):
            return lambda _: run(words(str(self._next(name))))
        return self._there({
            "zklock": numbered("zklock", lambda n: [*VALUE, "set", "--if-version", n, "/cas-zklock", PAYLOAD]),
            "etcdctl": self._transact,
            "Kazoo": numbered("Kazoo", lambda n: [*KAZOO, "write", "/cas-Kazoo", PAYLOAD, n]),
            SHELL: numbered(SHELL, lambda n: [*self._shell, "set", "-v", n, f"/cas-{SHELL}", PAYLOAD])})

    def _next(self, name):
        self._versions[name] = self._versions.get(name, -1) + 1
        return self._versions[name]

    def _transact(self, _):
        """A key of etcd's has version 1 at first."""
        file = os.path.join(self._folder, "txn")
        with open(file, "w", encoding="ascii") as text:
            text.write(f'version("/cas") = "{self._next("etcdctl") + 1}"\n\nput /cas {PAYLOAD}\n\n\n')
        return run([*self._etcdctl, "txn"], stdin=file)

    def check(self):
        """Checks that each has done what was measured, which the status of etcdctl and the shell does not show."""
        for name in self._versions:
            if name != "etcdctl":
                there = output_of([*VALUE, "get", "--json", f"/cas-{name}"])
                if f'"version":{self._versions[name] + 1},' not in there:
                    raise RuntimeError(f"{name} has not written each time: {there}")
        if "etcdctl" in self._versions:
            there = output_of([*self._etcdctl, "get", "-w", "json", "/cas"])
            if f'"version":{self._versions["etcdctl"] + 2},' not in there:
                raise RuntimeError(f"etcdctl has not written each time: {there}")


def children(findings, bench):
    """The names of all children of a node, which are five digits each, sorted and one a line; the shell prints them in
    one line. The floor lists without a sync."""
    count = bench.pick(full=100_000, quick=20_000, least=100)
    with servers():
        run([*VALUE, "set", "/many", ""])
        run([*BARE, "fill", "/many", str(count)])
        host, port = addresses()[0]
        words = {"zklock": [*VALUE, "list", "/many"], "floor": [*BARE, "list", "/many"]}
        if has_kazoo(findings):
            words["Kazoo"] = [*KAZOO, "list", "/many"]
        if has_zookeeper_shell(findings):
            words[SHELL] = [*ZOOKEEPER_SHELL, "-server", f"{host}:{port}", "ls", "/many"]
        listed = output_of(words["zklock"]).count("\n")
        if listed != count:
            raise RuntimeError(f"zklock has listed {listed} of {count}")
        contestants = {name: lambda _, these=these: run(these) for name, these in words.items()}
        interleaved(contestants, 1)
        samples = interleaved(contestants, bench.pick(full=20, quick=5, least=1), SLOW)
    for quantity, unit, of in (("wall", "ms", lambda one: one.wall), ("CPU", "ms CPU", lambda one: one.cpu)):
        found = {name: findings.add(f"list of {count:,}, {name}, {quantity}", unit, [1000 * of(one) for one in taken])
                 for name, taken in samples.items()}
        for name in list(found)[1:]:
            findings.ratio(f"{quantity} of list, zklock to {name}", found["zklock"], found[name])


def watching(findings, bench):
    """From a line to a program that has a session and writes it into a node, until a watcher of that node has written a
    line for that value: the write and its way to the watcher are the same for all. The floor reads and watches at once,
    as the others do; Kazoo has its DataWatch."""
    words = {"zklock": [*VALUE, "watch"], "floor": [*BARE, "watch"]}
    if has_kazoo(findings):
        words["Kazoo"] = [*KAZOO, "watch-value"]
    ways = {}
    with servers():
        try:
            for name, these in words.items():
                ways[name] = Way(these, f"/{name}")
            contestants = {name: way.seen for name, way in ways.items()}
            interleaved(contestants, bench.pick(full=50, quick=20, least=1))
            samples = interleaved(contestants, bench.pick(full=300, quick=50, least=2))
        finally:
            for way in ways.values():
                way.end()
    found = {name: findings.add(f"seen by {name}", "ms", taken) for name, taken in samples.items()}
    for name in list(found)[1:]:
        findings.ratio(f"written to seen, zklock to {name}", found["zklock"], found[name])


class Way:
    """The way from a program that writes to one that watches."""

    def __init__(self, words, path):
        run([*VALUE, "set", path, "first"])
        self._writer = subprocess.Popen([*BARE, "feed", path], stdin=subprocess.PIPE)
        self._watcher = Watcher([*words, path])
        self._watcher.await_lines(1)

    def seen(self, turn):
        """Returns milliseconds."""
        start = time.monotonic()
        self._writer.stdin.write(f"{turn} {start}\n".encode())
        self._writer.stdin.flush()
        self._watcher.await_lines(1)
        return 1000 * (time.monotonic() - start)

    def end(self):
        self._writer.stdin.close()
        self._writer.wait()
        self._watcher.end()
