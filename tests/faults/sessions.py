# SPDX-License-Identifier: Apache-2.0
"""Uses the session of another process, whose id and password are read from that process's memory.

They are in the page that zklock shares with its guard (src/zk/session_page.h): four bytes, four to fill, the id, the
password.
"""

import re
import socket
import struct

PATIENCE = 2.0  # seconds
OFFSET, LENGTH = 8, 24
CLOSE = struct.pack(">iii", 8, 1, -11)
SHARED = re.compile(r"([0-9a-f]+)-[0-9a-f]+ rw-s .* /dev/zero \(deleted\)")


def password_of(pid, session):
    """Returns None if it is not found."""
    try:
        with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps:
            starts = [int(found[1], 16) for found in map(SHARED.match, maps) if found]
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for start in starts:
                memory.seek(start + OFFSET)
                found, password = struct.unpack("q16s", memory.read(LENGTH))
                if found == session:
                    return password
    except OSError:
        pass
    return None


def take_up(address, session, password, timeout):
    """Returns a connection that has the session; None if that server does not give it."""
    host, port = address.split(":")
    request = struct.pack(">iqiqi16s", 0, 0, int(timeout * 1000), session, 16, password)
    server = None
    try:
        server = socket.create_connection((host, int(port)), timeout=PATIENCE)
        server.sendall(struct.pack(">i", len(request)) + request)
        answer = server.recv(64)
        if len(answer) >= 20 and struct.unpack(">q", answer[12:20])[0] == session:
            return server
    except OSError:
        pass
    if server:
        server.close()
    return None


def close(server):
    """Returns False if no answer came."""
    try:
        server.sendall(CLOSE)
        return bool(server.recv(64))
    except OSError:
        return False
    finally:
        server.close()
