# SPDX-License-Identifier: Apache-2.0
"""Many that wait for one lock: what a hand-over asks of the server, and what a waiter takes of memory."""

import os
import subprocess
import time

from programs import HELPERS, ZKLOCK, output_of, servers, traffic

PATIENCE = 300  # seconds
# So long that nobody pings while it is counted.
LONG_SESSIONS = ("--set", "maxSessionTimeout=3600000")
WORDS = [*ZKLOCK, "run", "--session-timeout", "1h", "/l", "--"]


def crowd(findings, bench):
    costs = {size: gather(findings, bench, size)
             for size in bench.pick(full=(10, 100, 1_000), quick=(10, 50), least=(2, 4))}
    few, many = min(costs), max(costs)
    findings.claim(f"requests a hand-over, {many:,} waiting to {few}", costs[many] / costs[few], at_most=1.01)


def gather(findings, bench, size):
    gate = os.path.join(bench.folder, f"gate{size}")
    os.mkfifo(gate)
    with servers(*LONG_SESSIONS):
        holder = subprocess.Popen([*WORDS, "cat", gate], stdin=subprocess.DEVNULL)
        wait_for_line(1)
        waiters = [subprocess.Popen([*WORDS, "true"], stdin=subprocess.DEVNULL) for _ in range(size)]
        wait_for_line(size + 1)
        memory = findings.add(f"memory a waiter, {size:,} waiting", "MiB", [memory_of(one.pid) for one in waiters])
        findings.claim(f"memory a waiter, {size:,} waiting", memory.median, at_most=3, unit="MiB")
        received, sent = traffic()
        with open(gate, "w", encoding="ascii"):
            pass
        if any(one.wait() for one in [holder, *waiters]):
            raise RuntimeError("a waiter has failed")
        more_received, more_sent = traffic()
    # The words cost a request and two answers.
    requests, answers = more_received - received - 1, more_sent - sent - 2
    findings.add(f"requests a hand-over, {size:,} waiting", "", [requests / size])
    findings.add(f"events a hand-over, {size:,} waiting", "", [(answers - requests) / size])
    return requests / size


def wait_for_line(size):
    deadline = time.monotonic() + PATIENCE
    while line_length() != size:
        if time.monotonic() > deadline:
            raise RuntimeError("the crowd does not gather")
        time.sleep(0.1)


def line_length():
    answer = subprocess.run([f"{HELPERS}/znode", "ls", "/l"], check=False, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return len(answer.stdout.split())


def memory_of(pid):
    """Proportional set size in MiB, the guard's included."""
    children = output_of(["pgrep", "-P", str(pid)]).split()
    return sum(proportional_size(one) for one in [pid, *children]) / 1024


def proportional_size(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
