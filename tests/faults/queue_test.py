# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made records of the queues `order` and `dead`: some keep every rule, and for each rule some break it."""

import json
import os
import tempfile
import unittest

import queue_checker
from queues import DEAD, ORDER

SECOND = 10**9


def begin(run, family, at=0):
    return {"at": int(at * SECOND), "what": "crowd begin", "run": run, "family": family}


def end(run, family, status=0, said=""):
    return {"at": 0, "what": "crowd end", "run": run, "family": family, "status": status, "said": said}


def fed(run, family, queue, lines):
    return {"at": 0, "what": "fed", "run": run, "queue": queue, "lines": lines, "family": family}


def item(where, line, name):
    return {"at": 0, "what": "item", "where": where, "line": line, "id": name, "attempts": None}


ORDERED = [begin("single1.1", "order"), begin("ordered1.1", "order"), begin("ordered2.1", "order"),
           fed("ordered1.1", "order", ORDER, 3), fed("ordered2.1", "order", ORDER, 2), end("ordered1.1", "order"),
           end("ordered2.1", "order"), end("single1.1", "order")]
LINES = ["single1.1 ordered1.1:1", "single1.1 ordered2.1:1", "single1.1 ordered1.1:2", "single1.1 ordered1.1:3",
         "single1.1 ordered2.1:2"]
DYING = [begin("undertaker1.1", "dead"), begin("dying1.1", "dead"), fed("dying1.1", "dead", DEAD, 3),
         end("dying1.1", "dead"), end("undertaker1.1", "dead"), end("requeue1.1", "dead", 0, "zklock: 1 item is back in"),
         item("dead", "dying1.1:3!!", "c")]
WORK = ["end dying1.1:1 a 1", "fail dying1.1:2! b 1", "fail dying1.1:2! b 2", "end dying1.1:2! b 3",
        "fail dying1.1:3!! c 1", "fail dying1.1:3!! c 2", "fail dying1.1:3!! c 3"]


class QueueTest(unittest.TestCase):
    def check(self, events, lines=(), work=(), expired=None):
        with tempfile.TemporaryDirectory() as folder:
            if expired is not None:
                with open(os.path.join(folder, "trace"), "w", encoding="utf-8") as trace:
                    trace.write(json.dumps({"at": int(expired * SECOND), "pid": 7, "event": "expired"}) + "\n")
            with open(os.path.join(folder, "lines.order"), "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            with open(os.path.join(folder, "work.dead"), "w", encoding="utf-8") as file:
                for number, line in enumerate(work):
                    word, name, ident, attempt = line.split()
                    file.write(f"{word} {name} undertaker1.1 {number} {number} {ident} {attempt}\n")
            return queue_checker.check(folder, events)

    def expect(self, words, *given, **more):
        """Expects exactly one violation, with these words."""
        violations = self.check(*given, **more)[1]
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(words, violations[0])

    def test_good_records_have_no_violation_and_are_counted(self):
        counted, violations = self.check([*ORDERED, *DYING], LINES, WORK)
        self.assertEqual(violations, [])
        self.assertEqual(counted, ["order: 5 lines by 1 consumers",
                                   "dead letters: 3 items tried, 1 put back, 1 dead in the end"])

    # --- order ---------------------------------------------------------------------------------------

    def test_lines_of_one_pusher_stand_in_their_order(self):
        self.expect("out of order: ordered1.1:2 by single1.1, behind number 3", ORDERED,
                    [*LINES[:2], LINES[3], LINES[2], LINES[4]])

    def test_a_line_that_comes_again_counts_the_first_time(self):
        excused = [*ORDERED[:-1], end("single1.1", "order", 76, "zklock: an item comes again")]
        self.assertEqual(self.check(excused, [*LINES, LINES[0]])[1], [])
        self.expect("written twice", ORDERED, [*LINES, LINES[0]])

    def test_lines_that_were_there_when_its_session_expired_come_late(self):
        swapped = [*LINES[:2], LINES[3], LINES[2], LINES[4]]
        of_process = [{**event, "pid": 7} if event["run"] == "single1.1" else event for event in ORDERED]
        self.assertEqual(self.check(of_process, swapped, expired=1)[1], [])
        self.expect("out of order: ordered1.1:2", of_process, swapped, expired=40)
        self.expect("out of order: ordered1.1:2", ORDERED, swapped, expired=1)

    def test_after_claims_were_lost_only_who_came_much_later_counts(self):
        lost = [*ORDERED[:-1], end("single1.1", "order", 76), begin("single1.2", "order", 1), end("single1.2", "order")]
        lines = [*LINES[:2], "single1.2 ordered1.1:3", "single1.2 ordered1.1:2", LINES[4]]
        self.assertEqual(self.check(lost, lines)[1], [])
        late = [event if event["run"] != "ordered1.1" or event["what"] != "crowd begin"
                else begin("ordered1.1", "order", 20) for event in lost]
        self.expect("out of order: ordered1.1:2 by single1.2", late, lines)

    def test_a_lost_line_is_found_here_too(self):
        self.expect("lost: 1 of 3 lines that ordered1.1", ORDERED, LINES[:3] + LINES[4:])

    # --- dead letters --------------------------------------------------------------------------------

    def test_an_attempt_after_the_last_one_has_failed_is_too_late(self):
        self.expect("dead letter too late: attempt 4 of dying1.1:3!!", DYING, work=[*WORK, "fail dying1.1:3!! c 4"])

    def test_unless_the_last_one_was_cut_short_or_could_not_be_told(self):
        work = [*WORK[:-1], "alive dying1.1:3!! c 3", "fail dying1.1:3!! c 4"]
        self.assertEqual(self.check(DYING, work=work)[1], [])
        lost = [event for event in DYING if event.get("run") != "undertaker1.1"] + [
            begin("undertaker1.1", "dead"), end("undertaker1.1", "dead", 76)]
        self.assertEqual(self.check(lost, work=[*WORK, "fail dying1.1:3!! c 4"])[1], [])

    def test_a_dead_letter_before_its_last_attempt_is_too_early(self):
        self.expect("dead letter too early: dying1.1:3!!, c, after attempt 2", DYING, work=WORK[:-1])

    def test_what_can_be_done_does_not_die(self):
        self.expect("dead letter: dying1.1:2! never fails", [*DYING, item("dead", "dying1.1:2!", "b")],
                    work=[*WORK[:3], *WORK[4:]])

    def test_what_always_fails_is_not_lost(self):
        self.expect("lost: 1 of 3 lines that dying1.1", DYING[:-1], work=WORK)

    def test_nor_put_back_twice(self):
        self.expect("dying1.1:3 is there 2 times", [*DYING, item("queue", "dying1.1:3!!", "d")], work=WORK)

    def test_two_commands_for_one_item_at_once(self):
        violations = self.check(DYING, work=["twice dying1.1:1 a 1", *WORK])[1]
        self.assertIn("twice: dying1.1:1 by undertaker1.1", violations[0])


if __name__ == "__main__":
    unittest.main()
