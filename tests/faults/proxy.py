# SPDX-License-Identifier: Apache-2.0
"""A process between clients and servers: proxy.py ADDRESS…

Prints the port that it listens on, at an address for each ADDRESS, then obeys the lines on its standard input,
N counting from 1, and ends with it. The Nth listens below 127.1.N, so that it can move:

    N delay SECONDS   what comes from now on takes so long each way
    N silent          nothing passes any more, either way; new connections are accepted, and get no answer
    N pass            what was held back passes now
    N reset           every connection is reset
    N move            it moves to its next address, on the same port; connections to the last one are reset;
                      then it prints a line "moved"
"""

import asyncio
import logging
import socket
import struct
import sys

RESET = struct.pack("ii", 1, 0)  # for SO_LINGER


class Way:
    """The way to one server."""

    def __init__(self, number, target):
        self._number = number
        self._generation = 0
        self._server = None
        self._place = 0
        self._host, port = target.split(":")
        self._port = int(port)
        self._delay = 0.0
        self._open = asyncio.Event()
        self._open.set()
        self._writers = set()

    async def listen(self, port):
        """Listens on `port`, 0: any free one; returns it."""
        self._generation += 1
        self._server = await asyncio.start_server(self._accept, f"127.1.{self._number}.{self._generation}", port)
        self._place = self._server.sockets[0].getsockname()[1]
        return self._place

    async def move(self):
        last = self._server
        await self.listen(self._place)
        last.close()
        self.obey("reset")
        print("moved", flush=True)

    def obey(self, order, number="0"):
        if order == "delay":
            self._delay = float(number)
        elif order == "silent":
            self._open.clear()
        elif order == "pass":
            self._open.set()
        elif order == "reset":
            for writer in [writer for writer in self._writers if not writer.is_closing()]:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                writer.transport.abort()

    async def _accept(self, reader, writer):
        self._writers.add(writer)
        try:
            await self._open.wait()
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
            self._writers.add(far_writer)
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
            self._writers.discard(far_writer)
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _carry(self, reader, writer):
        """Queues what is read until it is due, so that a delay does not make the line narrow."""
        queue, clock = asyncio.Queue(), asyncio.get_running_loop().time
        sender = asyncio.create_task(self._send(queue, writer, clock))
        try:
            while data := await reader.read(65536):
                queue.put_nowait((clock() + self._delay, data))
        except OSError:
            pass
        queue.put_nowait((clock() + self._delay, b""))
        await sender

    async def _send(self, queue, writer, clock):
        data = b"-"
        while data:
            due, data = await queue.get()
            await asyncio.sleep(max(0.0, due - clock()))
            await self._open.wait()
            if data:
                writer.write(data)
        writer.close()


async def main():
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of each write to a connection that is gone
    ways = [Way(number, target) for number, target in enumerate(sys.argv[1:], 1)]
    port = 0
    for way in ways:
        port = await way.listen(port)
    print(port, flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        number, *order = line.split()
        way = ways[int(number) - 1]
        if order == ["move"]:
            await way.move()
        else:
            way.obey(*order)


if __name__ == "__main__":
    asyncio.run(main())
