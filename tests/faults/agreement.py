# SPDX-License-Identifier: Apache-2.0
"""Checks that all servers have the same nodes in the end. ZooKeeper promises that. If they differ, deleted nodes are
there again for clients of one server, and no client can help it."""

from bare_client import BareClient
from leftovers import await_none, walk

PATIENCE = 15.0  # seconds for servers that lag
SHOWN = 5


def differences(trees):
    """Yields a text for each node that not all of `trees` (address to nodes) have."""
    everywhere = set.intersection(*trees.values())
    for address, nodes in trees.items():
        if more := sorted(nodes - everywhere):
            yield f"{address} has {len(more)} nodes that not all have: {', '.join(more[:SHOWN])}"


def tree(address):
    with BareClient(address) as client:
        return {path for path, _ in walk(client)}


def look(addresses):
    """Returns texts of what still differs after a while. If a server does not answer, no fault has ended it."""

    def differ():
        trees, silent = {}, []
        for address in addresses:
            try:
                trees[address] = tree(address)
            except OSError as error:
                silent.append(f"{address} does not answer: {error}")
        return silent or list(differences(trees))

    return await_none(differ, PATIENCE)
