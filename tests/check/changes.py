# SPDX-License-Identifier: Apache-2.0
"""What has changed, and which eighth of the left-out rest it is the turn of."""

import re
import subprocess

from stamps import ROOT

EIGHTH = 8
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


def last_passed(passed):
    """The base of a test: the last commit before this one that is known to have passed; else the newest one that is a
    day older, as a series of commits is judged as a whole. None where the history does not reach so far."""
    for commit in git("rev-list", "-n", "200", "HEAD").splitlines():
        if commit in passed:
            return commit
    day_before = git("log", "-1", "--format=%ct", "HEAD")
    found = git("rev-list", "-1", f"--before={int(day_before) - 86400}", "HEAD")
    return found or None


def uncommitted_or_last():
    """What `scripts/test quick` looks at: the changes that are not committed; where there are none, the last commit's."""
    changed = changed_since("HEAD")
    return changed or changed_since("HEAD~1")


def subjects_of(paths):
    """The folders that the paths are in: queue, lock, …"""
    return {match[1] for match in map(SUBJECTS.match, paths) if match}


def turn(commit):
    """Which eighth: 0 to 7."""
    return int(commit[:8], 16) % EIGHTH


def eighth_of(names, number):
    return [name for index, name in enumerate(sorted(names)) if index % EIGHTH == number]
