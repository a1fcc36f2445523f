# SPDX-License-Identifier: Apache-2.0
"""Mistakes get into the source as they were meant, and those that do not fit are told."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from weave import Mutant, Stale, number_of, read_mutants, weave
from weave import woven as woven_with_switch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def mutant(number, old, new, **more):
    return Mutant(number, "area", f"m{number}", "f.cc", old, new, (), **more)


def woven(text, mutants):
    """Without the lines that make the switch known."""
    switch, _, rest = woven_with_switch(text, mutants).partition("#line 1\n")
    assert switch.startswith("#include"), switch
    return rest


class WovenTest(unittest.TestCase):
    def test_an_expression_becomes_a_choice(self):
        self.assertEqual(woven("return 2 * t / 3;", [mutant(4, "2 * t / 3", "t")]),
                         "return (zklock_mutant_is(4) ? (t) : (2 * t / 3));")

    def test_statements_become_an_if(self):
        self.assertEqual(woven("{ a(); b(); }", [mutant(1, "a();", "")]),
                         "{ if (zklock_mutant_is(1)) {  } else { a(); } b(); }")

    def test_two_in_the_same_place_are_both_there(self):
        self.assertEqual(woven("x = y;", [mutant(1, "y", "z"), mutant(2, "y", "w")]),
                         "x = (zklock_mutant_is(1) ? (z) : ((zklock_mutant_is(2) ? (w) : (y))));")

    def test_one_within_another_is_in_what_the_other_leaves(self):
        self.assertEqual(woven("f(a + b);", [mutant(1, "b", "c"), mutant(2, "f(a + b);", "g();")]),
                         "if (zklock_mutant_is(2)) { g(); } else { f(a + (zklock_mutant_is(1) ? (c) : (b))); }")

    def test_what_is_behind_comes_after(self):
        self.assertEqual(woven("f(a, b);", [mutant(2, "b", "2"), mutant(1, "a", "1")]),
                         "f((zklock_mutant_is(1) ? (1) : (a)), (zklock_mutant_is(2) ? (2) : (b)));")

    def test_the_surroundings_tell_which_one_is_meant(self):
        self.assertEqual(woven("a = x; b = x;", [mutant(1, "x", "y", within="b = x;")]),
                         "a = x; b = (zklock_mutant_is(1) ? (y) : (x));")

    def test_what_is_not_there_once_is_stale(self):
        for text in ("nothing", "x x"):
            with self.assertRaises(Stale):
                woven(text, [mutant(1, "x", "y")])

    def test_a_constant_has_no_switch(self):
        with self.assertRaises(Stale):
            woven("f();\n// why\nconstexpr int kMost = 7;", [mutant(1, "7", "8")])
        woven("constexpr int f(int a) {\n  return a + 7;\n}", [mutant(1, "7", "8")])

    def test_those_that_overlap_are_stale(self):
        with self.assertRaises(Stale):
            woven("a + b + c", [mutant(1, "a + b", "a"), mutant(2, "b + c", "b")])


class FilesTest(unittest.TestCase):
    def test_a_number_depends_on_the_name_alone(self):
        self.assertEqual(number_of("fence-at-T"), number_of("fence-at-T"))
        self.assertNotEqual(number_of("fence-at-T"), number_of("fence-at-2T"))
        self.assertNotEqual(number_of("fence-at-T"), 0)

    def test_each_mistake_fits_the_source(self):
        mutants = read_mutants(os.path.join(ROOT, "tests/mutants"))
        self.assertGreater(len(mutants), 0)
        weave(ROOT, mutants)


if __name__ == "__main__":
    unittest.main()
