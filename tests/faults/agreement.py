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
    """Texts of what they differ by, also after a while; nothing where one does not answer, which others tell."""

    def differ():
        try:
            return list(differences({address: tree(address) for address in addresses}))
        except OSError:
            return []

    return await_none(differ, PATIENCE)
