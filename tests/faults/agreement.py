# SPDX-License-Identifier: Apache-2.0
"""Whether all servers have the same nodes in the end. They have where ZooKeeper keeps its own promise; where one has
what another has not, what was deleted is there again for who asks that one, and no client can help it."""

from bare_client import BareClient
from leftovers import await_none, walk

PATIENCE = 15.0  # seconds for who lags behind
SHOWN = 5


def differences(trees):
    """Texts of what not all of `trees`, address to nodes, have."""
    everywhere = set.intersection(*trees.values())
    for address, nodes in trees.items():
        if more := sorted(nodes - everywhere):
            yield f"{address} has {len(more)} nodes that not all have: {', '.join(more[:SHOWN])}"


def tree(address):
    with BareClient(address) as client:
        return {path for path, _ in walk(client)}


def look(addresses):
    """Texts of what they differ by, also after a while. A server that does not answer has ended, and nobody meant it to."""

    def differ():
        trees, silent = {}, []
        for address in addresses:
            try:
                trees[address] = tree(address)
            except OSError as error:
                silent.append(f"{address} does not answer: {error}")
        return silent or list(differences(trees))

    return await_none(differ, PATIENCE)
