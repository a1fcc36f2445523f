# SPDX-License-Identifier: Apache-2.0
"""ZooKeeper servers of our own, for one comparison."""

import contextlib
import os
import subprocess

from programs import ROOT, output_of

SANDBOX = f"{ROOT}/scripts/zk-sandbox"


@contextlib.contextmanager
def servers(*options, count=1, heap="512m"):
    """A fresh sandbox, in ZKLOCK_SERVERS and what else it sets. It ends with its standard input, so with us too, however
    we end; the environment is then as it was."""
    before = dict(os.environ)
    # A server that runs for long has its code compiled well; the sandbox prefers a short start.
    environment = {**before, "_JAVA_OPTIONS": "-XX:TieredStopAtLevel=4"}
    words = [SANDBOX, "--servers", str(count), "--heap", heap, *options, "--", "sh", "-c",
             "env | grep ^ZKLOCK_; echo; exec cat"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                               start_new_session=True)
    try:
        answer = dict(line.split("=", 1) for line in iter(lambda: process.stdout.readline().strip(), ""))
        if "ZKLOCK_SANDBOX" not in answer:
            raise RuntimeError("the servers did not start")
        for name in [name for name in before if name.startswith("ZKLOCK_")]:
            del os.environ[name]
        os.environ.update(answer)
        yield
    finally:
        process.stdin.close()
        process.wait()
        os.environ.clear()
        os.environ.update(before)


def addresses():
    """Host and port of each."""
    return [(host, int(port)) for host, port in
            (one.rsplit(":", 1) for one in os.environ["ZKLOCK_SERVERS"].split(","))]


def ask(*words):
    """What the sandbox says of its servers."""
    return output_of([SANDBOX, *words]).strip()


class Traffic:
    """Of the first server, from now on. To look costs a request and an answer, which are taken off."""

    def __init__(self):
        first = counters()
        self._begin = counters()
        self._look = [after - before for before, after in zip(first, self._begin)]

    def so_far(self):
        """Requests, and events."""
        received, sent = (after - before - look for before, after, look in zip(self._begin, counters(), self._look))
        return received, sent - received


def monitored():
    """What the first server says of itself."""
    return dict(line.split("\t", 1) for line in ask("word", "1", "mntr").splitlines() if "\t" in line)


def counters():
    """Packets received and sent; answers and events are sent."""
    values = monitored()
    return int(values["zk_packets_received"]), int(values["zk_packets_sent"])
