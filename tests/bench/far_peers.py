#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the round trips of zklock and its peers through the relay of far.py, in turns.

  far_peers.py [OPTIONS] ZKLOCK PORT [NAME...]

Takes the arguments of far.py, so that scripts/bench can pass both the same. Does nothing if there are names and none
of them is "peers". With --out, writes far.json there, from which scripts/bench --report makes a part of BENCHMARKS.md.
"""

import contextlib
import datetime
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time

import etcd
from far import Relay, Waits, arguments
from figures import Findings, table
from machine import machine
from peers import CURATOR, KAZOO, has_curator, has_kazoo
from programs import interleaved
from report import FAR

NAME = "peers"
QUIET = 1.0  # s without an answer: less than the time between two pings of any of them
PATIENCE = 30.0  # s
LOCK, VALUE, TURN = "lock", "value", "turn"


class Links:
    """The ways to a ZooKeeper server and an etcd: `near` and `far` are environments, `far` with the relays' ports."""

    def __init__(self, ports, rtt):
        self.rtt = rtt
        self.waits = Waits()
        relays = [Relay(("127.0.0.1", port), rtt / 2, self.waits) for port in ports]
        for relay in relays:
            relay.start()
        self.near = environment(ports)
        self.far = environment([relay.port for relay in relays])

    def count(self, words):
        """Returns the round trips that a program waits for, from its start to its end."""
        self.waits.restart()
        done = subprocess.run(words, env=self.far, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        waited = self.waits.received
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
        return waited

    def await_quiet(self):
        """Returns when answers have come, and then none for a while."""
        deadline = time.monotonic() + PATIENCE
        latest, since = 0, time.monotonic()
        while not latest or time.monotonic() - since < QUIET:
            if time.monotonic() > deadline:
                raise RuntimeError("a contender never waits in silence")
            time.sleep(0.01)
            if self.waits.received != latest:
                latest, since = self.waits.received, time.monotonic()


def environment(ports):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ZKLOCK_")}
    servers = [f"127.0.0.1:{port}" for port in ports]
    return {**kept, **dict(zip(("ZKLOCK_SERVERS", "ETCDCTL_ENDPOINTS"), servers))}


@contextlib.contextmanager
def started(words, env):
    with subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        try:
            yield process
            process.wait(PATIENCE)  # what is killed keeps its place until its session expires
        finally:
            if process.poll() is None:
                process.terminate()


def await_line(process):
    if not process.stdout.readline():
        raise RuntimeError(f"{process.args[0]} has not run its command")


def hand_over(links, under_lock):
    """Returns the round trips from a release near by until the next holder, far away, runs its command. Half of one is
    the way of the event."""
    with tempfile.TemporaryDirectory(prefix="zklock-bench-far.") as folder:
        gate = os.path.join(folder, "gate")
        os.mkfifo(gate)  # etcdctl gives its command no standard input
        with started([*under_lock, "sh", "-c", 'echo; exec timeout 60 cat "$0"', gate], links.near) as holder:
            await_line(holder)
            links.waits.restart()
            with started([*under_lock, "echo"], links.far) as waiter:
                links.await_quiet()
                before = links.waits.received
                with open(gate, "w", encoding="ascii"):
                    pass
                await_line(waiter)
                return links.waits.received - before + 0.5


def programs(zklock, root, findings, etcdctl):
    """Returns {program: {task: words}}. A lock's words lack the command; the value is there before it is set."""
    lock, value, turn = f"{root}-{LOCK}", f"{root}-{VALUE}", f"{root}-{TURN}"
    found = {"zklock": {LOCK: [zklock, "run", lock, "--"], "set": [zklock, "value", "set", value, "x"],
                        "get": [zklock, "value", "get", value], TURN: [zklock, "run", turn, "--"]}}
    if etcdctl:
        found["etcdctl"] = {LOCK: ["etcdctl", "lock", lock, "--"], "set": ["etcdctl", "put", value, "x"],
                            "get": ["etcdctl", "get", value], TURN: ["etcdctl", "lock", turn, "--"]}
    if has_kazoo(findings):
        found["Kazoo"] = {LOCK: [*KAZOO, "lock", f"{lock}-kazoo", "1"], "set": [*KAZOO, "write", value, "x"],
                          "get": [*KAZOO, "read", value], TURN: [*KAZOO, "lock", f"{turn}-kazoo", "1"]}
    if has_curator(findings):
        found["Curator"] = {LOCK: [*CURATOR, f"{lock}-curator", "1"], TURN: [*CURATOR, f"{turn}-curator", "1"]}
    return found


def in_turns(measure, task, found, rounds):
    able = {name: lambda _, these=words[task]: measure(these) for name, words in found.items() if task in words}
    return interleaved(able, rounds)


def round_trips(findings, links, found, times):
    """A new process each time, over a link on which every byte is held back. A relay counts the consecutive round
    trips that the process waits for, TCP's handshake among them; how long it computes does not matter, nor how many
    connections it opens. The first lock is on a path that is not there yet. The value is there before it is set. A
    hand-over begins with the release by a holder near the server, and ends when the command of the next one, far away,
    runs; half a round trip is the way of the event."""
    locks = in_turns(lambda words: links.count([*words, "true"]), LOCK, found, times + 1)
    for name, counts in locks.items():
        findings.add(name, "first lock", counts[:1])
        findings.add(name, "lock", counts[1:])
    for task in ("set", "get"):
        for name, counts in in_turns(links.count, task, found, times).items():
            findings.add(name, task, counts)
    for name, counts in in_turns(lambda words: hand_over(links, words), TURN, found, times).items():
        findings.add(name, "hand-over", counts)


def clean_up(zklock, root, found, links):
    paths = [f"{root}-{VALUE}"]
    paths += [f"{root}-{task}{end}" for task in (LOCK, TURN)
              for name, end in (("zklock", ""), ("Kazoo", "-kazoo"), ("Curator", "-curator")) if name in found]
    for path in paths:
        subprocess.run([zklock, "value", "delete", "-r", "--yes", path], env=links.near, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(options, findings):
    root = f"/far-peers-{os.getpid()}"
    with etcd.server(findings) as etcdctl:
        ports = [options.port, *([int(etcdctl[-1].rpartition(":")[2])] if etcdctl else [])]
        links = Links(ports, options.rtt / 1000)
        found = programs(options.zklock, root, findings, etcdctl)
        try:
            subprocess.run([options.zklock, "value", "set", f"{root}-{VALUE}", "x"], env=links.near, check=True)
            round_trips(findings, links, found, max(options.times, 1))
        finally:
            clean_up(options.zklock, root, found, links)


def write(folder, results):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, FAR), "w", encoding="utf-8") as sink:
        json.dump(results, sink, indent=1)
        sink.write("\n")


def main():
    options = arguments("far_peers.py")
    if options.list:
        print(NAME)
        return
    if options.names and NAME not in options.names:
        return
    begun, start, load = datetime.datetime.now(datetime.timezone.utc), time.monotonic(), os.getloadavg()[0]
    findings = Findings("far", "Round trips over a slow link", " ".join(inspect.getdoc(round_trips).split()))
    measure(options, findings)
    seconds = round(time.monotonic() - start, 1)
    print("\n".join(table(findings)))
    if options.out:
        comparison = {**findings.as_dict(), "plots": [], "seconds": seconds, "load_before": load,
                      "begun": begun.isoformat(timespec="seconds"), "rtt_ms": options.rtt}
        write(options.out, {"begun": comparison["begun"], "machine": machine(), "comparisons": [comparison],
                            "seconds": seconds})


if __name__ == "__main__":
    sys.exit(main())
