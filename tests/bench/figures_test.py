# SPDX-License-Identifier: Apache-2.0
import unittest

from figures import Findings, number, table


class FiguresTest(unittest.TestCase):
    def test_a_ratio_is_that_of_the_medians(self):
        findings = Findings("name", "title")
        fast, slow = findings.add("fast", "items/s", [90, 100, 1000]), findings.add("slow", "items/s", [50, 1, 60])
        findings.ratio("fast to slow", fast, slow)
        self.assertEqual(findings.claims[0].value, 2)

    def test_a_target_is_met_from_the_side_that_it_names(self):
        findings = Findings("name", "title")
        findings.claim("rate", 5, at_least=4)
        findings.claim("rate", 3, at_least=4)
        findings.claim("time", 5, at_most=4)
        findings.claim("time", 3, at_most=4)
        findings.claim("told", 3)
        self.assertEqual([claim.is_met() for claim in findings.claims], [True, False, False, True, None])

    def test_what_is_missed_is_missed_by_a_part_of_the_target(self):
        findings = Findings("name", "title")
        findings.claim("rate", 3, at_least=4)
        findings.claim("time", 5, at_most=4)
        findings.claim("time", 3, at_most=4)
        self.assertEqual([claim.missed_by() for claim in findings.claims], [0.25, 0.25, None])

    def test_the_spread_is_the_middle_half(self):
        series = Findings("name", "title").add("a", "ms", [100, 1, 2, 3, 4, 5, 6])
        self.assertEqual(series.spread(), (2, 6))

    def test_a_few_values_are_all_shown(self):
        self.assertEqual(Findings("name", "title").add("a", "ms", [7, 9]).spread(), (7, 9))

    def test_what_was_left_out_stands_in_the_table_and_in_the_report(self):
        findings = Findings("name", "title")
        findings.leave_out("Kazoo", "not there")
        self.assertIn("  left out: Kazoo: not there", table(findings))
        self.assertEqual(findings.as_dict()["left_out"], [{"what": "Kazoo", "why": "not there"}])

    def test_three_digits_count(self):
        self.assertEqual([number(value) for value in (0.12345, 12.345, 1234.5)], ["0.123", "12.3", "1,234"])


if __name__ == "__main__":
    unittest.main()
