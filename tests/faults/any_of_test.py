# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made signs of loops that use numbers: some keep the rules, and for each rule some break it."""

import os
import tempfile
import unittest

import any_of
from gaps import LIMIT

SECOND = 10**9
OFTEN = LIMIT / SECOND / 2  # seconds
EVENTS = [{"at": 0, "what": "start"}, {"at": 0, "what": "crowd begin", "run": "number1.1"},
          {"at": int(20 * SECOND), "what": "numbers end"}, {"at": int(90 * SECOND), "what": "crowd end"}]


def signs_of(number, run, begin, end):
    """Yields signs of a run that lives from `begin` to `end`."""
    yield f"begin {number} {run} {begin}"
    at = begin
    while (at := at + OFTEN) < end:
        yield f"alive {number} {run} {at}"
    yield f"end {number} {run} {end}"


def good_signs():
    return [sign for number in range(any_of.NUMBERS) for sign in signs_of(number, f"number{number + 1}.1", 1, 20)]


class AnyOfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, signs, events=()):
        with open(os.path.join(self.folder, "numbers"), "w", encoding="ascii") as file:
            for word, number, run, at in map(str.split, signs):
                file.write(f"{word} {number} {run} {int(float(at) * SECOND)} 7\n")
        return any_of.check(self.folder, sorted([*EVENTS, *events], key=lambda event: event["at"]))

    def test_good_signs_have_no_violation_and_are_counted(self):
        counted, violations = self.check(good_signs())
        self.assertEqual(violations, [])
        self.assertRegex(counted[0], r"numbers: 10, 10 uses, 0 of them cut short, by each contender 1 at least; none "
                                     r"unused for more than 1[.]000 s .* longest wait 1[.]0 s")

    def test_nothing_is_said_of_a_run_without_them(self):
        self.assertEqual(any_of.check(self.folder, EVENTS), ([], []))

    def test_a_number_that_two_commands_have_is_a_violation(self):
        violations = self.check([*good_signs(), "twice 3 number12.1 5"])[1]
        self.assertEqual(violations, ["twice: number 3 by number12.1 while another command has it"])

    def test_a_number_that_is_unused_for_long_is_a_violation(self):
        others = [sign for sign in good_signs() if sign.split()[1] != "4"]
        for signs in (others, [*others, *signs_of(4, "number5.1", 1, 2)], [*others, *signs_of(4, "number5.1", 12, 20)]):
            violations = self.check(signs)[1]
            self.assertEqual(len(violations), 1, violations)
            self.assertIn("number 4 is unused for", violations[0])

    def test_time_without_a_quorum_does_not_count_and_a_fault_begins_it_anew(self):
        signs = [sign for sign in good_signs() if sign.split()[1] != "4"] + list(signs_of(4, "number5.1", 8, 20))
        self.assertEqual(len(self.check(signs)[1]), 1)
        away = [{"at": int(at * SECOND), "what": "quorum", "there": at > 4} for at in (2, 5)]
        self.assertEqual(self.check(signs, away)[1], [])
        killed = {"at": int(4 * SECOND), "what": "fault", "kind": "number killed"}
        self.assertEqual(self.check(signs, [killed])[1], [])

    def test_who_has_begun_nothing_since_is_starved(self):
        self.check(["begin 0 number1.1 5", "begin 1 number2.1 7", "end 0 number1.1 8"])
        self.assertEqual(any_of.starved(self.folder, ["number1", "number2", "number3"], 6 * SECOND),
                         ["number1", "number3"])


if __name__ == "__main__":
    unittest.main()
