#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kazoo_peer.py VERB PATH …: does the work of zklock by Kazoo's recipes, on ZKLOCK_SERVERS.

    lock PATH [N [COMMAND…]]  N times (1): run the command (`true`) under the lock
    put PATH FILE       puts the lines of FILE into a Queue, by its put()
    fill PATH FILE      the same faster, without waiting for each answer
    put-all PATH FILE   puts them into a LockingQueue
    get PATH N          takes N items out of a Queue
    consume PATH N      takes N items out of a LockingQueue: get and consume each
    party PATH NAME     is in a Party, until it gets TERM
    watch PATH          prints the number of children, for each list of them that it sees
    read PATH           prints a node's bytes
    write PATH TEXT [VERSION]  writes into a node, if that is its version
    list PATH           prints the names of its children, sorted
    watch-value PATH    prints a line for each value that it sees

Verbs that take items say "ready" and begin when standard input ends. KAZOO_TIMEOUT is the session's (15 s).
"""

import os
import signal
import subprocess
import sys
import time

from kazoo.client import KazooClient


def lock(client, path, times="1", *command):
    for _ in range(int(times)):
        with client.Lock(path):
            subprocess.run(command or ["true"], check=True)


def lines_of(name):
    with open(name, "rb") as lines:
        return [line.rstrip(b"\n") for line in lines]


def put(client, path, name):
    queue = client.Queue(path)
    for line in lines_of(name):
        queue.put(line)


def fill(client, path, name):
    queue = client.Queue(path)
    first, *rest = lines_of(name)
    queue.put(first)
    for line in rest:
        client.create_async(f"{path}/entry-100-", line, sequence=True)
    client.sync(path)


def put_all(client, path, name):
    client.LockingQueue(path).put_all(lines_of(name))


def await_start():
    print("ready", flush=True)
    sys.stdin.read()


def get(client, path, count):
    queue = client.Queue(path)
    await_start()
    for _ in range(int(count)):
        # Others may have been quicker with all items that it knew.
        while queue.get() is None:
            time.sleep(0)


def consume(client, path, count):
    queue = client.LockingQueue(path)
    await_start()
    for _ in range(int(count)):
        if queue.get(timeout=30) is None or not queue.consume():
            sys.exit("the queue is empty")


def party(client, path, name):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    member = client.Party(path, name)
    try:
        member.join()  # it is seen before this knows
        signal.pause()
    finally:
        member.leave()


def watch(client, path):
    client.ensure_path(path)
    client.ChildrenWatch(path)(lambda names: print(len(names), flush=True))
    signal.pause()


def read(client, path):
    sys.stdout.buffer.write(client.get(path)[0])


def write(client, path, text, version="-1"):
    client.set(path, text.encode(), int(version))


def list_children(client, path):
    print("\n".join(sorted(client.get_children(path))))


def watch_value(client, path):
    client.DataWatch(path)(lambda data, _: print(data.decode(), flush=True))
    signal.pause()


VERBS = {"lock": lock, "put": put, "fill": fill, "put-all": put_all, "get": get, "consume": consume, "party": party,
         "watch": watch, "read": read, "write": write, "list": list_children, "watch-value": watch_value}


def main():
    client = KazooClient(os.environ["ZKLOCK_SERVERS"], timeout=float(os.environ.get("KAZOO_TIMEOUT", "15")))
    client.start()
    VERBS[sys.argv[1]](client, *sys.argv[2:])
    client.stop()


main()
