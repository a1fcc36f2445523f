# SPDX-License-Identifier: Apache-2.0
"""Curator's InterProcessMutex, for peer.py: by tests/peers/Driver.java, which ends with its standard input."""

import os
import socket
import subprocess
import sys
import threading
import time

from bound import bound

JAVA = ("java", "-Xmx64m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
JARS = ("curator-recipes", "curator-framework", "curator-client", "zookeeper-recipes-lock", "zookeeper", "guava",
        "slf4j-simple")
CLOSING = 10.0  # seconds
AFTERWARDS = 4.0  # seconds until it ends, and another one begins: a JVM costs as much as many runs of the others
LOST = 76


def class_path():
    here = os.path.dirname(os.path.abspath(__file__))
    helpers = os.environ.get("ZKLOCK_HELPERS", os.path.join(here, "../../build/test/tests"))
    return ":".join([os.path.join(helpers, "peers.jar"), *(f"/usr/share/java/{jar}.jar" for jar in JARS)])


class Curator:
    lost = ()

    def __init__(self, servers, lock, hosts):
        # It writes its host's address on its node, so a hosts file must have it.
        with open(hosts, "w", encoding="ascii") as names:
            names.write(f"127.0.0.1 {socket.gethostname()} localhost\n")
        self._path = lock
        self._connected = False
        self._driver = subprocess.Popen(bound(*JAVA, f"-Djdk.net.hosts.file={hosts}", "-cp", class_path(), "Driver", servers),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._said, self._news = [], threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._driver.stdout:
            word, name = line.split(maxsplit=2)[1:]
            with self._news:
                if name == "connection\n":
                    self._connected = word in ("connected", "reconnected")
                self._said.append((word, name.strip()))
                self._news.notify()
        with self._news:
            self._said.append(("failed", "it has ended"))
            self._news.notify()

    def _await(self, wanted):
        """Returns what it says after that word. If a request has failed, it may have lost its session."""
        with self._news:
            while True:
                for word, rest in self._said:
                    if word == "failed":
                        sys.exit(LOST)
                    if word == wanted:
                        return rest
                self._news.wait()

    def _tell(self, *words):
        print(*words, file=self._driver.stdin, flush=True)

    def connect(self):
        self._await("ready")

    def is_connected(self):
        return self._connected

    def take(self):
        """Returns the czxid of its node."""
        self._tell("take", "lock", "InterProcessMutex", self._path)
        self._await("held")
        self._tell("token", "token", self._path)
        return int(self._await("czxid"))

    def release(self):
        """If that fails, its node goes with the session, which ends soon."""
        self._tell("release", "lock")
        time.sleep(AFTERWARDS)

    def close(self):
        self._driver.stdin.close()
        try:
            self._driver.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self._driver.kill()
