# SPDX-License-Identifier: Apache-2.0
"""One run's folder and environment, and the end of every process that was started with it."""

import contextlib
import os
import shutil
import signal
import tempfile
import time

MARK = "ZKLOCK_FAULTS"


class Place:
    def __init__(self, zklock, holder, count):
        self.zklock = os.path.realpath(zklock)
        self.holder = os.path.realpath(holder)
        self.count = count  # of contenders
        self.forkers = ()  # the numbers of those whose commands fork all the time
        self.folder = tempfile.mkdtemp(prefix="zklock-faults.")
        self.environment = {**os.environ, MARK: self.folder, "ZKLOCK_TRACE": self.path("trace")}
        for name in ("history", "stay"):
            with open(self.path(name), "wb"):
                pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def _marked(self):
        mark = f"\0{MARK}={self.folder}\0".encode()
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if not entry.isdigit():
                    continue
                with open(f"/proc/{entry}/environ", "rb") as environment:
                    if mark in b"\0" + environment.read():
                        yield int(entry)

    def kill_all(self):
        """In rounds: one that forks may be missed, its child is not."""
        until = time.monotonic() + 20
        while pids := list(self._marked()):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                raise RuntimeError(f"processes that do not end: {pids}")
            time.sleep(0.02)

    def remove(self):
        shutil.rmtree(self.folder)
