# SPDX-License-Identifier: Apache-2.0
"""Judges the counter of values.py:

    1. No update is lost: each acknowledged increment made a version and a number of its own, the same. The final one
       lies between the acknowledged ones and those together with the unknown ones (69).
    2. Each version was made by an attempt that was told so, or has an unknown end. An attempt that was told of another
       version (75) has not written.
    3. A read is not older than what was acknowledged before it began.
    4. Statuses: 0, 75, 69; 1 until the counter is made. A watcher does not end.
    5. What a watcher is told never goes back, and was written. (values.py, settled: it is told the last one.)
"""

import collections
import glob
import os

from events import read_events
from values import read_told

WRITTEN, MISSING, UNKNOWN, OTHER = 0, 1, 69, 75


class Record:
    def __init__(self, folder):
        self.events = read_events(os.path.join(folder, "counter"))
        self.writes = [event for event in self.events if event["what"] == "write"]
        self.written = [event for event in self.writes if event["status"] == WRITTEN]
        self.unknown = [event for event in self.writes if event["status"] == UNKNOWN]
        self.final = next((event for event in self.events if event["what"] == "final"), None)
        self.told = {os.path.basename(path).removesuffix(".told"): read_told(path)
                     for path in sorted(glob.glob(os.path.join(folder, "*.told")))}


def name(event):
    return f"{event['who']}, begun at {event['begun'] / 1e9:.6f}"


def lost_updates(record):
    first = {}
    for event in record.written:
        if event["number"] in first:
            yield f"lost update: {event['number']} was written by {name(first[event['number']])} and by {name(event)}"
        first.setdefault(event["number"], event)
        if event["made"] != event["number"]:
            yield f"lost update: {event['number']} is version {event['made']}, by {name(event)}"
    if record.final:
        most = len(record.written) + len(record.unknown)
        if not len(record.written) <= record.final["number"] <= most:
            yield (f"{len(record.written)} increments were acknowledged and {len(record.unknown)} are unknown, and the "
                   f"number is {record.final['number']}")


def made_by_nobody(record):
    makers = {event["number"] for event in (*record.written, *record.unknown)}
    missing = [number for number in range(1, record.final["version"] + 1) if number not in makers] if record.final else []
    if missing:
        yield f"{len(missing)} versions that nobody has made, {missing[0]} is the first"


def wrong_refusals(record):
    for event in record.writes:
        if event["status"] == OTHER and record.final and record.final["version"] <= event["version"]:
            yield f"refused though version {event['version']} is there: {name(event)}"


def old_reads(record):
    acknowledged = sorted((event["at"], event["made"]) for event in record.written)
    reads = sorted((event for event in record.events if event["what"] == "read" and event["status"] == 0),
                   key=lambda event: event["begun"])
    newest, at = -1, 0
    for read in reads:
        while at < len(acknowledged) and acknowledged[at][0] < read["begun"]:
            newest = max(newest, acknowledged[at][1])
            at += 1
        if read["version"] < newest:
            yield f"an old read: version {read['version']} by {name(read)}, and {newest} was acknowledged before"


def wrong_statuses(record):
    for event in record.events:
        allowed = {"read": (WRITTEN, UNKNOWN), "make": (WRITTEN, OTHER, UNKNOWN)}.get(
            event["what"], (WRITTEN, OTHER, UNKNOWN))
        if event["what"] != "final" and event["status"] not in allowed:
            yield f"status {event['status']} of {name(event)}: {event['said'].strip()}"


def wrong_tellings(record):
    for run, told in record.told.items():
        for (before, _), (after, number) in zip([(-2, None), *told], told):
            if after <= before:
                yield f"{run} was told version {after} after {before}"
            if number is not None and number != after:
                yield f"{run} was told {number} as version {after}"


def wrong_ends(events):
    for event in events:
        if event["what"] == "crowd end" and event.get("family") == "value" and not event["over"]:
            yield f"status {event['status']} of {event['run']}: {event['said'].strip()}"


def check(folder, events=()):
    """Returns (what was counted, violations), both as lines of text; nothing if there was no counter."""
    if not os.path.exists(os.path.join(folder, "counter")):
        return [], []
    record = Record(folder)
    violations = [text for rule in (lost_updates, made_by_nobody, wrong_refusals, old_reads, wrong_statuses, wrong_tellings)
                  for text in rule(record)] + list(wrong_ends(events))
    statuses = collections.Counter(event["status"] for event in record.writes)
    told = sum(map(len, record.told.values()))
    return ["counter: " + ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items()))
            + f"; in the end {record.final['number'] if record.final else 'unknown'}; {told} states told"], violations
