# SPDX-License-Identifier: Apache-2.0
"""Four network namespaces, for the clients and each server, around a fifth that routes between them.

The clients use the caller's own. The others have no name: each lives as long as a process of ours in it,
so nothing can be left behind. A cut is a rule of the router's that drops packets one way or the other,
without a word to either end, as a broken line would.
"""

import os
import subprocess
import sys
import time

from bound import bound

INSIDE = "ZKLOCK_FAULTS_NETWORK"  # set if this process has a network namespace of its own
CLIENTS = 9
SERVERS = (1, 2, 3)
KEEP = ("unshare", "--net", "sleep", "infinity")
FORWARD = "/proc/sys/net/ipv4/ip_forward"
BETWEEN_SERVERS = tuple((one, other) for one in SERVERS for other in SERVERS if one < other)
TO_CLIENTS = tuple((CLIENTS, server) for server in SERVERS)
PROBE = f"ip link add v1 type veth peer name v2 && ip rule add from 10.0.0.1 blackhole && echo 1 >{FORWARD}"


def address(place):
    return f"10.0.{place}.2"


def is_possible():
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--net", "sh", "-c", PROBE], check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def enter(*more):
    """Enters a namespace of our own, by starting this program again with `more` words. It ends with us, and so do all
    links in it."""
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, *more])


class Network:
    def __init__(self, folder):
        self._folder = folder
        self._keepers = {}
        for place in ("router", *SERVERS):
            self._keep(place)
        self.configure(None, "link set lo up")
        self.set_in("router", FORWARD, 1)
        for place in (*SERVERS, CLIENTS):
            self._connect(place)

    def sandbox_options(self, *more):
        """Returns options for scripts/zk-sandbox; `more` words start a server there."""
        words = ["nsenter", f"--net={self._folder}/server%", "--", *more]
        return ["--host", address("%"), "--enter", " ".join(words)]

    def namespace(self, place):
        return os.path.join(self._folder, f"server{place}")

    def _keep(self, place):
        keeper = subprocess.Popen(bound(*KEEP), stdin=subprocess.DEVNULL)
        self._keepers[place] = keeper.pid
        namespace = f"/proc/{keeper.pid}/ns/net"
        while os.readlink(namespace) == os.readlink("/proc/self/ns/net"):
            time.sleep(0.005)
        os.symlink(namespace, self.namespace(place))

    def words_in(self, place):
        """Returns the words that run a command there."""
        return ["nsenter", "--net", f"--target={self._keepers[place]}", "--"] if place else []

    def _run(self, place, *words):
        subprocess.run([*self.words_in(place), *words], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def set_in(self, place, file, value):
        self._run(place, "sh", "-c", f"echo {value} >{file}")

    def configure(self, place, *lines):
        for line in lines:
            self._run(place, "ip", *line.split())

    def _connect(self, place):
        inside = None if place == CLIENTS else place
        self.configure("router", f"link add r{place} type veth peer name e{place} netns "
                        f"{os.getpid() if inside is None else self._keepers[place]}",
                        f"addr add 10.0.{place}.1/24 dev r{place}", f"link set r{place} up")
        self.configure(inside, "link set lo up", f"addr add {address(place)}/24 dev e{place}",
                        f"link set e{place} up", f"route add default via 10.0.{place}.1")

    def _rules(self, action, one, other):
        for a, b in ((one, other), (other, one)):
            self.configure("router", f"rule {action} from {address(a)} to {address(b)} blackhole")

    def cut(self, one, other):
        self._rules("add", one, other)

    def join(self, one, other):
        self._rules("del", one, other)

    def cut_one_way(self, source, destination):
        self.configure("router", f"rule add from {address(source)} to {address(destination)} blackhole")

    def join_one_way(self, source, destination):
        self.configure("router", f"rule del from {address(source)} to {address(destination)} blackhole")

    def detour(self, action, source, destination, table):
        self.configure("router", f"rule {action} from {address(source)} to {address(destination)} iif r{source} "
                       f"lookup {table}")

    def reset(self, server):
        """Makes the server give up its connections to clients, and send each a RST."""
        self._run(server, "ss", "-K", "-t", "state", "established", "dst", address(CLIENTS))

    def narrow(self, bits):
        """Limits what servers send to clients to so many bits a second; more than half a second's is lost."""
        self._run("router", "tc", "qdisc", "add", "dev", f"r{CLIENTS}", "root", "tbf", "rate", f"{bits}bit",
                  "burst", "4kb", "latency", "500ms")

    def widen(self):
        self._run("router", "tc", "qdisc", "del", "dev", f"r{CLIENTS}", "root")

    def prepare_cut(self, number):
        """Returns a function that cuts a server off from the others, within a millisecond or two."""
        words = ["nsenter", "--net", f"--target={self._keepers['router']}", "--", "ip", "-batch", "-"]
        router = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
        lines = [f"rule add from {address(a)} to {address(b)} blackhole" for other in SERVERS if other != number
                 for a, b in ((other, number), (number, other))]

        def cut():
            router.stdin.write("\n".join([*lines, ""]))
            router.stdin.close()
            router.wait()
        return cut
