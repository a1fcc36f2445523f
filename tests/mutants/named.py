# SPDX-License-Identifier: Apache-2.0
"""Finds the files of the tests that mutants name."""

import fnmatch
import functools
import glob
import os
import re


class NamedTests:
    """The tests of a source tree as they are now; each file is read once, when it is first needed."""

    def __init__(self, root):
        self._root = root

    def files_of(self, test):
        """Returns the files, relative to the root, that contain a test of this name; none: there is no such test."""
        kind, _, what = test.partition(":")
        if kind in ("unit", "recipe"):
            filters = what.partition("-")[0].split(":")  # GoogleTest leaves out what follows a "-"
            return {path for name, path in self._google_tests(kind)
                    if any(fnmatch.fnmatchcase(name, one) for one in filters)}
        if kind == "bats":
            name, _, text = what.partition("/")
            return {path for path, title in self._bats_tests(name) if text.replace("\\", "") in title.replace("\\", "")}
        path = {"model": f"tests/model/{what}_model.cc", "sim": f"tests/sim/{what}.cc"}.get(kind, "tests/faults/run")
        return {path} if os.path.exists(f"{self._root}/{path}") else set()

    @functools.cache
    def _google_tests(self, kind):
        """Returns (name, file) of each. GoogleTest puts an INSTANTIATE_TEST_SUITE_P's name before that of a TEST_P."""
        files = f"tests/{kind}/**/*_test.cc"
        instances = {suite: instance for _, (instance, suite)
                     in self._found(files, r"^INSTANTIATE_TEST_SUITE_P\((\w+),\s*(\w+),")}
        plain = self._found(files, r"^(?:ISOLATED_)?TEST(?:_F)?\((\w+),\s*(\w+)\)")
        with_parameters = self._found(files, r"^TEST_P\((\w+),\s*(\w+)\)")
        return ([(f"{suite}.{name}", path) for path, (suite, name) in plain]
                + [(f"{instances[suite]}/{suite}.{name}/0", path) for path, (suite, name) in with_parameters])

    @functools.cache
    def _bats_tests(self, name):
        return self._found(f"tests/bats/*/{name}.bats", r'^@test "(.*)" \{')

    def _found(self, pattern, regex):
        found = []
        for path in glob.glob(f"{self._root}/{pattern}", recursive=True):
            with open(path, encoding="utf-8") as file:
                found += [(os.path.relpath(path, self._root), match)
                          for match in re.findall(regex, file.read(), re.MULTILINE)]
        return found
