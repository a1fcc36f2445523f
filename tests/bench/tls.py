# SPDX-License-Identifier: Apache-2.0
"""Measures what TLS costs zklock."""

import os

from programs import ZKLOCK, interleaved, run
from sandbox import servers


def tls(findings, bench):
    """zklock beside itself, by the port for TLS and by the plain one of the same servers, in turns. Both sides have
    certificates, on a P-256 curve; ZooKeeper's Netty serves both ports. CPU is the program's, with its guard and its
    command, not the servers'. A run: `true` under a lock that nobody else wants, a process each; nearly all of what TLS
    adds is the handshake. A push: lines of 100 bytes from a file into a new queue, each time on fresh servers that
    10,000 lines have warmed up in the same way."""
    judge(findings, "a run", runs(bench), at_most=4)
    lines = bench.pick(full=1_000_000, quick=200_000, least=2_000)
    judge(findings, f"a push of {lines:,} lines", pushes(bench, lines), at_most=1.3)


def runs(bench):
    """Returns {way: samples}."""
    words = [*ZKLOCK, "run", "/l", "--", "true"]
    with servers("--tls"):
        contestants = {way: lambda _, environment=environment: run(words, environment=environment)
                       for way, environment in ways().items()}
        interleaved(contestants, bench.pick(full=20, quick=8, least=1))  # compiles the servers' code
        return interleaved(contestants, bench.pick(full=60, quick=16, least=2))


def pushes(bench, lines):
    """Returns {way: samples}."""
    many, warm = bench.lines.file(lines), bench.lines.file(10_000)

    def measure(way):
        def one(_):
            with servers("--tls", heap="1800m"):
                environment = ways()[way]
                run([*ZKLOCK, "queue", "push", "/warm"], stdin=warm, environment=environment)
                return run([*ZKLOCK, "queue", "push", "/q"], stdin=many, environment=environment)
        return one

    return interleaved({way: measure(way) for way in ("TLS", "plain")}, bench.pick(full=3, quick=1, least=1))


def ways():
    """Returns {way: environment} for the current servers."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ZKLOCK_TLS")}
    plain["ZKLOCK_SERVERS"] = os.environ["ZKLOCK_PLAIN_SERVERS"]
    return {"TLS": dict(os.environ), "plain": plain}


def judge(findings, what, samples, at_most):
    cpu = {way: findings.add(f"{what}, {way}, CPU", "ms CPU", [1000 * one.cpu for one in taken])
           for way, taken in samples.items()}
    wall = {way: findings.add(f"{what}, {way}, wall", "ms", [1000 * one.wall for one in taken])
            for way, taken in samples.items()}
    findings.ratio(f"CPU of {what}, TLS to plain", cpu["TLS"], cpu["plain"], at_most=at_most)
    findings.ratio(f"wall of {what}, TLS to plain", wall["TLS"], wall["plain"])
