# SPDX-License-Identifier: Apache-2.0
"""Ends what a fault has left alive: real processes, which fork all the time."""

import os
import subprocess
import time
import unittest

from place import Place

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HELPERS = os.environ.get("ZKLOCK_HELPERS", os.path.join(ROOT, "build/test/tests"))
STILL = 0.5  # seconds
BOUND = 20.0


class EndOfAForkerTest(unittest.TestCase):
    def setUp(self):
        self.place = Place("/bin/true", os.path.join(HELPERS, "faults_holder"), 6)
        self.addCleanup(self.place.remove)
        self.addCleanup(self.place.kill_all)
        self.place.forkers = (5,)

    def signs(self):
        return os.path.getsize(self.place.path("history"))

    def await_sign(self):
        before, until = self.signs(), time.monotonic() + BOUND
        while self.signs() == before:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def begin(self, run):
        words = [self.place.holder, self.place.path("history"), self.place.path("stay"), run, "60000", "forking"]
        command = subprocess.Popen(words, env={**self.place.environment, "ZKLOCK_TOKEN": "1"})
        self.await_sign()
        command.kill()
        command.wait()
        self.await_sign()

    def test_it_is_caught(self):
        for count in range(20):
            run = f"5.{count}"
            self.begin(run)
            self.place.kill_run(run)
            before = self.signs()
            time.sleep(STILL)
            self.assertEqual(self.signs(), before)


if __name__ == "__main__":
    unittest.main()
