# SPDX-License-Identifier: Apache-2.0
"""Reads and changes the lock's nodes behind zklock's back."""

import json
import uuid

from bare_client import NO_NODE, BareClient, Refused

ROUNDS = 20  # of deleting while others make nodes


class Nodes:
    """Returns None for what no server gives; everything may be broken."""

    def __init__(self, addresses, lock):
        self._addresses = addresses
        self._lock = lock
        self._restored = []  # prefixes of the nodes that restore() may have made

    def _with_client(self, do):
        for address in self._addresses:
            try:
                with BareClient(address) as client:
                    return do(client)
            except (OSError, Refused):
                continue
        return None

    def line(self):
        """Returns (path, pid, session) of the contenders in line, the holder first."""
        return self._with_client(self._line) or []

    def _line(self, client):
        found = []
        names = [name for name in client.children(self._lock) if name[-10:].isdigit()]
        for name in sorted(names, key=lambda name: name[-10:]):
            path = f"{self._lock}/{name}"
            try:
                node = client.get(path)
            except Refused:  # it is gone
                continue
            if node.owner:
                found.append((path, pid_of(node.data), node.owner))
        return found

    def of_pid(self, pid):
        """Returns (path, pid, session)."""
        return next((place for place in self.line() if place[1] == pid), None)

    def delete(self, path):
        return self._with_client(lambda client: client.delete(path) or True)

    def restore(self, path):
        """Makes a node of a new contender with that one's note, last in line, owned by no session; returns its path."""
        name = f"_c_{uuid.uuid4()}-lock-"
        self._restored.append(name)  # the answer may be lost, and then a second server is asked
        return self._with_client(lambda client: client.create_numbered(f"{self._lock}/{name}", client.get(path).data))

    def remove_restored(self):
        """Returns whether none is left of what restore() has made, with or without an answer."""
        return not self._restored or self._with_client(self._remove_restored) or False

    def _remove_restored(self, client):
        try:
            names = client.children(self._lock)
        except Refused as refused:
            return refused.args[0] == NO_NODE
        for name in names:
            if name[:-10] in self._restored:
                try_to_delete(client, f"{self._lock}/{name}")
        return True

    def delete_lock(self):
        """Deletes the lock with all below it."""
        return self._with_client(self._delete_lock)

    def _delete_lock(self, client):
        for _ in range(ROUNDS):
            try:
                for name in client.children(self._lock):
                    try_to_delete(client, f"{self._lock}/{name}")
                client.delete(self._lock)
                return True
            except Refused as refused:
                if refused.args[0] == NO_NODE:
                    return True
        return False


def try_to_delete(client, path):
    try:
        client.delete(path)
    except Refused:
        pass


def pid_of(data):
    try:
        return int(json.loads(data)["pid"])
    except (ValueError, KeyError, TypeError):
        return None
