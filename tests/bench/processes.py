# SPDX-License-Identifier: Apache-2.0
"""Running processes: their memory, their children; and how to start many."""

import os
import select
import subprocess
import time

from programs import HELPERS

PATIENCE = 120  # seconds
LOT = 50


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as numbers:
        return [int(one) for one in numbers.read().split()]


def with_guard(pid):
    """Returns a zklock, and the guard that is its only child."""
    return [pid, *children(pid)]


def proportional_size(pids):
    """Returns MiB; shared memory counts in parts."""
    return sum(kibibytes(f"/proc/{pid}/smaps_rollup", "Pss:") for pid in pids) / 1024


def peak_size(pids):
    """Returns MiB; shared memory counts for each."""
    return sum(kibibytes(f"/proc/{pid}/status", "VmHWM:") for pid in pids) / 1024


def kibibytes(file, key):
    with open(file, encoding="utf-8") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith(key))


def wait_until(what, fact):
    deadline = time.monotonic() + PATIENCE
    while not fact():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited in vain: {what}")
        time.sleep(0.05)


def line_length(path):
    """Returns how many contenders stand there."""
    answer = subprocess.run([f"{HELPERS}/znode", "ls", path], check=False, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return len(answer.stdout.split())


def read_soon(stream, or_end=False):
    """Returns what comes next; nothing if that may be the end."""
    if not select.select([stream], [], [], PATIENCE)[0]:
        raise RuntimeError("nothing came")
    text = os.read(stream.fileno(), 4096)
    if not text and not or_end:
        raise RuntimeError("nothing comes any more")
    return text


def start_many(commands, await_count, stdout=subprocess.DEVNULL):
    """Starts them in batches; `await_count(N)` returns when N have come to where they wait."""
    started = []
    for first in range(0, len(commands), LOT):
        started += [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout)
                    for words in commands[first:first + LOT]]
        await_count(len(started))
    return started


def end_all(processes):
    for one in processes:
        if one.poll() is None:
            one.terminate()
    for one in processes:
        one.wait()
