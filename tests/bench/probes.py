# SPDX-License-Identifier: Apache-2.0
"""Compares `zklock ruok` with other ways to ask a server whether it is well."""

from peers import FOUR_LETTER_WORD, ZOOKEEPER_SHELL, has, has_zookeeper_shell
from programs import ZKLOCK, interleaved, run
from sandbox import addresses, servers

SHELL = 'exec 3<>"/dev/tcp/$0/$1"; printf ruok >&3; read -r -t 5 -N 4 answer <&3; [[ $answer == imok ]]'
SLOW = {"ZooKeeperMain ls": 5, "FourLetterWordMain": 5}  # times as few rounds


def ruok(findings, bench):
    """The word ruok asked of one server: by zklock, by bash and its /dev/tcp, and by ZooKeeper's FourLetterWordMain in
    a fresh JVM; and ZooKeeperMain, ZooKeeper's own shell, which has no such word, with `ls /`. Both with flags for a
    quick start."""
    with servers():
        (host, port), = addresses()
        words = {"zklock": [*ZKLOCK, "ruok"]}
        if has("bash"):
            words["bash"] = ["bash", "-c", SHELL, host, str(port)]
        if has_zookeeper_shell(findings):
            words["FourLetterWordMain"] = [*FOUR_LETTER_WORD, host, str(port), "ruok"]
            words["ZooKeeperMain ls"] = [*ZOOKEEPER_SHELL, "-server", f"{host}:{port}", "ls", "/"]
        contestants = {name: lambda _, these=these: run(these) for name, these in words.items()}
        interleaved(contestants, 3, SLOW)
        samples = interleaved(contestants, bench.pick(full=60, quick=10, least=1), SLOW)
    walls = {name: findings.add(f"{name} wall", "ms", [1000 * one.wall for one in taken])
             for name, taken in samples.items()}
    for name, taken in samples.items():
        findings.add(f"{name} CPU", "ms CPU", [1000 * one.cpu for one in taken])
    for name in words:
        if name != "zklock":
            findings.ratio(f"wall, zklock to {name}", walls["zklock"], walls[name])
