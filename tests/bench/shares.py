# SPDX-License-Identifier: Apache-2.0
"""What something has cost the first server; what processes have, and have received."""

import os
import re
import subprocess
import time

from processes import kibibytes
from sandbox import ask, monitored

UNITS = ("s", "requests", "answers", "server CPU s")
TICKS = os.sysconf("SC_CLK_TCK")


class Share:
    """Counts from its creation on; answers are events too. Each count costs a request, an answer and some CPU time."""

    def __init__(self):
        self.pid = int(ask("pid", "1"))
        self._begin = self._now()

    def _now(self):
        values = monitored()
        return [time.monotonic(), int(values["zk_packets_received"]), int(values["zk_packets_sent"]),
                cpu_seconds(self.pid)]

    def so_far(self):
        """Returns the figures in the order of UNITS."""
        return [after - before for before, after in zip(self._begin, self._now())]


def enter(findings, name, figures, units=UNITS):
    for unit, figure in zip(units, figures):
        findings.add(name, unit, [figure])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return cpu_in(stat.read())


def exact_cpu_seconds(pid):
    """Returns the CPU time of its first thread, even if that is less than a tick."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as stat:
        return int(stat.read().split()[0]) / 1e9


def cpu_in(stat):
    """The program's name may have spaces and brackets in it."""
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def resident_size(pid):
    """Returns MiB."""
    return kibibytes(f"/proc/{pid}/status", "VmRSS:") / 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def wakes(pid):
    """Returns how often the process has waited for something."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def bytes_received():
    """Returns {process: bytes} by the established connections that it has now."""
    lines = subprocess.run(["ss", "-tinpHO", "state", "established"], check=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    return received_in(lines)


def received_in(lines):
    received = {}
    for line in lines:
        pid, count = re.search(r"\bpid=(\d+)", line), re.search(r"\bbytes_received:(\d+)", line)
        if pid and count:
            received[int(pid[1])] = received.get(int(pid[1]), 0) + int(count[1])
    return received
