#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves from a run's files that the lock kept its promises: checker.py FOLDER

    1. No two critical sections overlap: an entering command gets the kernel's lock, which all processes of an earlier
       one had. None of these gives a sign of life later, neither by the clock nor by the order of the lines.
    2. Tokens strictly grow, in the order of entering.
    3. The lock is never free for longer than gaps.py allows. The contenders are many and come back at
       once, so that one always waits.
    4. Statuses fit what has hit a run: contender_statuses.py.
    5. After the last fault each contender has its turn. When all have ended, no process is left, and no
       node except those that stay by design (leftovers.py).
    6. Every line can be read. A run proves nothing if it has no faults, or hardly ever a quorum, or if a kind of
       fault is planned again and again and never made.

excuses.py has what is no promise after some faults. margin.py checks that commands end by the fence, and what counts as
a proof. crowd_checker.py and any_of.py check the queues, groups and numbers beside it, lock_checker.py other locks,
queue_checker.py two more queues, value_checker.py a counter, fenced_checker.py fenced writes.
"""

import collections
import os
import re
import sys

import any_of
import crowd_checker
import fenced_checker
import lock_checker
import margin
import queue_checker
import value_checker
from contender_statuses import Statuses
from events import read_events
from excuses import Excuses
from gaps import judged, limit_of
from history import read_history
from schedule import SESSION

LEAST_FENCED = 5  # losses in a run that has wanted faults
OFTEN = 3
LEAST_QUORUM = 0.15  # of the time
LATE = 3
DIFFERENT = "the servers do not agree: "
# These violations only mean that something was late, for which a busy machine may be the only cause.
IN_TIME = re.compile(r"(?:\w+: )?(?:free for |number \d+ is unused |late: |unsettled: |left over: node |never were "
                     r"|contender \d+ has not been |a quorum for |\d+ faults of |\d+ losses with a fenced write "
                     r"|\d+ times planned, )")


def overlaps(history, excuses):
    """Yields a text for every section that overlaps one before it."""
    last = latest = None
    for section in history.sections:
        if section.enter.word == "overlap" and not excuses.anybody_but(section.run, section.enter.at):
            yield f"overlap by the kernel's lock, which somebody has: {section.enter}"
        if last and last.last.number > section.enter.number:
            yield overlap(last, last.last, section)
        elif latest and latest.latest.at >= section.enter.at:
            yield overlap(latest, latest.latest, section)
        if not last or section.last.number > last.last.number:
            last = section
        if not latest or section.latest.at > latest.latest.at:
            latest = section


def overlap(first, sign, second):
    return (f"overlap: {first.run} lives on for {(sign.at - second.enter.at) / 1e9:.6f} s after {second.run} has "
            f"entered\n    {first.enter}\n    {second.enter}\n    {sign}")


def token_faults(history, excuses):
    # A command that was starting when its node was deleted may begin after the next one.
    in_time = [one for one in history.sections if not excuses.cover(one.run, one.enter.at, True)]
    for before, after in zip(in_time, in_time[1:]):
        if after.enter.token <= before.enter.token:
            yield f"token does not grow:\n    {before.enter}\n    {after.enter}"
    for section in history.sections:
        for line in section.oddities:
            yield f"a line that cannot follow:\n    {section.enter}\n    {line}"


def unreadable_lines(history):
    for number, text in history.unreadable:
        yield f"unreadable: line {number}: {text[:80]!r}"
    for line in history.homeless:
        yield f"outside of any section: {line}"


def gaps(history, start, end):
    """Yields (from, to, what ended it) for the times in which no command was inside."""
    free_from = start
    for section in history.sections:
        if section.enter.at > free_from:
            yield free_from, section.enter.at, section.enter
        free_from = max(free_from, section.latest.at)
    if end > free_from:
        yield free_from, end, "the end of the run"


def limit(events):
    return limit_of(events[0].get("longest", SESSION))


def long_gaps(history, events, stretches):
    """Yields the violations, and adds the length of every part checked to `stretches`."""
    marks = [event for event in events if event["what"] in ("quorum", "fault", "healed")]
    for start, end, ended_by in gaps(history, events[0]["at"], events[-1]["at"]):
        for since, until in judged(start, end, marks):
            stretches.append(until - since)
            if until - since > limit(events):
                yield (f"free for {(until - since) / 1e9:.3f} s, from {since / 1e9:.6f} to {until / 1e9:.6f}, "
                       f"with a quorum and contenders\n    until: {ended_by}")


def status_faults(history, events):
    sections = {section.run: section for section in history.sections}
    statuses = Statuses(events)
    for event in events:
        if event["what"] != "end":
            continue
        run, status = event["run"], event["status"]
        left = run in sections and sections[run].exit
        if status not in statuses.allowed(run, run in sections, left):
            how = "left its section" if left else "was cut short inside" if run in sections else "never entered"
            yield f"status {status} of {run}, which {how}; see its log"


def starved(history, events):
    """Returns the contenders that have not entered since the last fault: each was due at least once."""
    last = max((event["at"] for event in events if event["what"] in ("fault", "healed")), default=0)
    loops = {event["run"].partition(".")[0] for event in events if event["what"] == "begin"}
    through = {section.run.partition(".")[0] for section in history.sections if section.latest.at > last}
    yield from (f"contender {loop} has not been inside since the last fault" for loop in sorted(loops - through))


def count(events, what, key):
    return collections.Counter(event[key] for event in events if event["what"] == what)


def too_little(events, sections, wanted):
    kinds = count(events, "fault", "kind")
    if sections == 0:
        yield "nobody ever entered"
    if quorum_time(events) < LEAST_QUORUM * (events[-1]["at"] - events[0]["at"]):
        yield f"a quorum for {quorum_time(events) / 1e9:.1f} s only"
    if sum(kinds.values()) < wanted[0] or len(kinds) < wanted[1]:
        yield f"{sum(kinds.values())} faults of {len(kinds)} kinds; wanted were {wanted[0]} of {wanted[1]}"


def never_made(events):
    """Yields the kinds that never find a target: that is a bug in the suite."""
    kinds = count(events, "fault", "kind")
    yield from (f"{n} times planned, never made: {kind}" for kind, n in sorted(count(events, "skipped", "kind").items())
                if n >= OFTEN and kind not in kinds)


def left_over(events):
    for event in events:
        if event["what"] == "left over":
            yield from (f"left over: {text}" for text in event["texts"])
        if event["what"] == "servers differ":
            yield from (f"{DIFFERENT}{text}" for text in event["texts"])


def closest(history):
    """Returns the shortest time between a section cut short and the next one's beginning."""
    pairs = zip(history.sections, history.sections[1:])
    return min((b.enter.at - a.latest.at for a, b in pairs if not a.exit), default=0)


def quorum_time(events):
    total, since = 0, events[0]["at"]
    there = True
    for event in events:
        if event["what"] in ("quorum", "stop"):
            total += event["at"] - since if there else 0
            there, since = event.get("there", True), event["at"]
    return total


def report(history, events, stretches):
    cut_short = sum(1 for section in history.sections if not section.exit)
    duration = events[-1]["at"] - events[0]["at"]
    yield f"time: {duration / 1e9:.1f} s, {quorum_time(events) / 1e9:.1f} s of it with a quorum"
    yield f"sections: {len(history.sections)}, {cut_short} of them cut short"
    yield "statuses: " + ", ".join(f"{n} × {status}" for status, n in sorted(count(events, "end", "status").items()))
    kinds = count(events, "fault", "kind")
    yield f"faults: {sum(kinds.values())} of {len(kinds)} kinds"
    skipped = count(events, "skipped", "kind")
    yield from (f"    {kinds[kind]:3} × {kind}" + (f", {skipped[kind]} found nobody" if skipped[kind] else "")
                for kind in sorted(kinds | skipped))
    yield f"longest free time: {max(stretches, default=0) / 1e9:.3f} s with a quorum ({limit(events) / 1e9:.1f} s allowed)"
    yield f"shortest time from a command's forced end to the next one's beginning: {closest(history) / 1e9:.3f} s"


def until_stop(events):
    """Returns the events that count for the lock: after "stop", no contender begins again."""
    ends = [number for number, event in enumerate(events) if event["what"] == "stop"]
    return events[:ends[0] + 1] if ends else events


def check(history_path, events_path, wanted=(0, 0)):
    """Returns (what was counted, violations), both as lines of text. `wanted`: faults and kinds of them."""
    all_events = read_events(events_path)
    events, excuses = until_stop(all_events), Excuses(all_events)
    history = read_history(history_path, excused=excuses.cover)
    stretches = []
    violations = [*overlaps(history, excuses), *token_faults(history, excuses), *unreadable_lines(history),
                  *long_gaps(history, events, stretches), *status_faults(history, events),
                  *too_little(events, len(history.sections), wanted), *starved(history, events),
                  *never_made(events), *left_over(all_events)]
    counted = list(report(history, events, stretches))
    folder, least = os.path.dirname(history_path), LEAST_FENCED if wanted[0] else 0
    for its_counted, its_violations in (crowd_checker.check(folder, all_events), any_of.check(folder, all_events),
                                        lock_checker.check(folder, all_events), margin.check(folder, all_events),
                                        queue_checker.check(folder, all_events),
                                        value_checker.check(folder, all_events), fenced_checker.check(folder, least)):
        counted += its_counted
        violations += its_violations
    return counted, violations


def show(counted, violations):
    print("\n".join(counted))
    for violation in violations:
        print(f"VIOLATION: {violation}")
    print(f"violations: {len(violations)}", flush=True)


def differ(violations):
    """Returns whether the servers differ, which no client can know."""
    return any(violation.startswith(DIFFERENT) for violation in violations)


def status_of(violations):
    """Returns 0 without violations. LATE: all are of late things, or the servers have broken their own promise, so
    nothing else is proved. 1: others."""
    if not violations:
        return 0
    return LATE if differ(violations) or all(map(IN_TIME.match, violations)) else 1


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    counted, violations = check(os.path.join(sys.argv[1], "history"), os.path.join(sys.argv[1], "events"))
    show(counted, violations)
    sys.exit(status_of(violations))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
