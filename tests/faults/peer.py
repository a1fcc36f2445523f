#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs another program's contender: peer.py kazoo|curator SERVERS LOCK HISTORY RUN MILLISECONDS

It takes LOCK once and notes that in HISTORY as holder.cc does, with the kernel's lock HISTORY.NAME too, where NAME is
the last part of LOCK. It has no guard, so its session is long, no fault hits its process, and it ends itself, with 76,
after so long without a connection that its session may be over soon.
"""

import fcntl
import os
import signal
import sys
import threading
import time

ALONE = 3.0
BETWEEN_SIGNS = 0.004
LOST = 76


class Contender:
    def __init__(self, peer, lock, history, run):
        self._peer = peer
        self._run = run
        self._left = False
        self._kernel = f"{history}.{os.path.basename(lock)}"
        self._history = os.open(history, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def _watch_over(self):
        alone_since = time.monotonic()
        while time.monotonic() < alone_since + ALONE:
            if self._left or self._peer.is_connected():
                alone_since = time.monotonic()
            time.sleep(0.1)
        os._exit(LOST)

    def _sign(self, word, token):
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        os.write(self._history, f"{word} {self._run} {token} {now} {os.getpid()}\n".encode())

    def take(self, seconds):
        try:
            self._peer.connect()
            threading.Thread(target=self._watch_over, daemon=True).start()
            token = self._peer.take()
            self._hold(token, seconds)
            self._left = True
            self._peer.release()
        except self._peer.lost:
            sys.exit(LOST)
        finally:
            self._peer.close()

    def _hold(self, token, seconds):
        kernel = os.open(self._kernel, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        word = "enter"
        try:
            fcntl.flock(kernel, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            word = "overlap"
        self._sign(word, token)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._sign("alive", token)
            time.sleep(BETWEEN_SIGNS)
        self._sign("exit", token)
        os.close(kernel)


def peer_of(name, servers, lock, history):
    # Each is imported alone: neither needs what the other one needs.
    if name == "kazoo":
        from peer_kazoo import Kazoo
        return Kazoo(servers, lock)
    from peer_curator import Curator
    return Curator(servers, lock, f"{history}.hosts")


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Contender(peer_of(*sys.argv[1:5]), *sys.argv[3:6]).take(int(sys.argv[6]) / 1000)


if __name__ == "__main__":
    main()
