# SPDX-License-Identifier: Apache-2.0
"""The schedule is a pure function of the seed, and enough happens in it."""

import os
import subprocess
import sys
import unittest

from faults import ACTS
from schedule import LANES, schedule

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
SHORT = 66


def printed(*words):
    return subprocess.run([sys.executable, RUN, "--schedule", *words], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


class ScheduleTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_schedule(self):
        self.assertEqual(schedule(12345, 900), schedule(12345, 900))

    def test_it_does_so_in_another_process(self):
        self.assertEqual(printed("--seed", "7"), printed("--seed", "7"))
        self.assertEqual(printed("--seed", "7", "--all").splitlines(), [str(fault) for fault in schedule(7, SHORT)])

    def test_two_seeds_differ(self):
        self.assertEqual(len({tuple(schedule(seed, SHORT)) for seed in range(100)}), 100)

    def test_a_longer_run_begins_like_a_shorter_one(self):
        short = schedule(3, SHORT)
        self.assertEqual(schedule(3, 900)[:len(short)], short)

    def test_whatever_the_seed_the_short_run_has_enough_of_enough_kinds(self):
        for seed in range(200):
            faults = schedule(seed, SHORT)
            # Some find no target.
            self.assertGreaterEqual(len(faults), 34, seed)
            self.assertGreaterEqual(len({fault.kind for fault in faults}), 50, seed)
            self.assertGreater(faults[-1].at, SHORT - 8, seed)

    def test_a_long_run_has_all_kinds_whatever_the_seed_and_they_are_many(self):
        kinds = {kind.name for lane in LANES for kind in lane.kinds}
        self.assertGreaterEqual(len(kinds), 60)
        for seed in range(20):
            self.assertEqual({fault.kind for fault in schedule(seed, 900)}, kinds)

    def test_kinds_can_be_chosen_and_left_out(self):
        faults = schedule(5, 900, "frozen", ("leader frozen",))
        self.assertTrue(all("frozen" in fault.kind for fault in faults))
        self.assertNotIn("leader frozen", {fault.kind for fault in faults})

    def test_faults_of_one_lane_do_not_meet(self):
        for lane in LANES:
            faults = [fault for fault in schedule(5, 900) if fault.lane == lane.name]
            for one, next_one in zip(faults, faults[1:]):
                self.assertGreaterEqual(next_one.at, one.at + one.length + lane.shortest_pause - 0.02)

    def test_there_is_an_act_for_each_kind(self):
        self.assertEqual(set(ACTS), {kind.name for lane in LANES for kind in lane.kinds})


if __name__ == "__main__":
    unittest.main()
