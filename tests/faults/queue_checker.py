# SPDX-License-Identifier: Apache-2.0
"""Judges the two queues of queues.py, beside what crowd_checker.py demands of each queue:

    order   1. One consumer writes the lines of each pusher in their order. If a line comes again, only its first time
               counts. The lines of lost claims come after others, and so do lines that were there when the consumer's
               own session expired. So a consumer after such a loss is judged only by pushers that began much later.
    dead    2. Exactly the items that always fail are given up on. None is lost, and none is there twice.
            3. An item is given up on only after its attempt number MOST has failed, and no attempt begins after that,
               unless the servers could not be told how it ended.
"""

import collections
import json
import os
import re

import crowd_checker
from crowd_checker import EXCUSE, LOST, Record, number_of
from queues import MOST
from schedule import SESSION, TICK

LATER = int((2 * SESSION + TICK) * 1e9)  # until the claims of a dead session are known to be free, and were taken
BEHIND = int(20e9)  # in which a line may stay in the queue
REQUEUED = re.compile(r"(\d+) items? (?:is|are) back")


def expiries(record):
    """Returns for each consumer's run when its sessions expired."""
    consumers = {begin.get("pid"): run for run, begin in record.begins.items() if run.startswith("single")}
    found = collections.defaultdict(list)
    if os.path.exists(record.trace):
        with open(record.trace, encoding="utf-8") as trace:
            for event in (json.loads(line) for line in trace if '"expired"' in line):
                if event["pid"] in consumers:
                    found[consumers[event["pid"]]].append(event["at"])
    return found


def was_there(record, pusher, expired):
    """Returns whether the session that expired then may have claimed lines of that pusher."""
    end = record.ends.get(pusher)
    return record.begins[pusher]["at"] <= expired and (not end or expired <= end["at"] + BEHIND)


def out_of_order(record):
    consumers, expired = list(record.begins), expiries(record)
    clean, highest = True, {}
    for run in (run for run in consumers if run.startswith("single")):
        since = record.begins[run]["at"] + LATER
        for line in dict.fromkeys(line for its_run, line in record.taken if its_run == run):
            pusher, number = line.partition(":")[0], number_of(line)
            if number <= highest.get(pusher, 0) and (clean or record.begins[pusher]["at"] > since):
                given_back = any(was_there(record, pusher, at) for at in expired[run])
                if not given_back and not already(record, line, run, consumers):
                    yield f"out of order: {line} by {run}, behind number {highest[pusher]}"
            highest[pusher] = max(number, highest.get(pusher, 0))
        end = record.ends.get(run)
        clean = clean and bool(end) and end["status"] == 0


def already(record, line, run, consumers):
    """Returns whether an earlier consumer wrote the line too, or it may have been pushed twice."""
    return record.doubled(line) or any(line == other and consumers.index(its_run) < consumers.index(run)
                                       for its_run, other in record.taken if its_run in consumers)


def attempts(record):
    """Returns for each item's name in the queue {attempt: the words of its last sign}."""
    found = collections.defaultdict(dict)
    for words in record.work:
        found[words[5]][int(words[6])] = words
    return found


def settled_badly(record, run):
    """Returns whether the servers may not know the result of an attempt of this run."""
    end = record.ends.get(run)
    return run in record.killed or not end or end["status"] == LOST or bool(EXCUSE.search(end["said"]))


def too_late(record):
    for item, tried in attempts(record).items():
        for number, words in tried.items():
            late = [other for other in tried if other > max(number, MOST - 1)]
            if number >= MOST and words[0] == "fail" and late and not settled_badly(record, words[2]):
                yield f"dead letter too late: attempt {max(late)} of {words[1]}, {item}, though attempt {number} has failed"


def too_early(record, items):
    tried = attempts(record)
    for item in items:
        if item["where"] != "dead":
            continue
        known = tried.get(item["id"], {})
        if not item["line"].endswith("!!"):
            yield f"dead letter: {item['line']} never fails"
        elif known and max(known) < MOST:
            yield f"dead letter too early: {item['line']}, {item['id']}, after attempt {max(known)}"
        elif not known:
            yield f"dead letter too early: {item['line']}, {item['id']}, was never tried"


def lost_or_doubled(record, items):
    there = collections.Counter(item["line"].rstrip("!") for item in items)
    done = {words[1].rstrip("!") for words in record.work if words[0] == "end"}
    for queue, run, lines in record.acknowledged():
        missing = [number for number in range(1, lines + 1)
                   if f"{run}:{number}" not in done and not there[f"{run}:{number}"]]
        if missing:
            yield f"lost: {len(missing)} of {lines} lines that {run} has pushed to {queue}: {missing[:5]} …"
    for line, count in there.items():
        if count > 1 and not record.doubled(line):
            yield f"{line} is there {count} times"


def check_dead(folder, events):
    record = Record(folder, events, "dead")
    if not record.ends:
        return [], []
    items = [event for event in events if event["what"] == "item"]
    violations = [*too_late(record), *too_early(record, items), *lost_or_doubled(record, items),
                  *crowd_checker.overlapping_work(record), *crowd_checker.wrong_statuses(record)]
    back = sum(int(found[1]) for end in record.ends.values() if (found := REQUEUED.search(end["said"])))
    dead = sum(1 for item in items if item["where"] == "dead")
    return [f"dead letters: {len(attempts(record))} items tried, {back} put back, {dead} dead in the end"], violations


def check_order(folder, events):
    record = Record(folder, events, "order")
    if not record.ends:
        return [], []
    violations = [*out_of_order(record), *crowd_checker.lost_lines(record), *crowd_checker.strange_lines(record),
                  *crowd_checker.doubled_lines(record), *crowd_checker.wrong_statuses(record)]
    return [f"order: {len(record.taken)} lines by {sum(1 for run in record.begins if run.startswith('single'))} "
            "consumers"], violations


def check(folder, events):
    """Returns (what was counted, violations), both as lines of text; nothing for queues that did not run."""
    order, dead = check_order(folder, events), check_dead(folder, events)
    return order[0] + dead[0], order[1] + dead[1]
