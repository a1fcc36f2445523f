# SPDX-License-Identifier: Apache-2.0
"""What the suite did and saw, besides the history that the holders write: one JSON object a line.

    {"at": NANOSECONDS, "what": "begin", "run": "3.17", "pid": 4711}        a zklock was started
    {"at": …, "what": "end", "run": "3.17", "status": 76}                   its status, or minus a signal
    {"at": …, "what": "crowd end", "run": "try1.19", "alive": NANOSECONDS, …}   it ended between that time and "at"
    {"at": …, "what": "fault", "kind": "zklock killed", "run": "3.17", …}   a fault begins
    {"at": …, "what": "healed", "kind": …}                                  the fault is over
    {"at": …, "what": "quorum", "there": true}                              from here on
    {"at": …, "what": "stop"}                                               from here on, no event counts
"""

import json
import threading
import time


def now():
    """Returns the time by the clock that zklock and the holders use too, in every namespace."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Events:
    def __init__(self, path):
        self._file = open(path, "a", buffering=1, encoding="utf-8")
        self._lock = threading.Lock()

    def add(self, what, **details):
        with self._lock:
            self._file.write(json.dumps({"at": now(), "what": what, **details}) + "\n")

    def close(self):
        self._file.close()


def read_events(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
