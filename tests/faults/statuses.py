# SPDX-License-Identifier: Apache-2.0
"""Which exit status of a `zklock run`, or of a `group join` or `wait`, fits what has happened to it:

    left in order, or failed      the command's own; 76 if the lock was lost at the end, or a success not noted
    cut short inside              76, also for another program's contender; a member's command never is cut short
    never entered                 what its options allow: 75, 69; 76 if it was hit before its command began, or says so
    killed by the suite           that, or its result by then
    ended by the suite's TERM     the signal, or what the command made of it
"""

from promises import PEERS, spec_of

LOST, KILLED, TERMINATED = 76, -9, -15
FAILED = 1  # of a command that must fail
OVER = {0, FAILED, LOST, KILLED, TERMINATED, 128 + 15, 128 + 9, 75, 69}


def may_lose(spec):
    return spec.verb in PEERS or spec.verb == ("run",) and "--restart" not in spec.options


def fitting(spec, section, hits):
    """Returns the statuses that fit. `section`: the last one of the run, or None; `hits`:
    faults."""
    if section is None:
        fits = set(spec.ends_alone) | ({LOST} if may_lose(spec) and hits else set())
    elif section.exit:
        fits = {FAILED if section.exit.word == "fail" else 0}
        fits |= {LOST} if may_lose(spec) else set()
    else:
        fits = {LOST} if may_lose(spec) else set()
    if any(kind.endswith(" killed") for kind in hits):
        fits.add(KILLED)
    return fits


def is_over_before_it_begins(end):
    """Returns whether it held the lock, and could not read in time when a run had last succeeded (--once-per)."""
    return end["status"] == LOST and end["said"].rstrip().endswith("the command was not started")


def wrong_statuses(record):
    for run, end in record.ends.items():
        section = record.sections[run][-1] if record.sections.get(run) else None
        fits = OVER if end.get("over") else fitting(spec_of(run), section, record.hits[run])
        if end["status"] in fits or section is None and is_over_before_it_begins(end):
            continue
        how = "never entered" if section is None else "left its section" if section.exit else "was cut short inside"
        last = end["said"].strip().splitlines()[-1:]
        yield f"status {end['status']} of {run}, which {how}: {''.join(last)}"
