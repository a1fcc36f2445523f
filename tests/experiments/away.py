# SPDX-License-Identifier: Apache-2.0
"""What the parts of the experiment `outage` share: its server, and programs on it."""

import os
import subprocess
import time

from bound import bound
from folders import ROOT

ZKLOCK = os.path.realpath(os.environ.get("ZKLOCK_BIN", f"{ROOT}/build/test/zklock"))
SANDBOX = f"{ROOT}/scripts/zk-sandbox"
PATIENCE = 60.0


def sandbox(*words):
    return subprocess.run([SANDBOX, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def serves():
    done = subprocess.run([SANDBOX, "word", "1", "srvr"], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return "Mode: " in done.stdout


def await_fact(what, fact, patience=PATIENCE):
    until = time.monotonic() + patience
    while not (found := fact()):
        if time.monotonic() > until:
            raise RuntimeError(f"waited in vain until {what}")
        time.sleep(0.02)
    return found


def zklock(*words, **options):
    """Starts one in the background that does not outlive us."""
    return subprocess.Popen(bound(ZKLOCK, *words),
                            **{"stdin": subprocess.DEVNULL, "start_new_session": True, **options})


def push(queue, items):
    lines = "".join(f"{item}\n" for item in items)
    subprocess.run([ZKLOCK, "queue", "push", queue], input=lines, text=True, check=True)


def end(processes):
    for process in processes:
        process.kill()
        process.wait()
