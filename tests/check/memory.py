# SPDX-License-Identifier: Apache-2.0
"""What scripts/test remembers from run to run, for all clones of a user, in a file that is not committed.

    seconds       the last few times of each part and each test
    second_tries  for each test, the days on which it failed and then passed alone, with a digest of the test then
    stamps        digests of what has passed: see stamps.py
    passed        commits that scripts/test has passed

ZKLOCK_TEST_MEMORY names another file. If the file is missing or cannot be read, a run begins with nothing.
"""

import contextlib
import datetime
import fcntl
import json
import os

KEPT_SECONDS = 5
KEPT_COMMITS = 50
DAYS_OF_SECOND_TRIES = 30
DAYS_OF_STAMPS = 90
THIRD = 3  # this second try of one test is a failure


def default_path():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("ZKLOCK_TEST_MEMORY") or os.path.join(cache, "zklock-test", "memory.json")


def today():
    return datetime.date.today().isoformat()


def days_ago(days):
    return (datetime.date.today() - datetime.timedelta(days)).isoformat()


class Memory:
    """Each call reads the file, and each note_…() writes it: parts and other runs are processes of their own."""

    def __init__(self, path=None):
        self._path = path or default_path()

    def _read(self):
        content = {}
        with contextlib.suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            content = json.load(file)
        return {"seconds": {}, "second_tries": {}, "stamps": {}, "passed": [], **content}

    @contextlib.contextmanager
    def _changed(self):
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(f"{self._path}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self._read()
            yield content
            with open(f"{self._path}.new", "w", encoding="utf-8") as file:
                json.dump(content, file, indent=0)
            os.replace(f"{self._path}.new", self._path)

    def seconds(self):
        """Returns the last few times for each name."""
        return self._read()["seconds"]

    def note_seconds(self, seconds):
        with self._changed() as content:
            for name, took in seconds.items():
                earlier = content["seconds"].get(name, [])
                content["seconds"][name] = [*earlier, round(took, 1)][-KEPT_SECONDS:]

    def note_second_tries(self, digests):
        """Notes second tries of tests, by their names. Returns unchanged tests that needed a third one."""
        since = days_ago(DAYS_OF_SECOND_TRIES)
        third = []
        with self._changed() as content:
            for name, digest in digests.items():
                earlier = [one for one in content["second_tries"].get(name, []) if one[0] >= since and one[1] == digest]
                content["second_tries"][name] = [*earlier, [today(), digest]]
                if len(earlier) + 1 >= THIRD:
                    third.append(name)
        return third

    def has_stamp(self, stamp):
        return stamp in self._read()["stamps"]

    def note_stamps(self, stamps):
        with self._changed() as content:
            since = days_ago(DAYS_OF_STAMPS)
            kept = {stamp: day for stamp, day in content["stamps"].items() if day >= since}
            content["stamps"] = {**kept, **{stamp: today() for stamp in stamps}}

    def passed(self):
        return self._read()["passed"]

    def note_passed(self, commit):
        with self._changed() as content:
            content["passed"] = [*(one for one in content["passed"] if one != commit), commit][-KEPT_COMMITS:]
