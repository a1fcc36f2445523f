# SPDX-License-Identifier: Apache-2.0
import unittest

import plots
from figures import Findings


def script(*values):
    findings = Findings("name", "somebody's title")
    series = [findings.add(f"series {place}", "ms", [value]) for place, value in enumerate(values)]
    return plots.script_of(findings, "ms", series, "/folder")


class PlotsTest(unittest.TestCase):
    def test_a_unit_with_one_figure_has_no_picture(self):
        findings = Findings("name", "title")
        findings.add("one", "s", [1])
        findings.add("two", "ms", [1])
        findings.add("three", "ms", [2])
        self.assertEqual(plots.units(findings), ["ms"])

    def test_what_has_a_row_of_its_own_has_no_picture(self):
        findings = Findings("name", "title")
        for name in ("one", "two"):
            findings.add(name, "packets", [1])
            findings.add(name, "fsyncs", [2])
        self.assertEqual(plots.units(findings), [])

    def test_figures_that_are_far_apart_are_drawn_logarithmically(self):
        self.assertIn("set logscale x", script(1, 100))
        self.assertNotIn("set logscale x", script(1, 2))
        self.assertNotIn("set logscale x", script(0, 100))

    def test_a_title_cannot_end_its_quotes(self):
        self.assertIn("set title 'somebody''s title'", script(1, 2))

    def test_a_file_has_no_slash_in_its_name(self):
        self.assertEqual(plots.file_of("push", "lines/s"), "push-lines-per-s.svg")


if __name__ == "__main__":
    unittest.main()
