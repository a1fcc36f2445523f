# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that should notice a mutant.

    unit:FILTER        tests that need no server, by GoogleTest's filter
    recipe:FILTER      the same for tests that need servers: build/test/tests/recipe_tests
    bats:NAME          a file of tests/bats, by its name without .bats; NAME/TEXT: the tests with TEXT in their names
    model:NAME         tests/model/NAME_model.cc
    faults:OPTION…     tests/faults/run
    sim:NAME           a workload of tests/sim, up to its first violation or for 60 CPU seconds
"""

import glob
import os
import re
import signal
import subprocess
import time

LONGEST = 150  # seconds for one test; a mutant that hangs counts as noticed
SANDBOX_OPTIONS = ("--tick", "250", "--set", "maxSessionTimeout=60000",
                   "--java-property", "znode.container.checkIntervalMs=3600000")


class Servers:
    """One server for all tests of a worker. Each test has a chroot of its own there."""

    def __init__(self, tree):
        words = [f"{tree}/scripts/zk-sandbox", *SANDBOX_OPTIONS, "--", "sh", "-c", "env | grep ^ZKLOCK_; echo; exec cat"]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         start_new_session=True)
        lines = iter(lambda: self._process.stdout.readline().strip(), "")
        self.environment = dict(line.split("=", 1) for line in lines)

    def end(self):
        self._process.stdin.close()
        self._process.wait()


class Trial:
    """Runs single tests in a build of the mutants."""

    def __init__(self, tree, build, log):
        self._tree = tree
        self._build = build
        self._log = log
        self._servers = Servers(tree)

    def end(self):
        self._servers.end()

    def words_of(self, test):
        kind, _, what = test.partition(":")
        if kind in ("unit", "recipe"):
            return [f"{self._build}/tests/{kind}_tests", "--gtest_brief=1", f"--gtest_filter={what}"]
        if kind == "bats":
            name, _, text = what.partition("/")
            files = glob.glob(f"{self._tree}/tests/bats/*/{name}.bats")
            if len(files) != 1:
                raise ValueError(f"no Bats file '{name}'")
            return ["bats", *(["-f", re.escape(text)] if text else []), *files]
        if kind == "model":
            return [f"{self._build}/tests/{what}_model", "--quick"]
        if kind == "sim":
            return [f"{self._build}/tests/sim", what, "--seeds", "100000", "--cpu", "60", "--stop"]
        if kind == "faults":
            return [f"{self._tree}/tests/faults/run", *what.split()]
        raise ValueError(f"unknown kind of test: '{test}'")

    def is_there(self, test):
        """Returns whether a test of that name exists. If not, it would always pass."""
        words = self.words_of(test)
        if test.startswith(("unit:", "recipe:")):
            listed = subprocess.run([*words, "--gtest_list_tests"], check=False, stdout=subprocess.PIPE, text=True).stdout
            return any(line.startswith("  ") for line in listed.splitlines())
        if test.startswith("bats:"):
            counted = subprocess.run(["bats", "--count", *words[1:]], check=False, stdout=subprocess.PIPE, text=True)
            return counted.stdout.strip() not in ("", "0")
        return True

    def passes(self, test, number):
        """Returns whether the test passes with that mutant; 0: without any."""
        environment = {**os.environ, **self._servers.environment, "ZKLOCK_MUTANT": str(number),
                       "ZKLOCK_BIN": f"{self._build}/zklock", "ZKLOCK_HELPERS": f"{self._build}/tests"}
        with open(self._log, "ab") as log:
            log.write(f"=== mutant {number}: {test}\n".encode())
            log.flush()
            process = subprocess.Popen(self.words_of(test), env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True, cwd=self._tree,
                                       preexec_fn=with_usual_signals)
            try:
                return process.wait(LONGEST) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)  # bats cleans up
                return False
            finally:
                finish(process)


def with_usual_signals():
    """Restores the signals: a script ignores INT and QUIT in what it starts in the background."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def finish(process):
    until = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
