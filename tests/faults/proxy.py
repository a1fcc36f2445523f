# SPDX-License-Identifier: Apache-2.0
"""A process between clients and servers: proxy.py ADDRESS…

Prints a line with the addresses it listens on, one for each ADDRESS, then obeys the lines on its standard
input, N counting from 1, and ends with it:

    N delay SECONDS   what comes from now on takes so long each way
    N silent          nothing passes any more, neither way; new connections are taken, and get no answer
    N pass            what was held back passes now
    N reset           every connection is reset
"""

import asyncio
import logging
import socket
import struct
import sys

RESET = struct.pack("ii", 1, 0)  # for SO_LINGER


class Way:
    """To one server."""

    def __init__(self, target):
        self._host, port = target.split(":")
        self._port = int(port)
        self._delay = 0.0
        self._open = asyncio.Event()
        self._open.set()
        self._writers = set()

    async def listen(self):
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return "127.0.0.1:%d" % server.sockets[0].getsockname()[1]

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
        """What is read waits in a queue until it is due, so that a delay does not make the line narrow."""
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
    ways = [Way(target) for target in sys.argv[1:]]
    print(*[await way.listen() for way in ways], flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        number, *order = line.split()
        ways[int(number) - 1].obey(*order)


if __name__ == "__main__":
    asyncio.run(main())
