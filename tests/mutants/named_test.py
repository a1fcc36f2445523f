# SPDX-License-Identifier: Apache-2.0
"""The tests that mistakes name are there: a filter that has none would pass with any mistake."""

import fnmatch
import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from weave import read_mutants

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def found(pattern, regex):
    for path in glob.glob(f"{ROOT}/tests/{pattern}"):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), re.findall(regex, file.read(), re.MULTILINE)


def unit_tests():
    """As GoogleTest calls them: one with parameters has what stands in INSTANTIATE_TEST_SUITE_P before its name."""
    files, of_suite = "unit/*/*_test.cc", {}
    for _, suites in found(files, r"^INSTANTIATE_TEST_SUITE_P\((\w+),\s*(\w+),"):
        of_suite.update({suite: prefix for prefix, suite in suites})
    plain = {".".join(words) for _, tests in found(files, r"^(?:ISOLATED_)?TEST(?:_F)?\((\w+),\s*(\w+)\)")
             for words in tests}
    return plain | {f"{of_suite[suite]}/{suite}.{test}/0" for _, tests in found(files, r"^TEST_P\((\w+),\s*(\w+)\)")
                    for suite, test in tests}


def bats_tests():
    return {name.removesuffix(".bats"): tests for name, tests in found("bats/*/*.bats", r'^@test "(.*)" \{')}


def missing(test, unit, bats):
    kind, _, what = test.partition(":")
    if kind == "unit":
        # What stands behind a "-" is left out; see GoogleTest.
        return not any(fnmatch.filter(unit, filter) for filter in what.partition("-")[0].split(":"))
    if kind == "bats":
        name, _, text = what.partition("/")
        return not any(text.replace("\\", "") in one.replace("\\", "") for one in bats.get(name, ()))
    return kind == "model" and not os.path.exists(f"{ROOT}/tests/model/{what}_model.cc")


class NamedTest(unittest.TestCase):
    maxDiff = None

    def test_each_is_there(self):
        unit, bats = unit_tests(), bats_tests()
        self.assertGreater(len(unit), 100)
        named = {test for mutant in read_mutants(f"{ROOT}/tests/mutants") for test in mutant.tests}
        self.assertEqual([test for test in sorted(named) if missing(test, unit, bats)], [])


if __name__ == "__main__":
    unittest.main()
