# SPDX-License-Identifier: Apache-2.0
"""The results of comparisons: series of figures, ratios of their medians, and what was left out."""

import statistics


class Series:
    """The same quantity, measured again and again."""

    def __init__(self, name, unit, values):
        self.name = name
        self.unit = unit
        self.values = list(values)
        self.median = statistics.median(self.values)

    def spread(self):
        """Returns the middle half of the values; if there are less than four, all."""
        if len(self.values) < 4:
            return min(self.values), max(self.values)
        quarters = statistics.quantiles(self.values, n=4)
        return quarters[0], quarters[2]

    def as_dict(self):
        low, high = self.spread()
        return {"name": self.name, "unit": self.unit, "median": self.median, "low": low, "high": high,
                "values": self.values}


class Claim:
    """A figure that should be at least or at most `target`, if there is one."""

    def __init__(self, name, value, at_least=None, at_most=None, unit=""):
        self.name = name
        self.value = value
        self.unit = unit
        self.at_least = at_least
        self.at_most = at_most

    def target(self):
        if self.at_least is not None:
            return f"at least {number(self.at_least)} {self.unit}".rstrip()
        return f"at most {number(self.at_most)} {self.unit}".rstrip() if self.at_most is not None else ""

    def is_met(self):
        if self.at_least is not None:
            return self.value >= self.at_least
        return self.value <= self.at_most if self.at_most is not None else None

    def missed_by(self):
        """Returns the missing part of the target; nothing if it is met, or there is none."""
        if self.is_met() is not False:
            return None
        target = self.at_most if self.at_least is None else self.at_least
        return abs(self.value - target) / target

    def as_dict(self):
        return {"name": self.name, "value": self.value, "unit": self.unit, "target": self.target(),
                "met": self.is_met(), "missed_by": self.missed_by()}


class Findings:
    """The findings of one comparison."""

    def __init__(self, name, title, method=""):
        self.name = name
        self.title = title
        self.method = method
        self.series = []
        self.claims = []
        self.left_out = []

    def add(self, name, unit, values):
        series = Series(name, unit, values)
        self.series.append(series)
        return series

    def ratio(self, name, of, to, **target):
        self.claims.append(Claim(name, of.median / to.median, **target))

    def claim(self, name, value, **target):
        self.claims.append(Claim(name, value, **target))

    def leave_out(self, what, why):
        self.left_out.append({"what": what, "why": why})

    def as_dict(self):
        return {"name": self.name, "title": self.title, "method": self.method,
                "series": [series.as_dict() for series in self.series],
                "claims": [claim.as_dict() for claim in self.claims], "left_out": self.left_out}


def number(value):
    """Returns three significant digits, or all before the point."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(findings):
    """Returns the lines of a table for people."""
    lines = [findings.title]
    width = max((len(series.name) for series in findings.series), default=0)
    width = max([width, *(len(claim.name) for claim in findings.claims)])
    for series in findings.series:
        low, high = series.spread()
        lines.append(f"  {series.name:{width}}  {number(series.median):>10} {series.unit:9} "
                     f"{number(low)} .. {number(high)}, {len(series.values)} times")
    for claim in findings.claims:
        verdict = {True: "met", False: "NOT MET", None: ""}[claim.is_met()]
        lines.append(f"  {claim.name:{width}}  {number(claim.value):>10} {claim.unit:9} "
                     f"{claim.target()} {verdict}".rstrip())
    lines += [f"  left out: {item['what']}: {item['why']}" for item in findings.left_out]
    return lines
