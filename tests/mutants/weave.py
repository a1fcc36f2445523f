# SPDX-License-Identifier: Apache-2.0
"""Puts mutants (mutant_files.py) into the source: all of them at once, each behind a switch.

A mutant of an expression becomes a choice, and a mutant of statements becomes an if.
"""

import os
import re

SWITCH_FILE = "mutant_switch.h"  # in src, which all that is compiled finds
SWITCH = """// Which mutant is on: see weave.py.
#pragma once
#include <cstdlib>
#include <type_traits>
// A mutant may do what our own code must not.
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


def pattern_of(text):
    """Returns a regular expression for the text in which a blank matches any run of white space."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def span_of(text, mutant):
    """Returns (from, to) of its `old`."""
    pattern = f"{pattern_of(mutant.before)}({pattern_of(mutant.old)}){pattern_of(mutant.after)}"
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise mutant.stale(f"{len(found)} times in {mutant.file}: {mutant.before}{mutant.old}{mutant.after}")
    start, end = found[0].span(1)
    check_is_run(text, start, mutant)
    check_form(text, start, mutant)
    return start, end


def check_is_run(text, start, mutant):
    """The compiler evaluates a constant, so no switch can change it."""
    statement = re.split(r"[;{}]", text[:start])[-1]
    if re.match(r"\s*(//.*\n\s*)*(static )?constexpr\b[^(]*=", statement):
        raise mutant.stale("a constant has no switch; change the code that uses it")


def check_form(text, start, mutant):
    """Throws Stale for what would not compile behind a switch, as far as the text shows."""
    if mutant.is_statement():
        before = re.sub(r"//[^\n]*", "", text[:start]).rstrip()
        if mutant.old.startswith("case ") or not re.search(r"([;{}:)]|\belse)$|^$", before):
            raise mutant.stale("no statement begins here")
        return
    for part in (mutant.old, mutant.new):
        code = re.sub(r"'\\?.'|\"[^\"]*\"", "", part)
        balanced = all(code.count(one) == code.count(other) for one, other in ("()", "[]", "{}"))
        if not part.strip() or not balanced or re.search(r"^(\|\||&&|\?)|(\|\||&&|\?)$", part.strip()):
            raise mutant.stale(f"'{part}' is no expression")


def switched(mutant, new, old):
    condition = f"zklock_mutant_is({mutant.number})"
    if mutant.is_statement():
        return f"{{ if ({condition}) {{ {new} }} else {{ {old} }} }}"
    return f"({condition} ? ({new}) : ({old}))"


def woven(text, mutants):
    """Returns the source with all of them. The order in which they are given does not matter."""
    spans = sorted(((*span_of(text, mutant), mutant) for mutant in mutants),
                   key=lambda one: (one[0], -one[1], one[2].number))

    def render(start, end, inner):
        parts = []
        while inner:
            first, last, mutant = inner.pop(0)
            parts.append(text[start:first])
            within = [inner.pop(0) for _ in list(inner) if inner and inner[0][0] < last]
            if any(to > last for _, to, _ in within):
                raise mutant.stale(f"overlaps with another mutant of {mutant.file}")
            parts.append(switched(mutant, mutant.new, render(first, last, within)))
            start = last
        return "".join([*parts, text[start:end]])

    return f'#include "{SWITCH_FILE}"\n#line 1\n' + render(0, len(text), spans)


def weave(root, mutants):
    """Returns the woven text of each file that has mutants."""
    files = {}
    for mutant in mutants:
        files.setdefault(mutant.file, []).append(mutant)
    result = {}
    for path, its in files.items():
        if not os.path.exists(os.path.join(root, path)):
            raise its[0].stale(f"no source file {path}")
        with open(os.path.join(root, path), encoding="utf-8") as source:
            result[path] = woven(source.read(), its)
    return result
