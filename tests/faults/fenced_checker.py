# SPDX-License-Identifier: Apache-2.0
"""Judges the attempts to write of fenced.py:

    1. Tokens never go down from version to version, and no version was made twice. If a version was acknowledged to no
       attempt, an attempt with an unknown end has written it, with a token between those before and after it.
    2. An attempt begun after the write of a larger token was acknowledged ends with 76, or with 69 if no server
       answered.
    3. A run that got 76 never writes again: a holder of the lock does not get 76.
    4. Statuses: 0, 69, 76.
    5. Enough losses happen, after each of which the loser tried to write, and got 76.
"""

import collections
import os

from events import read_events

WRITTEN, UNKNOWN, LOST = 0, 69, 76


class Record:
    """The record of one lock."""

    def __init__(self, number, events):
        mine = [event for event in events if event["lock"] == number]
        self.number = number
        self.writes = [event for event in mine if event["what"] == "write"]
        self.losses = [event for event in mine if event["what"] == "loss"]
        self.acknowledged = sorted((one for one in self.writes if one["status"] == WRITTEN),
                                   key=lambda one: one["version"])
        self.unknown = [one for one in self.writes if one["status"] == UNKNOWN]
        self.given_up = [event for event in mine if event["what"] == "given up"]
        self.final = [event for event in mine if event["what"] == "final"][-1:]

    def versions(self):
        """Yields (version, token, writer), as far as they are known."""
        for one in self.acknowledged:
            yield one["version"], one["token"], name(one)
        last = self.acknowledged[-1]["version"] if self.acknowledged else -1
        for one in self.final:
            if one["version"] != last:
                yield one["version"] + 1, one["token"], "what is there in the end"

    def outlived(self, loss):
        """Returns the attempts of a loser that were begun after another run had written with a larger token."""
        mine = [one for one in self.writes if one["run"] == loss["run"]]
        later = [one["at"] for one in self.acknowledged if mine and one["token"] > mine[0]["token"]]
        return [one for one in mine if later and one["begun"] > min(later)]


def name(write):
    return f"attempt {write['number']} of {write['run']}, token {write['token']}"


def wrong_order(record):
    version, token, whose = -1, 0, "nobody"
    unknown = list(record.unknown)
    for next_version, next_token, next_one in record.versions():
        if next_version == version:
            yield f"version {version} was made by two: {whose} and {next_one}"
        if next_token < token:
            yield f"a smaller token: {next_one} made version {next_version}, after {whose} had made {version}"
        between = [one for one in unknown if token <= one["token"] <= next_token]
        missing = next_version - version - 1
        if missing > len(between):
            yield f"{missing - len(between)} versions between {version} and {next_version} that nobody has made"
        for one in between[:max(0, missing)]:
            unknown.remove(one)
        version, token, whose = next_version, next_token, next_one


def late_writes(record):
    for loss in record.losses:
        for one in record.outlived(loss):
            if one["status"] not in (LOST, UNKNOWN):
                yield f"not refused: {name(one)}, {loss['kind']}, ended with {one['status']}: {one['said'].strip()}"


def wrong_refusals(record):
    told = {}
    for one in sorted(record.writes, key=lambda write: write["begun"]):
        if one["status"] == WRITTEN and one["begun"] > told.get(one["run"], one["begun"]):
            yield f"refused, and written later: {name(one)}"
        if one["status"] == LOST:
            told.setdefault(one["run"], one["at"])


def wrong_statuses(record):
    for one in record.writes:
        if one["status"] not in (WRITTEN, UNKNOWN, LOST):
            yield f"status {one['status']} of {name(one)}: {one['said'].strip()}"


def refused_losses(records):
    """Returns how many losses had a refused loser, and how many refusals there were."""
    refusals = [[one for one in record.outlived(loss) if one["status"] == LOST]
                for record in records for loss in record.losses]
    return sum(1 for some in refusals if some), sum(map(len, refusals))


def count(records):
    statuses = collections.Counter(one["status"] for record in records for one in record.writes)
    kinds = collections.Counter(loss["kind"] for record in records for loss in record.losses)
    losses, refusals = refused_losses(records)
    frozen = sum(1 for record in records for loss in record.losses if loss["frozen"])
    yield "fenced writes: " + ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items()))
    given_up = sum(len(record.given_up) for record in records)
    yield (f"    {losses} losses, then {refusals} attempts refused by 76; {frozen} with an attempt frozen before; "
           f"{given_up} rounds given up")
    yield from (f"    {n:3} × {kind}" for kind, n in sorted(kinds.items()))


def check(folder, least=0):
    """Returns (what was counted, violations), both as lines of text; nothing without writes. `least`:
    losses."""
    path = os.path.join(folder, "fenced")
    events = read_events(path) if os.path.exists(path) else []
    records = [Record(number, events) for number in sorted({event["lock"] for event in events})]
    if not records:
        return [], []
    violations = [text for record in records for rule in (wrong_order, late_writes, wrong_refusals, wrong_statuses)
                  for text in rule(record)]
    losses = refused_losses(records)[0]
    if losses < least:
        violations.append(f"{losses} losses with a fenced write after them; wanted were {least}")
    return list(count(records)), violations
