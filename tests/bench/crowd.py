# SPDX-License-Identifier: Apache-2.0
"""Many waiters for one lock: how many requests a hand-over takes, and how much memory a waiter."""

import os

from processes import end_all, line_length, proportional_size, start_many, wait_until, with_guard
from programs import ZKLOCK
from sandbox import Traffic, servers

# Sessions are so long that no client pings while the requests are counted.
LONG_SESSIONS = ("--set", "maxSessionTimeout=3600000")
WORDS = [*ZKLOCK, "run", "--session-timeout", "1h", "/l", "--"]


def crowd(findings, bench):
    """Real processes, each a zklock and its guard, in line for one lock; each holds it for `true`. Requests and events
    are the server's own counters from the moment the first holder leaves until the last has started, by the number of
    hand-overs; nobody pings meanwhile. Memory is the proportional set size of both processes."""
    sizes = bench.pick(full=(10, 100, 1_000), quick=(10, 100), least=(2, 4))
    costs = {size: gather(findings, bench, size) for size in sizes}
    few, many = min(costs), max(costs)
    findings.claim(f"requests a hand-over, {many:,} waiting to {few}", costs[many] / costs[few], at_most=1.01)


def gather(findings, bench, size):
    first, last = (os.path.join(bench.folder, f"{name}{size}") for name in ("first", "last"))
    os.mkfifo(first)
    os.mkfifo(last)
    started = []
    with servers(*LONG_SESSIONS):
        try:
            started += start_many([[*WORDS, "cat", first]], await_line)
            started += start_many([[*WORDS, "true"]] * (size - 1), lambda count: await_line(count + 1))
            started += start_many([[*WORDS, "cat", last]], lambda _: await_line(size + 1))
            memory = findings.add(f"memory a waiter, {size:,} waiting", "MiB",
                                  [proportional_size(with_guard(one.pid)) for one in started[1:]])
            findings.claim(f"memory a waiter, {size:,} waiting", memory.median, at_most=3, unit="MiB")
            requests, events = hand_overs(first, last)
            if any(one.wait() for one in started):
                raise RuntimeError("a waiter has failed")
        finally:
            end_all(started)
    findings.add(f"requests a hand-over, {size:,} waiting", "requests", [requests / size])
    findings.add(f"events a hand-over, {size:,} waiting", "events", [events / size])
    return requests / size


def hand_overs(first, last):
    """Lets the first holder go. Returns requests and events until the last one has started, which may go then."""
    traffic = Traffic()
    with open(first, "w", encoding="ascii"):
        pass
    # It can be opened when the last one's command reads it.
    with open(last, "w", encoding="ascii"):
        return traffic.so_far()


def await_line(size):
    wait_until(f"{size} in line", lambda: line_length("/l") == size)
