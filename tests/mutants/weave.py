# SPDX-License-Identifier: Apache-2.0
"""Mistakes, and how they get into the source: all at once, each behind a switch.

    [[mutant]]
    name = "fence-at-T"                   # unique among all files
    file = "src/zk/timing.h"
    within = "return session_timeout * 2 / 3;"   # where `old` alone stands more than once
    old = "session_timeout * 2 / 3"       # as it stands in the source, found there exactly once
    new = "session_timeout"
    tests = ["unit:LeaseTest*"]           # trials.py
    point = 4                             # of a list of survivors that somebody has made
    equivalent = "why no test can tell"   # only where that is so

What ends in ";" or "}" is statements, and becomes an if; `new` may be empty there. All else is an expression. Mistakes
may have the same `old`, or one within the other's.
"""

import glob
import os
import re
import tomllib
import zlib
from dataclasses import dataclass

KEYS = {"name", "file", "within", "old", "new", "tests", "point", "equivalent"}
SWITCH_FILE = "mutant_switch.h"  # in src, which all that is compiled finds
SWITCH = """// Which mistake is on: see weave.py.
#pragma once
#include <cstdlib>
#include <type_traits>
// A mistake may do what our own code must not.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wdangling-else"
inline int zklock_mutant() {
  static const char* const text = std::getenv("ZKLOCK_MUTANT");
  static const int chosen = text ? std::atoi(text) : 0;
  return chosen;
}
constexpr bool zklock_mutant_is(int number) {
  return !std::is_constant_evaluated() && zklock_mutant() == number;
}
"""


class Stale(Exception):
    """A mistake that does not fit the source, or the format."""


@dataclass(frozen=True)
class Mutant:
    number: int
    area: str  # its file's name
    name: str
    file: str
    old: str
    new: str
    tests: tuple
    within: str = ""
    point: int = 0
    equivalent: str = ""


def number_of(name):
    """The same whatever other mistakes there are: what they are not in needs no compiling."""
    return zlib.crc32(name.encode()) % 1_000_000_000 + 1


def read_mutants(folder):
    mutants = []
    for path in sorted(glob.glob(os.path.join(folder, "*.toml"))):
        area = os.path.splitext(os.path.basename(path))[0]
        with open(path, "rb") as file:
            entries = tomllib.load(file).get("mutant", [])
        for entry in entries:
            name = f"{area}: {entry.get('name')}"
            if unknown := set(entry) - KEYS:
                raise Stale(f"{name}: what is {', '.join(sorted(unknown))}?")
            if missing := {"name", "file", "old", "new", "tests"} - set(entry):
                raise Stale(f"{name}: no {', '.join(sorted(missing))}")
            mutants.append(Mutant(number_of(entry["name"]), area, **{**entry, "tests": tuple(entry["tests"])}))
    names = [mutant.name for mutant in mutants]
    if doubles := {name for name in names if names.count(name) > 1}:
        raise Stale(f"twice: {', '.join(sorted(doubles))}")
    if len({mutant.number for mutant in mutants}) < len(mutants):
        raise Stale("two have one number by chance: rename one")
    return mutants


def once(text, part, mutant, where):
    if text.count(part) != 1:
        raise Stale(f"{mutant.area}: {mutant.name}: {text.count(part)} times in {where}: {part}")
    return text.index(part)


def span_of(text, mutant):
    """(from, to) of its `old`."""
    start, stretch = 0, text
    if mutant.within:
        start, stretch = once(text, mutant.within, mutant, mutant.file), mutant.within
    start += once(stretch, mutant.old, mutant, "`within`" if mutant.within else mutant.file)
    check_is_run(text, start, mutant)
    return start, start + len(mutant.old)


def check_is_run(text, start, mutant):
    """The compiler knows a constant before there is a switch."""
    statement = re.split(r"[;{}]", text[:start])[-1]
    if re.match(r"\s*(//.*\n\s*)*(static )?constexpr\b[^(]*=", statement):
        raise Stale(f"{mutant.area}: {mutant.name}: a constant has no switch, put it where that is used: {mutant.old}")


def switched(mutant, new, old):
    condition = f"zklock_mutant_is({mutant.number})"
    if mutant.old.rstrip().endswith((";", "}")):
        return f"{{ if ({condition}) {{ {new} }} else {{ {old} }} }}"
    return f"({condition} ? ({new}) : ({old}))"


def woven(text, mutants):
    """The source with all of them."""
    spans = sorted(((*span_of(text, mutant), mutant) for mutant in mutants), key=lambda one: (one[0], -one[1]))

    def render(start, end, inner):
        parts = []
        while inner:
            first, last, mutant = inner.pop(0)
            parts.append(text[start:first])
            within = [inner.pop(0) for _ in list(inner) if inner and inner[0][0] < last]
            if any(to > last for _, to, _ in within):
                raise Stale(f"{mutant.area}: {mutant.name}: overlaps with another one of {mutant.file}")
            parts.append(switched(mutant, mutant.new, render(first, last, within)))
            start = last
        return "".join([*parts, text[start:end]])

    return f'#include "{SWITCH_FILE}"\n#line 1\n' + render(0, len(text), spans)


def weave(root, mutants):
    """Of each file that has some: its text with them."""
    files = {}
    for mutant in mutants:
        files.setdefault(mutant.file, []).append(mutant)
    result = {}
    for path, its in files.items():
        with open(os.path.join(root, path), encoding="utf-8") as source:
            result[path] = woven(source.read(), its)
    return result
