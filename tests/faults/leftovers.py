# SPDX-License-Identifier: Apache-2.0
"""Finds what a run leaves behind when all have ended: no process, and no node except those that stay by design."""

import os
import re
import time

from bare_client import NO_NODE, BareClient, Refused

PROCESSES = 10.0  # seconds until all are dead; a guard tries for some of them to end the session
NOBODYS = (0, -1 << 63)  # the owners of a node that stays, and of a container
# These nodes have no session: locks, queues, groups and values, items (crowd.py reports those that were not taken),
# dead letters, the times of the last successes, what pushers that were killed have awaited.
BY_DESIGN = re.compile(r"""(/zookeeper(/.*)?|/locks(/faults)?|/numbers(/\d+)?|/groups(/[a-z]+)?|/values(/counter)?
    |/promises(/[a-z]+(\.last|/locks|/leases)?)?
    |/fenced(/(locks|values)(/\d+)?)?
    |/queues(/[a-z]+(/pushing|/waiting|/items(/\d{3}-\d{10}(/[a-z0-9.]+[-.]\d{10})?)?|/dead(/\d{3}-\d{10}(/[a-z0-9.]+[-.]\d{10}(/why)?)?)?
        |/awaited(/[a-f0-9]{12}(/(done|dead|purged|back))?)?)?)?)""",
                       re.VERBOSE)


def is_by_design(path):
    return BY_DESIGN.fullmatch(path) is not None


def walk(client, path="/"):
    """Yields (path, its session or 0) of all nodes below `path`."""
    try:
        names = client.children(path)
    except Refused as refused:
        if refused.args[0] == NO_NODE:
            return
        raise
    for name in names:
        child = f"{path.rstrip('/')}/{name}"
        try:
            yield child, client.get(child).owner
        except Refused:
            continue  # it has gone meanwhile
        yield from walk(client, child)


def strange_nodes(address):
    with BareClient(address) as client:
        for path, owner in walk(client):
            if owner not in NOBODYS:
                yield f"{path}, of session 0x{owner & (1 << 64) - 1:x}"
            elif not is_by_design(path):
                yield path


def describe(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            words = line.read().decode(errors="replace").split("\0")
        with open(f"/proc/{pid}/stat", "rb") as line:
            state, parent = line.read().decode(errors="replace").rpartition(")")[2].split()[:2]
        with open(f"/proc/{pid}/wchan", "rb") as line:
            waits = line.read().decode()
        return f"process {pid}, {state} in {waits}, of {parent}: {os.path.basename(words[0])} {' '.join(words[1:])}"
    except OSError:
        return ""


def await_none(find, patience):
    """Returns what is still there when the patience ends."""
    until = time.monotonic() + patience
    while (found := find()) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def look(processes, addresses, patience):
    """Returns texts of what is left. `processes`: returns those that are there; `patience`: seconds until each session
    that could not be ended has expired."""
    left = [text for text in map(describe, await_none(processes, PROCESSES)) if text]

    def nodes():
        for address in addresses:
            try:
                return list(strange_nodes(address))
            except OSError:
                continue
        return ["no server tells what is left"]

    return left + [f"node {path}" for path in await_none(nodes, patience)]
