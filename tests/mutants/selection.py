# SPDX-License-Identifier: Apache-2.0
"""Selects some of the mutants: by name, by what has changed, or at random."""

import hashlib
import subprocess

from named import NamedTests


def named(mutants, names):
    """Returns those of these names or areas; without names, all. Throws LookupError if a name fits none."""
    if unknown := set(names) - {mutant.name for mutant in mutants} - {mutant.area for mutant in mutants}:
        raise LookupError(f"no mutant or file is called {', '.join(sorted(unknown))}; see mutants --list")
    return [mutant for mutant in mutants if not names or mutant.name in names or mutant.area in names]


def changed(mutants, root, base):
    """Returns those whose source file, or a file of whose tests, differs from the commit `base`."""
    files = files_changed(root, base)
    tests = NamedTests(root)
    return [mutant for mutant in mutants
            if mutant.file in files or any(tests.files_of(test) & files for test in mutant.tests)]


def files_changed(root, base):
    """Returns the changed files of the working tree, new ones too. Throws LookupError if there is no such commit."""
    files = set()
    for words in (["diff", "--name-only", "-z", base, "--"], ["ls-files", "--others", "--exclude-standard", "-z"]):
        answer = subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True)
        if answer.returncode:
            raise LookupError(answer.stderr.strip())
        files.update(path for path in answer.stdout.split("\0") if path)
    return files


def sampled(mutants, count, seed):
    """Returns `count` of them in their order. A mutant that is added or dropped changes one of the sample at most."""
    def rank(mutant):
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    sample = set(sorted(mutants, key=rank)[:count])
    return [mutant for mutant in mutants if mutant in sample]
