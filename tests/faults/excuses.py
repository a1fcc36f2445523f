# SPDX-License-Identifier: Apache-2.0
"""What zklock(1) does not promise: a sign of life that comes after a fault, and is no overlap.

    zklock and its guard killed in the same moment: the kernel kills the command, but not what it has started.
    The command alone killed, by others: what it has started lives on without the lock.
    All that runs frozen, as a container is: it may go on for a moment when it is thawed.
    The holder's node deleted, or its session closed: the command goes on until zklock finds that, at the fence at the
    latest. No proof is later than the deletion, so that is 2T/3 and a moment after it.
"""

from schedule import SESSION

USR1 = 10  # what it has killed leaves alone what it has started
MOMENT = 500_000_000  # nanoseconds, on a busy machine
ONLY_THE_COMMAND = ("zklock and guard killed", "command killed")
FROZEN = ("all that runs frozen, less than a session", "all that runs frozen, more than a session")
TAKEN_AWAY = ("holder's node deleted", "lock deleted with all below it", "holder's session closed by another",
              "lock broken by force")


class Excuses:
    def __init__(self, events, longest=SESSION):
        self._others = set()  # runs of which only the command itself counts
        self._until = {}  # run to the spans in which its signs do not count
        to_fence = int(longest * 1e9 * 2 / 3) + MOMENT
        for event in events:
            kind, runs = event.get("kind"), event.get("runs", [event.get("run")])
            if event["what"] == "fault" and (kind in ONLY_THE_COMMAND or event.get("signal") == USR1):
                self._others.update(runs)
            if event["what"] in ("fault", "hit") and kind in TAKEN_AWAY:
                self._excuse(runs, event["at"], event["at"] + to_fence)
            if event["what"] == "thawed" and kind in FROZEN:
                self._excuse(runs, event["at"], event["at"] + MOMENT)

    def _excuse(self, runs, since, until):
        for run in runs:
            self._until.setdefault(run, []).append((since, until))

    def covers(self, run, at, of_command):
        """Whether a sign of life of that run, of its command or of what that has started, may come after its time."""
        if run in self._others and not of_command:
            return True
        return any(since <= at <= until for since, until in self._until.get(run, ()))
