# SPDX-License-Identifier: Apache-2.0
"""For how long a lock may be free while a contender waits for it: a session, a tick, and what limit_of adds. Of several
sessions the longest counts.

The time begins again when a waiting zklock is killed or frozen, because it may have been the next. It also begins again
when a server is thawed or a link repaired: the last words of a dead zklock may have been held up there, and make its
session last. The time without a quorum does not count, by the suite's own check (events.py). A quorum is a leader and a
follower that no fault holds back, that say so themselves, and that have lately committed something for the suite. So an
election is left out for as long as it takes.
"""

from schedule import SESSION, TICK


def limit_of(session):
    """Allows three attempts to connect, of a third of a session each, and the start of a process on a busy machine."""
    return int((session + TICK + session + 1.0) * 1e9)


LIMIT = limit_of(SESSION)
RESETS = ("waiting zklock killed", "waiting zklock frozen", "waiting zklock stopped with its guard",
          "waiting guard killed", "waiting guard frozen", "TSTP and CONT while waiting",
          "waiter's session closed by another", "signal while connecting", "signal while waiting",
          "signal to the next at a release")
HELD_UP = ("follower", "followers", "leader", "servers", "all servers", "packets", "large packets", "narrow link",
           "connections half open")


def begins_anew(event, resets):
    if event["what"] == "fault":
        return event["kind"] in resets
    return event["what"] == "healed" and event["kind"].startswith(HELD_UP) and "killed" not in event["kind"]


def judged(start, end, events, resets=RESETS):
    """Yields the parts of a gap that have to be short. `events`: a run's quorum, fault and healed, in their order."""
    there, since = True, start
    for event in events:
        at = min(event["at"], end)
        cut = begins_anew(event, resets)
        if event["what"] == "quorum" or cut and at > since:
            if there and at > since:
                yield since, at
            there = there if cut else event["there"]
            since = max(since, at)
    if there and end > since:
        yield since, end
