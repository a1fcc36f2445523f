# SPDX-License-Identifier: Apache-2.0
"""A look at the lock's nodes by another client, and its hand on them."""

import json
import logging
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

PATIENCE = 2.0  # seconds for an answer
LIFETIME = 10.0


class Nodes:
    """None, and False, where no server answers in time: everything may be broken."""

    def __init__(self, servers, lock):
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self._client = KazooClient(servers, timeout=LIFETIME)
        self._client.start_async()
        self._lock = lock
        self._one_at_a_time = threading.Lock()

    def _ask(self, request):
        with self._one_at_a_time:
            try:
                return request().get(timeout=PATIENCE)
            except (KazooException, KazooTimeoutError):
                return None

    def line(self):
        """(path, pid, session) of those in line, the holder first."""
        names = self._ask(lambda: self._client.get_children_async(self._lock)) or []
        found = []
        for name in sorted((name for name in names if name[-10:].isdigit()), key=lambda name: name[-10:]):
            path = f"{self._lock}/{name}"
            node = self._ask(lambda path=path: self._client.get_async(path))
            if node and node[1].ephemeralOwner:
                found.append((path, pid_of(node[0]), node[1].ephemeralOwner))
        return found

    def of_pid(self, pid):
        """(path, pid, session)"""
        return next((place for place in self.line() if place[1] == pid), None)

    def delete(self, path):
        """Whether it is gone by our hand."""
        with self._one_at_a_time:
            try:
                self._client.delete_async(path).get(timeout=PATIENCE)
                return True
            except (KazooException, KazooTimeoutError):
                return False

    def delete_lock(self):
        """With all below it, as long as somebody makes more."""
        for _ in range(100):
            for name in self._ask(lambda: self._client.get_children_async(self._lock)) or []:
                self.delete(f"{self._lock}/{name}")
            try:
                self._client.delete_async(self._lock).get(timeout=PATIENCE)
                return
            except NoNodeError:
                return
            except (KazooException, KazooTimeoutError):
                continue

    def tree(self, path="/"):
        """All paths below it, but ZooKeeper's own; None in place of them when no server answers."""
        names = self._ask(lambda: self._client.get_children_async(path))
        if names is None:
            return None
        found = []
        for name in names:
            below = f"{path.rstrip('/')}/{name}"
            if below != "/zookeeper":
                found += [below, *(self.tree(below) or [])]
        return found

    def end(self):
        self._client.stop()
        self._client.close()


def pid_of(data):
    try:
        return int(json.loads(data)["pid"])
    except (ValueError, KeyError, TypeError):
        return None
