# SPDX-License-Identifier: Apache-2.0
"""The programs that zklock is measured against, and checks whether they are here."""

import os
import shutil
import subprocess

from programs import HELPERS, HERE

JARS = "/usr/share/java"
# The flags make the start quick.
JAVA = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-cp"]
ZOOKEEPER_PATH = [f"{JARS}/{jar}.jar" for jar in ("zookeeper", "slf4j-nop")]
CURATOR_PATH = [f"{HELPERS}/curator_lock.jar", *ZOOKEEPER_PATH,
                *(f"{JARS}/{jar}.jar" for jar in ("curator-recipes", "curator-framework", "curator-client", "guava"))]
CURATOR = [*JAVA, ":".join(CURATOR_PATH), "CuratorLock"]
FOUR_LETTER_WORD = [*JAVA, ":".join(ZOOKEEPER_PATH), "org.apache.zookeeper.client.FourLetterWordMain"]
ZOOKEEPER_SHELL = [*JAVA, ":".join(ZOOKEEPER_PATH), "org.apache.zookeeper.ZooKeeperMain"]
KAZOO = ["/usr/bin/python3", f"{HERE}/kazoo_peer.py"]


def has(command):
    return shutil.which(command) is not None


def has_java(jars):
    return has("java") and all(os.path.exists(jar) for jar in jars)


def has_kazoo(findings):
    found = subprocess.run([KAZOO[0], "-c", "import kazoo"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    return found or findings.leave_out("Kazoo", "scripts/setup test installs it")


def has_curator(findings):
    return has_java(CURATOR_PATH) or findings.leave_out("Curator", "scripts/setup test installs it")


def has_zookeeper_shell(findings):
    return has_java(ZOOKEEPER_PATH) or findings.leave_out("FourLetterWordMain and ZooKeeperMain",
                                                          "scripts/setup sandbox installs them")


def has_etcd(findings):
    return has("etcd") and has("etcdctl") or findings.leave_out("etcdctl", "scripts/setup bench installs it")
