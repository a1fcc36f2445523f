# SPDX-License-Identifier: Apache-2.0
"""Kazoo's lock, for peer.py."""

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, SessionExpiredError

SESSION = 20.0  # Kazoo notices after two thirds of it that no server answers


class Kazoo:
    lost = ConnectionLoss, SessionExpiredError  # it does not try again by itself

    def __init__(self, servers, lock):
        self._client = KazooClient(servers, timeout=SESSION)
        self._path = lock

    def connect(self):
        self._client.start(timeout=120)

    def is_connected(self):
        return self._client.connected

    def take(self):
        """Returns the czxid of its node."""
        self._lock = self._client.Lock(self._path)
        self._lock.acquire()
        return self._client.get(f"{self._path}/{self._lock.node}")[1].czxid

    def release(self):
        self._lock.release()

    def close(self):
        self._client.stop()
