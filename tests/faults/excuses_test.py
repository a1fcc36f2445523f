# SPDX-License-Identifier: Apache-2.0
"""What is not promised is no violation. It is one without the fault, for another run, or later."""

import json
import os
import tempfile
import unittest

import checker
from excuses import hit_runs

SECOND = 10**9
OTHER = 78  # a process that the command has started
FIRST = [("enter 1.1 100", 1.0, 77), ("alive 1.1 100", 1.1, OTHER)]
SECOND_ONE = [("enter 2.1 101", 2.0, 90), ("exit 2.1 101", 5.9, 90)]


class ExcusesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, late, fault, status, healed=4.0):
        """Checks with `late`: (at, process) of the first one's last sign of life, and `fault`: its kind and details."""
        sign = ("alive 1.1 100", *late)
        lines = sorted([*FIRST, *SECOND_ONE, sign], key=lambda line: line[1])
        with open(os.path.join(self.folder, "history"), "w", encoding="ascii") as history:
            history.writelines(f"{words} {int(at * SECOND)} {pid}\n" for words, at, pid in lines)
        events = [(0, "start", {}), (1.05, "fault", fault), (healed, "healed", {"kind": fault["kind"]}),
                  (4.1, "end", {"run": "1.1", "status": status}), (5.95, "end", {"run": "2.1", "status": 0}),
                  (6, "stop", {})]
        with open(os.path.join(self.folder, "events"), "w", encoding="ascii") as file:
            file.writelines(json.dumps({"at": int(at * SECOND), "what": what, **more}) + "\n"
                            for at, what, more in events)
        return checker.check(os.path.join(self.folder, "history"), os.path.join(self.folder, "events"))[1]

    def expect_overlap(self, late, fault, status, **more):
        violations = self.check(late, fault, status, **more)
        self.assertEqual(len(violations), 1, violations)
        self.assertIn("overlap: 1.1 lives on", violations[0])

    def test_what_a_command_has_started_outlives_zklock_and_guard(self):
        fault = {"kind": "zklock and guard killed", "run": "1.1"}
        self.assertEqual(self.check((3.0, OTHER), fault, -9), [])
        self.expect_overlap((3.0, 77), fault, -9)  # the command itself does not
        self.expect_overlap((4.6, OTHER), fault, -9)  # the suite has killed it by then

    def test_only_in_the_run_that_was_hit(self):
        self.assertTrue(self.check((3.0, OTHER), {"kind": "zklock and guard killed", "run": "3.1"}, 76))

    def test_nor_when_zklock_alone_was_killed(self):
        self.expect_overlap((3.0, OTHER), {"kind": "zklock killed", "run": "1.1"}, -9)

    def test_what_a_killed_command_has_started_runs_on(self):
        self.assertEqual(self.check((3.0, OTHER), {"kind": "command killed", "run": "1.1"}, 137), [])
        self.expect_overlap((3.0, 77), {"kind": "command killed", "run": "1.1"}, 137)

    def test_so_does_that_of_one_which_died_of_usr1_but_not_of_term(self):
        kind = "signal while running"
        self.assertEqual(self.check((3.0, OTHER), {"kind": kind, "run": "1.1", "signal": 10}, 138), [])
        self.expect_overlap((3.0, OTHER), {"kind": kind, "run": "1.1", "signal": 15}, -15)

    def test_all_that_was_frozen_goes_on_for_a_moment(self):
        fault = {"kind": "all that runs frozen, more than a session", "run": "1.1"}
        self.assertEqual(self.check((4.3, 77), fault, 76), [])
        self.expect_overlap((4.6, 77), fault, 76)

    def test_whose_node_was_deleted_has_time_until_the_fence(self):
        fault = {"kind": "holder's node deleted", "run": "1.1"}
        self.assertEqual(self.check((2.8, 77), fault, 76, healed=1.06), [])
        self.expect_overlap((3.0, 77), fault, 76, healed=1.06)

    def test_from_when_it_may_have_been_deleted_at_the_latest(self):
        self.assertEqual(self.check((3.0, 77), {"kind": "waiter's node deleted", "run": "1.1"}, 76, healed=2.0), [])

    def test_so_has_who_was_in_line_when_the_lock_was_deleted(self):
        self.assertEqual(self.check((4.3, 77), {"kind": "lock deleted with all below it", "runs": ["1.1"]}, 76), [])

    def tokens(self, fault):
        """Checks a section whose token is smaller than that of the one before."""
        lines = [("enter 2.1 101", 1.0), ("exit 2.1 101", 1.1), ("enter 1.1 100", 1.2), ("exit 1.1 100", 1.3)]
        with open(os.path.join(self.folder, "history"), "w", encoding="ascii") as history:
            history.writelines(f"{words} {int(at * SECOND)} 77\n" for words, at in lines)
        text = "".join(json.dumps({"at": int(at * SECOND), "what": what, **more}) + "\n" for at, what, more in (
            (0, "start", {}), (0.9, "fault", fault), (2, "stop", {})))
        with open(os.path.join(self.folder, "events"), "w", encoding="ascii") as events:
            events.write(text)
        return checker.check(os.path.join(self.folder, "history"), os.path.join(self.folder, "events"))[1]

    def test_a_command_that_was_being_started_then_may_begin_after_the_next_ones(self):
        self.assertEqual(self.tokens({"kind": "holder's node deleted", "run": "1.1"}), [])
        self.assertIn("token does not grow", self.tokens({"kind": "holder's node deleted", "run": "3.1"})[0])

    def test_who_has_begun_while_the_lock_was_deleted_was_hit_too(self):
        fault = {"at": 5, "what": "fault", "kind": "lock deleted with all below it", "runs": ["1.1"]}
        events = [{"at": 1, "what": "begin", "run": "1.0"}, {"at": 2, "what": "end", "run": "1.0"}, fault,
                  {"at": 6, "what": "begin", "run": "2.1"}, {"at": 7, "what": "healed", "kind": fault["kind"]},
                  {"at": 8, "what": "begin", "run": "3.1"}]
        self.assertEqual(hit_runs(events, 2), {"1.1", "2.1"})

    def test_who_is_asked_to_let_go_has_no_excuse(self):
        self.expect_overlap((2.8, 77), {"kind": "lock broken", "runs": ["1.1"]}, 76)


if __name__ == "__main__":
    unittest.main()
