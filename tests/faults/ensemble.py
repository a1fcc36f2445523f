# SPDX-License-Identifier: Apache-2.0
"""Three servers from scripts/zk-sandbox, and what they report of themselves."""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time

import probe
from schedule import TICK

NUMBERS = (1, 2, 3)
BETWEEN_QUESTIONS = 0.1  # seconds
BETWEEN_WRITES = 0.3
COMMITTED_LATELY = 1.0
# A follower that lost its leader goes on answering clients for four ticks: longer than a session lives.
SYNC_LIMIT = 4
WATCH = 'tail --pid="$1" -f /dev/null; exec "$2" stop "$3"'


class Ensemble:
    def __init__(self, script, folder):
        self._script = script
        self._folder = folder
        self._watcher = self._watch_over()
        self.addresses = {}  # for zklock
        self.tls = {}  # and the variables by which it finds its certificate
        self._plain = {}  # for us
        self._committed = dict.fromkeys(NUMBERS, 0)
        self._modes = dict.fromkeys(NUMBERS)
        self._paused = dict.fromkeys(NUMBERS, 0)
        self._lock = threading.Lock()
        self.held_back = {n: 0 for n in NUMBERS}  # by how many faults
        self.troubled = 0  # by how many faults; while above 0, it need not answer in time
        self.hidden = {n: 0 for n in NUMBERS}  # from us, not from each other

    def start(self, options):
        words = self._call("start", "--dir", self._folder, "--servers", "3", "--tick", str(int(TICK * 1000)),
                           "--set", f"syncLimit={SYNC_LIMIT}", "--heap", "128m", *options)
        settings = dict(word.split("=", 1) for word in shlex.split(words) if "=" in word)
        servers = settings["ZKLOCK_SERVERS"].removeprefix("tls://")
        self.addresses = dict(zip(NUMBERS, servers.split(",")))
        self.tls = {name: value for name, value in settings.items() if name.startswith("ZKLOCK_TLS_")}
        self._plain = dict(zip(NUMBERS, settings.get("ZKLOCK_PLAIN_SERVERS", servers).split(",")))
        for number in NUMBERS:
            for ask in (self._listen, self._write):
                threading.Thread(target=ask, args=(number,), daemon=True).start()

    def _call(self, *words):
        environment = {**os.environ, "ZKLOCK_SANDBOX": self._folder}
        return subprocess.run([self._script, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, env=environment).stdout

    def _watch_over(self):
        """Takes the servers down if we are killed."""
        return subprocess.Popen(["sh", "-c", WATCH, "sh", str(os.getpid()), self._script, self._folder],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)

    def stop(self):
        """Also stops what an unfinished start() has started. Keeps the logs."""
        if os.path.exists(os.path.join(self._folder, "java")):
            for number in NUMBERS:
                log = os.path.join(self._folder, str(number), "log")
                if os.path.exists(log):
                    shutil.copy(log, f"{self._folder}-{number}.log")
            self._call("stop", self._folder)
        os.killpg(self._watcher.pid, signal.SIGKILL)
        self._watcher.wait()

    def kill(self, number):
        self._call("kill", str(number))

    def restart(self, number):
        with self._lock:
            self._call("restart", "--no-wait", str(number))
            if self._paused[number]:
                self._call("pause", str(number))

    def pause(self, number):
        """Counts: two faults may freeze the same server."""
        with self._lock:
            self._paused[number] += 1
            self._try("pause", number)

    def resume(self, number):
        with self._lock:
            self._paused[number] -= 1
            if not self._paused[number]:
                self._try("continue", number)

    def _try(self, word, number):
        try:
            self._call(word, str(number))
        except subprocess.CalledProcessError:
            pass  # another fault has just killed it

    def lists(self):
        """Returns lists of all servers, for zklock and for programs without TLS."""
        return [",".join(addresses[number] for number in NUMBERS) for addresses in (self.addresses, self._plain)]

    # --- what they say -------------------------------------------------------------------------------

    def _listen(self, number):
        while True:
            mode = probe.mode(self._plain[number])
            if mode or not self.hidden[number]:
                self._modes[number] = mode
            time.sleep(BETWEEN_QUESTIONS)

    def _write(self, number):
        while True:
            if probe.commits(self._plain[number]):
                self._committed[number] = time.monotonic()
            time.sleep(BETWEEN_WRITES)

    def leader(self):
        """Returns nothing while there is none or more than one."""
        leaders = [n for n in NUMBERS if self._modes[n] == "leader"]
        return leaders[0] if len(leaders) == 1 else None

    def followers(self):
        return [n for n in NUMBERS if self._modes[n] == "follower"]

    def has_quorum(self):
        if self.troubled:
            return False
        modes = [self._modes[n] for n in NUMBERS if not self.held_back[n]]
        committed = max((self._committed[n] for n in NUMBERS if not self.held_back[n]), default=0)
        return modes.count("leader") == 1 and "follower" in modes and committed > time.monotonic() - COMMITTED_LATELY

    def serves(self, number):
        return self._modes[number] is not None
