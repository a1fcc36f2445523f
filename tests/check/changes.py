# SPDX-License-Identifier: Apache-2.0
"""Finds what has changed, and which eighth of the left-out tests is to run."""

import re
import subprocess

from stamps import ROOT

EIGHTH = 8
# Matches a text, which is kept, or a comment, which is not, unless it is for clang-tidy.
TEXT_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')|//(?!.*NOLINT).*|/\*(?:.|\n)*?\*/""")
SUBJECTS = re.compile(r"(?:src/(?:recipe|command|host)|src|tests/(?:unit|recipe|bats))/([a-z]+)/")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def head():
    return git("rev-parse", "HEAD")


def is_clean():
    return not git("status", "--porcelain")


def changed_since(base):
    """Returns the paths that differ from BASE, uncommitted changes included; not deleted files."""
    listed = git("diff", "--name-only", "--diff-filter=d", base).splitlines()
    return sorted({*listed, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def gone_since(base):
    return git("diff", "--name-only", "--diff-filter=D", base).splitlines()


def last_passed(passed):
    """Returns the base of a test: the last earlier commit known to have passed. Otherwise it is the newest commit that
    is a day older, because a series of commits is judged as a whole. None if the history does not reach so far."""
    for commit in git("rev-list", "-n", "200", "HEAD").splitlines():
        if commit in passed:
            return commit
    day_before = git("log", "-1", "--format=%ct", "HEAD")
    found = git("rev-list", "-1", f"--before={int(day_before) - 86400}", "HEAD")
    return found or None


def code_of(text):
    """Returns TEXT without comments, with single spaces between words."""
    return " ".join(TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", text).split())


def with_other_code(paths, base):
    """Returns the PATHS in which more than comments has changed since BASE."""
    def before(path):
        shown = subprocess.run(["git", "show", f"{base}:{path}"], cwd=ROOT, check=False, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        return code_of(shown.stdout) if shown.returncode == 0 else None

    def now(path):
        with open(f"{ROOT}/{path}", encoding="utf-8") as file:
            return code_of(file.read())
    return {path for path in paths if before(path) != now(path)}


def before_last_change():
    """Returns the base of `scripts/test quick`: it tests the uncommitted changes; without any, the last commit's."""
    return "HEAD" if changed_since("HEAD") else "HEAD~1"


def subjects_of(paths):
    """Returns the subjects of the paths, which are folders: queue, lock, …"""
    return {match[1] for match in map(SUBJECTS.match, paths) if match}


def turn(commit):
    """Returns the number of the eighth: 0 to 7."""
    return int(commit[:8], 16) % EIGHTH


def eighth_of(names, number):
    return [name for index, name in enumerate(sorted(names)) if index % EIGHTH == number]


def neighbours_of(names, number):
    """Returns an eighth, of names that follow one another."""
    ordered = sorted(names)
    return ordered[number * len(ordered) // EIGHTH:(number + 1) * len(ordered) // EIGHTH]
