#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bad line: packets.py DEVICE

Makes a TUN device, prints "ready", and sends back into it what the kernel routes there, worse than it came. It obeys
the lines on its standard input, and ends with it. Each line replaces the one before; "" is a good line again:

    loss 0.2       so many of the packets are lost, here one of five
    delay 0.05     each is late by so many seconds
    jitter 0.1     each is late by up to so many more at random, so that they overtake each other
    double 0.1     so many come twice
    corrupt 0.1    one bit of so many is changed: the receiver's checksum finds that
    largest 400    longer ones vanish, without the message that would make the sender send shorter ones
"""

import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
LONGEST = 1 << 16
HEADER = 20  # bytes of IP, which routers check themselves


def open_device(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


class Line:
    """Decides what leaves the line when, by a heap of (time, number, packet)."""

    def __init__(self, chance):
        self._chance = chance
        self._faults = {}
        self._queue = []
        self._count = 0

    def obey(self, order):
        words = order.split()
        self._faults = {name: float(number) for name, number in zip(words[::2], words[1::2])}

    def _happens(self, fault):
        return self._chance.random() < self._faults.get(fault, 0)

    def take(self, packet, at):
        if self._happens("loss") or len(packet) > self._faults.get("largest", LONGEST):
            return
        if self._happens("corrupt") and len(packet) > HEADER:
            packet = bytearray(packet)
            packet[self._chance.randrange(HEADER, len(packet))] ^= 1 << self._chance.randrange(8)
        for _ in range(2 if self._happens("double") else 1):
            due = at + self._faults.get("delay", 0) + self._chance.random() * self._faults.get("jitter", 0)
            self._count += 1
            heapq.heappush(self._queue, (due, self._count, bytes(packet)))

    def due(self, at):
        """Yields the packets to be sent by then."""
        while self._queue and self._queue[0][0] <= at:
            yield heapq.heappop(self._queue)[2]

    def next_at(self):
        return self._queue[0][0] if self._queue else None


def take_all(device, line):
    try:
        while True:
            line.take(os.read(device, LONGEST), time.monotonic())
    except BlockingIOError:
        pass


def send(device, packet):
    try:
        os.write(device, packet)
    except OSError:  # not IP, or no room: it is lost
        pass


def main():
    device, line = open_device(sys.argv[1]), Line(random.Random())
    print("ready", flush=True)
    while True:
        due = line.next_at()
        pause = None if due is None else max(0.0, due - time.monotonic())
        readable, _, _ = select.select([device, sys.stdin], [], [], pause)
        if sys.stdin in readable:
            if not (order := sys.stdin.buffer.raw.readline()):
                return
            line.obey(order.decode())
        if device in readable:
            take_all(device, line)
        for packet in line.due(time.monotonic()):
            send(device, packet)


if __name__ == "__main__":
    main()
