# SPDX-License-Identifier: Apache-2.0
"""Measures idle consumers while the server is away."""

import os
import statistics
import time

from kazoo.client import KazooClient

from away import PATIENCE, await_fact, end, push, sandbox, serves, zklock

CLIENTS_LIFE = 40.0  # seconds, the longest with a tick of 2 s
CONSUMERS = 3
LINE = 150  # characters of its output, or a long path would be most of it
COMMAND = """read -r item; echo "$(date +%s.%N) $item" >>"$0"
             case $item in fail*) exit 1 ;; slow*) exec sleep 600 ;; esac"""


class Consumers:
    def __init__(self, given, folder):
        self._given = given
        self._queue = "/q".ljust(given.path_bytes, "x")
        self._taken = os.path.join(folder, "taken")
        self._log_path = os.path.join(folder, "log")
        self._log = open(self._log_path, "wb")
        self._client = KazooClient(os.environ["ZKLOCK_SERVERS"], timeout=CLIENTS_LIFE)
        self._pushed = 0
        self._consumers = []

    def play(self):
        self._client.start()
        if self._given.in_work:
            push(self._queue, (f"work{n}" for n in range(self._given.in_work)))
            self._claim()
        push(self._queue, ["slow1", "fail1", "fail2"])
        self._consumers = [self._consumer() for _ in range(CONSUMERS)]
        await_fact("two have failed, one command runs, and all are idle",
                   lambda: len(self._times()) == 3 and self._all_are_idle())
        late = sum(self._outage(float(length)) for length in self._given.outage.split(","))
        self._measure()
        return 1 if late else 0

    def _consumer(self):
        return zklock("queue", "pull", "--follow", "-j", "2", "--retry-delay", "1m", "--max-attempts", "99",
                      self._queue, "--", "sh", "-c", COMMAND, self._taken, stdout=self._log, stderr=self._log)

    def _replace_ended(self):
        """The one with the running command ends with 76 if the servers were away for longer than a claim is sure."""
        for number, consumer in enumerate(self._consumers):
            if consumer.poll() is not None:
                with open(self._log_path, encoding="utf-8") as log:
                    print(f"a consumer ended with {consumer.returncode}: {log.read().splitlines()[-1][-LINE:]}", flush=True)
                self._consumers[number] = self._consumer()

    def _all_are_idle(self):
        self._replace_ended()
        return self._idle() == CONSUMERS

    def _claim(self):
        for segment in self._client.get_children(f"{self._queue}/items"):
            folder = f"{self._queue}/items/{segment}"
            items = self._client.get_children(folder)
            calls = [self._client.create_async(f"{folder}/{item}/claim", ephemeral=True) for item in items]
            for call in calls:
                call.get(timeout=PATIENCE)

    def _idle(self):
        return len(self._client.get_children(f"{self._queue}/waiting"))

    def _times(self):
        """Returns when each item was first taken."""
        times = {}
        if os.path.exists(self._taken):
            with open(self._taken, encoding="utf-8") as lines:
                for line in lines:
                    at, item = line.split()
                    times.setdefault(item, float(at))
        return times

    def _new_items(self, number):
        items = [f"item{self._pushed + n}" for n in range(number)]
        self._pushed += number
        return items

    def _await_taken(self, items, patience):
        """Returns when the last was taken, and how many were not."""
        try:
            await_fact("all are taken", lambda: all(item in self._times() for item in items), patience)
        except RuntimeError:
            pass
        times = self._times()
        return (max((times[item] for item in items if item in times), default=0),
                sum(1 for item in items if item not in times))

    def _outage(self, length):
        sandbox("kill", "1")
        time.sleep(length)
        sandbox("restart", "--no-wait", "1")
        await_fact("the server is back", serves)
        back = time.time()
        items = self._new_items(20)
        push(self._queue, items)
        last, missing = self._await_taken(items, 30)
        print(f"away for {length:g} s, {self._given.in_work} in work, a path of {len(self._queue)} bytes: "
              + (f"{missing} of {len(items)} not taken after 30 s" if missing else
                 f"the last of {len(items)} taken {last - back:.2f} s after the return"), flush=True)
        if missing:
            return True
        await_fact("all are idle again", self._all_are_idle)
        return last - back > self._given.within

    def _measure(self):
        """Measures a new item, with all consumers idle."""
        delays = []
        for item in self._new_items(7):
            push(self._queue, [item])
            pushed = time.time()
            last, missing = self._await_taken([item], 30)
            delays.append(30.0 if missing else last - pushed)
            time.sleep(0.5)
        print(f"a new item: {statistics.median(delays):.3f} s after it was pushed, {max(delays):.3f} s at the longest")

    def end(self):
        end(self._consumers)
        self._client.stop()
        self._client.close()
