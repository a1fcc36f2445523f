# SPDX-License-Identifier: Apache-2.0
"""Has a run's folder and environment, and ends every process that was started with it."""

import contextlib
import os
import shutil
import signal
import tempfile
import time

MARK = "ZKLOCK_FAULTS"
NEWEST = 40  # processes
CHASE = 100  # rounds


class Place:
    def __init__(self, zklock, holder, count):
        self.zklock = os.path.realpath(zklock)
        self.holder = os.path.realpath(holder)
        self.count = count  # of contenders
        self.plain = None  # servers for programs without TLS
        self.sessions = {}  # of contenders with a session timeout of their own
        self.forkers = ()  # the numbers of contenders whose commands fork all the time
        self.folder = tempfile.mkdtemp(prefix="zklock-faults.")
        self.environment = {**os.environ, MARK: self.folder, "ZKLOCK_TRACE": self.path("trace")}
        for name in ("history", "stay", "trace"):
            with open(self.path(name), "wb"):
                pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def tell(self, name, text):
        """Writes a file that other processes read now and then."""
        with open(f"{self.path(name)}.new", "w", encoding="ascii") as file:
            file.write(f"{text}\n")
        os.replace(f"{self.path(name)}.new", self.path(name))

    def variables(self, whose):
        """Returns variables by which `whose` wall clock, server log and resolver obey us."""
        libraries = ":".join(f"{os.path.dirname(self.holder)}/preload_{what}.so"
                             for what in ("wall_clock", "slow_log", "hosts"))
        return {"LD_PRELOAD": libraries, "TEST_HOSTS": self.path("hosts"), "WALL_CLOCK": self.path(f"wall-clock-{whose}"), "SLOW_LOG": self.path(f"slow-log-{whose}")}

    def _marked(self):
        mark = f"\0{MARK}={self.folder}\0".encode()
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if not entry.isdigit():
                    continue
                with open(f"/proc/{entry}/environ", "rb") as environment:
                    if mark in b"\0" + environment.read():
                        yield int(entry)

    def _of_run(self, run):
        return (pid for pid in self._marked() if self._is_of_run(pid, run))

    def _is_of_run(self, pid, run):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                command = line.read()
        except OSError:
            return False
        return command.startswith(self.holder.encode()) and f"\0{run}\0".encode() in command

    def processes(self):
        """Returns the processes that were started with our environment, and are not dead."""
        return [pid for pid in self._marked() if not is_zombie(pid)]

    def kill_run(self, run):
        """Kills what is left of that run's command."""
        self._kill(lambda: self._of_run(run))
        if run.partition(".")[0] in map(str, self.forkers):
            self._chase(run)

    def _chase(self, run):
        """Kills a process that forks every millisecond: it is gone before a list of all is read."""
        for _ in range(CHASE):
            with open("/proc/loadavg", encoding="ascii") as load:
                last = int(load.read().split()[-1])
            for pid in range(last, max(last - NEWEST, 0), -1):
                if self._is_of_run(pid, run):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def kill_all(self):
        self._kill(self._marked)

    def _kill(self, find):
        """Kills in rounds, because the found processes may have started others meanwhile."""
        until = time.monotonic() + 20
        while pids := list(find()):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                raise RuntimeError(f"processes that do not end: {pids}")
            time.sleep(0.02)

    def remove(self):
        shutil.rmtree(self.folder)


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
