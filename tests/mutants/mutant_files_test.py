# SPDX-License-Identifier: Apache-2.0
"""Tests that mutants are read as they are written, and that each bad line gets a message with its number."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mutant_files import MutantFile, Stale, number_of, read_mutants

HEAD = "= src/f.cc\n? unit:A.*\n"


def read(text):
    its = MutantFile("area")
    for line in text.splitlines(keepends=True):
        its.read(line)
    return its.mutants


class GoodLineTest(unittest.TestCase):
    def test_a_mutant_has_the_file_and_the_tests_above_it(self):
        one, two, three = read("# why\n\n= src/f.cc\n? unit:A.* | bats:f/some words\nfirst: a + b => a\nsecond: g(); =>\n"
                               "= src/g.cc\n? model:line\nthird: x => y\n")
        self.assertEqual((one.area, one.line, one.name, one.file, one.old, one.new),
                         ("area", 5, "first", "src/f.cc", "a + b", "a"))
        self.assertEqual(one.number, number_of("first"))
        self.assertEqual(one.tests, ("unit:A.*", "bats:f/some words"))
        self.assertEqual((two.old, two.new, two.tests), ("g();", "", one.tests))
        self.assertEqual((three.file, three.tests), ("src/g.cc", ("model:line",)))

    def test_test_lines_in_a_row_add_up_and_later_ones_replace_them(self):
        one, two = read("= src/f.cc\n? unit:A.*\n? bats:f | bats:g\na: 1 => 2\n? model:m\nb: 1 => 3\n")
        self.assertEqual((one.tests, two.tests), (("unit:A.*", "bats:f", "bats:g"), ("model:m",)))

    def test_what_stands_around_the_old_text_is_marked_off(self):
        (one,) = read(HEAD + "a: if (x) { «f();» } => g();\n")
        self.assertEqual((one.before, one.old, one.after, one.new), ("if (x) { ", "f();", " }", "g();"))

    def test_other_arrows_colons_and_comparisons_are_text(self):
        (one,) = read(HEAD + 'a: x->y ? "a: b" : c <=> d => p->q >= 1\n')
        self.assertEqual((one.old, one.new), ('x->y ? "a: b" : c <=> d', "p->q >= 1"))

    def test_a_reason_belongs_to_the_mutant_above_it(self):
        one, two = read(HEAD + "a: 1 => 2\n    equivalent: so: it is\nb: 1 => 3\n")
        self.assertEqual((one.equivalent, two.equivalent), ("so: it is", ""))


class BadLineTest(unittest.TestCase):
    def expect(self, text, message):
        with self.assertRaises(Stale) as caught:
            read(text)
        self.assertEqual(str(caught.exception), message)

    def test_heads(self):
        self.expect("=\n", "area.mutants:1: '=' without a source file")
        self.expect("? unit:A.*\n", "area.mutants:1: tests before the first source file ('= FILE')")
        self.expect("= src/f.cc\n? other:A.*\n", "area.mutants:2: unknown kind of test: 'other:A.*'")
        self.expect("= src/f.cc\n?\n", "area.mutants:2: unknown kind of test: ''")

    def test_mutants(self):
        for line, message in {
            "just words": "neither '= FILE', '? TEST' nor 'NAME: OLD => NEW': just words",
            "two words: a => b": "neither '= FILE', '? TEST' nor 'NAME: OLD => NEW': two words: a => b",
            "a: b -> c": "a: 0 times ' => ' instead of once",
            "a: b => c => d": "a: 2 times ' => ' instead of once",
            "a: => c": "a: no old text",
            "a: x «» y => c": "a: no old text",
            "a: b =>": "a: no new text, which only statements can do without",
            "a: b => b": "a: changes nothing",
            "a: x «b y => c": "a: needs one « and, after it, one »",
            "a: x »b« y => c": "a: needs one « and, after it, one »",
            "a: «x» «b» => c": "a: needs one « and, after it, one »",
        }.items():
            self.expect(f"{HEAD}{line}\n", f"area.mutants:3: {message}")

    def test_a_mutant_without_tests(self):
        self.expect("a: b => c\n", "area.mutants:1: a: no tests above it ('? TEST')")
        self.expect(HEAD + "= src/g.cc\na: b => c\n", "area.mutants:4: a: no tests above it ('? TEST')")

    def test_reasons(self):
        self.expect(f"{HEAD}a: b => c\n    equal: why\n",
                    "area.mutants:4: an indented line is 'equivalent: REASON', not: equal: why")
        self.expect(f"{HEAD}a: b => c\n    equivalent:\n",
                    "area.mutants:4: an indented line is 'equivalent: REASON', not: equivalent:")
        self.expect(f"{HEAD}    equivalent: why\n", "area.mutants:3: 'equivalent' is not directly below a mutant")
        self.expect(f"{HEAD}a: b => c\n\n    equivalent: why\n",
                    "area.mutants:5: 'equivalent' is not directly below a mutant")


class FolderTest(unittest.TestCase):
    def test_a_name_is_there_once_in_all_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for area in ("one", "two"):
                with open(f"{folder}/{area}.mutants", "w", encoding="utf-8") as file:
                    file.write(HEAD + "a: b => c\n")
            with self.assertRaises(Stale) as caught:
                read_mutants(folder)
        self.assertEqual(str(caught.exception), "two.mutants:3: a: has the name of a in one.mutants:3")

    def test_a_number_depends_on_the_name_alone(self):
        self.assertEqual(number_of("fence-at-T"), number_of("fence-at-T"))
        self.assertNotEqual(number_of("fence-at-T"), number_of("fence-at-2T"))
        self.assertNotEqual(number_of("fence-at-T"), 0)


if __name__ == "__main__":
    unittest.main()
