# SPDX-License-Identifier: Apache-2.0
"""A week in miniature: does anything grow that should not, in the servers or in long-running processes?"""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time

from processes import PATIENCE, kibibytes
from programs import ZKLOCK, output_of, run_together
from sandbox import monitored, servers
from shares import descriptors, exact_cpu_seconds

# Empty containers go soon.
PROMPT = ("--java-property", "znode.container.checkIntervalMs=500")
TOGETHER = 20
MOST_NODES = 10  # an open segment of a priority more, or less
MOST_MEMORY = 512  # KiB
NODES = ("znode_count", "ephemerals_count", "watch_count", "num_alive_connections")


class LongLived:
    """The processes that run for the whole week, by their names."""

    def __init__(self):
        self.processes = {
            "pull --follow": self._start("queue", "pull", "--follow", "/work"),
            "pull --follow -- COMMAND": self._start("queue", "pull", "--follow", "/jobs", "--", "true"),
            "push": self._start("queue", "push", "/work", stdin=subprocess.PIPE),
            "group watch": self._start("group", "watch", "/group"),
            "group join": self._start("group", "join", "--name", "stays", "/group"),
            "value watch": self._start("value", "watch", "/values/1"),
            "show --follow": self._start("show", "--follow", "/locks/common"),
            "run": self._start("run", "/locks/kept", "--", "sleep", "86400"),
            "top": self._on_a_screen("top", "--interval", "500ms")}

    @staticmethod
    def _start(*words, stdin=subprocess.DEVNULL):
        return subprocess.Popen([*ZKLOCK, *words], stdin=stdin, stdout=subprocess.DEVNULL)

    @staticmethod
    def _on_a_screen(*words):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = subprocess.Popen([*ZKLOCK, *words], stdin=theirs, stdout=theirs, stderr=theirs,
                                   env={**os.environ, "TERM": "xterm"}, start_new_session=True)
        os.close(theirs)
        threading.Thread(target=read_all, args=(ours,), daemon=True).start()
        return process

    def push(self, count):
        pipe = self.processes["push"].stdin
        pipe.write(b"".join(b"line %d\n" % number for number in range(count)))
        pipe.flush()

    def sizes(self):
        """Returns {name: (KiB, descriptors, CPU seconds)}."""
        return {name: (kibibytes(f"/proc/{one.pid}/smaps_rollup", "Anonymous:"), descriptors(one.pid),
                       exact_cpu_seconds(one.pid)) for name, one in self.processes.items()}

    def check(self):
        ended = [name for name, one in self.processes.items() if one.poll() is not None]
        if ended:
            raise RuntimeError(f"has ended: {', '.join(ended)}")

    def end(self):
        for one in self.processes.values():
            if one.poll() is None:
                one.terminate()
        for one in self.processes.values():
            one.wait()
            if one.stdin:
                one.stdin.close()


def read_all(descriptor):
    """Reads until the other side is closed, which is an error for a terminal."""
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        os.close(descriptor)


def week(findings, bench):
    """Rounds of many short commands beside some that run for long: lines are pushed by a process that stays and by
    others, and taken by a `pull --follow`, some of them by one with a command for each; a common lock and others of a
    new name each, slots, members that join and leave, values that are written, a queue that is filled and drained. What
    the server counts, and the memory (without what is a file) and descriptors of those that run for long, are looked at
    after some rounds, and again after all, each time when nothing has happened for a while and containers are gone. A
    server and a process may be as large as they are, but must not have grown."""
    rounds = bench.pick(full=100, quick=10, least=1)
    with servers(*PROMPT, heap="1g"):
        stay = LongLived()
        try:
            for number in range(max(2, rounds // 10)):
                one_round(stay, f"warm{number}")
            # Memory is then in as many pieces as it will be.
            stay.push(bench.pick(full=200_000, quick=30_000, least=100))
            nodes, sizes = quiet(stay), stay.sizes()
            begin = time.monotonic()
            commands = sum(one_round(stay, number) for number in range(rounds))
            findings.add("commands", "commands", [commands])
            findings.add("rounds", "s", [time.monotonic() - begin])
            compare(findings, nodes, quiet(stay), sizes, stay.sizes())
        finally:
            stay.end()


def one_round(stay, name):
    """Returns how many commands there were."""
    batches = [
        [["run", "/locks/common", "--", "true"]] * TOGETHER,
        [["run", f"/locks/of/{name}-{number}", "--", "true"] for number in range(TOGETHER)],
        [["run", "--slots", "3", "/locks/slots", "--", "true"]] * (TOGETHER // 2),
        [["group", "join", "/group", "--", "true"]] * TOGETHER,
        [["value", "set", f"/values/{number}", f"{name}"] for number in range(TOGETHER)],
        [["queue", "push", "/work", "a", "b"]] * (TOGETHER // 2) + [["queue", "push", "/jobs", "a"]] * (TOGETHER // 2),
        [["queue", "push", "/other", *map(str, range(60))]] * TOGETHER,
        [["queue", "pull", "--all", "/other"]] * 4]
    stay.push(1_500)
    for batch in batches:
        run_together([[*ZKLOCK, *words] for words in batch])
    stay.check()
    return sum(map(len, batches))


def quiet(stay):
    """Waits until the server's counts no longer fall, and returns them."""
    deadline = time.monotonic() + PATIENCE
    before = None
    while True:
        now = [int(monitored()[f"zk_{name}"]) for name in NODES]
        if now == before and all(is_empty(queue) for queue in ("/work", "/jobs", "/other")):
            return now
        if time.monotonic() > deadline:
            raise RuntimeError("waited in vain: nothing happens any more")
        before = now
        time.sleep(3)
        stay.check()


def is_empty(queue):
    return output_of([*ZKLOCK, "queue", "count", queue]).startswith("items 0\n")


def compare(findings, nodes_before, nodes_after, sizes_before, sizes_after):
    for name, before, after in zip(NODES, nodes_before, nodes_after):
        enter_both(findings, f"the server: {name.replace('_', ' ')}", "", before, after)
        findings.claim(f"more: {name.replace('_', ' ')}", after - before, at_most=MOST_NODES)
    for name, (memory, files, cpu) in sizes_after.items():
        enter_both(findings, name, "KiB", sizes_before[name][0], memory)
        enter_both(findings, name, "descriptors", sizes_before[name][1], files)
        findings.add(f"{name}: CPU time", "s", [cpu - sizes_before[name][2]])
        findings.claim(f"{name}: memory has grown by", memory - sizes_before[name][0], at_most=MOST_MEMORY, unit="KiB")
        findings.claim(f"{name}: descriptors more", files - sizes_before[name][1], at_most=0)


def enter_both(findings, name, unit, before, after):
    findings.add(f"{name}, before", unit, [before])
    findings.add(f"{name}, after", unit, [after])
