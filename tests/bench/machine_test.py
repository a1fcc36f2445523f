# SPDX-License-Identifier: Apache-2.0
import unittest

from machine import first_version, version_of


class MachineTest(unittest.TestCase):
    def test_a_version_is_the_first_number_with_a_point(self):
        self.assertEqual(first_version("etcd Version: 3.4.23\nGo Version: go1.19.8"), "3.4.23")
        self.assertEqual(first_version('openjdk version "17.0.15" 2025-04-15'), "17.0.15")
        self.assertIsNone(first_version("no number, or 7 only"))

    def test_a_program_that_is_not_there_has_none(self):
        self.assertIsNone(version_of(["/none/program"]))
        self.assertIsNone(version_of(["false"]))


if __name__ == "__main__":
    unittest.main()
