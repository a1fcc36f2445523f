# SPDX-License-Identifier: Apache-2.0
"""Reads the mutants. Each file NAME.mutants of this folder lists those of one area, one a line:

    # A comment.
    = src/zk/timing.h
    ? unit:LeaseTest.E* | model:lease
    fence-at-T: session_timeout * 2 / 3 => session_timeout
    ? bats:run_wait/-w 0
    waits-again: { «return busy();» } => wait(); return busy();
        equivalent: the caller has checked that already

"= FILE" names the source file of the lines below it, and "? TEST | TEST" the tests that should notice them, quick ones
first (trials.py lists the kinds of tests). Several "?" lines in a row belong together. Each "=" line needs its own.

"NAME: OLD => NEW" is a mutant. NAME is unique among all files. OLD must occur in the source file exactly once, but a
blank in it matches any run of white space there, line breaks too. If OLD alone occurs more than once, write some of
the source around it, and put OLD itself between « and ». An OLD that ends in ";" or "}" is a statement or several, so
NEW is too, and may be empty. Any other OLD is an expression, and so is NEW. Two mutants may have the same OLD, or the
OLD of one may be a part of the other's.

"equivalent: REASON", indented below a mutant, says why no test can tell it from the original.
"""

import glob
import os
import re
import zlib
from dataclasses import dataclass, replace

KINDS = ("unit", "recipe", "bats", "model", "faults", "sim")
NAME = re.compile(r"([\w-]+): (.*)")
MARKED = re.compile(r"([^«»]*)«([^«»]*)»([^«»]*)")


class Stale(Exception):
    """A mutant that does not fit the source, or a line that does not fit the format."""


@dataclass(frozen=True)
class Mutant:
    number: int
    area: str  # the name of its file, without .mutants
    line: int  # in that file
    name: str
    file: str
    old: str
    new: str
    tests: tuple
    before: str = ""  # what stands around `old`
    after: str = ""
    equivalent: str = ""

    def is_statement(self):
        return self.old.rstrip().endswith((";", "}"))

    def stale(self, why):
        return Stale(f"{self.area}.mutants:{self.line}: {self.name}: {why}")


def number_of(name):
    """Returns a number that depends on the name alone, so that other mutants do not change what is compiled."""
    return zlib.crc32(name.encode()) % 1_000_000_000 + 1


class MutantFile:
    """Reads one file, line by line; `mutants` has those read so far."""

    def __init__(self, area):
        self._area = area
        self._line = 0
        self._file = ""
        self._tests = ()
        self._in_head = False
        self.mutants = []

    def read(self, line):
        self._line += 1
        text = line.strip()
        if text.startswith("#") or not text:
            return
        if line[0].isspace():
            self._read_reason(text)
        elif text[0] == "=":
            self._file, self._tests = text[1:].strip(), ()
            self._check(self._file, "'=' without a source file")
        elif text[0] == "?":
            self._read_tests(text[1:])
        else:
            self._read_mutant(text)
        self._in_head = text[0] == "?"

    def _check(self, condition, why):
        if not condition:
            raise Stale(f"{self._area}.mutants:{self._line}: {why}")

    def _read_tests(self, text):
        self._check(self._file, "tests before the first source file ('= FILE')")
        tests = tuple(test.strip() for test in text.split(" | "))
        for test in tests:
            self._check(test.partition(":")[0] in KINDS, f"unknown kind of test: '{test}'")
        self._tests = self._tests + tests if self._in_head else tests

    def _read_mutant(self, text):
        named = NAME.fullmatch(text)
        self._check(named, f"neither '= FILE', '? TEST' nor 'NAME: OLD => NEW': {text}")
        name, change = named.groups()
        parts = [part.strip() for part in f" {change} ".split(" => ")]
        self._check(len(parts) == 2, f"{name}: {len(parts) - 1} times ' => ' instead of once")
        self._check(self._tests, f"{name}: no tests above it ('? TEST')")
        before, old, after, new = "", parts[0], "", parts[1]
        if "«" in old or "»" in old:
            marked = MARKED.fullmatch(old)
            self._check(marked, f"{name}: needs one « and, after it, one »")
            before, old, after = marked.groups()
        self._check(old.strip(), f"{name}: no old text")
        self._check(old != new, f"{name}: changes nothing")
        mutant = Mutant(number_of(name), self._area, self._line, name, self._file, old, new, self._tests, before, after)
        self._check(new or mutant.is_statement(), f"{name}: no new text, which only statements can do without")
        self.mutants.append(mutant)

    def _read_reason(self, text):
        key, _, reason = text.partition(":")
        self._check(key == "equivalent" and reason.strip(), f"an indented line is 'equivalent: REASON', not: {text}")
        is_below = self.mutants and self.mutants[-1].line == self._line - 1
        self._check(is_below, "'equivalent' is not directly below a mutant")
        self.mutants[-1] = replace(self.mutants[-1], equivalent=reason.strip())


def read_mutants(folder):
    mutants = []
    for path in sorted(glob.glob(os.path.join(folder, "*.mutants"))):
        its = MutantFile(os.path.splitext(os.path.basename(path))[0])
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                its.read(line)
        mutants += its.mutants
    check_distinct(mutants)
    return mutants


def check_distinct(mutants):
    first = {}
    for mutant in mutants:
        other = first.setdefault(mutant.number, mutant)
        if other is not mutant:
            what = "name" if other.name == mutant.name else "number, by chance,"
            raise mutant.stale(f"has the {what} of {other.name} in {other.area}.mutants:{other.line}")
