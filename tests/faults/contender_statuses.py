# SPDX-License-Identifier: Apache-2.0
"""The statuses of a contender's zklock that fit what hit it and how far it was:

    never entered       75: its place was removed; 70: its guard was killed; a signal. 76 if that came when its command
                        had just begun and had no time to say so
    left in order       0; after a late hit also 76 if the node was gone by then, or a signal
    cut short inside    76; 137 and 138 if the command died of KILL or USR1; another signal itself
    all                 death by a KILL that the suite has sent
"""

import signal

from excuses import hit_runs

BUSY, LOST, KILLED = 75, 76, -9
ZKLOCK_KILLED = ("zklock killed", "waiting zklock killed", "zklock and guard killed")
PLACE_REMOVED = ("waiter's node deleted", "lock deleted with all below it", "holder's node deleted",
                 "lock broken by force", "lock broken")
TAKEN_AWAY = PLACE_REMOVED + ("holder's session closed by another", "waiter's session closed by another",
                              "holder's session used by another")
GUARD = ("waiting guard killed", "waiting guard frozen")


class Statuses:
    def __init__(self, events):
        self._hits = {}  # run to [(kind, signal)]
        for number, event in enumerate(events):
            if event["what"] == "fault":
                for run in hit_runs(events, number):
                    self._hits.setdefault(run, []).append((event["kind"], event.get("signal")))

    def allowed(self, run, entered, left):
        found = {0} if left else {LOST} if entered else set()
        for kind, number in self._hits.get(run, ()):
            found |= self._by(kind, number, entered, left)
        return found

    def _by(self, kind, number, entered, left):
        if kind in ZKLOCK_KILLED:
            return {KILLED}
        if kind == "command killed" and entered:
            return {128 + signal.SIGKILL}
        if number:
            return {128 + number} if entered and number == signal.SIGUSR1 else {-number}
        if kind in GUARD and not entered:
            return {70}
        found = {LOST} if kind in TAKEN_AWAY else set()
        if kind in PLACE_REMOVED and not entered:
            found.add(BUSY)
        return found
