# SPDX-License-Identifier: Apache-2.0
"""The process of proxy.py, and orders for it. To who looks names up in its hosts, its ways have names."""

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
        self.port = int(self._process.stdout.readline())
        self._generations = {number: 1 for number in range(1, len(targets) + 1)}
        self.addresses = [f"127.1.{number}.1:{self.port}" for number in self._generations]

    def names(self):
        """The list of servers by their names."""
        return ",".join(f"zk{number}.test:{self.port}" for number in self._generations)

    def hosts(self):
        """For preload_hosts: where they are now, and zk.test is all of them."""
        places = {number: f"127.1.{number}.{generation}" for number, generation in self._generations.items()}
        return "".join(f"zk{number}.test {place}\n" for number, place in places.items()) + \
            f"zk.test {' '.join(places.values())}"

    def all_addresses(self):
        """That a way has, had or will have, to its number."""
        return {f"127.1.{number}.{generation}:{self.port}": number
                for number in self._generations for generation in range(1, 255)}

    def move(self, number):
        """Returns when it has. One at a time."""
        self._generations[number] += 1
        self.order(number, "move")
        self._process.stdout.readline()

    def order(self, number, order):
        self._process.stdin.write(f"{number} {order}\n")

    def end(self):
        self._process.kill()
        self._process.wait()
