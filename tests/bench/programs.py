# SPDX-License-Identifier: Apache-2.0
"""Runs programs to their end and measures them."""

import os
import resource
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.environ.get("ZKLOCK_BIN") or f"{ROOT}/build/bench/zklock"
HELPERS = os.environ.get("ZKLOCK_HELPERS") or f"{ROOT}/build/bench/tests"
ZKLOCK = [BIN]


def bare(name):
    """Returns the command of a subcommand of `bare`."""
    return [f"{HELPERS}/bare", name]


class Sample:
    """The cost of a run: seconds of wall time and of CPU, all its children's too, and its largest memory in MiB."""

    def __init__(self, wall, cpu, memory=0.0):
        self.wall = wall
        self.cpu = cpu
        self.memory = memory


def run(words, stdin=os.devnull, stdout=os.devnull, environment=None):
    """Runs a program to its end, which must be good, in our environment or the given one."""
    reading, writing = os.pipe()
    timed = [f"{HELPERS}/timed", str(writing), *words]
    with open(stdin, "rb") as source, open(stdout, "wb") as sink, open(reading, encoding="ascii") as answer:
        status = subprocess.run(timed, check=False, stdin=source, stdout=sink, pass_fds=[writing],
                                env=environment).returncode
        os.close(writing)
        figures = answer.read().split()
    if status != 0 or not figures:
        raise RuntimeError(f"{' '.join(words)} ended with {status}")
    return Sample(float(figures[0]), float(figures[1]), float(figures[2]) / 1024)


def output_of(words):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


def run_together(commands):
    """Runs all at once; returns a sample of the whole, without its memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    processes = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for words in commands]
    statuses = [process.wait() for process in processes]
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if any(statuses):
        raise RuntimeError(f"{' '.join(commands[0])} ended with {max(statuses, key=abs)}")
    return Sample(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def interleaved(contestants, rounds, seldom=None):
    """Returns {name: samples} for {name: function of the round}. Each round runs them one after another; those in
    `seldom`, {name: N}, only run every Nth time, because they are slow."""
    samples = {name: [] for name in contestants}
    for turn in range(rounds):
        for name, measure in contestants.items():
            if turn % (seldom or {}).get(name, 1) == 0:
                samples[name].append(measure(turn))
    return samples
