#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""jepsen_kazoo.py SERVERS SECONDS PATH COMMAND…: runs the command under Kazoo's Lock, as its documentation shows it.

Its sessions live for SECONDS. It ends with 0 if the command has and the lock was released.
"""

import subprocess
import sys

from kazoo.client import KazooClient


def main():
    servers, seconds, path, *command = sys.argv[1:]
    client = KazooClient(servers, timeout=float(seconds))
    client.start()
    with client.Lock(path):
        subprocess.run(command, check=True)
    client.stop()


main()
