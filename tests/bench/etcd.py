# SPDX-License-Identifier: Apache-2.0
"""An etcd of our own, on free ports, in a temporary folder."""

import contextlib
import socket
import subprocess
import tempfile
import time

from programs import has

PATIENCE = 20  # seconds


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_up(etcdctl):
    return subprocess.run([*etcdctl, "endpoint", "health"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@contextlib.contextmanager
def server(findings):
    """The words that begin a command of etcdctl; nothing where there is no etcd."""
    if not has("etcd") or not has("etcdctl"):
        findings.leave_out("etcdctl", "scripts/setup bench installs it")
        yield None
        return
    client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    etcdctl = ["env", "ETCDCTL_API=3", "etcdctl", f"--endpoints={client}"]
    with tempfile.TemporaryDirectory(prefix="zklock-bench-etcd.") as folder:
        # It ends with its standard input, so with us too, however we end.
        process = subprocess.Popen(
            ["sh", "-c", '"$@" >/dev/null 2>&1 </dev/null & cat; kill $!; wait', "sh", "etcd", "--data-dir", folder,
             "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], stdin=subprocess.PIPE)
        try:
            deadline = time.monotonic() + PATIENCE
            while not is_up(etcdctl):
                if time.monotonic() > deadline:
                    raise RuntimeError("etcd did not start")
                time.sleep(0.1)
            yield etcdctl
        finally:
            process.stdin.close()
            process.wait()
