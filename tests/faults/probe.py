# SPDX-License-Identifier: Apache-2.0
"""Asks a server what it says it is, and whether it can commit a write.

A server may say that it leads or follows while no request to it is ever committed. A new session is committed:
its answer comes when a quorum has it.
"""

import socket
import struct

PATIENCE = 1.0  # seconds
LIFETIME = 2000  # milliseconds, of the session
CONNECT = struct.pack(">iiqiqi16s", 44, 0, 0, LIFETIME, 0, 16, b"")
CLOSE = struct.pack(">iii", 8, 1, -11)


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def receive(server, length):
    data = b""
    while len(data) < length and (piece := server.recv(length - len(data))):
        data += piece
    return data


def mode(address):
    """Returns "leader", "follower", …; None without an answer."""
    try:
        with connect(address) as server:
            server.sendall(b"srvr")
            reply = receive(server, 1 << 16)
    except OSError:
        return None
    modes = [line[6:] for line in reply.decode("ascii", "replace").splitlines() if line.startswith("Mode: ")]
    return modes[0] if modes else None


def commits(address):
    try:
        with connect(address) as server:
            server.sendall(CONNECT)
            reply = receive(server, 20)
            server.sendall(CLOSE)
            receive(server, 1)
    except OSError:
        return False
    return len(reply) == 20 and struct.unpack(">iiiq", reply)[2] > 0
