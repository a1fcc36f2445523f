# SPDX-License-Identifier: Apache-2.0
"""Memory: the next run finds what is remembered, and not what is too old."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import memory
from memory import Memory


class MemoryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/of/user/memory.json"
        self.memory = Memory(self.path)

    def test_without_a_file_nothing_is_known(self):
        self.assertEqual((self.memory.seconds(), self.memory.passed(), self.memory.has_stamp("a")), ({}, [], False))

    def test_a_file_that_cannot_be_read_is_none(self):
        os.makedirs(os.path.dirname(self.path))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("{")
        self.memory.note_passed("abc")
        self.assertEqual(Memory(self.path).passed(), ["abc"])

    def test_of_seconds_the_last_few_are_kept(self):
        for took in range(8):
            self.memory.note_seconds({"part bats": took})
        self.assertEqual(Memory(self.path).seconds(), {"part bats": [3, 4, 5, 6, 7]})

    def test_the_third_second_try_of_a_test_is_told(self):
        told = [self.memory.note_second_tries({"bats.a": "x", "bats.b": str(n)}) for n in range(3)]
        self.assertEqual(told, [[], [], ["bats.a"]])

    def test_a_second_try_of_long_ago_does_not_count(self):
        for _ in range(2):
            self.memory.note_second_tries({"bats.a": "x"})
        usual = memory.days_ago
        self.addCleanup(setattr, memory, "days_ago", usual)
        memory.days_ago = lambda days: "9999-12-31"
        self.assertEqual(self.memory.note_second_tries({"bats.a": "x"}), [])

    def test_a_stamp_is_there_until_it_is_too_old(self):
        self.memory.note_stamps(["docs:1"])
        self.assertTrue(Memory(self.path).has_stamp("docs:1"))
        usual = memory.days_ago
        self.addCleanup(setattr, memory, "days_ago", usual)
        memory.days_ago = lambda days: "9999-12-31"
        self.memory.note_stamps(["docs:2"])
        self.assertFalse(self.memory.has_stamp("docs:1"))


if __name__ == "__main__":
    unittest.main()
