# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that set wall clocks wrong: zklock's, or a server's (tests/helpers/preload_wall_clock.cc)."""

import contextlib

from ensemble import NUMBERS

HOUR = 3600


class ClockFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def wall_clock_wrong(self, fault):
        whose = "clients" if "clients" in fault.kind else NUMBERS[fault.lot % len(NUMBERS)]
        hit = self._begin(fault, whose=whose)
        self._place.tell(f"wall-clock-{whose}", HOUR if fault.kind.endswith("ahead") else -HOUR)
        yield hit
        self._place.tell(f"wall-clock-{whose}", 0)


ACTS = {f"wall clock of {whose} an hour {where}": ClockFaults.wall_clock_wrong
        for whose in ("clients", "a server") for where in ("ahead", "behind")}
