# SPDX-License-Identifier: Apache-2.0
"""Draws pictures of a comparison by gnuplot: medians as bars, the middle half of the values as lines."""

import os
import subprocess

from figures import number
from peers import has

# If medians are farther apart than that, short bars would look like none.
FAR_APART = 20

SCRIPT = """
set terminal svg size 760,{height} font 'sans,12' background 'white'
set output '{output}'
set title '{title}' noenhanced
set xlabel '{unit}' noenhanced
{scale}
set xrange [{start}:{end}]
set yrange [{count} - 0.4:-0.6]
set ytics noenhanced ({names})
set lmargin 36
set grid x
set style fill solid 0.5
unset key
plot '-' using 2:1:({start}):2:($1 - 0.3):($1 + 0.3) with boxxyerrorbars linecolor '#4477aa', \\
     '-' using 2:1:3:4 with xerrorbars linecolor 'black' pointtype 7 pointsize 0.4, \\
     '-' using 2:1:3 with labels left offset 0.6,0 noenhanced
{bars}
e
{ranges}
e
{labels}
e
"""


def quoted(text):
    return text.replace("'", "''")


def file_of(comparison, unit):
    return f"{comparison}-{unit.replace('/', '-per-').replace(' ', '-')}.svg"


def units(findings):
    """Returns the units that get a picture. A single figure needs none, and figures in several units have a row of
    their own in the report."""
    if len({one.name for one in findings.series}) < len(findings.series):
        return []
    found = [one.unit for one in findings.series]
    return [unit for unit in dict.fromkeys(found) if found.count(unit) > 1]


def draw(findings, folder):
    """Draws a file for each unit."""
    for unit in units(findings):
        series = [one for one in findings.series if one.unit == unit]
        subprocess.run(["gnuplot"], input=script_of(findings, unit, series, folder), check=True, text=True)


def script_of(findings, unit, series, folder):
    least, most = min(one.spread()[0] for one in series), max(one.spread()[1] for one in series)
    far_apart = least > 0 and most / least > FAR_APART
    return SCRIPT.format(
        height=110 + 26 * len(series), output=os.path.join(folder, file_of(findings.name, unit)),
        title=quoted(findings.title), unit=f"{unit} (logarithmic)" if far_apart else unit,
        scale="set logscale x" if far_apart else "", start=least / 2 if far_apart else 0,
        end=most * (3 if far_apart else 1.15), count=len(series),
        names=", ".join(f"'{quoted(one.name)}' {place}" for place, one in enumerate(series)),
        bars="\n".join(f"{place} {one.median}" for place, one in enumerate(series)),
        ranges="\n".join(f"{place} {one.median} {one.spread()[0]} {one.spread()[1]}"
                         for place, one in enumerate(series)),
        labels="\n".join(f'{place} {one.spread()[1]} "{number(one.median)}"' for place, one in enumerate(series)))


def can_draw():
    return has("gnuplot")
