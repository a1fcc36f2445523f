# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest

import killed
from figures import Findings


class KilledTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "lock")

    def outcome(self, holder):
        """Returns what the next one finds when the holder is dead."""
        with killed.Processes() as processes:
            killed_one = processes.holding(holder)
            waiting = ["sh", "-c", 'read -r word; exec "$@"', "sh", *killed.look(self.file)]
            following = processes.start(waiting)

            def let_it_look():
                killed_one.wait()
                following.stdin.write(b"now\n")
                following.stdin.close()

            return killed.next_after(killed_one, following, let_it_look)

    def test_the_next_one_is_alone_where_the_killed_ones_command_is_dead(self):
        outcome = self.outcome(["flock", "--no-fork", self.file, "sh", "-c", "echo held; exec sleep 600"])
        self.assertTrue(outcome.alone)
        self.assertEqual(killed.alone(outcome), outcome.milliseconds)

    def test_a_command_that_outlives_who_was_killed_is_seen(self):
        outcome = self.outcome(["sh", "-c", '"$@" & wait', "sh", *killed.hold(self.file)])
        self.assertFalse(outcome.alone)
        with self.assertRaises(RuntimeError):
            killed.alone(outcome)

    def test_the_lock_of_the_kernel_is_held_by_what_lives(self):
        with killed.Processes() as processes:
            processes.holding(killed.hold(self.file))
            self.assertFalse(killed.is_free(self.file))

    def test_a_peer_is_told_apart_by_what_its_command_does(self):
        findings = Findings("killed", "title")
        killed.judge_peers(findings, {"peer": [killed.Outcome(6000, False), killed.Outcome(3000, True)]})
        self.assertEqual([claim.value for claim in findings.claims], [0.75, 0.5])


if __name__ == "__main__":
    unittest.main()
