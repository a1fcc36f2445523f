# SPDX-License-Identifier: Apache-2.0
"""Measures a large group with many watchers: what a change costs, and many changes in a row."""

import os
import statistics
import subprocess
import time
from functools import partial

from figures import Findings
from processes import PATIENCE, end_all
from programs import BIN, bare
from sandbox import servers
from shares import Share, bytes_received, enter

# Sessions are so long that no client pings while the requests are counted.
LONG_SESSIONS = ("--set", "maxSessionTimeout=3600000")
LINE = len("+m00000000\n")
OTHER = "ZKLOCK_BENCH_OTHER"  # another zklock to measure beside ours, like one from before a change
REST = 2  # seconds after which a change is a lone one
UNITS = ("s", "requests", "KiB a watcher", "lists a watcher", "server CPU s")


class Crowd:
    """Members that are nodes of one session."""

    def __init__(self, group):
        self._process = subprocess.Popen([*bare("crowd"), group], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def change(self, number):
        """Returns when so many have joined, or left."""
        self._process.stdin.write(f"{number:+d}\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "ok\n":
            raise RuntimeError("the members have failed")

    def end(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Watchers:
    """Many `group watch`, and the files that they write to."""

    def __init__(self, program, count, folder):
        self._files = [os.path.join(folder, f"told{number}") for number in range(count)]
        self.told = 0  # changes, to each
        self.started = []
        for file in self._files:
            with open(file, "wb") as sink:
                self.started.append(subprocess.Popen([program, "group", "watch", "--session-timeout", "1h", "/g"],
                                                     stdin=subprocess.DEVNULL, stdout=sink))

    def await_told(self, more):
        """Waits until all have written so many more."""
        self.told += more
        deadline = time.monotonic() + PATIENCE
        for file in self._files:
            while os.path.getsize(file) < self.told * LINE:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"waited in vain: {self.told} changes told")
                time.sleep(0.002)
        if any(os.path.getsize(file) != self.told * LINE for file in self._files):
            raise RuntimeError("a watcher has told too much")

    def received(self):
        """Returns the KiB that each has received on average."""
        received = bytes_received()
        return sum(received.get(one.pid, 0) for one in self.started) / len(self.started) / 1024


def watched(findings, bench):
    """Watchers of a large group, a process each. Its members are nodes of one session, as only their number counts;
    `members` has real ones. The first to watch have their figures thrown away: they have the server's code
    compiled. Then each watcher comes to the whole group; then one member joins or leaves, when nothing has changed for
    two seconds, and is timed until all have written it; then many do, in a row with pauses in between, and the time is
    that from the last one until all is written. What a watcher has received is the kernel's count, and lists are that
    divided by the size of one."""
    members = bench.pick(full=10_000, quick=4_000, least=200)
    watchers = bench.pick(full=50, quick=10, least=2)
    contestants = {"": BIN} | ({"before: ": os.environ[OTHER]} if OTHER in os.environ else {})
    late, lists = {}, {}
    unused = Findings("", "")
    with servers(*LONG_SESSIONS, heap="1g"):
        subprocess.run([BIN, "group", "create", "/g"], check=True)
        crowd = Crowd("/g")
        try:
            crowd.change(members)
            of_one(unused, bench, crowd, "", partial(Watchers, BIN, watchers, bench.folder), members)
            for name, program in contestants.items():
                title = f"{name}{members:,} members, {watchers} watchers"
                late[name], lists[name] = of_one(findings, bench, crowd, title,
                                                 partial(Watchers, program, watchers, bench.folder), members)
        finally:
            crowd.end()
    findings.claim("a lone change is told by all after", late[""], at_most=1, unit="s")
    findings.claim("lists a watcher for 100 changes in a row", lists[""], at_most=25)


def of_one(findings, bench, crowd, title, start, members):
    """Returns the seconds until a lone change is reported, and the lists per watcher for many in a row."""
    share = Share()
    watchers = start()
    try:
        watchers.await_told(members)
        seconds, *_ = share.so_far()
        enter(findings, f"{title}: come", [seconds, *cost_of(share, watchers, 0, members)], UNITS)
        return (lone_changes(findings, bench, crowd, title, watchers, members),
                in_a_row(findings, bench, crowd, title, watchers, members))
    finally:
        end_all(watchers.started)


def lone_changes(findings, bench, crowd, title, watchers, members):
    late, figures = [], []
    for turn in range(bench.pick(full=10, quick=4, least=2)):
        time.sleep(REST)
        share, before = Share(), watchers.received()
        begin = time.monotonic()
        crowd.change(-1 if turn % 2 else 1)
        watchers.await_told(1)
        late.append(time.monotonic() - begin)
        figures.append(cost_of(share, watchers, before, members))
    for unit, values in zip(UNITS, [late, *zip(*figures)]):
        findings.add(f"{title}: a lone change", unit, values)
    return statistics.median(late)


def in_a_row(findings, bench, crowd, title, watchers, members):
    """Returns the lists per watcher."""
    changes, pause = bench.pick(full=(100, 0.05), quick=(100, 0.02), least=(10, 0))
    time.sleep(REST)
    share, before = Share(), watchers.received()
    for _ in range(changes):
        crowd.change(1)
        time.sleep(pause)
    begin = time.monotonic()
    watchers.await_told(changes)
    late = time.monotonic() - begin
    figures = cost_of(share, watchers, before, members)
    enter(findings, f"{title}: {changes} in a row", [late, *figures], UNITS)
    crowd.change(-changes)
    watchers.await_told(changes)
    return figures[2]


def cost_of(share, watchers, before, members):
    """Returns the cost in the order of UNITS, without the first."""
    _, requests, _, cpu = share.so_far()
    received = watchers.received() - before
    return [requests, received, received / list_size(members), cpu]


def list_size(members):
    """Returns the KiB of an answer, in which each name also has its length."""
    return members * (len("m00000000") + 4) / 1024
