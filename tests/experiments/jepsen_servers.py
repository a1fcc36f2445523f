# SPDX-License-Identifier: Apache-2.0
"""Three servers of either kind, which can be paused; both with their data in memory, or without waiting for the
disk."""

import json
import os
import signal
import subprocess
import tempfile

import etcd
from bound import bound
from folders import HERE
from stage import Stage, await_fact

UPDATE = f"{HERE}/jepsen_update.py"


class ZooKeepers(Stage):
    """Ticks are 1 s, so that a session of 2 s is allowed."""

    def __init__(self):
        super().__init__(UPDATE)

    def clients_list(self):
        return self.ensemble.lists()[0]

    def leader(self):
        return self.ensemble.leader()

    def pause(self, number):
        self.ensemble.pause(number)

    def resume(self, number):
        self.ensemble.resume(number)


class Etcds(Stage):
    def __init__(self):
        super().__init__(UPDATE)
        self._members = {}
        self._clients = {}

    def _set_up(self):
        where = etcd.MEMORY if os.access(etcd.MEMORY, os.W_OK) else None
        folder = self._ends.enter_context(tempfile.TemporaryDirectory(prefix="zklock-faults-etcd.", dir=where))
        urls = [f"http://127.0.0.1:{port}" for port in etcd.free_ports(6)]
        peers = {f"m{number}": url for number, url in enumerate(urls[:3], 1)}
        self._clients = dict(enumerate(urls[3:], 1))
        self._ends.callback(self._stop)
        for number, client in self._clients.items():
            words = bound(*etcd.words(f"m{number}", peers, client, folder))
            self._members[number] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                     stderr=subprocess.DEVNULL, start_new_session=True)
        self._ends.callback(self.place.kill_all)
        await_fact("etcd is up", lambda: etcd.is_up(self.etcdctl()))

    def _stop(self):
        for one in self._members.values():
            one.kill()
            one.wait()

    def etcdctl(self):
        os.environ["ETCDCTL_API"] = "3"
        return ["etcdctl", f"--endpoints={','.join(self._clients.values())}"]

    def leader(self):
        """Returns nothing while no server leads, or not all answer."""
        asked = subprocess.run([*self.etcdctl(), "--command-timeout=1s", "endpoint", "status", "-w", "json"],
                               check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if asked.returncode != 0:
            return None
        leading = [one["Endpoint"] for one in json.loads(asked.stdout)
                   if one["Status"]["leader"] == one["Status"]["header"]["member_id"]]
        return next((number for number, url in self._clients.items() if leading == [url]), None)

    def pause(self, number):
        self._members[number].send_signal(signal.SIGSTOP)

    def resume(self, number):
        self._members[number].send_signal(signal.SIGCONT)
