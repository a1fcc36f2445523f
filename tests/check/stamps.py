# SPDX-License-Identifier: Apache-2.0
"""Stamps: a digest of all that a test depends on. A test that has passed with that digest need not be run again.

Only tests whose files show what they depend on have one: the tests of documents, completions and scripts, the models,
clang-tidy, and the proof that a Bats file can fail.
"""

import functools
import glob
import hashlib
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Lists what Bats files test, besides themselves and what they load. A folder stands for all files in it.
BENCH = ("scripts/bench", "scripts/zk-sandbox", "tests/bench", "README.md")
SANDBOX = ("scripts/zk-sandbox", "tests/helpers/znode.cc")
TESTED = {
    "bench": BENCH,
    "bench_cost": BENCH,
    "bench_scale": BENCH,
    "check_includes": ("scripts/check-includes", "src"),
    "complete_options": ("completions", "src/command", "src/base", "tests/helpers/tab.py"),
    "docs": ("scripts/check-docs", "man", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
             "BENCHMARKS.md", "tests/README.md", "tests/bench/README.md", "tests/experiments/README.md", "tests/faults/README.md",
             "tests/fuzz/README.md", "tests/model/README.md", "tests/mutants/README.md", "tests/peers/README.md",
             "tests/sim/README.md", "scripts/zk-sandbox", "src/command", "src/base"),
    "install": ("CMakeLists.txt", "CMakePresets.json", "scripts", "man", "completions", "src/command", "LICENSE", "README.md"),
    "picture": ("scripts/picture", "man", "src/command"),
    "sandbox": SANDBOX,
    "sandbox_tls": SANDBOX,
    "try": ("scripts/try", "scripts/setup", "scripts/zk-sandbox"),
}


@functools.lru_cache(maxsize=None)
def content_of(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read()


def files_in(path):
    if os.path.isfile(os.path.join(ROOT, path)):
        return [path]
    found = glob.glob(f"{ROOT}/{path}/**", recursive=True)
    return sorted(os.path.relpath(one, ROOT) for one in found if os.path.isfile(one) and "__pycache__" not in one)


def stamp_of(name, paths, *words):
    """NAME is the test; it depends on the content and names of PATHS, and on WORDS."""
    digest = hashlib.sha256("\0".join((name, *words)).encode())
    for path in sorted({file for path in paths for file in files_in(path)}):
        digest.update(f"\0{path}\0".encode())
        digest.update(content_of(path))
    return f"{name}:{digest.hexdigest()[:24]}"


def included(path, folders=("src", "tests"), known=None):
    """Returns PATH and our files that it includes, directly or not."""
    known = {} if known is None else known
    if path in known:
        return known
    known[path] = True
    text = content_of(path).decode(errors="replace")
    for name in re.findall(r'^\s*#include "([^"]+)"', text, re.MULTILINE):
        for candidate in (os.path.join(os.path.dirname(path), name), *(f"{folder}/{name}" for folder in folders)):
            if os.path.isfile(os.path.join(ROOT, candidate)):
                included(os.path.normpath(candidate), folders, known)
                break
    return known


def to_check(paths, changed):
    """Returns the changed ones of the PATHS, which are .cc files. For each changed header it adds its own .cc file, or
    else the first one that includes it."""
    found = {path for path in paths if path in changed}
    for header in (path for path in changed if path.endswith(".h")):
        including = [path for path in sorted(paths) if header in included(path)]
        own = header[:-2] + ".cc"
        found.update([own] if own in including else including[:1])
    return found


def bats_file(name):
    paths = glob.glob(f"{ROOT}/tests/bats/*/{name}.bats")
    return os.path.relpath(paths[0], ROOT) if paths else ""


def with_loaded(name):
    """Returns the Bats file and those that it may load."""
    return [bats_file(name), *sorted(os.path.relpath(one, ROOT) for one in glob.glob(f"{ROOT}/tests/bats/*.bash"))]


def of_bats(name):
    """Returns None for a Bats file that tests zklock: its dependencies are unknown."""
    return stamp_of(f"bats.{name}", [*with_loaded(name), *TESTED[name]]) if name in TESTED else None


def of_failsafe(name):
    return stamp_of(f"failsafe.{name}", [*with_loaded(name), "tests/helpers/always-0"])


def of_tidy(path, version):
    return stamp_of(f"tidy.{path}", [*included(path), ".clang-tidy", "CMakePresets.json"], version)


def of_model(name):
    """A model depends on functions of src, through the headers that it includes."""
    paths = [path for path in glob.glob(f"{ROOT}/tests/model/*") if os.path.isfile(path)]
    others = [os.path.relpath(path, ROOT) for path in paths if not path.endswith("_model.cc")]
    ours = [f"tests/model/{name}.cc", *others]
    headers = {header for path in ours if path.endswith((".cc", ".h")) for header in included(path)}
    sources = [header[:-2] + ".cc" for header in headers if header.endswith(".h")]
    found = [path for path in (*headers, *sources) if os.path.isfile(os.path.join(ROOT, path))]
    return stamp_of(f"model.{name}", [*ours, *found, "tests/model/histories"])
