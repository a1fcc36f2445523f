# SPDX-License-Identifier: Apache-2.0
"""Judges what the crowd (crowd.py) has left behind:

    1. Every acknowledged line, by the pusher's status 0 or by its count in an error, was written by a consumer
       or worked on to its end, or is still in the queue.
    2. No line was written twice without a reason: the pusher has said that it may be there twice, or one
       of the consumers was killed, or has said that something comes again (76).
    3. No two commands work on an item at once, by a lock of the kernel's (worker.cc) and by the clock.
    4. Statuses: 0, 76, death by a signal of ours. At the end a consumer gets a SIGTERM.
    5. A pusher with --wait ends with 0 only after each of its items was worked on to its end, and never says that an
       item may be there twice.
    6. Within a time after the last fault all items were taken, and the watcher reports the members. Its changes make
       sense: no member joins twice or leaves without having joined.
"""

import collections
import glob
import os
import re

COUNTED = re.compile(r"\b(\d+) items? (?:is|are) in /")
DOUBLED = re.compile(r"items (\d+) to (\d+) may be in \S+ twice")
EXCUSE = re.compile(r"twice|comes? again|stays in the queue")
TERM, KILL, LOST = -15, -9, 76


def number_of(line):
    return int(line.rpartition(":")[2].rstrip("!"))


def read_words(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="backslashreplace") as lines:
        return [line.split() for line in lines]


class Record:
    """A run's folder and events, for one family; each other family has files of its own."""

    def __init__(self, folder, events, family="crowd"):
        def mine(what):
            return {event["run"]: event for event in events
                    if event["what"] == what and event.get("family", "crowd") == family}

        self.events = events
        self.begins, self.ends, self.fed = mine("crowd begin"), mine("crowd end"), mine("fed")
        suffix = "" if family == "crowd" else f".{family}"
        self.left = {event["queue"]: event["items"] for event in events if event["what"] == "left"}
        self.killed = {event["run"] for event in events
                       if event["what"] == "fault" and event["kind"].endswith(" killed") and "run" in event}
        self.trace = os.path.join(folder, "trace")
        self.taken = read_words(os.path.join(folder, f"lines{suffix}"))  # [run, line]
        self.work = read_words(os.path.join(folder, f"work{suffix}"))  # [word, item, run, nanoseconds, pid, id, attempt]
        self.changes = {os.path.basename(path): read_words(path)
                        for path in glob.glob(os.path.join(folder, "*.changes"))}

    def said(self, run):
        return self.ends.get(run, {}).get("said", "")

    def excuse(self, run):
        """Returns whether what this run took may come again."""
        end = self.ends.get(run)
        return run in self.killed or not end or end["status"] == LOST or bool(EXCUSE.search(end["said"]))

    def doubled(self, line):
        spans = DOUBLED.findall(self.said(line.partition(":")[0]))
        return any(int(first) <= number_of(line) <= int(last) for first, last in spans)

    def acknowledged(self):
        """Yields (queue, run, how many of its first lines) of every pusher."""
        for run, fed in self.fed.items():
            end = self.ends.get(run)
            if not end:
                continue
            counted = COUNTED.search(end["said"])
            lines = fed["lines"] if end["status"] == 0 else int(counted[1]) if counted else 0
            yield fed["queue"], run, lines


def lost_lines(record):
    seen = {line.rstrip("!") for _, line in record.taken}
    seen |= {words[1].rstrip("!") for words in record.work if words[0] == "end"}
    for queue, run, lines in record.acknowledged():
        missing = [number for number in range(1, lines + 1) if f"{run}:{number}" not in seen]
        if len(missing) > (record.left.get(queue) or 0):
            yield (f"lost: {len(missing)} of {lines} lines that {run} has pushed with status "
                   f"{record.ends[run]['status']}: {missing[:5]} …")


def not_awaited(record):
    ended = {words[1].rstrip("!"): int(words[3]) for words in reversed(record.work) if words[0] == "end"}
    for run, end in record.ends.items():
        if not run.startswith("await"):
            continue
        if DOUBLED.search(end["said"]):
            yield f"{run} may have pushed twice: {end['said'].strip()}"
        lines = record.fed[run]["lines"] if end["status"] == 0 else 0
        early = [number for number in range(1, lines + 1) if ended.get(f"{run}:{number}", end["at"] + 1) > end["at"]]
        if early:
            yield f"not done: {len(early)} of {lines} lines that {run} has awaited: {early[:5]} …"


def strange_lines(record):
    for words in record.taken:
        if len(words) != 2 or words[1].partition(":")[0] not in record.fed:
            yield f"nobody has pushed what a consumer wrote: {words}"


def doubled_lines(record):
    runs = collections.defaultdict(list)
    for run, line in record.taken:
        runs[line].append(run)
    doubles = {line: found for line, found in runs.items() if len(found) > 1 and not record.doubled(line)}
    silent = {line: found for line, found in doubles.items() if not any(map(record.excuse, found))}
    for line, found in list(silent.items())[:3]:
        yield f"written twice without a word, one of {len(silent)}: {line} by {' and '.join(found)}"


def overlapping_work(record):
    """Yields a text for each item in two commands at once."""
    attempts = {}  # (item, run, pid, node, attempt) to [item, run, first, last]; pids come again
    for words in record.work:
        if len(words) != 7:
            yield f"unreadable line of work: {words}"
            continue
        word, item, run, at, *which = words
        if word == "twice":
            yield f"twice: {item} by {run} while another command has it"
        attempts.setdefault((item, run, *which), [item, run, int(at), int(at)])[3] = int(at)
    latest = {}
    for item, run, first, last in sorted(attempts.values(), key=lambda attempt: attempt[2]):
        before = latest.get(item)
        if before and first <= before[1] and not record.doubled(item):
            early = (before[1] - first) / 1e9
            yield f"two at once: {item} by {run}, {early:.6f} s before the end of {before[0]}'s command"
        if not before or last > before[1]:
            latest[item] = run, last


def wrong_statuses(record):
    for run, end in record.ends.items():
        allowed = {0, LOST}
        if run in record.killed or end.get("over"):
            allowed.add(KILL)
        if end.get("over"):
            allowed |= {TERM, 143}
        if run.startswith("requeue") and "the session expired; run it again" in end["said"]:
            allowed.add(69)  # zklock-queue(1) documents it
        if run == "requeue1.1" and "there is no such queue" in end["said"]:
            allowed.add(75)  # the first consumer may be there before the first pusher
        if end["status"] not in allowed:
            last = end["said"].strip().splitlines()[-1:]
            yield f"status {end['status']} of {run}: {''.join(last)}"


def wrong_changes(record):
    for name, changes in record.changes.items():
        inside = set()
        for words in changes:
            change, member = words[0][0], words[0][1:]
            if (change == "+") == (member in inside):
                yield f"{name}: {words[0]} makes no sense"
            (inside.add if change == "+" else inside.discard)(member)


def unsettled(record):
    yield from (f"unsettled: {event['text']}" for event in record.events if event["what"] == "unsettled")


def count(record):
    pushed = sum(lines for _, _, lines in record.acknowledged())
    silent_ends = collections.Counter(end["status"] for end in record.ends.values())
    doubles = len(record.taken) - len({line for _, line in record.taken})
    begun = sum(1 for words in record.work if words[0] == "begin")
    yield f"queues: {pushed} lines acknowledged, {len(record.taken)} written, {doubles} of them again; {begun} attempts"
    yield "crowd: " + ", ".join(f"{n} × {status}" for status, n in sorted(silent_ends.items()))


def check(folder, events):
    """Returns (what was counted, violations), both as lines of text; nothing if there was no crowd."""
    record = Record(folder, events)
    if not record.ends:
        return [], []
    violations = [*lost_lines(record), *not_awaited(record), *strange_lines(record), *doubled_lines(record),
                  *overlapping_work(record), *wrong_statuses(record), *wrong_changes(record), *unsettled(record)]
    return list(count(record)), violations
