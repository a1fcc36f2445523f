# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made increments of a counter: some keep every rule, and for each rule some break it."""

import json
import os
import tempfile
import unittest

import value_checker

# (begun, at, what, status, version, number, made)
GOOD = [(1, 2, "make", 0, -1, 0, None), (3, 4, "read", 0, 0, 0, None), (5, 6, "write", 0, 0, 1, 1),
        (7, 8, "read", 0, 1, 1, None), (9, 10, "write", 75, 0, 1, None), (11, 12, "write", 0, 1, 2, 2)]
TOLD = ['{"exists":false}', '{"exists":true,"value":"0","version":0}', '{"exists":true,"value":"2","version":2}']


class ValueCheckerTest(unittest.TestCase):
    def check(self, notes, final=2, told=(), events=()):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "counter"), "w", encoding="utf-8") as file:
                for begun, at, what, status, version, number, made in notes:
                    file.write(json.dumps({"begun": begun, "at": at, "what": what, "status": status, "version": version,
                                           "number": number, "made": made, "who": "inc1", "said": "what?"}) + "\n")
                file.write(json.dumps({"at": 99, "what": "final", "version": final, "number": final}) + "\n")
            with open(os.path.join(folder, "told1.1.told"), "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in told or TOLD)
            return value_checker.check(folder, events)

    def expect(self, words, notes, **more):
        """Expects exactly one violation, with these words."""
        violations = self.check(notes, **more)[1]
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(words, violations[0])

    def test_good_increments_have_no_violation_and_are_counted(self):
        counted, violations = self.check(GOOD)
        self.assertEqual(violations, [])
        self.assertEqual(counted, ["counter: 2 × 0, 1 × 75; in the end 2; 3 states told"])

    def test_two_that_write_the_same_number_lose_an_update(self):
        self.assertTrue(any("lost update: 2 was written by" in text
                            for text in self.check([*GOOD, (13, 14, "write", 0, 1, 2, 3)], final=3)[1]))

    def test_so_does_a_write_in_another_version(self):
        self.expect("lost update: 2 is version 3", [*GOOD[:-1], (11, 12, "write", 0, 1, 2, 3)])

    def test_fewer_in_the_end_than_were_acknowledged(self):
        self.expect("2 increments were acknowledged and 0 are unknown, and the number is 1", GOOD, final=1)

    def test_the_unknown_may_count_and_need_not(self):
        for final in (2, 3):
            self.assertEqual(self.check([*GOOD, (13, 14, "write", 69, 2, 3, None)], final=final)[1], [])

    def test_a_version_that_nobody_made(self):
        violations = self.check(GOOD, final=3)[1]
        self.assertTrue(any("1 versions that nobody has made, 3 is the first" in text for text in violations))

    def test_nobody_is_refused_for_a_version_that_is_there(self):
        self.expect("refused though version 2 is there", [*GOOD, (13, 14, "write", 75, 2, 3, None)])

    def test_a_read_is_not_older_than_what_was_acknowledged(self):
        self.expect("an old read: version 1", [*GOOD, (13, 14, "read", 0, 1, 1, None)])
        self.assertEqual(self.check([*GOOD, (11.5, 14, "read", 0, 1, 1, None)])[1], [])

    def test_other_statuses_are_violations(self):
        for what, status in (("write", 76), ("write", 1), ("read", 75), ("make", -6)):
            self.expect(f"status {status} of inc1", [*GOOD, (13, 14, what, status, 2, 3, None)])

    def test_what_is_told_never_goes_back(self):
        self.expect("told1.1 was told version 0 after 2", GOOD, told=[TOLD[2], TOLD[1]])
        self.expect("told1.1 was told version 2 after 2", GOOD, told=[TOLD[2], TOLD[2]])

    def test_a_watcher_does_not_end(self):
        ended = {"what": "crowd end", "family": "value", "run": "told1.1", "status": 69, "said": "why", "over": False}
        self.expect("status 69 of told1.1: why", GOOD, events=[ended])
        self.assertEqual(self.check(GOOD, events=[{**ended, "over": True}])[1], [])

    def test_what_is_told_is_what_was_written(self):
        self.expect("told1.1 was told 7 as version 2", GOOD, told=["2 7"])


if __name__ == "__main__":
    unittest.main()
