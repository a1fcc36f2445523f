# SPDX-License-Identifier: Apache-2.0
"""Three servers and a folder for an experiment made by hand; ends all that was started on them."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time

import network
from bound import bound
from ensemble import Ensemble
from folders import ROOT
from place import Place

PATIENCE = 20.0


def await_fact(what, fact, patience=PATIENCE):
    until = time.monotonic() + patience
    while not (found := fact()):
        if time.monotonic() > until:
            raise RuntimeError(f"waited in vain until {what}")
        time.sleep(0.02)
    return found


class Stage:
    def __init__(self, helper, *options):
        helpers = os.environ.get("ZKLOCK_HELPERS", f"{ROOT}/build/test/tests")
        self._ends = contextlib.ExitStack()
        self._options = options
        self.place = Place(os.environ.get("ZKLOCK_BIN", f"{ROOT}/build/test/zklock"), os.path.join(helpers, helper), 0)
        self.network = self.ensemble = None

    def __enter__(self):
        logging.disable()  # Kazoo's
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, interrupted)
        self._ends.callback(self.place.remove)
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _set_up(self):
        inside = os.environ.get(network.INSIDE)
        self.network = network.Network(self.place.folder) if inside else None
        self.ensemble = Ensemble(f"{ROOT}/scripts/zk-sandbox", self.place.path("server"))
        self._ends.callback(self.ensemble.stop)
        self.ensemble.start([*(self.network.sandbox_options() if inside else []), *self._options])
        self._ends.callback(self.place.kill_all)
        await_fact("the servers have a leader", self.ensemble.has_quorum)

    def __exit__(self, *error):
        log = self.place.path("zklock.log")
        if any(error) and os.path.exists(log):
            subprocess.run(["tail", "-n", "20", log], check=False, stdout=sys.stderr)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self._ends.close()

    def at_end(self, end):
        self._ends.callback(end)

    def zklock(self, *words, log="zklock.log", **options):
        """Starts one in the background that does not outlive us."""
        with open(self.place.path(log), "ab") as output:
            return subprocess.Popen(
                bound(self.place.zklock, *words), env=self.place.environment,
                start_new_session=True,
                **{"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, **options})


def interrupted(number, _):
    raise KeyboardInterrupt(number)
