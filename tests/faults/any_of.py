# SPDX-License-Identifier: Apache-2.0
"""Runs more loops of `zklock run --any` than there are numbers, and checks these promises:

    1. No two commands have a number at once, by a lock of the kernel's (number.cc).
    2. No number is unused for longer than gaps.py allows: a loop always waits.
    3. No loop is starved: after the last fault each one has a number again.
"""

import collections
import os

from gaps import LIMIT, judged
from loops import Loop

NUMBERS = 10
CONTENDERS = 15
SHORTEST, LONGEST = 300, 3000  # milliseconds that a number is used
RESETS = ("number killed", "number frozen, less than a session", "number frozen, more than a session")


class Contender(Loop):
    kind = "number"

    def words(self):
        program = os.path.join(os.path.dirname(self.place.holder), "faults_number")
        manner = ["stubborn"] if int(self.name.removeprefix("number")) % 2 else []
        return ["run", "--any", *(f"/numbers/{n}" for n in range(NUMBERS)), "--", program, self.place.path("numbers"),
                self.place.path("stay"), self.run, str(self.chance.randrange(SHORTEST, LONGEST)), *manner]


def read_signs(folder):
    """Returns (word, number, run, at) of each sign of life."""
    path = os.path.join(folder, "numbers")
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as lines:
        return [(word, number, run, int(at)) for word, number, run, at, _ in map(str.split, lines)]


def starved(folder, names, since):
    """Returns the loops that have begun nothing since then."""
    begun = {run.partition(".")[0] for word, _, run, at in read_signs(folder) if word == "begin" and at > since}
    return sorted(set(names) - begun)


def unused(signs, start, end):
    """Yields (number, from, to) of the times in which no command had the number."""
    free_from = {str(number): start for number in range(NUMBERS)}
    for word, number, _, at in sorted(signs, key=lambda sign: sign[3]):
        if word in ("begin", "twice"):
            yield number, free_from[number], at
        free_from[number] = at
    for number, since in free_from.items():
        yield number, since, end


def check(folder, events):
    """Returns (what was counted, violations), both as lines of text; nothing if there were no signs."""
    signs = read_signs(folder)
    if not signs:
        return [], []
    violations = [f"twice: number {number} by {run} while another command has it"
                  for word, number, run, _ in signs if word == "twice"]
    marks = [event for event in events if event["what"] in ("quorum", "fault", "healed")]
    longest = 0
    over = next((event["at"] for event in events if event["what"] == "numbers end"), events[-1]["at"])
    for number, start, end in unused(signs, events[0]["at"], over):
        for since, until in judged(start, end, marks, RESETS):
            longest = max(longest, until - since)
            if until - since > LIMIT:
                violations.append(f"number {number} is unused for {(until - since) / 1e9:.3f} s, until "
                                  f"{until / 1e9:.6f}, with a quorum and contenders")
    return [report(signs, events, longest)], violations


def report(signs, events, longest):
    asked = {event["run"]: event["at"] for event in events if event["what"] == "crowd begin"}
    begins = [(run, at) for word, _, run, at in signs if word in ("begin", "twice")]
    waits = [at - asked[run] for run, at in begins if run in asked]
    ended = sum(1 for word, *_ in signs if word == "end")
    fewest = min(collections.Counter(run.partition(".")[0] for run, _ in begins).values())
    return (f"numbers: {NUMBERS}, {len(begins)} uses, {len(begins) - ended} of them cut short, by each contender {fewest} "
            f"at least; none unused for more than {longest / 1e9:.3f} s with a quorum ({LIMIT / 1e9:.1f} s allowed); "
            f"longest wait {max(waits, default=0) / 1e9:.1f} s, outages included")
