# SPDX-License-Identifier: Apache-2.0
"""Pushers get input slowly while the server is away."""

import collections
import os
import subprocess
import threading
import time

from away import PATIENCE, ZKLOCK, await_fact, end, sandbox, serves, zklock
from crowd_checker import COUNTED, DOUBLED


class Pushers:
    def __init__(self, given, folder, number):
        self._given = given
        self._folder = folder
        self._queue = f"/push{number}"
        self._pushers = []

    def play(self):
        threads = []
        for number in range(self._given.pushers):
            with open(os.path.join(self._folder, f"said{number}"), "wb") as said:
                pusher = zklock("queue", "push", self._queue, stdin=subprocess.PIPE, stderr=said)
            self._pushers.append(pusher)
            threads.append(threading.Thread(target=self._feed, args=(number, pusher.stdin)))
            threads[-1].start()
        length = self._given.lines / self._given.rate
        start = time.monotonic()
        for number in range(self._given.restarts):
            at = length * (number + 0.5) / self._given.restarts
            if self._given.at_end and number == self._given.restarts - 1:
                at = length - self._given.away / 2
            time.sleep(max(0.0, start + at - time.monotonic()))
            self._outage()
        for thread in threads:
            thread.join()
        statuses = [pusher.wait(PATIENCE) for pusher in self._pushers]
        return self._judge(statuses)

    def _feed(self, number, pipe):
        start = time.monotonic()
        try:
            for line in range(1, self._given.lines + 1):
                time.sleep(max(0.0, start + line / self._given.rate - time.monotonic()))
                pipe.write(f"{number}:{line}\n".encode())
                pipe.flush()
            pipe.close()
        except OSError:
            pass

    def _outage(self):
        if self._given.freeze:
            sandbox("pause", "1")
            time.sleep(self._given.away)
            sandbox("continue", "1")
            return
        sandbox("kill", "1")
        time.sleep(self._given.away)
        sandbox("restart", "--no-wait", "1")

    def _judge(self, statuses):
        await_fact("the server is back", serves)
        listed = subprocess.run([ZKLOCK, "queue", "pull", "--all", self._queue], check=True, stdout=subprocess.PIPE,
                                text=True).stdout.split()
        there = collections.Counter(listed)
        missing = doubled = 0
        for number, status in enumerate(statuses):
            with open(os.path.join(self._folder, f"said{number}"), encoding="utf-8") as file:
                said = file.read()
            counted = COUNTED.search(said)
            lines = self._given.lines if status == 0 else int(counted[1]) if counted else 0
            missing += sum(1 for line in range(1, lines + 1) if not there[f"{number}:{line}"])
            spans = DOUBLED.findall(said)
            doubled += sum(1 for line in range(1, self._given.lines + 1) if there[f"{number}:{line}"] > 1
                           and not any(int(first) <= line <= int(last) for first, last in spans))
        sorted_ok = all(self._in_order(listed, number) for number in range(len(statuses)))
        print(f"{self._given.pushers} × {self._given.lines} lines, {self._given.restarts} × away for "
              f"{self._given.away:g} s: statuses {' '.join(map(str, statuses))}, {missing} missing, {doubled} doubled without a word"
              + ("" if sorted_ok else ", not in order"), flush=True)
        return 1 if missing or doubled or not sorted_ok else 0

    def _in_order(self, listed, number):
        """Keeps the first of equal lines."""
        lines = list(dict.fromkeys(int(line.partition(":")[2]) for line in listed if line.startswith(f"{number}:")))
        return lines == sorted(lines)

    def end(self):
        end(self._pushers)
