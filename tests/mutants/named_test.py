# SPDX-License-Identifier: Apache-2.0
"""Tests that the tests that mutants name exist. A filter that fits no test would pass with any mutant."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mutant_files import read_mutants
from named import NamedTests

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class FoundTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._root = folder.name
        self._tests = NamedTests(self._root)

    def write(self, path, text=""):
        os.makedirs(os.path.dirname(f"{self._root}/{path}"), exist_ok=True)
        with open(f"{self._root}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def expect(self, test, *paths):
        self.assertEqual(self._tests.files_of(test), set(paths), test)

    def test_unit_and_recipe_tests_by_the_filter_of_googletest(self):
        self.write("tests/unit/base/text_test.cc", "TEST(Text, A) {}\nTEST_F(Text, B) {}\nISOLATED_TEST(Text, C) {}\n")
        self.write("tests/unit/zk/path_test.cc",
                   "TEST_P(Path, D) {}\nINSTANTIATE_TEST_SUITE_P(Good, Path, testing::Values(1));\n")
        self.write("tests/recipe/lock/lock_test.cc", "TEST_F(Lock, E) {}\n")
        for test in ("Text.A", "Text.B", "Text.C", "Text*", "No.Such:*.A", "Text.*-Text.A"):
            self.expect(f"unit:{test}", "tests/unit/base/text_test.cc")
        self.expect("unit:Good/Path*", "tests/unit/zk/path_test.cc")
        self.expect("unit:T*:Good*", "tests/unit/base/text_test.cc", "tests/unit/zk/path_test.cc")
        self.expect("recipe:Lock.E", "tests/recipe/lock/lock_test.cc")
        for test in ("unit:Text", "unit:text.A", "unit:Path.D", "unit:Lock.E", "recipe:Text.A"):
            self.expect(test)

    def test_bats_tests_by_file_and_a_part_of_the_name(self):
        self.write("tests/bats/run/run_wait.bats", '@test "-q is silent: \\"x\\"" {\n')
        for test in ("run_wait", "run_wait/-q is", 'run_wait/silent: "x"'):
            self.expect(f"bats:{test}", "tests/bats/run/run_wait.bats")
        for test in ("run_wait/-n", "run"):
            self.expect(f"bats:{test}")

    def test_models_and_faults_by_their_programs(self):
        self.write("tests/model/line_model.cc")
        self.write("tests/faults/run")
        self.expect("model:line", "tests/model/line_model.cc")
        self.expect("model:lin")
        self.expect("faults:--only kill", "tests/faults/run")


class NamedTest(unittest.TestCase):
    maxDiff = None

    def test_each_exists(self):
        tests = NamedTests(ROOT)
        named = {test for mutant in read_mutants(f"{ROOT}/tests/mutants") for test in mutant.tests}
        self.assertGreater(len(named), 100)
        self.assertEqual([test for test in sorted(named) if not tests.files_of(test)], [])


if __name__ == "__main__":
    unittest.main()
