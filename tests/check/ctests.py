# SPDX-License-Identifier: Apache-2.0
"""Runs tests by CTest on real servers, gives failed ones a second try, and notes how long each took."""

import glob
import hashlib
import json
import os
import subprocess
import xml.etree.ElementTree

from memory import Memory
from stamps import ROOT

# Ticks are short, so that a session's end is noticed soon; long sessions are allowed all the same. The server does not
# remove containers, because a test reads them.
SERVERS = ("--tick", "250", "--set", "maxSessionTimeout=60000",
           "--java-property", "znode.container.checkIntervalMs=3600000")
SANDBOX = f"{ROOT}/scripts/zk-sandbox"
FOUND = f"{ROOT}/build/check"  # a run keeps notes for its end here: files `failed` and `flaky`, a name a line


def note(kind, names):
    """Notes the names for the end of the run, in a file, because each part is a process of its own."""
    os.makedirs(FOUND, exist_ok=True)
    with open(f"{FOUND}/{kind}", "a", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in names)


def noted(kind):
    path = f"{FOUND}/{kind}"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def tests_in(build):
    """Returns each test's name and its labels."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    def labels(test):
        return next((one["value"] for one in test.get("properties", ()) if one["name"] == "LABELS"), [])
    return {test["name"]: set(labels(test)) for test in json.loads(shown)["tests"]}


def digest_of(name):
    """Returns a digest of the test as it is written: a changed test has not needed a second try yet."""
    kind, _, short = name.partition(".")
    paths = glob.glob(f"{ROOT}/tests/{kind}/*/{short}.bats") + glob.glob(f"{ROOT}/tests/{kind}/*/{short}_test.cc")
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def on_servers(words, tls=False):
    """Returns the command that runs WORDS on a server of their own. With TLS, tests labelled so find another server's
    settings by ZKLOCK_TLS_SETTINGS: see tests/bats/over_tls."""
    words = [SANDBOX, *SERVERS, "--", *words]
    if not tls:
        return words
    settings = f"{FOUND}/tls_settings"
    keep = 'export -p | grep " ZKLOCK_[STP]" >"$1" && export ZKLOCK_TLS_SETTINGS=$1 && shift && exec "$@"'
    return [SANDBOX, *SERVERS, "--tls", "--", "bash", "-c", keep, "bash", settings, *words]


def seconds_of(report):
    """Returns the seconds of each test that has run, from CTest's report."""
    if not os.path.exists(report):
        return {}
    cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    return {case.get("name"): float(case.get("time") or 0) for case in cases}


def ctest(build, words, report=None, tls=False):
    """Returns 0 if all have passed."""
    told = ["--output-junit", report] if report else []
    return subprocess.run(on_servers(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", *told,
                                      *words], tls), cwd=ROOT, check=False).returncode


def last_failed(build):
    path = f"{ROOT}/{build}/Testing/Temporary/LastTestsFailed.log"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line.strip().partition(":")[2] for line in file]


def run_tests(build, names, at_a_time, tls=False, suffix=""):
    """Returns whether all these tests have passed. They wait more than they work. A failed one gets a second try, alone
    and on its own servers, because a busy machine can hold up a process for longer than a session lasts. Its first
    output stays in the log, and names a bug to be found. One that needs its third second try has failed."""
    if not names:
        return True
    os.makedirs(FOUND, exist_ok=True)
    os.environ["ZKLOCK_BIN"] = f"{ROOT}/{build}/zklock"
    report = f"{FOUND}/tests.xml"
    chosen = ["-R", "^(" + "|".join(name.replace(".", "[.]") for name in sorted(names)) + ")$"]
    failed_log = f"{ROOT}/{build}/Testing/Temporary/LastTestsFailed.log"
    for path in (failed_log, report):
        if os.path.exists(path):
            os.unlink(path)
    status = ctest(build, ["-j", str(at_a_time), *chosen], report, tls)
    Memory().note_seconds({f"{name}{suffix}": took for name, took in seconds_of(report).items()})
    failed = last_failed(build)
    if status == 0:
        return True
    if not failed:
        note("failed", [f"ctest in {build}"])
        return False
    print(f"== second try, alone: {' '.join(failed)}", flush=True)
    if ctest(build, ["-j", "1", "--rerun-failed", "--stop-on-failure"], tls=tls):
        note("failed", [f"{name}{suffix}" for name in last_failed(build) or failed])
        return False
    print(f"== passed alone on the second try: {' '.join(failed)}", flush=True)
    note("flaky", [f"{name}{suffix}" for name in failed])
    third = Memory().note_second_tries({f"{name}{suffix}": digest_of(name) for name in failed})
    note("failed", [f"{name} (its third second try)" for name in third])
    return not third
