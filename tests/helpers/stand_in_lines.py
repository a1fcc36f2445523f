#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""stand_in_lines.py SERVERS: makes contenders for many locks in one session, by Kazoo, with names as in Curator's.
Obeys the lines of its standard input, and answers each with "done". At its end, all contenders go.

    lines ROOT COUNT WAITERS TEXT   makes ROOT/lock-000 and so on, TEXT on each node; the first WAITERS have a waiter
    churn ROOT ROUNDS               comes and goes at ROOT/churn
    plain ROOT COUNT                makes nodes below ROOT that are no locks, and stay
"""

import sys
import uuid

from kazoo.client import KazooClient


def contender(client, path, text):
    name = f"{path}/_c_{uuid.uuid4()}-lock-"
    return client.create_async(name, text.encode(), ephemeral=True, sequence=True, makepath=True)


def lines(client, root, count, waiters, text):
    paths = [f"{root}/lock-{number:03}" for number in range(int(count))]
    for answer in [contender(client, path, text) for path in paths]:
        answer.get()
    for answer in [contender(client, path, text) for path in paths[: int(waiters)]]:
        answer.get()


def churn(client, root, rounds):
    for _ in range(int(rounds)):
        client.delete(contender(client, f"{root}/churn", "a holder").get())


def plain(client, root, count):
    client.ensure_path(root)
    for answer in [client.create_async(f"{root}/n{number:05}") for number in range(int(count))]:
        answer.get()


def main():
    client = KazooClient(hosts=sys.argv[1], timeout=30.0)
    client.start()
    for line in sys.stdin:
        words = line.rstrip("\n").split(" ", 4)
        {"lines": lines, "churn": churn, "plain": plain}[words[0]](client, *words[1:])
        print("done", flush=True)
    client.stop()


if __name__ == "__main__":
    main()
