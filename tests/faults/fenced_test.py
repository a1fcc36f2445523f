# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made attempts to write: some keep every rule, and for each rule some break it."""

import json
import os
import tempfile
import unittest

import fenced_checker

# (begun, at, run, token, status, version)
GOOD = [(1, 2, "1.1", 10, 0, 0), (3, 4, "1.1", 10, 0, 1), (6, 7, "1.2", 20, 0, 2), (8, 9, "1.1", 10, 76, None),
        (10, 11, "1.2", 20, 0, 3)]
LOSS = {"at": 5, "what": "loss", "lock": 1, "run": "1.1", "kind": "cut off", "frozen": False}
FINAL = {"at": 20, "what": "final", "lock": 1, "token": 20, "version": 3}


class FencedCheckerTest(unittest.TestCase):
    def check(self, writes, others=(LOSS, FINAL), least=1):
        events = [{"at": at, "what": "write", "lock": 1, "run": run, "token": token, "number": begun, "begun": begun,
                   "status": status, "version": version, "said": ""}
                  for begun, at, run, token, status, version in writes]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "fenced"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(event) + "\n" for event in [*events, *others])
            return fenced_checker.check(folder, least)

    def expect(self, words, writes, **given):
        """Expects exactly one violation, with these words."""
        violations = self.check(writes, **given)[1]
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(words, violations[0])

    def test_good_attempts_have_no_violation_and_are_counted(self):
        counted, violations = self.check(GOOD)
        self.assertEqual(violations, [])
        self.assertIn("fenced writes: 4 × 0, 1 × 76", counted)
        self.assertIn("1 losses, then 1 attempts refused", counted[1])

    def test_without_any_there_is_nothing_to_judge(self):
        self.assertEqual(self.check([], others=()), ([], []))

    def test_a_smaller_token_after_a_larger_one_is_a_violation_also_of_an_attempt_begun_before(self):
        late = (5, 12, "1.1", 10, 0, 4)
        self.expect("a smaller token: attempt 5 of 1.1", [*GOOD, late], others=(LOSS, {**FINAL, "version": 4}))

    def test_an_attempt_after_the_loss_is_refused(self):
        writes = [*GOOD, (12, 13, "1.1", 10, 75, None)]
        self.assertTrue(any("not refused" in text for text in self.check(writes)[1]))
        self.assertEqual(self.check([*GOOD, (12, 13, "1.1", 10, 69, None)])[1], [])

    def test_a_version_that_nobody_was_told_of_is_that_of_an_unknown_end(self):
        later = [*GOOD[:4], (10, 11, "1.2", 20, 0, 4)]
        final = (LOSS, {**FINAL, "version": 4})
        self.expect("1 versions between 2 and 4 that nobody has made", later, others=final)
        self.assertEqual(self.check([*later, (9, 12, "1.2", 20, 69, None)], others=final)[1], [])
        self.expect("between 2 and 4", [*later, (4, 12, "1.1", 10, 69, None)], others=final)

    def test_so_is_what_is_there_in_the_end(self):
        more = (LOSS, {**FINAL, "version": 4})
        self.expect("between 3 and 5", GOOD, others=more)
        self.assertEqual(self.check([*GOOD, (12, 13, "1.2", 20, 69, None)], others=more)[1], [])
        self.assertTrue(any("a smaller token: what is there" in text for text in
                            self.check(GOOD, others=(LOSS, {**FINAL, "version": 4, "token": 10}))[1]))

    def test_a_version_has_one_writer(self):
        self.expect("version 3 was made by two", [*GOOD, (12, 13, "1.2", 20, 0, 3)])

    def test_who_was_refused_does_not_write_again(self):
        self.expect("refused, and written later", [*GOOD[:2], (4, 5, "1.2", 20, 76, None), *GOOD[2:4]],
                    others=(LOSS, {**FINAL, "version": 2}))

    def test_other_statuses_are_violations(self):
        self.expect("status 70 of attempt 2", [(2, 3, "1.1", 10, 70, None), *GOOD])

    def test_too_few_losses_prove_nothing(self):
        self.expect("1 losses with a fenced write after them; wanted were 2", GOOD, least=2)


if __name__ == "__main__":
    unittest.main()
