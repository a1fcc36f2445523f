# SPDX-License-Identifier: Apache-2.0
"""Replays the traces of a run's zklocks (ZKLOCK_TRACE) in the models: tests/model/replay.h.

The models are told which zklock may have lost its node or session by a fault: it may never have noticed itself.
"""

import json
import os
import subprocess

from events import read_events
from excuses import hit_runs

MODELS = ("line_model", "lease_model")
TAKING = ("node deleted", "lock deleted", "session closed", "session used", "lock broken")


def taken_away(events):
    """Returns (moment, process id) of each zklock that a fault may have taken its node or its session from."""
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
    """Returns whether the models allow the run; prints their output. The steps that no history took are for people."""
    trace, allowed = place.path("trace"), True
    tell(read_events(place.path("events")), trace)
    for name in MODELS:
        program = os.path.join(os.path.dirname(place.holder), name)
        done = subprocess.run([program, "--replay", trace], text=True, stdout=subprocess.PIPE, check=False)
        print(*(line for line in done.stdout.splitlines() if not line.startswith("  never:")), sep="\n")
        allowed &= done.returncode == 0
    return allowed
