# SPDX-License-Identifier: Apache-2.0
"""How long something that was killed is missed: the holder of a lock, the leader."""

import concurrent.futures
import contextlib
import os
import signal
import socket
import subprocess
import time

import etcd
from processes import read_soon, wait_until
from programs import ZKLOCK
from sandbox import addresses, ask, servers

SHORT_TICKS = ("--tick", "500")  # sessions of 1 to 10 seconds
# Says so when it holds the lock, and holds it.
HOLD = ["sh", "-c", "echo held; exec sleep 600"]


def holder(findings, bench):
    """SIGKILL to the zklock that holds a lock, until the command of the one that waits has started. The killed one's
    guard ends its command at once, but cannot end the session, so the lock is free when the session's time is over.
    That is counted from what the server has last heard, which was up to a sixth of it before, and in ticks, of 0.5 s
    here. etcdctl has a lease of the same length. All at the same time, each with a lock of its own: they wait."""
    trials = bench.pick(full=10, quick=4, least=2)
    times = bench.pick(full=(2, 6), quick=(2,), least=(2,))
    with servers(*SHORT_TICKS), etcd.server(findings) as etcdctl:
        words = {("zklock", seconds): [*ZKLOCK, "run", "--session-timeout", f"{seconds}s"] for seconds in times}
        if etcdctl:
            words |= {("etcdctl", seconds): [*etcdctl, "lock", f"--ttl={seconds}"] for seconds in times}
        taken = taken_over(words, trials)
    for (who, seconds), values in taken.items():
        series = findings.add(f"{who}, T = {seconds} s", "s", values)
        findings.claim(f"{who}: next holder, T = {seconds} s", series.median / seconds, unit="T")


def taken_over(words, trials):
    """{who, T: seconds of each trial}."""
    def trial(who, seconds, number):
        lock = f"/{who}-{seconds}-{number}"
        return takeover([*words[who, seconds], lock, "--"], number / trials * seconds)

    with concurrent.futures.ThreadPoolExecutor(len(words) * trials) as threads:
        futures = {key: [threads.submit(trial, *key, number) for number in range(trials)] for key in words}
        return {key: [one.result() for one in those] for key, those in futures.items()}


def takeover(words, delay):
    """Seconds from the death of the holder to the start of the next."""
    holding = started([*words, *HOLD])
    waiting = None
    try:
        read_soon(holding.stdout)
        waiting = started([*words, "echo", "next"])
        time.sleep(0.5 + delay)  # it stands in line; not all die in the same tick
        holding.kill()
        start = time.monotonic()
        read_soon(waiting.stdout)
        return time.monotonic() - start
    finally:
        end_group(holding)
        if waiting:
            end_group(waiting)


def started(words):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)


def end_group(process):
    """With what it leaves behind: not everybody's command ends with it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


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
    findings.claim("a lock, after a server leads", taken.median - led.median, unit="s")


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
