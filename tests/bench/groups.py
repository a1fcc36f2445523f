# SPDX-License-Identifier: Apache-2.0
"""Comparisons of `zklock group`."""

import subprocess
import time

from peers import KAZOO, has_kazoo
from processes import end_all, proportional_size, read_soon, start_many
from programs import HELPERS, ZKLOCK, interleaved, run
from sandbox import Traffic, servers

# Sessions are so long that no client pings while the requests are counted.
LONG_SESSIONS = ("--set", "maxSessionTimeout=3600000")
JOIN = [*ZKLOCK, "group", "join", "--session-timeout", "1h"]


class Watcher:
    """A process that writes a line for each change of a group."""

    def __init__(self, words):
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def await_lines(self, count):
        while count > 0:
            count -= read_soon(self._process.stdout).count(b"\n")

    def end(self):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()


def joining(findings, bench):
    """From the start of the process that joins until a watcher, which was there before, has written the line of it; and
    from TERM to that process until the line that it has left. The floor for joining is a C program that does no more
    than make the node, seen by the same watcher; Kazoo's Party is seen by Kazoo's ChildrenWatch."""
    with servers():
        subprocess.run([*ZKLOCK, "group", "create", "/g"], check=True)
        watcher = Watcher([*ZKLOCK, "group", "watch", "/g"])
        watchers, left = [watcher], []
        contestants = {"zklock": lambda turn: joined([*JOIN, "--name", f"m{turn}", "/g"], watcher, left),
                       "floor": lambda turn: joined([f"{HELPERS}/znode", "stand", f"/g/bare{turn}-"], watcher)}
        if has_kazoo(findings):
            party = Watcher([*KAZOO, "watch", "/party"])
            party.await_lines(1)
            watchers.append(party)
            contestants["Kazoo"] = lambda turn: joined([*KAZOO, "party", "/party", f"m{turn}"], party)
        interleaved(contestants, 2)
        del left[:]
        samples = interleaved(contestants, bench.pick(full=24, quick=5, least=1))
        for one in watchers:
            one.end()
    seen = {name: findings.add(f"{name} joins", "ms", taken) for name, taken in samples.items()}
    findings.add("zklock leaves", "ms", left)
    findings.ratio("join to seen, zklock to floor", seen["zklock"], seen["floor"])
    if "Kazoo" in seen:
        findings.ratio("join to seen, zklock to Kazoo", seen["zklock"], seen["Kazoo"])


def joined(words, watcher, left=None):
    """Returns the milliseconds until it is seen to have joined; adds those until it is seen to have left."""
    start = time.monotonic()
    member = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    watcher.await_lines(1)
    seen = time.monotonic()
    member.terminate()
    watcher.await_lines(1)
    if left is not None:
        left.append(1000 * (time.monotonic() - seen))
    member.wait()
    return 1000 * (seen - start)


def members(findings, bench):
    """That many real `zklock group join` without a command, a process and a session each, started 50 at a time while
    one `group watch` looks on; then the list of them, one more who joins, and TERM to all. Requests are the server's
    own counter from the first start until all are seen, the watcher's included. Memory is the proportional set size.
    The floor of `group list` asks for the names only, which do not tell whose session each is."""
    count = bench.pick(full=1_000, quick=100, least=5)
    rounds = bench.pick(full=20, quick=5, least=1)
    started = []
    with servers(*LONG_SESSIONS):
        watcher = Watcher([*ZKLOCK, "group", "watch", "--session-timeout", "1h", "/g"])
        try:
            repeated(watcher, rounds)  # compiles the server's code
            alone = repeated(watcher, rounds)
            gather(findings, watcher, count, started)
            crowded = repeated(watcher, rounds)
            listing(findings, count, rounds)
            findings.add(f"memory a member, {count:,} in", "MiB", [proportional_size([one.pid]) for one in started])
            start = time.monotonic()
            end_all(started)
            watcher.await_lines(count)
            findings.add(f"{count:,} leave", "s", [time.monotonic() - start])
        finally:
            end_all(started)
            watcher.end()
    small, large = findings.add("joins, nobody in", "ms", alone), findings.add(f"joins, {count:,} in", "ms", crowded)
    findings.claim(f"join to seen longer by, {count:,} in", large.median - small.median, unit="ms")


def repeated(watcher, rounds):
    """Joins one after another; each leaves before the next."""
    return [joined([*JOIN, "--name", "one", "/g"], watcher) for _ in range(rounds)]


def gather(findings, watcher, count, started):
    seen = 0

    def await_members(number):
        nonlocal seen
        watcher.await_lines(number - seen)
        seen = number

    traffic, start = Traffic(), time.monotonic()
    started += start_many([[*JOIN, "--name", f"m{number}", "/g"] for number in range(count)], await_members)
    findings.add(f"{count:,} join", "s", [time.monotonic() - start])
    findings.add(f"requests a join, {count:,} members", "requests", [traffic.so_far()[0] / count])


def listing(findings, count, rounds):
    samples = interleaved({"group list": lambda _: run([*ZKLOCK, "group", "list", "/g"]),
                           "floor": lambda _: run([f"{HELPERS}/znode", "ls", "/g"])}, rounds)
    walls = [findings.add(f"{name}, {count:,} members", "ms", [1000 * one.wall for one in taken])
             for name, taken in samples.items()]
    findings.ratio("list, zklock to floor", *walls)
