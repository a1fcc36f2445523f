# SPDX-License-Identifier: Apache-2.0
"""Measures how long the next one must wait after a zklock was killed."""

import concurrent.futures
import contextlib
import fcntl
import os
import signal
import subprocess
import time

import etcd
from peers import KAZOO, has_kazoo
from processes import PATIENCE, line_length, read_soon, wait_until
from programs import ZKLOCK, interleaved
from sandbox import servers

# A session that has to expire does so within a tick.
SHORT_TICKS = ("--tick", "500")
T = 6  # seconds
SESSION = ["--session-timeout", f"{T}s"]


def killed(findings, bench, count=1):
    """SIGKILL to a zklock, until the next one has what that had. A holder: until the command of the one that waits has
    started. A waiter between a holder, whose command is ended right behind the kill, and one more: until that one's
    command has started. A consumer with an item: until the command of an idle one has it. A member of a group, with a
    command: until a `group watch` has written that it is gone. One after the other, each with nodes of its own. The
    next one's command begins with a look at a lock of the kernel that the killed one's command holds: were it not dead,
    this would fail. etcdctl and Kazoo, as holders, have a lease and a session of the same length T; they wait for its
    end, all trials at the same time. Their command runs on when they are killed: told is in which part of the trials
    the next one's started beside it."""
    trials = Trials(bench.folder, count)
    with servers(*SHORT_TICKS, count=count):
        taken = interleaved({"holder": trials.holder, "waiter": trials.waiter, "consumer": trials.consumer,
                             "group member": trials.member}, bench.pick(full=20, quick=3, least=1))
        series = {who: findings.add(f"zklock, a {who}", "ms", values) for who, values in taken.items()}
        findings.claim("next command after the holder's death", series["holder"].median, at_most=100, unit="ms")
        findings.claim("the slowest of all zklock's", max(max(values) for values in taken.values()), unit="ms")
        with etcd.server(findings, count) as etcdctl:
            judge_peers(findings, trials.of_peers(peers_of(findings, etcdctl), bench.pick(full=10, quick=1, least=1)))


def peers_of(findings, etcdctl):
    """Returns {name: function that returns the words of a lock and a command}."""
    peers = {}
    if etcdctl:
        peers["etcdctl"] = lambda lock, command: [*etcdctl, "lock", f"--ttl={T}", lock, "--", *command]
    if has_kazoo(findings):
        kazoo = ["env", f"KAZOO_TIMEOUT={T}", *KAZOO]
        peers["Kazoo"] = lambda lock, command: [*kazoo, "lock", lock, "1", *command]
    return peers


def judge_peers(findings, taken):
    for name, outcomes in taken.items():
        series = findings.add(f"{name}, a holder", "ms", [outcome.milliseconds for outcome in outcomes])
        findings.claim(f"{name}: next holder", series.median / 1000 / T, unit="T")
        findings.claim(f"{name}: started beside the killed one's command",
                       sum(not outcome.alone for outcome in outcomes) / len(outcomes))


class Outcome:
    """Milliseconds until the next one's command has started; and whether the killed one's command was dead by then."""

    def __init__(self, milliseconds, alone):
        self.milliseconds = milliseconds
        self.alone = alone


class Trials:
    """Plays trials, each with new paths."""

    def __init__(self, folder, count):
        self._files = os.path.join(folder, f"killed{count}")

    def holder(self, turn):
        lock, file = f"/holder{turn}", f"{self._files}-holder{turn}"
        with Processes() as processes:
            killed_one = processes.holding(run(lock, hold(file)))
            following = processes.start(run(lock, look(file)))
            await_line(lock, 2)
            return alone(next_after(killed_one, following))

    def waiter(self, turn):
        lock, file = f"/waiter{turn}", f"{self._files}-waiter{turn}"
        with Processes() as processes:
            first = processes.holding(run(lock, hold(file, "cat")))
            killed_one = processes.start(run(lock, look(file)))
            await_line(lock, 2)
            following = processes.start(run(lock, look(file)))
            await_line(lock, 3)
            return alone(next_after(killed_one, following, first.stdin.close))

    def consumer(self, turn):
        queue, file = f"/consumer{turn}", f"{self._files}-consumer{turn}"
        subprocess.run([*ZKLOCK, "queue", "push", queue, "item"], check=True)
        with Processes() as processes:
            killed_one = processes.holding([*ZKLOCK, "queue", "pull", *SESSION, queue, "--", *hold(file)])
            following = processes.start([*ZKLOCK, "queue", "pull", "--all", *SESSION, queue, "--", *look(file)])
            await_line(f"{queue}/waiting", 1)
            return alone(next_after(killed_one, following))

    def member(self, turn):
        group, file = f"/member{turn}", f"{self._files}-member{turn}"
        with Processes() as processes:
            watcher = processes.start([*ZKLOCK, "group", "watch", group])
            joining = [*ZKLOCK, "group", "join", *SESSION, "--name", "m", group, "--"]
            killed_one = processes.holding([*joining, *hold(file)])
            if read_soon(watcher.stdout).count(b"\n") != 1:
                raise RuntimeError("not one member has joined")
            milliseconds = next_after(killed_one, watcher, ends=False).milliseconds
            return alone(Outcome(milliseconds, is_free(file)))

    def of_peers(self, peers, trials):
        """Returns {name: outcomes} for {name: words of a lock and a command}."""
        def trial(name, number):
            # It stands in line, or will long before T is over; and they die in different phases of their lease.
            return self._of_peer(peers[name], f"{name}{number}", 1 + number / trials * T)

        with concurrent.futures.ThreadPoolExecutor(len(peers) * trials or 1) as threads:
            futures = {name: [threads.submit(trial, name, number) for number in range(trials)] for name in peers}
            return {name: [one.result() for one in those] for name, those in futures.items()}

    def _of_peer(self, words, name, seconds):
        lock, file = f"/{name}", f"{self._files}-{name}"
        with Processes() as processes:
            killed_one = processes.holding(words(lock, hold(file)))
            following = processes.start(words(lock, look(file)), stderr=subprocess.DEVNULL)  # its command may fail
            time.sleep(seconds)
            return next_after(killed_one, following)


def run(lock, command):
    return [*ZKLOCK, "run", *SESSION, lock, "--", *command]


def hold(file, until="sleep 600"):
    """Returns a command that takes a lock of the kernel, and says so. The lock lasts until its processes are dead."""
    return ["flock", "--nonblock", file, "sh", "-c", f"echo held; exec {until}"]


def look(file):
    """Returns a command that says so if that lock is free, and otherwise nothing."""
    return ["flock", "--nonblock", file, "echo", "next"]


def is_free(file):
    with open(file, encoding="ascii") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def next_after(killed_one, following, then=lambda: None, ends=True):
    """Measures from the kill, and a call of `then`, until the following one prints something or ends without output."""
    begin = time.monotonic()
    killed_one.kill()
    then()
    text = read_soon(following.stdout, or_end=True)
    end = time.monotonic()
    if ends:
        following.wait(PATIENCE)
    return Outcome(1000 * (end - begin), bool(text))


def alone(outcome):
    """Returns its milliseconds."""
    if not outcome.alone:
        raise RuntimeError("the killed one's command was not dead when the next one had its place, or that one failed")
    return outcome.milliseconds


def await_line(path, length):
    wait_until(f"{length} in line", lambda: line_length(path) == length)


class Processes:
    """Kills their groups in the end, with what they leave behind: some commands do not end with their parent."""

    def __init__(self):
        self._started = []

    def start(self, words, stderr=None):
        self._started.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                              start_new_session=True))
        return self._started[-1]

    def holding(self, words):
        """Starts a process whose command says that it has begun."""
        process = self.start(words)
        if read_soon(process.stdout) != b"held\n":
            raise RuntimeError("another word was expected")
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
            one.stdin.close()
            one.stdout.close()
