# SPDX-License-Identifier: Apache-2.0
import unittest

from programs import interleaved


class InterleavedTest(unittest.TestCase):
    def test_they_take_turns(self):
        order = []
        interleaved({name: lambda turn, name=name: order.append(f"{name}{turn}") for name in "ab"}, 2)
        self.assertEqual(order, ["a0", "b0", "a1", "b1"])

    def test_a_slow_one_is_measured_in_few_rounds_and_in_the_first(self):
        samples = interleaved({"a": lambda turn: turn, "b": lambda turn: turn}, 5, {"b": 3})
        self.assertEqual(samples, {"a": [0, 1, 2, 3, 4], "b": [0, 3]})


if __name__ == "__main__":
    unittest.main()
