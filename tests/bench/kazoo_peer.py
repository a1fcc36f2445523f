#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kazoo_peer.py VERB PATH …: Kazoo's recipes at the work of zklock, on ZKLOCK_SERVERS.

    lock PATH [N]      N times (1): run `true` under the lock
    get PATH FILE N    the lines of FILE into a Queue, and N items out of it
    consume PATH FILE N
                       the same with a LockingQueue: get and consume each

The latter two print how many seconds the N items took.
"""

import os
import subprocess
import sys
import time

from kazoo.client import KazooClient


def lock(client, path, times="1"):
    for _ in range(int(times)):
        with client.Lock(path):
            subprocess.run(["true"], check=True)


def lines_of(name):
    with open(name, "rb") as lines:
        return [line.rstrip(b"\n") for line in lines]


def get(client, path, name, count):
    queue = client.Queue(path)
    first, *rest = lines_of(name)
    queue.put(first)
    for line in rest:
        client.create_async(f"{path}/entry-100-", line, sequence=True)  # as put() does, without waiting
    client.sync(path)
    start = time.monotonic()
    for _ in range(int(count)):
        if queue.get() is None:
            sys.exit("the queue is empty")
    print(time.monotonic() - start)


def consume(client, path, name, count):
    queue = client.LockingQueue(path)
    queue.put_all(lines_of(name))
    start = time.monotonic()
    for _ in range(int(count)):
        if queue.get(timeout=10) is None or not queue.consume():
            sys.exit("the queue is empty")
    print(time.monotonic() - start)


def main():
    client = KazooClient(os.environ["ZKLOCK_SERVERS"], timeout=15.0)
    client.start()
    {"lock": lock, "get": get, "consume": consume}[sys.argv[1]](client, *sys.argv[2:])
    client.stop()


main()
