# SPDX-License-Identifier: Apache-2.0
"""An etcd of our own, of one or several members, on free ports."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time

from peers import has_etcd

PATIENCE = 30  # seconds
MEMORY = "/dev/shm"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_up(etcdctl):
    return subprocess.run([*etcdctl, "endpoint", "health"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def words(member, peers, client, folder):
    """Returns one member's command."""
    cluster = ",".join(f"{name}={peer}" for name, peer in peers.items())
    return ["etcd", "--name", member, "--data-dir", os.path.join(folder, member), "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peers[member],
            "--initial-advertise-peer-urls", peers[member], "--initial-cluster", cluster]


def start(member, peers, client, folder):
    """Starts one member. It ends with its standard input, so with us too, however we end."""
    return subprocess.Popen(["sh", "-c", '"$@" >/dev/null 2>&1 </dev/null & cat; kill $!; wait', "sh",
                             *words(member, peers, client, folder)], stdin=subprocess.PIPE)


@contextlib.contextmanager
def server(findings, count=1):
    """Yields the words that begin a command of etcdctl; nothing if there is no etcd. Its data is in memory if possible:
    it waits for the disk at each write, which the ZooKeeper servers of the sandbox do not."""
    if not has_etcd(findings):
        yield None
        return
    urls = [f"http://127.0.0.1:{port}" for port in free_ports(2 * count)]
    peers = {f"m{place}": urls[place] for place in range(count)}
    os.environ["ETCDCTL_API"] = "3"
    etcdctl = ["etcdctl", f"--endpoints={','.join(urls[count:])}"]
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="zklock-bench-etcd.", dir=where) as folder:
        members = [start(member, peers, client, folder) for member, client in zip(peers, urls[count:])]
        try:
            deadline = time.monotonic() + PATIENCE
            while not is_up(etcdctl):
                if time.monotonic() > deadline:
                    raise RuntimeError("etcd did not start")
                time.sleep(0.1)
            yield etcdctl
        finally:
            for one in members:
                one.stdin.close()
                one.wait()
