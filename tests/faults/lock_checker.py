# SPDX-License-Identifier: Apache-2.0
"""Judges the families of the table in promises.py:

    1. No run is in together with one that excludes it: by the kernel's locks, by the clock and by the order of the
       lines. Readers are in together, and as many as there are slots; a run with both locks excludes those with one.
    2. Tokens of a lock's exclusive holders grow.
    3. Runs that may be together are so now and then.
    4. No run begins within --once-per of a success, and none is refused without one. The servers' clock counts; if
       one of them is wrong, this is not judged.
    5. -w and -n end in time, those of groups too: at once, or as gaps.py says if servers or links fail.
    6. Each loop has its turn after the last fault.
    7. Statuses: statuses.py.
"""

import collections
import os

from gaps import LIMIT, judged
from history import read_history, runs_since
from promises import FAMILIES, ONCE_PER, SLOTS, spec_of
from schedule import SESSION
from statuses import wrong_statuses

SECOND = 10**9
ENOUGH = 20  # sections of which two or three should have met
PROMPT = 3.0  # seconds for a process to start on a busy machine, and to give up its place
AWHILE = 2 * SESSION  # after a fault some clients may still be looking for a server
CLOCKS = 0.02  # seconds by which a server's clock may be off, on one host


class Record:
    """The record of one family."""

    def __init__(self, folder, family, events):
        self.family = family
        self.events = events
        self.history = read_history(os.path.join(folder, f"history.{family}"), family == "restart")
        mine = [event for event in events if event.get("family") == "run" and spec_of(event["run"]).family == family]
        self.begins = {event["run"]: event["at"] for event in mine if event["what"] == "crowd begin"}
        self.ends = {event["run"]: event for event in mine if event["what"] == "crowd end"}
        self.hits = collections.defaultdict(list)
        for event in events:
            if event["what"] == "fault" and "run" in event:
                self.hits[event["run"]].append(event["kind"])
        self.sections = collections.defaultdict(list)
        for section in self.history.sections:
            self.sections[section.run].append(section)

        self.marks = [event for event in events if event["what"] in ("quorum", "fault", "healed")]

    def is_disturbed(self, start, end):
        """Returns whether a fault that may hit every connection was there then, or not long before."""
        since = {}
        for event in self.marks:
            if event["what"] == "fault" and "run" not in event and "runs" not in event:
                since[event["kind"]] = event["at"]
            elif event["what"] == "healed" and event["kind"] in since:
                if since.pop(event["kind"]) < end and event["at"] + AWHILE * SECOND > start:
                    return True
        return any(at < end for at in since.values())

    def has_wrong_clock(self, run, at):
        """Returns whether a server's clock was wrong while this run was in line, or when the last success was noted."""
        since = {}
        for event in self.marks:
            if not event.get("kind", "").startswith("wall clock of a server"):
                continue
            if event["what"] == "fault":
                since[event["kind"]] = event["at"]
            elif event["kind"] in since and since.pop(event["kind"]) < at and (
                    self.begins.get(run, at) < event["at"] + 2 * ONCE_PER * SECOND):
                return True
        return any(begun < at for begun in since.values())

    def locks(self):
        """Returns for each lock (its name, [(section, mode, token)]), in the order of entering."""
        found = collections.defaultdict(list)
        for section in self.history.sections:
            words = sorted(spec_of(section.run).locks_of(section.run), key=lambda word: word.partition(":")[2])
            for word, token in zip(words, section.enter.tokens):
                mode, _, name = word.partition(":")
                found[name].append((section, mode, token))
        return found.items()


def lives_after(section, line):
    return section.last.number > line.number or section.latest.at >= line.at


def kernel_overlaps(record):
    for section in record.history.sections:
        if section.enter.word == "overlap":
            yield f"overlap by the kernel's lock, which somebody has: {section.enter}"


def overlaps(record):
    for name, holders in record.locks():
        inside = []
        for section, mode, _ in holders:
            inside = [one for one in inside if lives_after(one[0], section.enter)]
            allowed = {"x": 0, "s": None}.get(mode, SLOTS - 1)
            others = [one for one, its_mode in inside if "x" in (mode, its_mode)] if mode in "xs" else \
                [one for one, _ in inside]
            if others and (mode in "xs" or len(others) > allowed):
                one = others[0]
                yield (f"overlap: {len(others) + 1} hold {name}: {one.run} lives on after {section.run} has entered"
                       f"\n    {one.enter}\n    {section.enter}\n    {one.last}")
            inside.append((section, mode))


def token_faults(record):
    for name, holders in record.locks():
        alone = [(section, token) for section, mode, token in holders
                 if mode == "x" and spec_of(section.run).verb == ("run",)]
        for (before, smaller), (after, token) in zip(alone, alone[1:]):
            if token <= smaller:
                yield f"token of {name} does not grow:\n    {before.enter}\n    {after.enter}"


def odd_lines(record):
    for number, text in record.history.unreadable:
        yield f"unreadable: line {number}: {text[:80]!r}"
    for line in record.history.homeless:
        yield f"outside of any section: {line}"
    for section in record.history.sections:
        for line in section.oddities:
            yield f"a line that cannot follow:\n    {section.enter}\n    {line}"


def outside_of_outer(record):
    """Yields inner runs that outlive the one around them."""
    for run, sections in record.sections.items():
        outer = record.sections.get(run.removeprefix("in")) if spec_of(run).name.startswith("in") else None
        for section in sections:
            if spec_of(run).name in ("insame", "inother") and not outer:
                yield f"inside of nothing: {section.enter}"
            elif outer and run != outer[0].run and outer[0].exit and section.latest.at > outer[0].exit.at:
                yield f"the inner one lives on:\n    {outer[0].exit}\n    {section.latest}"


def most_at_once(record):
    inside, most = [], 0
    for section in record.history.sections:
        inside = [one for one in inside if one.latest.at >= section.enter.at] + [section]
        most = max(most, len(inside))
    return most


def never_together(record):
    wanted = {"shared": 2, "slots": SLOTS}.get(record.family, 1)
    if len(record.history.sections) >= ENOUGH and most_at_once(record) < wanted:
        yield f"never were {wanted} in together, of {len(record.history.sections)}"


def once_too_often(record):
    """Yields runs too soon after a success. It counts only if its zklock reported it."""
    if record.family != "once":
        return
    done = [section for section in record.history.sections if section.exit and section.exit.word == "exit"
            and record.ends.get(section.run, {}).get("status") == 0]
    for section in record.history.sections:
        if record.has_wrong_clock(section.run, section.enter.at):
            continue
        late = [one for one in done if 0 < section.enter.at - one.exit.at < (ONCE_PER - CLOCKS) * SECOND]
        if late:
            yield (f"--once-per: {section.run} runs {(section.enter.at - late[-1].exit.at) / SECOND:.3f} s after "
                   f"{late[-1].run} has succeeded")


def refused_without_cause(record):
    """Ignores runs that were cut short: it is unknown whether and when their success was noted."""
    if record.family != "once":
        return
    sections = [section for section in record.history.sections if section.exit and section.exit.word == "exit"]
    for run, end in record.ends.items():
        if end["status"] != 75 or run in record.sections or record.has_wrong_clock(run, end["at"]):
            continue
        over = [record.ends[one.run]["at"] if one.run in record.ends else end["at"] for one in sections
                if one.enter.at < end["at"]]
        if not any(at + (ONCE_PER + CLOCKS) * SECOND > record.begins[run] for at in over):
            yield f"--once-per: {run} is refused, but nobody has succeeded for {ONCE_PER:g} s before it"


def late_ends(record):
    for run, end in record.ends.items():
        wait = spec_of(run).wait
        if wait is None or run in record.sections or record.hits[run] or end.get("over"):
            continue
        begun, ended = record.begins[run], end["alive"]  # the suite may be late to notice the end
        limit = wait * SECOND + (LIMIT if record.is_disturbed(begun, ended) else PROMPT * SECOND)
        took = max((until - since for since, until in judged(begun, ended, record.marks)), default=0)
        if took > limit:
            yield (f"late: {run} has ended with {end['status']} after {took / SECOND:.3f} s, and was to wait {wait:g} s; "
                   f"{limit / SECOND:g} s are allowed")


def turned(folder, events, loops, since):
    """Returns the loops that have had a turn since then; a run that may be refused has had it when it has ended."""
    ended = {event["run"] for event in events if event["what"] == "crowd end" and event["at"] > since}
    written = {family: runs_since(os.path.join(folder, f"history.{family}"), since)
               for family in {spec_of(loop).family for loop in loops}}

    def has_turned(loop):
        spec = spec_of(loop)
        runs = written[spec.family] | (ended if spec.ends_alone else set())
        return any(run.partition(".")[0] == loop for run in runs)

    return [loop for loop in loops if not has_turned(loop)]


def count(record):
    statuses = collections.Counter(end["status"] for end in record.ends.values())
    cut = sum(1 for section in record.history.sections if not section.exit)
    yield (f"{record.family}: {len(record.history.sections)} sections, {cut} of them cut short, {most_at_once(record)} at "
           "once; " + ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items())))


RULES = (kernel_overlaps, overlaps, token_faults, odd_lines, outside_of_outer, never_together, once_too_often,
         refused_without_cause, late_ends, wrong_statuses)


def check(folder, events):
    """Returns (what was counted, violations), both as lines of text; nothing for families that did not run."""
    counted, violations = [], []
    for family in FAMILIES:
        if not os.path.exists(os.path.join(folder, f"history.{family}")):
            continue
        record = Record(folder, family, events)
        counted += count(record)
        violations += [f"{family}: {text}" for rule in RULES for text in rule(record)]
    return counted, violations
