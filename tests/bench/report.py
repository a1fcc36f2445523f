# SPDX-License-Identifier: Apache-2.0
"""Makes BENCHMARKS.md, and a sentence of README, of bench.json."""

import json
import os
import shutil
import sys
import textwrap

from figures import number

PLOTS = "build/bench/plots"  # for interested readers: the report has none
SCALE = "scale.json"  # beside the file of all other comparisons
FAR = "far.json"  # there, too: a count is the same on a busy machine, so its part can be replaced alone
BEGIN, END = "<!-- made by scripts/bench --report -->", "<!-- to here -->"
EXTENTS = {"quick": "with small counts, to see that all works: the figures say little",
           "least": "with the smallest counts, to see that all works: the figures say nothing"}

HEAD = """# Benchmarks

How fast zklock is beside its peers, and beside a bare program that makes the same requests with the C client.
`scripts/bench && scripts/bench scale && scripts/bench far && scripts/bench --report` measures, and writes this file of
what it has found; nothing in it is typed by hand.

## Method

The contestants of a comparison run on the same machine, on the same servers, in the same minutes, and take turns: A B
C, A B C. Slow ones, those that start a JVM, have a turn in every few rounds only. What counts is the median; the middle
half of the values stands beside it (all, of less than four). Speed is claimed as a ratio of medians; seconds are told,
but are this machine's. Wall time and CPU time are those of the process and all its children. Each comparison has
servers of its own from `scripts/zk-sandbox`, one if nothing else is said, on the same machine and without waiting for
the disk. The load that the machine had before each comparison is told too: its own servers and what ran before are in
it. The bare program is linked as zklock is: else it would be the linker that is compared.
"""


def write(file, root):
    """Writes BENCHMARKS.md, and README.md between its marks, and copies the plots. If there is nothing but the round
    trips, replaces only their part of BENCHMARKS.md."""
    far = far_comparison(os.path.join(os.path.dirname(file), FAR))
    if far and not os.path.exists(file):
        replace_part(os.path.join(root, "BENCHMARKS.md"), far)
        return
    try:
        with open(file, encoding="utf-8") as source:
            results = json.load(source)
    except FileNotFoundError:
        sys.exit(f"bench: no {os.path.basename(file)} there: run scripts/bench first")
    add_scale(results, os.path.join(os.path.dirname(file), SCALE))
    results["comparisons"] += [far] if far else []
    copy_plots(results, os.path.dirname(file), os.path.join(root, PLOTS))
    with open(os.path.join(root, "BENCHMARKS.md"), "w", encoding="utf-8") as report:
        report.write(benchmarks(results))
    readme = os.path.join(root, "README.md")
    with open(readme, encoding="utf-8") as source:
        text = source.read()
    with open(readme, "w", encoding="utf-8") as sink:
        sink.write(replaced(text, short(results)))


def add_scale(results, file):
    """Adds the scale comparisons, if there are any. Small counts are not put beside full ones."""
    if not os.path.exists(file):
        return
    with open(file, encoding="utf-8") as source:
        scale = json.load(source)
    if scale["extent"] != results["extent"]:
        print(f"bench: {SCALE} is left out: it has another extent, {scale['extent']}", file=sys.stderr)
        return
    results["comparisons"] += scale["comparisons"]
    results["seconds"] += scale["seconds"]


def far_comparison(file):
    if not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as source:
        return json.load(source)["comparisons"][0]


def replace_part(file, comparison):
    with open(file, encoding="utf-8") as source:
        text = source.read()
    with open(file, "w", encoding="utf-8") as sink:
        sink.write(with_part(text, comparison))


def with_part(text, comparison):
    """Returns the report with that comparison's part in place of its former one, or at the end."""
    before, found, rest = text.partition(f"\n## {comparison['name']}: ")
    _, more, after = rest.partition("\n## ") if found else ("", "", "")
    return f"{before}\n{section(comparison)}{more}{after}"


def copy_plots(results, source, target):
    """Copies the plots of these comparisons, if they were drawn, and removes those of an earlier report."""
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name in (name for comparison in results["comparisons"] for name in comparison["plots"]):
        if os.path.exists(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), target)


def replaced(text, part, begin=BEGIN):
    """Returns the text with that part between its marks."""
    before, found, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        sys.exit("bench: README.md has lost its marks")
    return f"{before}{begin}\n{part}{end}{after}"


def benchmarks(results):
    parts = [HEAD, about(results), glance(results), targets(results), *(section(one) for one in results["comparisons"])]
    return "\n".join(parts)


def table(heads, rows):
    """Returns a Markdown table. All columns but the first are aligned to the right."""
    rule = ["---"] + ["---:"] * (len(heads) - 1)
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, rule, *rows])


def about(results):
    machine = results["machine"]
    rows = [["processor", f"{machine['processor']}, {machine['processors']} of them"],
            ["memory", f"{machine['memory_mib']:,} MiB"],
            ["system", f"{machine['system']}, Linux {machine['kernel']}"],
            *([name, version] for name, version in machine["versions"].items()),
            ["measured", f"{results['begun'][:10]}, in {results['seconds'] / 60:.0f} minutes"]]
    lines = ["## Machine\n", table(["what", "which"], rows)]
    if results["extent"] in EXTENTS:
        lines.append(f"This was a run {EXTENTS[results['extent']]}.\n")
    return "\n".join(lines)


def all_claims(results):
    return [(comparison, claim) for comparison in results["comparisons"] for claim in comparison["claims"]]


def value_of(claim):
    return f"{number(claim['value'])} {claim['unit']}".rstrip()


def verdict(claim):
    return {True: "met", False: "**not met**", None: ""}[claim["met"]]


def targets(results):
    judged = [(comparison, claim) for comparison, claim in all_claims(results) if claim["met"] is not None]
    rows = [[f"{claim['name']} ([{comparison['name']}](#{anchor(comparison)}))", value_of(claim), claim["target"],
             verdict(claim)] for comparison, claim in judged]
    missed = [shortfall(comparison, claim) for comparison, claim in judged if not claim["met"]]
    lines = ["## Targets\n", table(["what", "measured", "target", ""], rows)]
    lines += ["Not met:\n", "".join(missed)] if missed else ["All are met.\n"]
    return "\n".join(lines)


# Explains by the figures of a comparison where the time goes.
WHERE = {
    "lock": "What `zklock --version` takes is the start of the program; the guard is a second process.",
    "hand-over": "20 loops and the servers share the processors: see the CPU time of a section, and `lock` for what is "
                 "in it.",
    "killed": "The guard kills the command first, and then closes the session of the zklock that is dead.",
    "cost": "A heartbeat of the lease is a transaction, since nothing less asks a quorum.",
}


def shortfall(comparison, claim):
    where = WHERE.get(comparison["name"].removesuffix("-3"), "")
    text = (f"- {comparison['title']}: {claim['name']} is {value_of(claim)}, {claim['missed_by']:.0%} off the target "
            f"of {claim['target']}. {where}")
    return wrapped(text, indent="  ")


def heading(comparison):
    return f"{comparison['name']}: {comparison['title']}"


def anchor(comparison):
    """Returns the anchor that Markdown makes of a heading."""
    kept = [letter for letter in heading(comparison).lower() if letter.isalnum() or letter in "- _"]
    return "".join(kept).replace(" ", "-")


def section(comparison):
    lines = [f"## {heading(comparison)}\n", wrapped(comparison["method"])]
    lines.append(figures(comparison["series"]))
    if comparison["claims"]:
        lines.append(table(["ratio or difference", "measured", "target", ""],
                           [[one["name"], value_of(one), one["target"], verdict(one)] for one in comparison["claims"]]))
    lines += [f"Left out: {one['what']} ({one['why']}).\n" for one in comparison["left_out"]]
    when = f"Measured {comparison['begun'][:10]}. " if "begun" in comparison else ""  # not with the others
    lines.append(f"{when}It took {comparison['seconds']:.0f} s; the load before was {comparison['load_before']:.1f}.\n")
    return "\n".join(lines)


def figures(series):
    """Returns a row for each; or for each name, if it has several units."""
    names = list(dict.fromkeys(one["name"] for one in series))
    units = list(dict.fromkeys(one["unit"] for one in series))
    medians = {(one["name"], one["unit"]): number(one["median"]) for one in series}
    if len(names) < len(series):
        return table(["what", *units], [[name, *(medians.get((name, unit), "") for unit in units)] for name in names])
    return table(["what", "median", "", "middle half", "times"],
                 [[one["name"], number(one["median"]), one["unit"], f"{number(one['low'])} to {number(one['high'])}",
                   f"{len(one['values'])}"] for one in series])


def wrapped(text, indent=""):
    return textwrap.fill(text, width=120, subsequent_indent=indent, break_on_hyphens=False) + "\n"


def glance(results):
    """Returns one table, and one line for each of a few other figures."""
    lines = ["## At a glance\n"]
    if found(results, "lock"):
        lines += ["`true` under a lock that nobody else wants, medians of one run in which all take turns:\n",
                  lock_table(results)]
    lines.append("".join(f"- {text}\n" for text in highlights(results)))
    return "\n".join(lines)


def short(results):
    """Returns a sentence for README."""
    lock = found(results, "lock")
    series = {one["name"]: one["median"] for one in lock["series"]} if lock else {}
    took = [f"{name} {number(series[f'{key} wall'])} ms" for key, name in NAMES.items() if f"{key} wall" in series]
    if not took:
        return "How fast it is: [BENCHMARKS.md](BENCHMARKS.md).\n"
    return wrapped(f"Time to run `true` under a free lock: {', '.join(took)}; [BENCHMARKS.md](BENCHMARKS.md).")


def found(results, name):
    return next((one for one in results["comparisons"] if one["name"] == name), None)


TITLES = {"zklock": "`zklock run`", "floor": "a bare C program, the same requests", "flock": "`flock`, a local file",
          "etcdctl": "`etcdctl lock`, etcd in memory", "Kazoo": "Kazoo, a Python process", "Curator": "Curator, a JVM"}
NAMES = {"zklock": "`zklock run`", "flock": "`flock`", "etcdctl": "`etcdctl lock`", "Kazoo": "Kazoo", "Curator": "Curator"}


def lock_table(results):
    series = {one["name"]: one["median"] for one in found(results, "lock")["series"]}
    own = series["zklock wall"]
    rows = [[title, *(f"{number(series[f'{name} {what}'])} {unit}" for what, unit in
                      (("wall", "ms"), ("CPU", "ms"), ("memory", "MiB"))), f"{number(series[f'{name} wall'] / own)}"]
            for name, title in TITLES.items() if f"{name} wall" in series]
    return table(["", "wall time", "CPU time", "memory", "wall time, to zklock's"], rows)


# The comparison, the claim or series, and the text about it.
HIGHLIGHTS = (
    ("hand-over", "zklock's rate to floor",
     "20 loops that want the same lock: {value} of the rate of bare C programs"),
    ("crowd", "requests a hand-over, 1,000 waiting to 10",
     "a hand-over among 1,000 waiters costs the server {value} times the requests of one among 10"),
    ("crowd", "memory a waiter, 1,000 waiting", "a waiter takes {value} MiB, its guard included"),
    ("killed", "zklock, a holder",
     "after SIGKILL to the zklock that holds a lock, the next one's command starts after {value} ms"),
    ("killed", "etcdctl: next holder", "after SIGKILL to an `etcdctl lock`, after {value} times its TTL"),
    ("cost", "transactions a minute of a held lock", "a held lock costs the servers {value} transactions a minute"),
    ("leader", "a lock can be had",
     "after the death of the leader of three servers, a lock can be had after {value} s"),
    ("push", "zklock's rate to bare", "push of a million lines: {value} of the rate of a bare C program"),
    ("depth", "pull at 1,000,000 to 1,000", "one pull out of a million items takes {value} times that out of 1,000"),
    ("kazoo", "zklock to LockingQueue",
     "`pull --all` of a deep queue: {value} times the rate of Kazoo's LockingQueue"),
    ("join", "zklock joins", "from the start of a `group join` until a watcher has written it: {value} ms"),
    ("tls", "CPU of a run, TLS to plain", "over TLS a run takes {value} times the CPU time of one without"),
    ("probe", "wall, zklock to ZooKeeperMain ls",
     "`zklock ruok` takes {value} of the time of ZooKeeper's own shell"),
)


def highlights(results):
    for name, wanted, text in HIGHLIGHTS:
        comparison = found(results, name) or {"series": [], "claims": []}
        values = {one["name"]: one["median"] for one in comparison["series"]}
        values |= {one["name"]: one["value"] for one in comparison["claims"]}
        if wanted in values:
            yield text.format(value=number(values[wanted]))
