# SPDX-License-Identifier: Apache-2.0
"""The process of proxy.py, and orders for it."""

import os
import subprocess
import sys

from bound import bound


class Proxies:
    def __init__(self, targets):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.py")
        self._process = subprocess.Popen(
            bound(sys.executable, "-B", script, *targets),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True)
        self.addresses = self._process.stdout.readline().split()

    def order(self, number, order):
        self._process.stdin.write(f"{number} {order}\n")

    def end(self):
        self._process.kill()
        self._process.wait()
