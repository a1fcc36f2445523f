# SPDX-License-Identifier: Apache-2.0
"""What zklock(1) does not promise: which processes may live on after a fault without being an overlap.

    If zklock and its guard are killed at the same moment, the kernel kills the command, but not what it has started.
    If another process kills the command alone, what it has started lives on without the lock.
    If all that runs is frozen, like a container, it may go on for a moment after it is thawed.
    If the holder's node is deleted or its session closed, the command goes on until zklock notices, at the fence at the
    latest. No proof is later than the deletion, so that is 2T/3 and a moment after it. The deletion can be as late as
    the fault's end, because the deleting client may be cut off too.
"""

from schedule import SESSION

USR1 = 10  # what it kills leaves what it has started alone
MOMENT = 500_000_000  # nanoseconds, on a busy machine
ONLY_THE_COMMAND = ("zklock and guard killed", "command killed")
FROZEN = ("all that runs frozen, less than a session", "all that runs frozen, more than a session")
# A waiter may hold the lock by the time when it is hit.
TAKEN_AWAY = ("holder's node deleted", "waiter's node deleted", "lock deleted with all below it",
              "lock broken by force", "holder's session closed by another",
              "waiter's session closed by another")


def healed_at(events, number):
    """Returns when the fault that is the event of that number was over."""
    kind = events[number]["kind"]
    return next((later["at"] for later in events[number:] if later["what"] == "healed" and later["kind"] == kind),
                events[-1]["at"])


def hit_runs(events, number):
    """Returns the runs that it has hit: its run, or all that ran while it lasted."""
    fault = events[number]
    if "runs" not in fault:
        return {fault.get("run")}
    until = healed_at(events, number)
    begun = {event["run"] for event in events if event["what"] == "begin" and event["at"] <= until}
    ended = {event["run"] for event in events if event["what"] == "end" and event["at"] < fault["at"]}
    return begun.union(fault["runs"]) - ended


class Excuses:
    def __init__(self, events):
        self._spans = []  # (run, from, to, whether it also excuses the command itself)
        to_fence = int(events[0].get("longest", SESSION) * 1e9 * 2 / 3) + MOMENT
        for number, event in enumerate(events):
            kind = event.get("kind")
            if event["what"] != "fault":
                continue
            runs, healed = hit_runs(events, number), healed_at(events, number)
            if kind in ONLY_THE_COMMAND or event.get("signal") == USR1:
                self._excuse(runs, event["at"], healed + MOMENT, False)
            if kind in FROZEN:
                self._excuse(runs, event["at"], healed + MOMENT, True)
            if kind in TAKEN_AWAY:
                self._excuse(runs, event["at"], healed + to_fence, True)

    def _excuse(self, runs, since, until, command_too):
        self._spans += [(run, since, until, command_too) for run in runs]

    def cover(self, run, at, of_command):
        """Returns whether that run's command, or what it has started, may live then without the lock."""
        return any(run == hit and since <= at <= until and (command_too or not of_command)
                   for hit, since, until, command_too in self._spans)

    def anybody_but(self, run, at):
        """Returns whether another run may live then, and have the kernel's lock."""
        return any(run != hit and since <= at <= until for hit, since, until, _ in self._spans)
