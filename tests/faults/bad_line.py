# SPDX-License-Identifier: Apache-2.0
"""Runs packets.py in the router's namespace, and sends packets through it.

A packet takes the long way by a rule for the device that it came in by. It comes back by another device, so that no
rule applies a second time. The rules exist only while a fault lasts.
"""

import os
import subprocess
import sys

from bound import bound

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packets.py")


class BadLine:
    """`pairs` are the places (network.py) whose packets to each other take it."""

    def __init__(self, network, name, table, pairs):
        self._network = network
        self._device = f"bad{name}"
        self._table = table
        self._pairs = [(a, b) for one, other in pairs for a, b in ((one, other), (other, one))]
        self._process = subprocess.Popen(
            bound(*network.words_in("router"), sys.executable, "-B", SCRIPT, self._device),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True)
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("no TUN device")
        for place in ("all", self._device):
            network.set_in("router", f"/proc/sys/net/ipv4/conf/{place}/rp_filter", 0)
        network.configure("router", f"link set {self._device} up",
                          f"route add default dev {self._device} table {table}")

    def begin(self, order):
        self._process.stdin.write(f"{order}\n")
        self._rules("add")

    def end(self):
        self._rules("del")
        self._process.stdin.write("\n")

    def _rules(self, action):
        for one, other in self._pairs:
            self._network.detour(action, one, other, self._table)

    def close(self):
        self._process.kill()
        self._process.wait()
