# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import os
import tempfile
import unittest

import report
from figures import Findings


def results(*comparisons, extent="full"):
    return {"begun": "2000-01-02T03:04:05+00:00", "extent": extent, "seconds": 120, "comparisons": list(comparisons),
            "machine": {"processor": "a processor", "processors": 2, "memory_mib": 2048, "system": "a system",
                        "kernel": "6.1", "versions": {"zklock": "0.1.0"}}}


def comparison(name="hand-over", title="20 loops, that want it"):
    findings = Findings(name, title, "How it is done.")
    fast, slow = findings.add("zklock", "sections/s", [90]), findings.add("floor", "sections/s", [100])
    findings.ratio("zklock's rate to floor", fast, slow, at_least=0.85)
    findings.ratio("zklock's rate to that of light", fast, slow, at_least=1.8)
    findings.leave_out("Kazoo", "not there")
    return {**findings.as_dict(), "plots": ["a.svg"], "seconds": 1, "load_before": 0.1}


class ReportTest(unittest.TestCase):
    def test_what_is_not_met_is_told_with_how_far_off_it_is(self):
        text = report.benchmarks(results(comparison()))
        self.assertIn("zklock's rate to that of light is 0.9, 50% off the target of at least 1.8", text)
        self.assertNotIn("zklock's rate to floor is", text)

    def test_a_comparison_has_its_method_its_figures_and_what_was_left_out_but_no_plots(self):
        text = report.benchmarks(results(comparison()))
        for part in ("How it is done.", "| zklock | 90 | sections/s | 90 to 90 | 1 |", "Left out: Kazoo (not there)."):
            self.assertIn(part, text)
        self.assertNotIn("svg", text)

    def test_the_plots_that_were_drawn_are_copied_and_those_of_an_earlier_report_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "plots")
            os.mkdir(target)
            for name in ("a.svg", "b.svg", "plots/old.svg"):
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write(name)
            report.copy_plots(results(comparison(), {**comparison(), "plots": ["missing.svg"]}), folder, target)
            self.assertEqual(os.listdir(target), ["a.svg"])

    def test_what_has_figures_in_several_units_has_one_row(self):
        findings = Findings("cost", "title")
        findings.add("a lock", "packets", [3])
        findings.add("a lock", "fsyncs", [4])
        findings.add("a run", "packets", [5])
        rows = report.figures(findings.as_dict()["series"]).splitlines()
        self.assertEqual(rows[0], "| what | packets | fsyncs |")
        self.assertEqual(rows[2:], ["| a lock | 3 | 4 |", "| a run | 5 |  |"])

    def test_the_targets_link_to_the_headings(self):
        self.assertEqual(report.anchor(comparison()), "hand-over-20-loops-that-want-it")

    def test_a_quick_run_is_said_to_be_one(self):
        self.assertIn("small counts", report.benchmarks(results(comparison(), extent="quick")))
        self.assertNotIn("small counts", report.benchmarks(results(comparison())))

    def test_the_sentence_for_readme_has_the_medians(self):
        lock = comparison("lock")
        lock["series"] = [{"name": "zklock wall", "median": 7.08}, {"name": "Kazoo wall", "median": 68.2}]
        self.assertIn("a free lock: `zklock run` 7.08 ms, Kazoo 68.2 ms;", report.short(results(lock)))

    def test_the_sentence_for_readme_needs_no_comparison(self):
        self.assertIn("BENCHMARKS.md", report.short(results()))

    def test_scale_stands_behind_the_others_where_it_has_the_same_extent(self):
        for extent, names in (("full", ["lock", "scale-held"]), ("quick", ["lock"])):
            all_of_it = results(comparison("lock"))
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
                report.add_scale(all_of_it, os.path.join(folder, "none"))
                file = os.path.join(folder, report.SCALE)
                with open(file, "w", encoding="utf-8") as sink:
                    json.dump(results(comparison("scale-held"), extent=extent), sink)
                report.add_scale(all_of_it, file)
            self.assertEqual([one["name"] for one in all_of_it["comparisons"]], names)

    def test_the_round_trips_alone_replace_their_part_or_come_last(self):
        old, new = ({**comparison("far", f"{age} trips"), "begun": "2000-01-02T03:04:05+00:00"}
                    for age in ("Old", "New"))
        for others in ([], [comparison("push")], [comparison("push"), comparison("tls")]):
            for place in range(len(others) + 1):
                had, has = ([*others[:place], one, *others[place:]] for one in (old, new))
                self.assertEqual(report.with_part(report.benchmarks(results(*had)), new).partition("## far: ")[2],
                                 report.benchmarks(results(*has)).partition("## far: ")[2])
            text = report.with_part(report.benchmarks(results(*others)), new)
            self.assertTrue(text.endswith("\n\n" + report.section(new)))
        self.assertIn("Measured 2000-01-02.", text)

    def test_a_report_of_round_trips_alone_leaves_the_rest(self):
        with tempfile.TemporaryDirectory() as folder:
            file, text = os.path.join(folder, "BENCHMARKS.md"), report.benchmarks(results(comparison("push")))
            with open(file, "w", encoding="utf-8") as sink:
                sink.write(text)
            with open(os.path.join(folder, report.FAR), "w", encoding="utf-8") as sink:
                json.dump({"comparisons": [comparison("far")]}, sink)
            report.write(os.path.join(folder, "bench.json"), folder)
            with open(file, encoding="utf-8") as source:
                self.assertEqual(source.read(), text + "\n" + report.section(comparison("far")))

    def test_only_what_is_between_the_marks_is_replaced(self):
        text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        self.assertEqual(report.replaced(text, "new\n"), text.replace("old", "new"))

    def test_without_marks_nothing_is_replaced(self):
        with self.assertRaises(SystemExit):
            report.replaced("no marks", "new")


if __name__ == "__main__":
    unittest.main()
