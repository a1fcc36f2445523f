# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the programs of the measurement: nothing shows whose machine it is."""

import os
import platform
import re
import subprocess

from peers import KAZOO
from programs import ZKLOCK

KAZOO_VERSION = [KAZOO[0], "-c", "import kazoo.version; print(kazoo.version.__version__)"]
# The first number with a point that each prints is its version.
PROGRAMS = {
    "zklock": [*ZKLOCK, "--version"],
    "Kazoo": KAZOO_VERSION,
    "etcd": ["etcd", "--version"],
    "Java": ["java", "-version"],
    "flock": ["flock", "--version"],
    "bash": ["bash", "--version"],
    "xargs": ["xargs", "--version"],
    "Python": [KAZOO[0], "--version"],
}
PACKAGES = {"ZooKeeper server": "libzookeeper-java", "ZooKeeper C client": "libzookeeper-st-dev",
            "Curator": "libcurator-recipes-java"}


def first_version(text):
    found = re.search(r"\d+(\.\d+)+[\w.+-]*", text)
    return found.group() if found else None


def version_of(words):
    try:
        answer = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    except OSError:
        return None
    return first_version(answer.stdout) if answer.returncode == 0 else None


def package_version(name):
    """Returns the version of a Debian package."""
    return version_of(["dpkg-query", "-W", "-f", "${Version}\n", name])


def versions():
    found = {name: version_of(words) for name, words in PROGRAMS.items()}
    found |= {name: package_version(package) for name, package in PACKAGES.items()}
    return {name: version for name, version in found.items() if version}


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def system():
    with open("/etc/os-release", encoding="utf-8") as lines:
        names = [line.split("=", 1)[1].strip().strip('"') for line in lines if line.startswith("PRETTY_NAME=")]
    return names[0] if names else platform.system()


def machine():
    return {"processor": processor(), "processors": os.cpu_count(),
            "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20,
            "system": system(), "kernel": first_version(platform.release().split("-", 1)[0]), "versions": versions()}
