# SPDX-License-Identifier: Apache-2.0
"""Planted losses are found, pauses are a pure function of the seed, the report has the findings."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from folders import HERE  # first

import jepsen_report
from jepsen_judge import NOTHING, judge
from jepsen_nemesis import INTERVAL, Nemesis, Pause, planned


class JudgeTest(unittest.TestCase):
    def test_what_was_acknowledged_and_is_there_is_not_lost(self):
        verdict = judge({"a": 0, "b": 76, "c": 0}, ["c", "a"])
        self.assertEqual((verdict.acknowledged, verdict.kept, verdict.unacknowledged, verdict.lost), (2, 2, 0, ()))

    def test_each_that_was_acknowledged_and_is_not_there_is_lost(self):
        self.assertEqual(judge({"a": 0, "b": 0, "c": 0, "d": 0}, ["a", "c"]).lost, ("b", "d"))

    def test_one_that_is_there_unacknowledged_hides_no_loss(self):
        verdict = judge({"a": 0, "b": -9}, ["b"])
        self.assertEqual((verdict.acknowledged, verdict.kept, verdict.unacknowledged, verdict.lost), (1, 1, 1, ("a",)))

    def test_what_was_not_acknowledged_cannot_be_lost(self):
        self.assertEqual(judge({"a": 1, "b": -9, "c": 76}, []).lost, ())

    def test_files_are_added_up(self):
        verdict = judge({"0.a": 0}, []) + judge({"1.a": 0, "1.b": 0}, ["1.b"]) + NOTHING
        self.assertEqual((verdict.acknowledged, verdict.kept, verdict.lost), (3, 1, ("0.a", "1.a")))

    def test_a_file_that_no_such_updates_can_leave_is_refused(self):
        for lines in (["a", "a"], ["nobody's"]):
            with self.assertRaises(ValueError):
                judge({"a": 0}, lines)


class UpdateTest(unittest.TestCase):
    """Tests the command itself, without a lock."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "file")
        with open(self.path, "wb"):
            pass

    def begin(self, name, seconds):
        return subprocess.Popen([sys.executable, f"{HERE}/jepsen_update.py", self.path, name, seconds],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def lines(self):
        with open(self.path, encoding="ascii") as file:
            return file.read().splitlines()

    def test_one_after_the_other_both_are_kept(self):
        said = [self.begin(name, "0").communicate()[0] for name in ("a", "b")]
        self.assertEqual(self.lines(), ["a", "b"])
        self.assertRegex(said[1], "b: read 1\n.* b: wrote 2\n")

    def test_two_at_once_lose_one_and_the_judge_says_which(self):
        slow = self.begin("slow", "1")
        self.assertIn("read 0", slow.stdout.readline())
        slow.send_signal(signal.SIGSTOP)
        quick = self.begin("quick", "0")
        quick.communicate()
        slow.send_signal(signal.SIGCONT)
        slow.communicate()
        self.assertEqual(judge({"quick": quick.returncode, "slow": slow.returncode}, self.lines()).lost, ("quick",))


NO_LOCK = """#!/bin/sh
until [ "$1" = -- ]; do shift; done
shift
exec "$@"
"""


class ProgramTest(unittest.TestCase):
    """Makes a few updates on real servers."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def played(self, updates, **variables):
        """Returns its status, and what was found of zklock."""
        words = ["--only", "zklock", "--locks", "2", "--updates", str(updates), "--seed", "1", "--out", self.folder]
        status = subprocess.run([f"{HERE}/jepsen", *words], check=False, stdout=subprocess.DEVNULL,
                                env={**os.environ, "TMPDIR": self.folder, **variables}).returncode
        with open(os.path.join(self.folder, "seed-1.json"), encoding="utf-8") as file:
            return status, json.load(file)["contestants"][0]

    def test_zklock_loses_nothing(self):
        status, found = self.played(4)
        self.assertEqual((status, found["lost"]), (0, []))
        self.assertGreaterEqual(found["acknowledged"], 4)

    def test_without_a_lock_much_is_lost_and_the_status_says_so(self):
        stand_in = os.path.join(self.folder, "zklock")
        with open(stand_in, "w", encoding="ascii") as file:
            file.write(NO_LOCK)
        os.chmod(stand_in, 0o755)
        status, found = self.played(12, ZKLOCK_BIN=stand_in)
        self.assertEqual(status, 1)
        self.assertGreaterEqual(len(found["lost"]), 2)


class FakeServers:
    def __init__(self, leader):
        self.leader = lambda: leader
        self.did = []

    def pause(self, number):
        self.did.append(("pause", number))

    def resume(self, number):
        self.did.append(("resume", number))


class NemesisTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_pauses_another_one_does_not(self):
        self.assertEqual(planned(7, 600), planned(7, 600))
        self.assertEqual(len({tuple(planned(seed, 600)) for seed in range(20)}), 20)

    def test_no_pause_begins_before_the_one_before_is_over(self):
        for one, following in zip(planned(3, 600), planned(3, 600)[1:]):
            self.assertGreaterEqual(following.at, one.at + one.length)

    def test_on_the_average_an_operation_comes_every_interval_and_each_target_has_its_turn(self):
        pauses = planned(1, 10000)
        self.assertAlmostEqual(10000 / (2 * len(pauses)), INTERVAL, delta=0.5)
        self.assertEqual({pause.whom for pause in pauses}, {"leader", "all"})

    def hit(self, pause, leader):
        """Returns the servers that it pauses; all of them are resumed."""
        servers = FakeServers(leader)
        nemesis = Nemesis(servers, 1)
        nemesis._schedule = [pause]
        nemesis.start()
        while not servers.did:
            nemesis.check()
        nemesis.end()
        nemesis.check()
        paused = [number for what, number in servers.did if what == "pause"]
        self.assertEqual([number for what, number in servers.did if what == "resume"], paused)
        self.assertEqual(nemesis.done[0]["servers"], paused)
        return paused

    def test_it_hits_who_leads_then_or_all_and_resumes_them_even_if_it_is_ended(self):
        long = 1000
        self.assertEqual(self.hit(Pause(0, long, "leader", 1), leader=2), [2])
        self.assertEqual(self.hit(Pause(0, long, "leader", 1), leader=None), [1])
        self.assertEqual(self.hit(Pause(0, long, "all", 1), leader=2), [1, 2, 3])


def run(seed, updates=1000, **lost):
    return {"seed": seed, "locks": 2, "updates": updates, "begun": "2000-01-02T03:04:05+00:00",
            "machine": {"processor": "a processor", "processors": 2, "system": "a system", "kernel": "6.1",
                        "versions": {"zklock": "0.1.0"}},
            "contestants": [{"name": name, "seconds": 60.0, "load": 1.0, "acknowledged": 1000, "kept": 900,
                             "unacknowledged": 5, "lost": [f"1.{n}" for n in range(number)],
                             "statuses": {"0": 1000, "76": 3}, "pauses": [{"at": 6, "until": 9, "servers": [1]}]}
                            for name, number in lost.items()]}


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "README.md"), "w", encoding="utf-8") as file:
            file.write(f"before\n{jepsen_report.BEGIN}\nold\n<!-- to here -->\nafter\n")

    def written(self, *runs):
        for one in runs:
            with open(os.path.join(self.folder, f"seed-{one['seed']}.json"), "w", encoding="utf-8") as file:
                json.dump(one, file)
        jepsen_report.write(self.folder, self.folder)
        texts = []
        for name in ("README.md", "tests/experiments/JEPSEN.md"):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        return texts

    def test_readme_has_the_figures_of_all_seeds_between_its_marks(self):
        readme = self.written(run(3, zklock=0, etcdctl=1), run(10, zklock=0, etcdctl=180),
                              run(2, zklock=0, etcdctl=20))[0]
        words = " ".join(readme.split())
        self.assertIn("lost: `zklock run` 0 of 3,000, `etcdctl lock` 201 of 3,000 (6.7 %).", words)
        self.assertTrue(readme.startswith("before\n") and readme.endswith("after\n"))
        self.assertNotIn("old", readme)

    def test_the_text_has_a_row_for_each_contestant_and_seed(self):
        text = self.written(run(1, zklock=0, etcdctl=20), run(2, zklock=0, etcdctl=180))[1]
        row = "| `etcdctl lock` | 2 | 60 | 1 | 1,000 | 180 | 18.0 % | 900 | 5 | 1,000 × 0, 3 × 76 | 1.0 |"
        self.assertIn(row, text)
        self.assertEqual(text.count("| `zklock run` |"), 2)

    def test_a_short_run_is_said_to_be_one(self):
        self.assertIn("Short runs", "".join(self.written(run(1, updates=60, zklock=0))))
        self.assertNotIn("Short runs", "".join(self.written(run(1, zklock=0))))

    def test_of_nothing_lost_there_is_no_plot(self):
        self.assertNotIn(".svg", self.written(run(1, zklock=0, etcdctl=0))[1])

    def test_a_report_of_nothing_is_refused(self):
        with self.assertRaises(SystemExit):
            jepsen_report.write(self.folder, self.folder)


if __name__ == "__main__":
    unittest.main()
