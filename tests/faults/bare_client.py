# SPDX-License-Identifier: Apache-2.0
"""A minimal ZooKeeper client: each connection has a session of its own, for a few requests one after another."""

import collections
import socket
import struct

PATIENCE = 1.5  # seconds for each answer
LIFETIME = 4000  # milliseconds, of the session
CREATE, DELETE, GET, CHILDREN, CLOSE = 1, 2, 4, 8, -11
PERSISTENT_NUMBERED = 2
NO_NODE, NOT_EMPTY = -101, -111
Node = collections.namedtuple("Node", "data owner")


class Refused(Exception):
    """The server has refused; the first argument is its code."""


class BareClient:
    """Throws OSError if the server does not answer in time."""

    def __init__(self, address):
        host, port = address.split(":")
        self._count = 0
        self._socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        try:
            self._send(struct.pack(">iqiqi16s", 0, 0, LIFETIME, 0, 16, b""))
            self._receive()
        except OSError:
            self._socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._send(struct.pack(">ii", self._count + 1, CLOSE))
            self._socket.recv(1)
        except OSError:
            pass
        self._socket.close()

    def _send(self, data):
        self._socket.sendall(struct.pack(">i", len(data)) + data)

    def _take(self, length):
        data = b""
        while len(data) < length:
            piece = self._socket.recv(length - len(data))
            if not piece:
                raise ConnectionError("the server has closed the connection")
            data += piece
        return data

    def _receive(self):
        return self._take(struct.unpack(">i", self._take(4))[0])

    def _ask(self, kind, path, more):
        self._count += 1
        name = path.encode()
        self._send(struct.pack(">iii", self._count, kind, len(name)) + name + more)
        answer = self._receive()
        code = struct.unpack(">i", answer[12:16])[0]
        if code != 0:
            raise Refused(code)
        return answer[16:]

    def children(self, path):
        answer = self._ask(CHILDREN, path, b"\0")
        names, at = [], 4
        for _ in range(struct.unpack(">i", answer[:4])[0]):
            length = struct.unpack(">i", answer[at:at + 4])[0]
            names.append(answer[at + 4:at + 4 + length].decode())
            at += 4 + length
        return names

    def get(self, path):
        answer = self._ask(GET, path, b"\0")
        length = max(0, struct.unpack(">i", answer[:4])[0])
        stat = answer[4 + length:]
        return Node(answer[4:4 + length], struct.unpack(">q", stat[44:52])[0])

    def create_numbered(self, path, data):
        """Makes a persistent node that everybody may change, and returns its path."""
        acl = struct.pack(">ii", 1, 31) + b"".join(struct.pack(">i", len(text)) + text for text in (b"world", b"anyone"))
        made = self._ask(CREATE, path, struct.pack(">i", len(data)) + data + acl + struct.pack(">i", PERSISTENT_NUMBERED))
        return made[4:].decode()

    def delete(self, path):
        self._ask(DELETE, path, struct.pack(">i", -1))
