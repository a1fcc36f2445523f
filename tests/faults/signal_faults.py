# SPDX-License-Identifier: Apache-2.0
"""Faults of faults.py that are signals which zklock obeys, or hands on to its command, in each phase."""

import contextlib
import signal

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


class SignalFaults:
    """A part of Faults, which has what this uses."""

    @contextlib.contextmanager
    def signalled(self, fault):
        target = PHASES[fault.kind](self, fault)
        if not target:
            yield None
            return
        number = ENDING[fault.lot % len(ENDING)]
        hit = self._begin(fault, None, run=target[1], signal=int(number))
        target[2].send_signal(number)
        yield hit
        if number == signal.SIGUSR1 and fault.kind != "signal while waiting":
            self._over.wait(1.0)  # the command has died of it, but what it has started lives on
            self._place.kill_run(target[1])

    def _next_at_release(self, _):
        """Returns the second in line when the first one's command has ended."""
        held = self._targets.holding()
        line = self._nodes.line() if held else []
        second = self._targets.of_pid(line[1][1]) if len(line) > 1 else None
        return second if self._targets.at_line("exit") else None


PHASES = {
    "signal while connecting": lambda faults, fault: faults._targets.fresh(),
    "signal while waiting": lambda faults, fault: faults._targets.waiting(fault.lot),
    "signal to the next at a release": SignalFaults._next_at_release,
    "signal at a grant": lambda faults, fault: faults._targets.at_line("enter"),
    "signal while running": lambda faults, fault: faults._targets.holding(),
    "signal while giving back": lambda faults, fault: faults._targets.at_line("exit"),
}
ACTS = dict.fromkeys(PHASES, SignalFaults.signalled)
