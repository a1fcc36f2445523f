# SPDX-License-Identifier: Apache-2.0
"""An interrupted run leaves nothing behind; a failed one leaves only its records."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ALWAYS_0 = os.path.join(os.path.dirname(HERE), "helpers", "always-0")
PATIENCE = 60  # seconds


def processes(folder):
    """Returns the command lines of the processes that were given `folder` for their files."""
    mark, found = f"\0TMPDIR={folder}\0".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment, open(f"/proc/{pid}/cmdline", "rb") as line:
                if mark in b"\0" + environment.read():
                    found.append(line.read())
        except OSError:
            pass
    return found


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *words, **variables):
        return subprocess.Popen([sys.executable, os.path.join(HERE, "run"), "--seed", "1", *words],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                env={**os.environ, "TMPDIR": self.folder, **variables})

    def wait_until(self, fact):
        until = time.monotonic() + PATIENCE
        while not fact():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def wait_until_all_have_ended(self):
        until = time.monotonic() + PATIENCE
        while left := processes(self.folder):
            self.assertLess(time.monotonic(), until, left)
            time.sleep(0.05)

    def contents(self):
        return [os.path.join(path, name) for path, _, names in os.walk(self.folder) for name in names]

    def somebody_has_entered(self):
        return any(path.endswith("/history") and os.path.getsize(path) for path in self.contents())

    def test_nothing_is_left_after_an_interrupt(self):
        for number, when in ((signal.SIGTERM, self.contents), (signal.SIGINT, self.somebody_has_entered)):
            with self.start() as run:
                self.wait_until(when)
                run.send_signal(number)
                self.assertEqual(run.wait(PATIENCE), -number)
            self.wait_until_all_have_ended()
            self.assertEqual(os.listdir(self.folder), [])

    def test_no_process_is_left_after_sigkill(self):
        with self.start() as run:
            self.wait_until(self.somebody_has_entered)
            run.kill()
            run.wait()
            self.wait_until_all_have_ended()

    def test_a_zklock_that_does_nothing_fails_and_the_record_is_kept(self):
        with self.start("--seconds", "1", ZKLOCK_BIN=ALWAYS_0) as run:
            output, _ = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 1)
        self.assertIn("VIOLATION: nobody ever entered", output)
        kept = output.splitlines()[-1].partition("kept in ")[2].partition(":")[0]
        self.assertTrue({"history", "events", "schedule", "contender-1.log", "server-1.log"} <= set(os.listdir(kept)))
        self.assertEqual(processes(self.folder), [])


if __name__ == "__main__":
    unittest.main()
