# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made records of queues and groups: one keeps every rule, and for each rule some break it."""

import os
import tempfile
import unittest

import crowd_checker
from crowd import LINES, WORK

SECOND = 10**9


def end(run, status=0, said="", over=False):
    return {"at": 0, "what": "crowd end", "run": run, "status": status, "said": said, "over": over}


def fed(run, lines, queue=LINES):
    return {"at": 0, "what": "fed", "run": run, "queue": queue, "lines": lines}


def hit(run, kind):
    return {"at": 0, "what": "fault", "kind": kind, "run": run}


def left(queue, items):
    return {"at": 0, "what": "left", "queue": queue, "items": items}


EVENTS = [fed("push1.1", 3), end("push1.1"), fed("work1in.1", 2, WORK), end("work1in.1"), end("pull1.1"),
          end("pull2.1", 76, "zklock: cannot pull: an item comes again"), left(LINES, 0), left(WORK, 0)]
TAKEN = ["pull1.1 push1.1:1", "pull2.1 push1.1:2", "pull1.1 push1.1:3!"]
DONE = ["begin work1in.1:1 work1.1 1.0 7", "alive work1in.1:1 work1.1 1.1 7", "end work1in.1:1 work1.1 1.2 7",
        "begin work1in.1:2! work2.1 1.0 8", "end work1in.1:2! work2.1 1.1 8"]


class CrowdTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, lines):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def check(self, events=None, taken=None, done=None, changes=()):
        self.write("lines", TAKEN if taken is None else taken)
        work = [line.split() for line in (DONE if done is None else done)]
        self.write("work", (" ".join([*words[:3], str(int(float(words[3]) * SECOND)), words[4], "id", "1"])
                            for words in work))
        self.write("watch1.1.changes", changes)
        return crowd_checker.check(self.folder, EVENTS if events is None else events)

    def expect(self, words, **record):
        """Expects exactly one violation, with these words."""
        violations = self.check(**record)[1]
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(words, violations[0])

    def events_with(self, *more, without=()):
        return [*(event for event in EVENTS if event.get("run") not in without), *more]

    def test_a_good_record_has_no_violation_and_is_counted(self):
        counted, violations = self.check(changes=["+a-0000000001", "-a-0000000001", "+a-0000000002"])
        self.assertEqual(violations, [])
        self.assertEqual(counted, ["queues: 5 lines acknowledged, 3 written, 0 of them again; 2 attempts",
                                   "crowd: 3 × 0, 1 × 76"])

    def test_nothing_is_said_of_a_run_without_a_crowd(self):
        self.assertEqual(self.check(events=[]), ([], []))

    # --- lost ----------------------------------------------------------------------------------------

    def test_an_acknowledged_line_may_not_be_missing(self):
        self.expect("lost: 1 of 3 lines that push1.1", taken=TAKEN[:1] + TAKEN[2:])

    def test_nor_an_item_whose_work_did_not_come_to_its_end(self):
        self.expect("lost: 1 of 2 lines that work1in.1", done=DONE[:2] + DONE[3:])

    def test_what_is_left_in_the_queue_is_not_lost(self):
        events = [*EVENTS[:-2], left(LINES, 1), left(WORK, 0)]
        self.assertEqual(self.check(events=events, taken=TAKEN[:2])[1], [])

    def test_of_a_push_that_failed_those_count_that_it_says_are_in(self):
        for number, violations in ((2, 0), (3, 1)):
            said = f"zklock: cannot push to {LINES}: gone; {number} items are in {LINES}, and items 4 to 9 may be"
            events = self.events_with(fed("push1.1", 9), end("push1.1", 76, said), without=("push1.1",))
            self.assertEqual(len(self.check(events=events, taken=TAKEN[:2])[1]), violations)

    def test_a_push_that_waits_ends_with_0_after_the_work(self):
        done = ["end await1.1:1 work1.1 1 7", "end await1.1:2! work1.1 3 7", *DONE]
        early = ["not done: 1 of 2 lines that await1.1 has awaited: [2] …"]
        for at, status, violations in ((4, 0, []), (2, 76, []), (2, 0, early)):
            events = self.events_with(fed("await1.1", 2, WORK), {**end("await1.1", status), "at": at * SECOND})
            self.assertEqual(self.check(events=events, done=done)[1], violations)

    def test_and_never_pushes_twice(self):
        said = f"zklock: the session expired on the way: items 1 to 2 may be in {WORK} twice\n"
        events = self.events_with(fed("await1.1", 0, WORK), end("await1.1", 0, said))
        self.expect("await1.1 may have pushed twice", events=events)

    # --- twice ---------------------------------------------------------------------------------------

    def test_a_line_written_twice_without_a_word_is_a_violation(self):
        self.expect("written twice without a word, one of 1: push1.1:1 by pull1.1 and pull1.1", taken=TAKEN + TAKEN[:1])

    def test_with_a_word_it_is_none(self):
        self.assertEqual(self.check(taken=[*TAKEN, "pull2.1 push1.1:1"])[1], [])
        killed = self.events_with(hit("pull1.1", "consumer killed"))
        self.assertEqual(self.check(events=killed, taken=TAKEN + TAKEN[:1])[1], [])
        said = f"zklock: the session expired on the way: items 1 to 2 may be in {LINES} twice\n"
        doubled = self.events_with(end("push1.1", 0, said), without=("push1.1",))
        doubled.append(fed("push1.1", 3))
        self.assertEqual(self.check(events=doubled, taken=[*TAKEN, TAKEN[0]])[1], [])
        self.expect("push1.1:3!", events=doubled, taken=[*TAKEN, TAKEN[2]])

    def test_to_have_been_frozen_is_no_excuse(self):
        frozen = self.events_with(hit("pull1.1", "consumer frozen, more than a session"))
        self.expect("written twice", events=frozen, taken=TAKEN + TAKEN[:1])

    def test_what_nobody_has_pushed_is_a_violation(self):
        self.expect("nobody has pushed", taken=[*TAKEN, "pull1.1 ush1.1:1"])

    # --- at work -------------------------------------------------------------------------------------

    def test_the_same_item_in_two_commands_at_once_is_a_violation(self):
        self.expect("two at once: work1in.1:1 by work2.1, 0.050000 s before the end of work1.1's",
                    done=[*DONE, "begin work1in.1:1 work2.1 1.15 9", "end work1in.1:1 work2.1 1.3 9"])

    def test_so_it_is_by_the_kernels_lock_whatever_the_clock_says(self):
        self.expect("twice: work1in.1:1 by work2.1", done=[*DONE, "twice work1in.1:1 work2.1 1.3 9"])

    def test_one_after_the_other_is_none(self):
        self.assertEqual(self.check(done=[*DONE, "begin work1in.1:1 work2.1 1.25 9"])[1], [])

    def test_the_latest_sign_counts_and_not_the_last_beginning(self):
        done = ["begin work1in.1:1 work1.1 1.0 7", "end work1in.1:1 work1.1 3.0 7",
                "begin work1in.1:1 work2.1 1.5 9", "end work1in.1:1 work2.1 1.6 9",
                "begin work1in.1:1 work2.1 2.5 10", *DONE[3:]]
        self.assertEqual(sum("two at once" in violation for violation in self.check(done=done)[1]), 2)

    # --- the rest ------------------------------------------------------------------------------------

    def test_other_statuses_are_violations(self):
        self.expect("status 70 of join1.1: what?", events=self.events_with(end("join1.1", 70, "one\nwhat?\n")))
        self.expect("status -9 of join1.1", events=self.events_with(end("join1.1", -9)))
        expired = "zklock: cannot requeue to /q: the session expired; run it again"
        self.expect("status 69 of join1.1", events=self.events_with(end("join1.1", 69, expired)))
        self.expect("status 70 of requeue1.1", events=self.events_with(end("requeue1.1", 70, expired)))
        self.expect("status -15 of join1.1", events=self.events_with(end("join1.1", -15)))
        none = "zklock: cannot requeue to /q: there is no such queue"
        self.expect("status 75 of requeue1.2", events=self.events_with(end("requeue1.2", 75, none)))
        self.assertEqual(self.check(events=self.events_with(end("requeue1.1", 75, none)))[1], [])

    def test_those_that_the_suite_has_ended_are_none(self):
        ends = self.events_with(end("join1.1", -9), hit("join1.1", "member killed"), end("pull9.1", -15, over=True))
        self.assertEqual(self.check(events=ends)[1], [])

    def test_a_watcher_says_what_can_be(self):
        self.expect("+a-0000000001 makes no sense", changes=["+a-0000000001", "+a-0000000001"])
        self.expect("-a-0000000001 makes no sense", changes=["-a-0000000001"])

    def test_what_has_not_settled_is_a_violation(self):
        self.expect("unsettled: 3 items", events=self.events_with({"at": 0, "what": "unsettled", "text": "3 items"}))


if __name__ == "__main__":
    unittest.main()
