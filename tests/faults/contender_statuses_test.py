# SPDX-License-Identifier: Apache-2.0
"""Each status is right with its causes, and wrong without them."""

import signal
import unittest

from contender_statuses import Statuses

NEVER, CUT, LEFT = (False, False), (True, False), (True, True)


def allowed(state, kind=None, **details):
    events = [{"at": 0, "what": "fault", "kind": kind, "run": "1.1", **details}] if kind else []
    return Statuses(events).allowed("1.1", *state)


class StatusesTest(unittest.TestCase):
    def test_of_whom_nothing_has_hit(self):
        self.assertEqual([allowed(state) for state in (NEVER, CUT, LEFT)], [set(), {76}, {0}])

    def test_another_run_is_not_meant(self):
        self.assertEqual(allowed(NEVER, "waiter's node deleted", run="2.1"), set())

    def test_a_place_that_was_removed(self):
        self.assertEqual(allowed(NEVER, "waiter's node deleted"), {75, 76})
        self.assertEqual(allowed(CUT, "holder's node deleted"), {76})
        self.assertEqual(allowed(LEFT, "lock deleted with all below it"), {0, 76})

    def test_a_guard_that_was_killed(self):
        self.assertEqual(allowed(NEVER, "waiting guard killed"), {70})
        self.assertEqual(allowed(CUT, "waiting guard killed"), {76})

    def test_a_command_that_was_killed(self):
        self.assertEqual(allowed(CUT, "command killed"), {76, 137})
        self.assertEqual(allowed(NEVER, "command killed"), set())

    def test_a_zklock_that_was_killed(self):
        self.assertEqual(allowed(CUT, "zklock and guard killed"), {76, -9})

    def test_signals(self):
        number = int(signal.SIGTERM)
        self.assertEqual(allowed(NEVER, "signal while waiting", signal=number), {-15})
        self.assertEqual(allowed(CUT, "signal while running", signal=number), {76, -15})
        self.assertEqual(allowed(LEFT, "signal while giving back", signal=number), {0, -15})
        self.assertEqual(allowed(CUT, "signal while running", signal=int(signal.SIGUSR1)), {76, 138})


if __name__ == "__main__":
    unittest.main()
