# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import unittest

from programs import HELPERS, interleaved


class InterleavedTest(unittest.TestCase):
    def test_they_take_turns(self):
        order = []
        interleaved({name: lambda turn, name=name: order.append(f"{name}{turn}") for name in "ab"}, 2)
        self.assertEqual(order, ["a0", "b0", "a1", "b1"])

    def test_a_slow_one_is_measured_in_few_rounds_and_in_the_first(self):
        samples = interleaved({"a": lambda turn: turn, "b": lambda turn: turn}, 5, {"b": 3})
        self.assertEqual(samples, {"a": [0, 1, 2, 3, 4], "b": [0, 3]})


@unittest.skipUnless(os.path.exists(f"{HELPERS}/bare"), "bare is not built")
class BareTest(unittest.TestCase):
    def test_wrong_words_are_a_usage_error_of_one_line(self):
        for words in ([], ["nonsense"], ["lock"], ["lock", "/a", "/b"], ["value", "set", "/a"], ["value", "no", "/a"]):
            done = subprocess.run([f"{HELPERS}/bare", *words], check=False, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 64)
            self.assertRegex(done.stderr, r"\Ausage: bare lock PATH \|.*\n\Z")


if __name__ == "__main__":
    unittest.main()
