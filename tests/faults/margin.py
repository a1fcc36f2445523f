# SPDX-License-Identifier: Apache-2.0
"""Judges zklock's own trace (ZKLOCK_TRACE), beside the notes of its commands and of the suite:

    1. A command gives no sign of life later than two thirds of the session timeout, and a moment, after its zklock sent
       the last proof that it had by then. So the rest of the session is between it and the next holder, even if that
       one comes later.
    2. Nothing is proved while there can be no quorum: both followers are frozen, or the leader is cut off from them. If
       an answer comes then to a request of that time, it is worth nothing.
"""

import bisect
import collections
import json
import os

from ensemble import SYNC_LIMIT
from excuses import Excuses
from history import read_history
from promises import FAMILIES, spec_of
from schedule import TICK

SECOND = 10**9
MOMENT = int(0.15 * SECOND)  # from the fence to the end of what is killed, on a busy machine
UNTIL_DONE = SECOND  # from the note of a fault until all servers have it
# A follower cut off from its leader looks for another only after this, of which one tick may have passed.
ALONE = int((SYNC_LIMIT - 1) * TICK * SECOND)


class Trace:
    """The trace of one zklock."""

    def __init__(self, event):
        self.pid, self.began = event["pid"], event["at"]
        self.timeout = 0  # of its session, in nanoseconds
        self.proofs = []  # (at, sent), in the order of `at`
        self._latest = []  # the greatest `sent` up to each of them

    def take(self, event):
        if event["event"] == "session":
            self.timeout = max(self.timeout, event["timeout"] * 10**6)
        elif event["event"] == "proved":
            self.proofs.append((event["at"], event["sent"]))
            self._latest.append(max(event["sent"], self._latest[-1] if self._latest else 0))

    def proved_by(self, at):
        """Returns when the last proof that it had then was sent; 0: there was none."""
        number = bisect.bisect_right(self.proofs, (at, 1 << 63))
        return self._latest[number - 1] if number else 0


def read_traces(path):
    """Returns the traces of each process: pids come again."""
    traces, latest = [], {}
    with open(path, encoding="utf-8") as lines:
        events = sorted(map(json.loads, lines), key=lambda event: event["at"])
    for event in events:
        if event["event"] == "taken away":  # added by replayed.py, maybe before the process has begun
            continue
        if event["event"] == "began" or event["pid"] not in latest:
            latest[event["pid"]] = Trace(event)
            traces.append(latest[event["pid"]])
        latest[event["pid"]].take(event)
    return traces


def traces_of_runs(traces, events):
    """Returns run to trace, None if there is none, of the runs that begin a process."""
    of_pid = collections.defaultdict(list)
    for trace in traces:
        of_pid[trace.pid].append(trace)
    return {event["run"]: min(of_pid[event["pid"]], key=lambda trace, at=event["at"]: abs(trace.began - at), default=None)
            for event in events if event["what"] in ("begin", "crowd begin")}


def sections(folder):
    """Yields the sections of everything that has a lease by a lock."""
    yield from read_history(os.path.join(folder, "history")).sections
    for family in FAMILIES:
        path = os.path.join(folder, f"history.{family}")
        if os.path.exists(path):
            yield from (section for section in read_history(path, family == "restart").sections
                        if spec_of(section.run).verb == ("run",))


def past_the_fence(traces, folder, events, margins):
    """Yields the violations, and adds to `margins` how long before its fence each lost command has ended."""
    runs, excuses = traces_of_runs(traces, events), Excuses(events)
    for section in sections(folder):
        trace = runs.get(section.run)
        if section.run not in runs or excuses.cover(section.run, section.latest.at, False):
            continue
        if not trace or not trace.proved_by(section.latest.at):
            yield f"{section.run} is inside without a proof: {section.enter}"
            continue
        fence = trace.proved_by(section.latest.at) + trace.timeout * 2 // 3
        if not section.exit:
            margins.append(fence - section.latest.at)
        if section.latest.at > fence + MOMENT:
            yield (f"margin: {section.run} lives {(section.latest.at - fence) / SECOND:.3f} s after its fence, "
                   f"{fence / SECOND:.6f}\n    {section.latest}")


def blind_spans(events):
    """Yields (from, to, kind) of the times in which there can be no quorum."""
    there = True
    for event in events:
        if event["what"] == "quorum":
            there = event["there"]
        if event["what"] != "fault":
            continue
        since, until = event["at"] + UNTIL_DONE, event["at"] + int(event["length"] * SECOND)
        if event["kind"].startswith("followers frozen") and len(event.get("servers", ())) == 2:
            yield since, until, event["kind"]
        elif event["kind"] == "leader cut off from servers" and there:
            yield since, min(until, event["at"] + ALONE), event["kind"]


def blind_proofs(traces, events):
    spans = list(blind_spans(events))
    for trace in traces:
        for at, sent in trace.proofs:
            kinds = [kind for since, until, kind in spans if since < sent and at < until]
            if kinds:
                yield (f"proved without a quorum ({kinds[0]}): process {trace.pid} asked at {sent / SECOND:.6f}, was answered "
                       f"at {at / SECOND:.6f}")


def check(folder, events):
    """Returns (what was counted, violations), both as lines of text; nothing if there is no trace."""
    path = os.path.join(folder, "trace")
    if not os.path.exists(path):
        return [], []
    traces, margins = read_traces(path), []
    violations = [*past_the_fence(traces, folder, events, margins), *blind_proofs(traces, events)]
    proofs = sum(len(trace.proofs) for trace in traces)
    nearest = f"{min(margins) / SECOND:.3f} s before its fence at the latest" if margins else "none"
    return [f"margin: {proofs} proofs; {len(margins)} commands cut short, the last sign of life {nearest}; "
            f"{len(list(blind_spans(events)))} times without any quorum"], violations
