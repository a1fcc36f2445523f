# SPDX-License-Identifier: Apache-2.0
"""Reports what tests/experiments/jepsen has found: a line for people, JEPSEN.md with its plot, and a part of
README.md."""

import glob
import json
import os
import sys

from folders import ROOT

os.environ.setdefault("ZKLOCK_BIN", f"{ROOT}/build/test/zklock")  # its version is reported

import machine as bench_machine
import plots
import report
from figures import Findings
from jepsen_text import INTRO, METHOD

FOLDER = "tests/experiments"
BEGIN = "<!-- made by tests/experiments/jepsen --report -->"
SMALL = 1000  # updates: a run of fewer counts as short
TITLES = {"zklock": "`zklock run`", "etcdctl": "`etcdctl lock`", "Kazoo": "Kazoo's `with client.Lock()`"}
VERSIONS = ("zklock", "etcd", "Kazoo", "ZooKeeper server", "Python")
UNIT = "percent lost"
LOST = "Acknowledged updates that are lost while servers are paused"


def machine():
    about = bench_machine.machine()
    return {**about, "versions": {name: about["versions"][name] for name in VERSIONS if name in about["versions"]}}


def share(found):
    return 100 * len(found["lost"]) / found["acknowledged"] if found["acknowledged"] else 0.0


def line(found):
    return (f"{found['name']:8} {found['seconds']:.0f} s, {len(found['pauses'])} pauses: {found['acknowledged']} "
            f"acknowledged, {len(found['lost'])} of them lost ({share(found):.1f} %), {found['kept']} in the files, "
            f"{found['unacknowledged']} of them not acknowledged; statuses "
            + ", ".join(f"{count} × {status}" for status, count in found["statuses"].items())
            + f"; load {found['load']:.1f}")


def write(out, root):
    runs = []
    for path in glob.glob(os.path.join(out, "seed-*.json")):
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    if not runs:
        sys.exit("jepsen: no seed-N.json there: measure first")
    runs.sort(key=lambda run: run["seed"])
    folder = os.path.join(root, FOLDER)
    os.makedirs(folder, exist_ok=True)
    plot = draw(runs, folder) if plots.can_draw() else None
    with open(os.path.join(folder, "JEPSEN.md"), "w", encoding="utf-8") as file:
        file.write(text(runs, plot))
    readme = os.path.join(root, "README.md")
    with open(readme, encoding="utf-8") as file:
        replaced = report.replaced(file.read(), short(runs), BEGIN)
    with open(readme, "w", encoding="utf-8") as file:
        file.write(replaced)


def names(runs):
    """Returns the contestants' names, as they came."""
    return list(dict.fromkeys(one["name"] for run in runs for one in run["contestants"]))


def of(runs, name):
    """Returns what was found of a contestant, with the run."""
    return [(run, one) for run in runs for one in run["contestants"] if one["name"] == name]


def draw(runs, folder):
    """Returns the file's name; nothing if there is nothing to see."""
    findings = Findings("jepsen", LOST)
    for name in names(runs):
        findings.add(name, UNIT, [share(one) for _, one in of(runs, name)])
    if UNIT not in plots.units(findings) or not any(one.spread()[1] for one in findings.series):
        return None
    plots.draw(findings, folder)
    return plots.file_of("jepsen", UNIT)


def how_long(runs):
    """Returns a remark on runs that are shorter than usual."""
    fewest = min(run["updates"] for run in runs)
    return f"Short runs, of {fewest} updates of the first: the figures say little.\n\n" if fewest < SMALL else ""


def numbers(values, form="{:,}"):
    return ", ".join(form.format(value) for value in values)


def lost_of(found):
    lost, acknowledged = sum(len(one["lost"]) for one in found), sum(one["acknowledged"] for one in found)
    return f"{lost:,} of {acknowledged:,}" + (f" ({100 * lost / acknowledged:.1f} %)" if lost else "")


def short(runs):
    """Returns the part for README: all runs together."""
    lost = ", ".join(f"{TITLES[name]} {lost_of([one for _, one in of(runs, name)])}" for name in names(runs))
    return report.wrapped(
        "We repeated [Jepsen's experiment](https://jepsen.io/analyses/etcd-3.4.3), which pauses servers while locks guard "
        f"updates to a file. Acknowledged updates lost: {lost}. "
        f"[Method and limits]({FOLDER}/JEPSEN.md).") + how_long(runs)


def text(runs, plot):
    picture = f"![{LOST}, in percent]({plot})\n\n" if plot else ""
    return "".join([INTRO, how_long(runs), figures(runs), picture, METHOD, about(runs)])


def figures(runs):
    heads = ["", "seed", "seconds", "pauses", "acknowledged", "lost", "part", "in the files",
             "of these not acknowledged", "ended with", "load"]
    rows = [[TITLES[name], str(run["seed"]), f"{one['seconds']:.0f}", str(len(one["pauses"])),
             f"{one['acknowledged']:,}", f"{len(one['lost']):,}", f"{share(one):.1f} %", f"{one['kept']:,}",
             str(one["unacknowledged"]), statuses(one), f"{one['load']:.1f}"]
            for name in names(runs) for run, one in of(runs, name)]
    return "## Figures\n\n" + report.table(heads, rows) + "\n" + report.wrapped(
        "\"Ended with\" tells how often a tool ended with which status; 76 is a lock that was lost, whose command was "
        "stopped, and -9 who was at work when the run was over. What is in a file and not acknowledged is no loss. The "
        "load is that of the machine in the last minute of a run.") + "\n"


def statuses(one):
    return ", ".join(f"{count:,} × {status}" for status, count in one["statuses"].items())


def about(runs):
    rows = []
    for run in runs:
        on = run["machine"]
        rows.append([str(run["seed"]), run["begun"][:10], str(run["locks"]), f"{on['processors']} × {on['processor']}",
                     f"{on['system']}, Linux {on['kernel']}",
                     ", ".join(f"{name} {version}" for name, version in on["versions"].items())])
    return "## Machine\n\n" + report.table(["seed", "measured", "locks", "processors", "system", "versions"], rows)
