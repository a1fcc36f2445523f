# SPDX-License-Identifier: Apache-2.0
"""What the zklocks of a run wrote down (ZKLOCK_TRACE), held against the models: tests/model/replay.h.

Whose node, or session, a fault has taken away is told to them: zklock itself may never have seen that.
"""

import json
import os
import subprocess

from events import read_events
from excuses import hit_runs

MODELS = ("line_model", "lease_model")
TAKING = ("node deleted", "lock deleted", "session closed", "session used", "lock broken")


def taken_away(events):
    """(moment, process id) of each zklock that a fault may have taken its node or its session from."""
    pids = {event["run"]: event["pid"] for event in events if event["what"] == "begin"}
    for number, event in enumerate(events):
        if event["what"] != "fault" or not any(text in event["kind"] for text in TAKING):
            continue
        for run in hit_runs(events, number):
            if run in pids:
                yield event["at"], pids[run]


def tell(events, trace):
    with open(trace, "a", encoding="utf-8") as lines:
        for at, pid in taken_away(events):
            line = {"at": at, "pid": pid, "session": "", "event": "taken away"}
            lines.write(json.dumps(line, separators=(",", ":")) + "\n")


def check(place):
    """Whether the models allow it; prints what they say. The steps that no history took are for people by hand."""
    trace, allowed = place.path("trace"), True
    tell(read_events(place.path("events")), trace)
    for name in MODELS:
        program = os.path.join(os.path.dirname(place.holder), name)
        done = subprocess.run([program, "--replay", trace], text=True, stdout=subprocess.PIPE, check=False)
        print(*(line for line in done.stdout.splitlines() if not line.startswith("  never:")), sep="\n")
        allowed &= done.returncode == 0
    return allowed
