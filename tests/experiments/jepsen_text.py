# SPDX-License-Identifier: Apache-2.0
"""The parts of JEPSEN.md without measured figures."""

INTRO = """# Lost updates

Jepsen's experiment with locks, for `zklock run`, `etcdctl lock` and Kazoo in turn. `tests/experiments/jepsen`
measures, `tests/experiments/jepsen --report` writes this file of what it has found; no figure of a measurement is
typed by hand.

    tests/experiments/jepsen --seed 1 && tests/experiments/jepsen --seed 2 && tests/experiments/jepsen --report

"""

METHOD = """## Method

The experiment is that of [Jepsen's analysis of etcd 3.4.3](https://jepsen.io/analyses/etcd-3.4.3), which found that
about 18 % of acknowledged updates were lost; its code is the workload `lock-set` of
[jepsen-io/etcd](https://github.com/jepsen-io/etcd/blob/main/src/jepsen/etcd/lock.clj), its authors' words are in
[issue 11457](https://github.com/etcd-io/etcd/issues/11457) of etcd. As there:

- Five loops want one lock, whose holder may be silent for 2 s: that is the time to live of etcd's lease, the session
  timeout of ZooKeeper.
- Under the lock an update reads a shared set, waits a random time from 0 to 2 s, and writes the set with its own name
  added. Nothing else keeps two of them apart.
- Servers are paused by SIGSTOP, and resumed, by turns. The time from one to the other is random, from 0 to 10 s, 5 s
  on the average; the leader or all servers are paused (so does Jepsen's code of today). The seed decides, so that
  each contestant has the same pauses, but for who leads then; where nobody does, the seed says which server it is.
- An update is lost when it was acknowledged and is not in the set at the end. Since each has a name, that is known of
  each of them; it is not the difference of two counters.

What is different:

- The set is a file, a line for each update. It is written by a new file that is renamed, so nobody reads half of one.
- Acknowledged is what its tool has ended for with status 0. In Jepsen's code the write is enough, also where the
  release of the lock fails; here that counts for the tools.
- Three servers instead of five, all on one machine; the data of etcd in memory, ZooKeeper without waiting for the
  disk.
- Each client knows all three servers. Jepsen's know one each, which makes it harder for them.
- Each update starts its tool anew, as a script would, with the same command for each, `jepsen_update.py`.
- Several locks at once, each with a file and five loops of its own, so that there are many updates in a short time.
  One pause may thus be the cause of several losses.

The first contestant runs until it has its number of acknowledged updates, but not longer than a limit; the others run
for the same time. Whoever is at work then is killed, and is not acknowledged.

### The contestants

- **`zklock run --session-timeout 2s`** on ZooKeeper, with ticks of 1 s: the shortest timeout for which it makes its
  promise. It asks a quorum about its lock while the command runs. Without an answer it stops the command in time, and
  ends with 76.
- **`etcdctl lock --ttl=2`** on etcd. It keeps its lease alive while the command runs, but nothing happens to the
  command when that fails: it is run to its end, the key of the lock is deleted, and that it was gone already is no
  error.
- **Kazoo**, `with client.Lock(path)` as its documentation shows it, on the same ZooKeeper as zklock. The block is not
  interrupted when the session is over, and a node that is gone is no error for its release either. A program may
  register a listener for the state of the connection, and stop its work itself; that is not part of the recipe, so it
  is not done here, as Jepsen did not do it for etcd.

## Limits

- No tool gets another treatment than the two others, but one machine with few processors is no network of machines:
  what is paused here are servers, not clients, and no message is lost.
- etcdctl and Kazoo do what their documents say; with fencing, or a listener that stops the work, less would be lost.
  What is compared is what one gets from a command line, or from the example in the documentation.
- That zklock lost nothing in a run is no proof. CONTRIBUTING.md tells what else is done: models, and the fault suite.
- ZooKeeper and etcd take pauses differently: an ensemble of which all servers were paused may elect a leader on their
  return and count each session from then on, so that fewer holders lose their locks.

"""
