#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many network round trips zklock's commands take.

  far.py [OPTIONS] ZKLOCK PORT [NAME...]

A relay in this process stands between zklock and the ZooKeeper server at 127.0.0.1:PORT and holds back every byte for
half a round trip in each direction. The first bytes of a connection wait for one round trip more, like TCP's
handshake. With a round trip of 100 ms everything else is small. So the time of a command divided by the round
trip is the number of round trips it waits for, whatever the machine. Prints a line for each command:

  NAME FIRST WARM        the first run (nothing is there yet), the median of the runs after it

  --rtt MS      (100)
  --count       for a command that ends: the consecutive round trips, by what the relay carried, not by the clock. This
                works on a busy machine, too; but a pause of the command's own is not counted.
  --times N     runs after the first one (3)
  --trace       the frames of each run, decoded, on standard error: client-side times in round trips
  --check FILE  lines "NAME FIRST WARM" of upper bounds; exits with 1 if one is exceeded by more than 0.5
  --list        the names
  --out DIR     for far_peers.py, which takes the same arguments

NAME: only those (a trailing * matches the rest; "peers" is far_peers.py's). Needs only Python's standard library. It
knows no TLS, and models neither limited bandwidth nor TCP's slow start: those add to the figures for large amounts of
data.
"""
import argparse
import heapq
import itertools
import os
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

OPS = {-11: 'closeSession', 0: 'notification', 1: 'create', 2: 'delete', 3: 'exists', 4: 'getData', 5: 'setData',
       6: 'getACL', 7: 'setACL', 8: 'getChildren', 9: 'sync', 11: 'ping', 12: 'getChildren2', 13: 'check',
       14: 'multi', 15: 'create2', 16: 'reconfig', 19: 'createContainer', 20: 'deleteContainer', 21: 'createTTL',
       100: 'auth', 101: 'setWatches', 105: 'setWatches2', 106: 'addWatch'}
ERRORS = {0: 'ok', -101: 'no node', -103: 'bad version', -110: 'exists', -111: 'not empty', -112: 'expired',
          -102: 'no auth', -6: 'unimplemented'}


def text(body, at):
    (size,) = struct.unpack_from('>i', body, at)
    return body[at + 4:at + 4 + max(size, 0)].decode('utf-8', 'replace')


def steps_of_multi(body):
    """Returns the kinds of a multi's steps, counted: "check create*500"."""
    at, kinds = 8, []
    while at + 9 <= len(body):
        (kind,) = struct.unpack_from('>i', body, at)
        at += 9
        if kind == -1:
            break
        (size,) = struct.unpack_from('>i', body, at)
        at += 4 + size
        if kind in (1, 15, 19, 5):
            (size,) = struct.unpack_from('>i', body, at)
            at += 4 + max(size, 0)
        if kind in (1, 15, 19):
            (count,) = struct.unpack_from('>i', body, at)
            at += 4
            for _ in range(count):
                at += 4
                for _ in range(2):
                    (size,) = struct.unpack_from('>i', body, at)
                    at += 4 + size
        at += 4 if kind in (1, 15, 19, 5, 2, 13) else 0
        kinds.append(OPS.get(kind, str(kind)))
    groups = [(kind, len(list(run))) for kind, run in itertools.groupby(kinds)]
    if len(groups) > 8:
        return '%d steps: %s ...' % (len(kinds), ' '.join(k for k, _ in groups[:4]))
    return ' '.join(k if n == 1 else '%s*%d' % (k, n) for k, n in groups)


class Decoder:
    """Decodes the frames of one connection, in both directions."""

    def __init__(self, say):
        self.say, self.buffers, self.first, self.asked = say, {'>': b'', '<': b''}, {'>': True, '<': True}, {}

    def feed(self, way, when, data):
        self.buffers[way] += data
        while len(self.buffers[way]) >= 4:
            (size,) = struct.unpack_from('>i', self.buffers[way])
            if self.first[way] and (size > 1 << 24 or size < 0):  # a four-letter word, or its reply
                self.say(when, way, 'word %d bytes' % len(self.buffers[way]))
                self.buffers[way] = b''
                return
            if len(self.buffers[way]) < 4 + size:
                return
            body = self.buffers[way][4:4 + size]
            self.buffers[way] = self.buffers[way][4 + size:]
            try:
                self.say(when, way, self.request(body) if way == '>' else self.reply(body))
            except (struct.error, IndexError):
                self.say(when, way, '? %d bytes' % size)

    def request(self, body):
        if self.first['>']:
            self.first['>'] = False
            return 'connect'
        xid, op = struct.unpack_from('>ii', body)
        name = OPS.get(op, str(op))
        if op == 14:
            name += ' [%s]' % steps_of_multi(body)
        elif op not in (-11, 11, 100, 101, 105):
            name += ' ' + text(body, 8)
        if op in (3, 4, 8, 12) and body[-1] == 1:
            name += ' +watch'
        self.asked[xid] = name
        return name

    def reply(self, body):
        if self.first['<']:
            self.first['<'] = False
            return 'connected'
        xid, _, error = struct.unpack_from('>iqi', body)
        if xid == -1:
            return 'event'
        if xid == -2:
            return 'pong'
        return '%s: %s' % (self.asked.pop(xid, '?'), ERRORS.get(error, str(error)))


class Waits:
    """Counts the round trips that the command has waited for. What it sends comes one round trip after the latest
    answer that it has received."""

    def __init__(self):
        self.received, self.run = 0, 0

    def restart(self):
        self.received, self.run = 0, self.run + 1


class Connection:
    def __init__(self, waits):
        self.waits, self.run = waits, waits.run
        self.opened = waits.received + 1  # TCP's handshake
        self.asked = self.opened          # the server has received what was sent in this round trip

    def sent(self):
        return max(self.waits.received, self.opened) + 1

    def reach_server(self, trip):
        self.asked = max(self.asked, trip)

    def reach_client(self, trip):
        if self.run == self.waits.run:  # not an answer to a command that has ended
            self.waits.received = max(self.waits.received, trip)


class Relay(threading.Thread):
    """Relays any number of connections to one target, each delayed by `delay` seconds in each direction."""

    def __init__(self, target, delay, waits):
        super().__init__(daemon=True)
        self.target, self.delay, self.waits = target, delay, waits
        self.queue, self.order = [], itertools.count()
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.log, self.began, self.traced, self.connections = [], 0.0, False, 0

    def restart(self, traced):
        self.log, self.began, self.traced, self.connections = [], time.monotonic(), traced, 0

    def accept(self):
        near, _ = self.listener.accept()
        far = socket.create_connection(self.target)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        number, opened = self.connections, time.monotonic() + 2 * self.delay
        decoder = Decoder(lambda when, way, what: self.log.append((when, number, way, what))) if self.traced else None
        connection = Connection(self.waits)
        self.selector.register(near, selectors.EVENT_READ,
                               lambda: self.carry(near, far, '>', opened, decoder, connection))
        self.selector.register(far, selectors.EVENT_READ, lambda: self.carry(far, near, '<', 0, decoder, connection))

    def carry(self, source, sink, way, opened, decoder, connection):
        try:
            data = source.recv(1 << 18)
        except OSError:
            data = b''
        left = max(time.monotonic(), opened)
        if decoder and data:
            # Uses the client's clock: when it could send at the earliest, and when it receives.
            decoder.feed(way, left if way == '>' else left + self.delay, data)
        trip = connection.sent() if way == '>' else connection.asked
        arrive = connection.reach_server if way == '>' else connection.reach_client
        heapq.heappush(self.queue, (left + self.delay, next(self.order), sink, data, lambda: arrive(trip)))
        if not data:
            self.selector.unregister(source)

    def deliver(self, sink, data, arrive):
        try:
            if data:
                arrive()
                sink.setblocking(True)
                sink.sendall(data)
            else:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def run(self):
        while True:
            now = time.monotonic()
            while self.queue and self.queue[0][0] <= now:
                _, _, *parcel = heapq.heappop(self.queue)
                self.deliver(*parcel)
            wait = max(0.0, self.queue[0][0] - time.monotonic()) if self.queue else None
            for key, _ in self.selector.select(wait):
                key.data()


class Case:
    """`words`: the command line. `before`: what is prepared near by, each time. "/P-" begins a path of the case's own,
    just below the root."""

    def __init__(self, name, words, before=(), text=None, servers=1, once=False, status=0):
        self.name, self.words, self.before, self.text = name, words.split(), before, text
        self.servers, self.once, self.status = servers, once, status


class Wake:
    """`words` runs far away and waits; once it is quiet, `action` runs near by. The figure is the time from the
    action's end to the waiter's first line. There is no first run: it is measured like the others."""

    def __init__(self, name, words, action, before=()):
        self.name, self.words, self.action, self.before, self.once = name, words.split(), action, before, False


def lines(count):
    return ''.join('%d\n' % i for i in range(count))


# A step that prepares is a pair: a command line and its input; "hold" and "tree" are steps of their own.
def push(path, text):
    return 'queue push ' + path, text


def cases():
    return [
        Case('run', 'run /P-lock -- true'),
        Case('run-deep', 'run /P-deep/er/still/lock -- true'),
        Case('run-slots', 'run --slots 2 /P-slots -- true'),
        Case('run-any', 'run --any /P-x /P-y -- true'),
        Case('run-two', 'run /P-a /P-b -- true'),
        Case('run-once-per', 'run --once-per 1ms /P-once -- true'),
        Case('run-busy', 'run -n /P-busy -- true', [('hold', '/P-busy')], status=75),
        Case('value-set', 'value set /P-value x'),
        Case('value-set-deep', 'value set /P-deep/er/still/value x'),
        Case('value-get', 'value get /P-value', [('value set /P-value x', '')]),
        Case('value-delete', 'value delete /P-value', [('value set /P-value x', '')]),
        Case('value-list-r', 'value list -r /P-tree', [('tree', '/P-tree')]),
        Case('value-delete-r', 'value delete -r --yes /P-tree', [('tree', '/P-tree')], once=True),
        Case('push-three', 'queue push /P-queue a b c'),
        Case('push-20000', 'queue push /P-big', text=lines(20000)),
        Case('pull-one', 'queue pull /P-q', [push('/P-q', 'a')]),
        Case('pull-one-true', 'queue pull /P-q -- true', [push('/P-q', 'a')]),
        Case('pull-none', 'queue pull /P-q', [push('/P-q', 'a'), ('queue purge --yes /P-q', '')], status=75),
        Case('pull-all-1000', 'queue pull --all /P-q', [push('/P-q', lines(1000))]),
        Case('pull-all-20000', 'queue pull --all /P-q', [push('/P-q', lines(20000))], once=True),
        Case('pull-100-j16-true', 'queue pull -N 100 -j 16 /P-q -- true', [push('/P-q', lines(100))]),
        Case('queue-count', 'queue count /P-q', [push('/P-q', 'a')]),
        Case('queue-list-1000', 'queue list /P-q', [('queue purge --yes /P-q', ''), push('/P-q', lines(1000))]),
        Case('queue-purge-1000', 'queue purge --yes /P-q', [push('/P-q', lines(1000))]),
        Case('queue-delete', 'queue delete --yes /P-q', [push('/P-q', 'a'), ('queue purge --yes /P-q', '')]),
        Case('group-join-true', 'group join --name m /P-group -- true'),
        Case('group-list', 'group list /P-group', [('group create /P-group', '')]),
        Case('group-create', 'group create /P-group'),
        Case('show', 'show /P-lock', [('run /P-lock -- true', '')]),
        Case('show-held', 'show /P-lock', [('hold', '/P-lock')]),
        Case('show-r', 'show -r /P-tree', [('tree', '/P-tree')]),
        Wake('hand-over', 'run /P-lock -- echo', ('release',), [('hold', '/P-lock')]),
        Wake('pull-wakes', 'queue pull --follow /P-q', push('/P-q', 'a'), [('queue push /P-q b', '')]),
        Wake('value-watch-wakes', 'value watch --json /P-v', ('value set /P-v b', ''), [('value set /P-v a', '')]),
        Wake('group-watch-wakes', 'group watch /P-g', ('join', '/P-g'), [('group create /P-g', '')]),
        Case('requeue-20', 'queue requeue /P-q',
             [('queue purge --yes /P-q', ''), push('/P-q', lines(20)),
              ('queue pull --all --max-attempts 1 -j 4 /P-q -- false', '')]),
        Case('complete-path', 'complete -- show /'),
        Case('ruok', 'ruok'),
        Case('ruok-5', 'ruok', servers=5),
        Case('health', 'health'),
        Case('health-5', 'health', servers=5, status=2),  # these are no ensemble
        Case('health-probe', 'health --probe /P-probe'),
    ]


class Bench:
    def __init__(self, zklock, port, rtt, counted):
        self.zklock, self.near, self.rtt, self.counted = zklock, '127.0.0.1:%d' % port, rtt, counted
        self.waits = Waits()
        self.relays = [Relay(('127.0.0.1', port), rtt / 2, self.waits) for _ in range(5)]
        for relay in self.relays:
            relay.start()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('ZKLOCK_')}
        self.root = 'far-%d' % os.getpid()
        self.holders = []

    def at(self, servers, words, text):
        began = time.monotonic()
        result = subprocess.run([self.zklock] + words, input=text.encode(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**self.env, 'ZKLOCK_SERVERS': servers}, check=False)
        return time.monotonic() - began, result

    def near_by(self, words, text=''):
        return self.at(self.near, words, text)[1]

    def prepare(self, step, place):
        if step[0] == 'hold':
            holder = subprocess.Popen([self.zklock, 'run', step[1].replace('/P-', place), '--', 'sh', '-c',
                                       'echo; exec sleep 60'],
                                      stdout=subprocess.PIPE, env={**self.env, 'ZKLOCK_SERVERS': self.near})
            holder.stdout.readline()
            self.holders.append(holder)
        elif step[0] == 'tree':
            root = step[1].replace('/P-', place)
            if self.near_by(['value', 'get', root]).returncode != 0:
                for i in range(300):
                    self.near_by(['value', 'set', '%s/%d/%d' % (root, i % 20, i), 'x'])
        else:
            self.near_by(step[0].replace('/P-', place).split(), step[1])

    def act(self, action, place):
        if action[0] == 'release':
            self.holders[-1].terminate()
            self.holders[-1].wait()
        elif action[0] == 'join':
            words = ['group', 'join', action[1].replace('/P-', place), '--', 'sh', '-c', 'echo; exec sleep 60']
            member = subprocess.Popen([self.zklock] + words, stdout=subprocess.PIPE,
                                      env={**self.env, 'ZKLOCK_SERVERS': self.near})
            member.stdout.readline()
            self.holders.append(member)
        else:
            self.prepare(action, place)

    def end_holders(self):
        for holder in self.holders:
            holder.terminate()
            holder.wait()
        self.holders = []

    def measure_wake(self, case, times, trace):
        figures = []
        for run in range(times):
            place = '/%s-%s%d-' % (self.root, case.name, run)
            for step in case.before:
                self.prepare(step, place)
            self.relays[0].restart(trace)
            began = time.monotonic()
            waiting = subprocess.Popen([self.zklock] + [word.replace('/P-', place) for word in case.words],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**self.env, 'ZKLOCK_SERVERS': '127.0.0.1:%d' % self.relays[0].port})
            if case.words[1] != 'watch' and case.words[0] != 'run':
                waiting.stdout.readline()  # it was there before
            elif case.words[1] == 'watch' and case.words[0] == 'value':
                waiting.stdout.readline()
            time.sleep(20 * self.rtt)
            self.act(case.action, place)
            acted = time.monotonic()
            waiting.stdout.readline()
            took = time.monotonic() - acted
            figures.append(took / self.rtt)
            time.sleep(self.rtt)
            waiting.terminate()
            waiting.wait()
            if trace:
                case.servers = 1
                self.show(case, run, took, subprocess.CompletedProcess([], waiting.returncode, b'', b''), began)
            self.end_holders()
        return figures[0], statistics.median(figures)

    def clean_up(self):
        for name in self.near_by(['value', 'list', '/']).stdout.decode().split():
            if not name.startswith(self.root + '-'):
                continue
            if self.near_by(['value', 'delete', '-r', '--yes', '/' + name]).returncode != 65:
                continue
            for words in ('queue purge --yes', 'queue purge --dead --yes', 'queue delete --yes',
                          'group delete --force'):
                self.near_by(words.split() + ['/' + name])

    def measure(self, case, times, trace):
        place = '/%s-%s-' % (self.root, case.name)
        figures = []
        for run in range(1 if case.once else times + 1):
            for step in case.before:
                self.prepare(step, place)
            words = [word.replace('/P-', place) for word in case.words]
            servers = ','.join('127.0.0.1:%d' % relay.port for relay in self.relays[:case.servers])
            for relay in self.relays:
                relay.restart(trace)
            self.waits.restart()
            began = time.monotonic()
            took, result = self.at(servers, words, case.text or '')
            if result.returncode != case.status:
                raise RuntimeError('%s ended with %d: %s' % (case.name, result.returncode, result.stderr.decode()))
            waited = self.waits.received
            time.sleep(self.rtt)
            figures.append(waited if self.counted else took / self.rtt)
            if trace:
                self.show(case, run, took, result, began)
            self.end_holders()
        return figures[0], statistics.median(figures[1:]) if figures[1:] else figures[0]

    def show(self, case, run, took, result, began):
        print('== %s, run %d: %.2f round trips, exit status %d' % (case.name, run + 1, took / self.rtt,
                                                                   result.returncode), file=sys.stderr)
        frames = sorted((f for relay in self.relays[:case.servers] for f in relay.log), key=lambda f: f[0])
        runs = []
        for when, number, way, what in frames:
            key = (round((when - began) / self.rtt, 1), number, way, ' '.join(what.split(' ')[:1]))
            if runs and runs[-1][0] == key:
                runs[-1][2] += 1
            else:
                runs.append([key, what, 1])
        for (when, number, way, _), what, count in runs[:400]:
            print('   %7.1f  #%d %s %s%s' % (when, number, way, what, ' (%d of them)' % count if count > 1 else ''),
                  file=sys.stderr)
        errors = result.stderr.decode('utf-8', 'replace').strip()
        if errors:
            print('   stderr: ' + errors.splitlines()[-1], file=sys.stderr)


def arguments(program):
    parser = argparse.ArgumentParser(usage='%s [OPTIONS] ZKLOCK PORT [NAME...]' % program)
    parser.add_argument('--rtt', type=float, default=100)
    parser.add_argument('--times', type=int, default=3)
    parser.add_argument('--count', action='store_true')
    parser.add_argument('--trace', action='store_true')
    parser.add_argument('--check')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--out')
    parser.add_argument('zklock', nargs='?')
    parser.add_argument('port', nargs='?', type=int)
    parser.add_argument('names', nargs='*')
    options = parser.parse_intermixed_args()
    if options.port is None and not options.list:
        parser.error('name the binary and the port of a server')
    return options


def main():
    options = arguments('far.py')
    if options.list:
        print('\n'.join(case.name for case in cases()))
        return 0
    bounds = {}
    if options.check:
        with open(options.check, encoding='utf-8') as file:
            lines_of_it = (line.split('#')[0].split() for line in file)
            bounds = {words[0]: (float(words[1]), float(words[2])) for words in lines_of_it if words}
    wanted = [case for case in cases() if not options.names or any(
        case.name == name or (name.endswith('*') and case.name.startswith(name[:-1])) for name in options.names)]
    bench = Bench(options.zklock, options.port, options.rtt / 1000, options.count)
    exceeded = 0
    try:
        for case in wanted:
            measure = bench.measure_wake if isinstance(case, Wake) else bench.measure
            first, warm = measure(case, options.times, options.trace)
            bound = bounds.get(case.name)
            bad = bound and (first > bound[0] + 0.5 or warm > bound[1] + 0.5)
            exceeded += bool(bad)
            print('%-18s %6.1f %6.1f%s' % (case.name, first, warm, '  more than %g %g' % bound if bad else ''),
                  flush=True)
    finally:
        bench.end_holders()
        bench.clean_up()
    return 1 if exceeded else 0


if __name__ == '__main__':
    sys.exit(main())
