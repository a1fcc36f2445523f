# SPDX-License-Identifier: Apache-2.0
"""How long the leader is missed."""

import concurrent.futures
import os
import signal
import socket
import subprocess
import time

from processes import wait_until
from programs import ZKLOCK
from sandbox import addresses, ask, servers


def leader(findings, bench):
    """SIGKILL to the leader of three servers, until a `zklock run -- true` that was started at that moment has ended,
    and until one of the two others says that it leads. Ticks of 2 s, as is usual."""
    serving, locked = [], []
    with servers(count=3), concurrent.futures.ThreadPoolExecutor(1) as threads:
        subprocess.run([*ZKLOCK, "run", "/l", "--", "true"], check=True)
        for _ in range(bench.pick(full=6, quick=1, least=1)):
            number = int(ask("leader"))
            others = [address for place, address in enumerate(addresses(), 1) if place != number]
            os.kill(int(ask("pid", str(number))), signal.SIGKILL)
            start = time.monotonic()
            led = threads.submit(until_led, others, start)
            subprocess.run([*ZKLOCK, "run", "/l", "--", "true"], check=True)
            locked.append(time.monotonic() - start)
            serving.append(led.result())
            ask("restart", str(number))
    taken = findings.add("a lock can be had", "s", locked)
    led = findings.add("a server leads", "s", serving)
    findings.claim("a lock, after a server leads", taken.median - led.median, at_most=0.2, unit="s")


def until_led(others, start):
    wait_until("a new leader", lambda: any(leads(address) for address in others))
    return time.monotonic() - start


def leads(address):
    try:
        with socket.create_connection(address, timeout=1) as server:
            server.sendall(b"srvr")
            return b"Mode: leader" in server.makefile("rb").read()
    except OSError:
        return False
