# SPDX-License-Identifier: Apache-2.0
"""What has changed, and which eighth of the left-out rest it is the turn of."""

import re
import subprocess

from stamps import ROOT

EIGHTH = 8
# A text, which stays, or a comment, which does not, unless it is for clang-tidy.
TEXT_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')|//(?!.*NOLINT).*|/\*(?:.|\n)*?\*/""")
SUBJECTS = re.compile(r"(?:src/(?:recipe|command|host)|src|tests/(?:unit|recipe|bats))/([a-z]+)/")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def head():
    return git("rev-parse", "HEAD")


def is_clean():
    return not git("status", "--porcelain")


def changed_since(base):
    """Paths that are otherwise than in BASE, what is not committed included; not those that are gone."""
    listed = git("diff", "--name-only", "--diff-filter=d", base).splitlines()
    return sorted({*listed, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def gone_since(base):
    return git("diff", "--name-only", "--diff-filter=D", base).splitlines()


def last_passed(passed):
    """The base of a test: the last commit before this one that is known to have passed; else the newest one that is a
    day older, as a series of commits is judged as a whole. None where the history does not reach so far."""
    for commit in git("rev-list", "-n", "200", "HEAD").splitlines():
        if commit in passed:
            return commit
    day_before = git("log", "-1", "--format=%ct", "HEAD")
    found = git("rev-list", "-1", f"--before={int(day_before) - 86400}", "HEAD")
    return found or None


def code_of(text):
    """Without comments and the space between words."""
    return " ".join(TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", text).split())


def with_other_code(paths, base):
    """Those of the PATHS in which more has changed since BASE than comments."""
    def before(path):
        shown = subprocess.run(["git", "show", f"{base}:{path}"], cwd=ROOT, check=False, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        return code_of(shown.stdout) if shown.returncode == 0 else None

    def now(path):
        with open(f"{ROOT}/{path}", encoding="utf-8") as file:
            return code_of(file.read())
    return {path for path in paths if before(path) != now(path)}


def before_last_change():
    """The base of `scripts/test quick`: the changes that are not committed; where there are none, the last commit's."""
    return "HEAD" if changed_since("HEAD") else "HEAD~1"


def subjects_of(paths):
    """The folders that the paths are in: queue, lock, …"""
    return {match[1] for match in map(SUBJECTS.match, paths) if match}


def turn(commit):
    """Which eighth: 0 to 7."""
    return int(commit[:8], 16) % EIGHTH


def eighth_of(names, number):
    return [name for index, name in enumerate(sorted(names)) if index % EIGHTH == number]


def neighbours_of(names, number):
    """An eighth, too, of names that follow one another."""
    ordered = sorted(names)
    return ordered[number * len(ordered) // EIGHTH:(number + 1) * len(ordered) // EIGHTH]
