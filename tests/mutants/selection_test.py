# SPDX-License-Identifier: Apache-2.0
"""Tests that the mutants are selected that are asked for."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mutant_files import Mutant
from selection import changed, named, sampled


def mutant(name, file="src/f.cc", tests=("unit:A.*",), area="area"):
    return Mutant(0, area, 1, name, file, "a", "b", tests)


def names(mutants):
    return [one.name for one in mutants]


class NamedTest(unittest.TestCase):
    def test_by_name_or_area(self):
        mutants = [mutant("a"), mutant("b", area="other"), mutant("c")]
        self.assertEqual(names(named(mutants, [])), ["a", "b", "c"])
        self.assertEqual(names(named(mutants, ["other", "c"])), ["b", "c"])
        with self.assertRaises(LookupError):
            named(mutants, ["a", "nobody"])


class ChangedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._root = folder.name
        self.git("init", "-q")
        self.write("src/f.cc", "1")
        self.write("src/g.cc", "1")
        self.write("tests/unit/base/a_test.cc", "TEST(A, One) {}\n")
        self.git("add", ".")
        self.git("-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self._root, check=True)

    def write(self, path, text):
        os.makedirs(os.path.dirname(f"{self._root}/{path}"), exist_ok=True)
        with open(f"{self._root}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def expect(self, *expected):
        mutants = [mutant("f"), mutant("g", "src/g.cc", ("model:m", "bats:b"))]
        self.assertEqual(names(changed(mutants, self._root, "HEAD")), list(expected))

    def test_nothing_has_changed(self):
        self.expect()

    def test_the_source_file_has_changed(self):
        self.write("src/g.cc", "2")
        self.expect("g")

    def test_a_file_of_its_tests_has_changed(self):
        self.write("tests/unit/base/a_test.cc", "TEST(A, One) { f(); }\n")
        self.expect("f")

    def test_a_file_of_its_tests_is_new(self):
        self.write("tests/bats/run/b.bats", '@test "b" {\n')
        self.expect("g")

    def test_no_such_commit(self):
        with self.assertRaises(LookupError):
            changed([], self._root, "nowhere")


class SampledTest(unittest.TestCase):
    def test_the_seed_decides_and_the_order_stays(self):
        mutants = [mutant(f"m{number:02}") for number in range(50)]
        sample = names(sampled(mutants, 10, "1"))
        self.assertEqual(len(sample), 10)
        self.assertEqual(sample, sorted(sample))
        self.assertEqual(sample, names(sampled(mutants, 10, "1")))
        self.assertNotEqual(sample, names(sampled(mutants, 10, "2")))

    def test_one_mutant_less_changes_one_of_the_sample(self):
        mutants = [mutant(f"m{number:02}") for number in range(50)]
        sample = set(names(sampled(mutants, 10, "1")))
        others = set(names(sampled([one for one in mutants if one.name != min(sample)], 10, "1")))
        self.assertEqual(len(sample & others), 9)

    def test_more_than_there_are_is_all(self):
        self.assertEqual(names(sampled([mutant("a")], 5, "1")), ["a"])


if __name__ == "__main__":
    unittest.main()
