# SPDX-License-Identifier: Apache-2.0
"""Finds which acknowledged updates are lost.

Each update has a name of its own, and adds it to a shared file as a line. It is acknowledged if its tool has ended
with 0. An acknowledged update that is not in the file at the end is lost: another one has read the file before that
update, and written it after. An unacknowledged update in the file is no loss: its tool could not say how it ended.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    acknowledged: int
    kept: int  # lines at the end: the number that a counter would have
    unacknowledged: int  # of these
    lost: tuple  # names

    def __add__(self, other):
        return Verdict(self.acknowledged + other.acknowledged, self.kept + other.kept,
                       self.unacknowledged + other.unacknowledged, self.lost + other.lost)


NOTHING = Verdict(0, 0, 0, ())


def judge(statuses, lines):
    """Judges one file: {name of an update: its tool's status}, and the lines at the end. Throws ValueError if these
    updates cannot have made the lines: then the experiment is wrong."""
    if len(set(lines)) < len(lines):
        raise ValueError("an update stands there twice")
    if unknown := [name for name in lines if name not in statuses]:
        raise ValueError(f"nobody has written {unknown[0]}")
    acknowledged = {name for name, status in statuses.items() if status == 0}
    kept = set(lines)
    lost = tuple(name for name in statuses if name in acknowledged - kept)
    return Verdict(len(acknowledged), len(lines), len(kept - acknowledged), lost)
