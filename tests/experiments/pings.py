# SPDX-License-Identifier: Apache-2.0
"""Finds when the leader pings a follower: every half tick, at a phase that only the wire shows.

A packet socket in the router's namespace sees what the leader sends. A packet is a ping if it begins like one of the
servers' protocol (its type, 5, in four bytes). Times are nanoseconds of CLOCK_BOOTTIME, by the kernel's stamps.
"""

import ctypes
import os
import socket
import struct
import threading
import time

CLONE_NEWNET = 0x40000000
ETH_P_IP = 0x0800
SO_TIMESTAMPNS = 35
PING = struct.pack(">i", 5)
REMEMBERED = 64


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Pings:
    """`namespace`: a path. `device`: the router's end of the leader's link. `port`: the leader's for followers."""

    def __init__(self, namespace, device, port, follower):
        self._port = port
        self._follower = socket.inet_aton(follower)
        self._times = []
        self._ready = threading.Event()
        self._error = None
        self._over = False
        self._thread = threading.Thread(target=self._watch, args=(namespace, device), daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._error:
            raise self._error

    def _watch(self, namespace, device):
        try:
            sniffer = self._open(namespace, device)
        except OSError as error:
            self._error = error
            return
        finally:
            self._ready.set()
        with sniffer:
            while not self._over:
                self._take(sniffer)

    def _open(self, namespace, device):
        """From here on, this thread alone is in the namespace."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open(namespace, "rb") as handle:
            if libc.setns(handle.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sniffer.bind((device, ETH_P_IP))
        sniffer.settimeout(0.2)
        return sniffer

    def _take(self, sniffer):
        try:
            packet, extra, _, address = sniffer.recvmsg(2048, 64)
        except TimeoutError:
            return
        if address[2] == socket.PACKET_OUTGOING or not self.is_ping(packet):
            return
        seconds, nanoseconds = struct.unpack("ll", extra[0][2][:16])
        self._times.append(seconds * 10**9 + nanoseconds + now() - time.time_ns())
        del self._times[:-REMEMBERED]

    def is_ping(self, packet):
        head = (packet[0] & 15) * 4
        if packet[9] != socket.IPPROTO_TCP or packet[16:20] != self._follower:
            return False
        tcp = packet[head:int.from_bytes(packet[2:4], "big")]
        return int.from_bytes(tcp[:2], "big") == self._port and tcp[(tcp[12] >> 4) * 4:][:4] == PING

    def since(self, moment):
        return [at for at in list(self._times) if at >= moment]

    def await_next(self, moment, patience=10.0):
        """Returns the first ping after `moment`."""
        until = now() + int(patience * 1e9)
        while now() < until:
            if found := self.since(moment):
                return found[0]
            time.sleep(0.002)
        raise RuntimeError("the leader does not ping the follower")

    def end(self):
        self._over = True
        self._thread.join()
