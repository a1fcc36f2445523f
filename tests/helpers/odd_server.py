#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""odd_server.py [OPTION...] [ADDRESS]: a proxy before the real server at ADDRESS (127.0.0.1:PORT) that answers unlike it.

Prints "port P", on which it listens, then "closed OP", "refused OP", "muted OP", "forged OP HOW" for what it did. OP
is a request's number in the protocol: 1 create, 15 create with its Stat, 19 create a container, 12 list, 14 multi.

  --close OP,...          closes the connection on these requests; "all": all but the handshake and pings
  --unimplemented OP,...  answers them with "unimplemented"
  --turn-away             answers them as a server that enforces SASL: -124, and the connection is closed
  --largest BYTES         closes the connection on a larger request
  --mute                  answers nothing but the handshake and pings
  --rate BYTES            sends only so many bytes of answers a second
  --forge SEED            makes half of the answers hostile, at random
  --port PORT             listens there; by default the system chooses
  --say KIND              no proxy: answers everything with a TLS alert (tls), text (http), or the end (close)
"""
import argparse
import asyncio
import collections
import os
import random
import struct

PING, NOTE, AUTH, SET_WATCHES = -2, -1, -4, -8
ANSWERS = {
    "tls": bytes.fromhex("15030300020246"),
    "http": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "close": b"",
}
HEADER = struct.Struct(">iqi")  # xid, zxid, error
NASTY = (-1, -2, 0x7FFFFFFF, -0x80000000, 0x10000000, 0, 1, 65536)
ERRORS = (-1, -2, -4, -6, -7, -8, -9, -13, -100, -101, -102, -103, -108, -110, -111, -112, -114, -115, -116, -117,
          -118, -127, 1, 77, -0x80000000)


def say(*words):
    print(*words, flush=True)


async def frame_of(reader):
    length, = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


def framed(body):
    return struct.pack(">i", len(body)) + body


class Forger:
    """Makes hostile answers out of good ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ways = [self.empty, self.cut_short, self.number, self.noise, self.strange_xid, self.error, self.length,
                     self.bytes_in_it, self.twice, self.note, self.longer]

    def forge(self, body):
        """Returns the bytes to send for it and how they were made, or None if they are as they were."""
        if self.random.random() < 0.5:
            return framed(body), None
        way = self.random.choice(self.ways)
        return way(body), way.__name__

    def empty(self, body):
        return framed(body[:HEADER.size])

    def cut_short(self, body):
        return framed(body[:self.random.randrange(len(body) + 1)])

    def number(self, body):
        at = self.random.randrange(0, max(1, len(body) - 3))
        return framed(body[:at] + struct.pack(">i", self.random.choice(NASTY)) + body[at + 4:])

    def noise(self, body):
        return framed(body[:HEADER.size] + self.random.randbytes(self.random.randrange(200)))

    def strange_xid(self, body):
        xid = self.random.choice((0, 1, PING, NOTE, AUTH, SET_WATCHES, -3, 0x7FFFFFFF))
        return framed(struct.pack(">i", xid) + body[4:])

    def error(self, body):
        return framed(body[:12] + struct.pack(">i", self.random.choice(ERRORS)) + body[16:])

    def length(self, body):
        return struct.pack(">i", self.random.choice(NASTY)) + body

    def bytes_in_it(self, body):
        spoilt = bytearray(body)
        for _ in range(self.random.randrange(1, 8)):
            if len(spoilt) > HEADER.size:
                at = self.random.randrange(HEADER.size, len(spoilt))
                spoilt[at] = self.random.choice((0, 7, 10, 27, 0x2F, 0x2E, 0x7F, 0x80, 0xC0, 0xFF))
        return framed(bytes(spoilt))

    def twice(self, body):
        return framed(body) * 2

    def note(self, body):
        path = self.random.choice((b"/", b"", b"/l", b"\xff\x00", b"/" * 99))
        event = struct.pack(">iii", self.random.choice((-1, 1, 2, 3, 4, 99)), self.random.choice((3, 0, -112, 77)),
                            self.random.choice((len(path), -1, 0x7FFFFFFF))) + path
        return framed(HEADER.pack(NOTE, -1, 0) + event) + framed(body)

    def longer(self, body):
        return framed(body + self.random.randbytes(self.random.randrange(1, 64)))


class Connection:
    """Relays between one client and the real server."""

    def __init__(self, options, forger):
        self.options = options
        self.forger = forger
        self.asked = collections.deque()  # [xid, operation, the answer if it is ours]

    async def serve(self, reader, writer):
        host, _, port = self.options.address.rpartition(":")
        try:
            there, thither = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        tasks = [asyncio.ensure_future(self.requests(reader, writer, thither)),
                 asyncio.ensure_future(self.answers(there, writer))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()
        thither.close()

    async def requests(self, reader, writer, thither):
        thither.write(framed(await frame_of(reader)))  # the handshake
        while True:
            body = await frame_of(reader)
            xid, operation = struct.unpack(">ii", body[:8])
            if xid == PING:
                thither.write(framed(body))
            elif self.closes(operation, len(body)):
                say("closed", operation)
                return
            elif self.options.turn_away:
                say("turned away", operation)
                writer.write(framed(HEADER.pack(xid, 0, -124)))
                await writer.drain()
                return
            elif self.options.mute:
                say("muted", operation)
            elif operation in self.options.unimplemented:
                say("refused", operation)
                self.asked.append([xid, operation, HEADER.pack(xid, 0, -6)])
                self.answer_ours(writer)
            else:
                if xid >= 0:
                    self.asked.append([xid, operation, None])
                thither.write(framed(body))

    def closes(self, operation, length):
        return self.options.close == "all" or operation in self.options.close or length > self.options.largest

    def answer_ours(self, writer):
        while self.asked and self.asked[0][2]:
            writer.write(framed(self.asked.popleft()[2]))

    async def answers(self, there, writer):
        await self.send(writer, framed(await frame_of(there)))  # the handshake
        while True:
            body = await frame_of(there)
            xid = HEADER.unpack(body[:HEADER.size])[0]
            operation = self.asked.popleft()[1] if self.asked and self.asked[0][0] == xid else xid
            out = framed(body)
            if self.forger and xid != PING:
                out, how = self.forger.forge(body)
                if how:
                    say("forged", operation, how)
            await self.send(writer, out)
            self.answer_ours(writer)

    async def send(self, writer, out):
        step = max(1, self.options.rate // 20) if self.options.rate else len(out)
        for at in range(0, len(out), step):
            writer.write(out[at:at + step])
            await writer.drain()
            if self.options.rate:
                await asyncio.sleep(len(out[at:at + step]) / self.options.rate)


def operations(text):
    return "all" if text == "all" else {int(number) for number in text.split(",")}


def options_of_command_line():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--close", type=operations, default=set())
    parser.add_argument("--unimplemented", type=operations, default=set())
    parser.add_argument("--largest", type=int, default=1 << 31)
    parser.add_argument("--turn-away", action="store_true")
    parser.add_argument("--mute", action="store_true")
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--forge", type=int)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--say", choices=ANSWERS)
    parser.add_argument("address", nargs="?", default="")
    return parser.parse_args()


async def main():
    options = options_of_command_line()
    forger = None if options.forge is None else Forger(options.forge)

    async def serve(reader, writer):
        try:
            if options.say is None:
                return await Connection(options, forger).serve(reader, writer)
            await reader.read(1)
            writer.write(ANSWERS[options.say])
            await writer.drain()
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", options.port, limit=1 << 20)
    say("port", server.sockets[0].getsockname()[1])
    async with server:
        await server.serve_forever()


try:
    asyncio.run(main())
except (KeyboardInterrupt, BrokenPipeError):
    os._exit(0)
