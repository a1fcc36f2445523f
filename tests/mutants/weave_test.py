# SPDX-License-Identifier: Apache-2.0
"""Tests that mutants get into the source as they were meant, and that those that do not fit are reported."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mutant_files import Mutant, Stale, read_mutants
from weave import weave
from weave import woven as woven_with_switch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def mutant(number, old, new, **more):
    return Mutant(number, "area", number, f"m{number}", "f.cc", old, new, (), **more)


def woven(text, mutants):
    """Returns the woven text without the lines that declare the switch."""
    switch, _, rest = woven_with_switch(text, mutants).partition("#line 1\n")
    assert switch.startswith("#include"), switch
    return rest


class WovenTest(unittest.TestCase):
    def test_an_expression_becomes_a_choice(self):
        self.assertEqual(woven("return 2 * t / 3;", [mutant(4, "2 * t / 3", "t")]),
                         "return (zklock_mutant_is(4) ? (t) : (2 * t / 3));")

    def test_statements_become_an_if(self):
        self.assertEqual(woven("{ a(); b(); }", [mutant(1, "a();", "")]),
                         "{ { if (zklock_mutant_is(1)) {  } else { a(); } } b(); }")

    def test_two_in_the_same_place_are_both_there(self):
        self.assertEqual(woven("x = y;", [mutant(1, "y", "z"), mutant(2, "y", "w")]),
                         "x = (zklock_mutant_is(1) ? (z) : ((zklock_mutant_is(2) ? (w) : (y))));")

    def test_one_within_another_is_in_what_the_other_leaves(self):
        self.assertEqual(woven("f(a + b);", [mutant(1, "b", "c"), mutant(2, "f(a + b);", "g();")]),
                         "{ if (zklock_mutant_is(2)) { g(); } else { f(a + (zklock_mutant_is(1) ? (c) : (b))); } }")

    def test_what_is_behind_comes_after(self):
        self.assertEqual(woven("f(a, b);", [mutant(2, "b", "2"), mutant(1, "a", "1")]),
                         "f((zklock_mutant_is(1) ? (1) : (a)), (zklock_mutant_is(2) ? (2) : (b)));")

    def test_a_blank_is_any_run_of_white_space(self):
        self.assertEqual(woven("f(a,\n  b);", [mutant(1, "f(a, b);", "")]),
                         "{ if (zklock_mutant_is(1)) {  } else { f(a,\n  b); } }")

    def test_the_surroundings_choose_one_of_several(self):
        self.assertEqual(woven("a = x; b =\n x; c = x;", [mutant(1, "x", "y", before="b = ", after="; c")]),
                         "a = x; b =\n (zklock_mutant_is(1) ? (y) : (x)); c = x;")

    def test_what_would_not_compile_is_reported(self):
        for text, old, new in (("if (a || b) {", "|| b", ""), ("return f();", "f();", ""), ("x = y;", "y", ""),
                               ("f(a, g(b));", "a, g(b", "a"), ("case 1: f();", "case 1: f();", "case 1: g();")):
            with self.assertRaises(Stale, msg=old):
                woven(text, [mutant(1, old, new)])
        woven("// It ends.\nf(')');", [mutant(1, "f(')');", "")])

    def test_the_order_in_which_they_are_given_does_not_matter(self):
        mutants = [mutant(3, "y", "z"), mutant(1, "y", "w"), mutant(2, "x", "v")]
        self.assertEqual(woven("x = y;", mutants), woven("x = y;", mutants[::-1]))

    def test_what_is_not_there_once_is_stale(self):
        for text, times in (("nothing", 0), ("x x", 2)):
            with self.assertRaises(Stale) as caught:
                woven(text, [mutant(1, "x", "y")])
            self.assertEqual(str(caught.exception), f"area.mutants:1: m1: {times} times in f.cc: x")

    def test_a_constant_has_no_switch(self):
        with self.assertRaisesRegex(Stale, "^area.mutants:1: m1: a constant has no switch"):
            woven("f();\n// why\nconstexpr int kMost = 7;", [mutant(1, "7", "8")])
        woven("constexpr int f(int a) {\n  return a + 7;\n}", [mutant(1, "7", "8")])

    def test_those_that_overlap_are_stale(self):
        with self.assertRaisesRegex(Stale, "^area.mutants:1: m1: overlaps"):
            woven("a + b + c", [mutant(1, "a + b", "a"), mutant(2, "b + c", "b")])


class FilesTest(unittest.TestCase):
    def test_a_mutant_of_no_file_is_stale(self):
        with self.assertRaisesRegex(Stale, "^area.mutants:1: m1: no source file f.cc$"):
            weave(ROOT, [mutant(1, "x", "y")])

    def test_each_mutant_fits_the_source(self):
        mutants = read_mutants(os.path.join(ROOT, "tests/mutants"))
        self.assertGreater(len(mutants), 0)
        weave(ROOT, mutants)


if __name__ == "__main__":
    unittest.main()
