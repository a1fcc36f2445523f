#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kazoo_driver.py SERVERS: runs Kazoo's locks and parties, for the tests. Obeys the lines of its standard input and
answers with lines "MICROSECONDS WORD NAME", the first of them "ready driver".

    take NAME KIND PATH          held; leaves and released, after it was told to
    try NAME KIND PATH           the same, or busy
    release NAME
    count NAME KIND PATH FILE N  counted: it has added one to the number in FILE N times, under the lock

After an error, the answer is "failed NAME: WHY".
"""

import sys
import threading
import time

from kazoo.client import KazooClient

SESSION = 30.0


class Membership:
    """Uses a party like a lock that is always free."""

    def __init__(self, party):
        self._party = party

    def acquire(self, blocking):  # pylint: disable=unused-argument
        self._party.join()
        return True

    def release(self):
        self._party.leave()


KINDS = {
    "Lock": lambda client, path: client.Lock(path),
    "Lock.extra": lambda client, path: client.Lock(path, extra_lock_patterns=["-lock-"]),
    "ReadLock": lambda client, path: client.ReadLock(path),
    "WriteLock": lambda client, path: client.WriteLock(path),
    "Party": lambda client, path: Membership(client.Party(path, "kazoo1")),
    "ShallowParty": lambda client, path: Membership(client.ShallowParty(path, "kazoo1")),
}
saying = threading.Lock()


def say(word, name):
    with saying:
        print(time.time_ns() // 1000, word, name, flush=True)


class Turn:
    """Does the work of a NAME in its thread: holds a lock until it is released, or counts under it."""

    def __init__(self, name, lock):
        self._name = name
        self._lock = lock
        self._over = threading.Event()

    def begin(self, work, *arguments):
        threading.Thread(target=self._run, args=(work, arguments), daemon=True).start()

    def _run(self, work, arguments):
        try:
            work(*arguments)
        except Exception as failure:  # pylint: disable=broad-except  # the test is to hear of it
            say("failed", f"{self._name}: {failure!r}")
            raise

    def end(self):
        self._over.set()

    def hold(self, wait):
        held = self._lock.acquire(blocking=wait)
        say("held" if held else "busy", self._name)
        if not held:
            return
        self._over.wait()
        say("leaves", self._name)
        self._lock.release()
        say("released", self._name)

    def count(self, path, times):
        """Adds one by a read and a write, which is right only if the caller is alone."""
        for _ in range(int(times)):
            with self._lock:
                with open(path, encoding="ascii") as file:
                    number = int(file.read())
                with open(path, "w", encoding="ascii") as file:
                    print(number + 1, file=file)
        say("counted", self._name)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    client = KazooClient(hosts=sys.argv[1], timeout=SESSION)
    client.start()
    say("ready", "driver")
    turns = {}
    for line in sys.stdin:
        verb, name, *words = line.split()
        if verb == "release":
            turns[name].end()
            continue
        turn = turns[name] = Turn(name, KINDS[words[0]](client, words[1]))
        if verb == "count":
            turn.begin(turn.count, *words[2:])
        else:
            turn.begin(turn.hold, verb == "take")


if __name__ == "__main__":
    main()
