# SPDX-License-Identifier: Apache-2.0
"""Runs proxy.py, and gives it orders. Clients that look names up in its hosts file find its ways by names."""

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
        """Returns the list of servers by their names."""
        return ",".join(f"zk{number}.test:{self.port}" for number in self._generations)

    def hosts(self):
        """Returns the hosts file for preload_hosts: where the servers are now; zk.test is all of them."""
        places = {number: f"127.1.{number}.{generation}" for number, generation in self._generations.items()}
        return "".join(f"zk{number}.test {place}\n" for number, place in places.items()) + \
            f"zk.test {' '.join(places.values())}"

    def all_addresses(self):
        """Returns each address that a way has, had or will have, with its number."""
        return {f"127.1.{number}.{generation}:{self.port}": number
                for number in self._generations for generation in range(1, 255)}

    def move(self, number):
        """Moves one way at a time; returns when it has moved."""
        self._generations[number] += 1
        self.order(number, "move")
        self._process.stdout.readline()

    def order(self, number, order):
        self._process.stdin.write(f"{number} {order}\n")

    def end(self):
        self._process.kill()
        self._process.wait()
