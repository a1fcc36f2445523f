# SPDX-License-Identifier: Apache-2.0
"""ZooKeeper servers of our own, for one comparison."""

import contextlib
import os
import subprocess

from programs import ROOT, output_of

SANDBOX = f"{ROOT}/scripts/zk-sandbox"


@contextlib.contextmanager
def servers(*options, count=1, heap="512m"):
    """A fresh sandbox, in ZKLOCK_SERVERS and the other variables that it sets. It ends with its standard input, so with
    us too, however we end; the environment is then as it was."""
    before = dict(os.environ)
    # A long-running server compiles its code well; the sandbox prefers a short start.
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
    """Returns host and port of each."""
    return [(host, int(port)) for host, port in
            (one.rsplit(":", 1) for one in os.environ["ZKLOCK_SERVERS"].split(","))]


def ask(*words):
    """Returns what the sandbox reports of its servers."""
    return output_of([SANDBOX, *words]).strip()


class Traffic:
    """Counts the first server's traffic from now on. Each count costs a request and an answer, which are subtracted."""

    def __init__(self):
        first = counters()
        self._begin = counters()
        self._look = [after - before for before, after in zip(first, self._begin)]

    def so_far(self):
        """Returns requests, and events."""
        received, sent = (after - before - look for before, after, look in zip(self._begin, counters(), self._look))
        return received, sent - received


def monitored():
    """Returns what the first server reports of itself."""
    return dict(line.split("\t", 1) for line in ask("word", "1", "mntr").splitlines() if "\t" in line)


def counters():
    """Returns the packets received and sent; answers and events are sent."""
    values = monitored()
    return int(values["zk_packets_received"]), int(values["zk_packets_sent"])
