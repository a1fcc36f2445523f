# SPDX-License-Identifier: Apache-2.0
"""A picture of each comparison, drawn by gnuplot: medians as bars, the middle half of the values as lines."""

import os
import subprocess

from programs import has

SCRIPT = """
set terminal svg size 720,{height} font 'sans,12' background 'white'
set output '{output}'
set title '{title}' noenhanced
set xlabel '{unit}' noenhanced
set xrange [0:*]
set yrange [{count} - 0.4:-0.6]
set ytics noenhanced ({names})
set grid x
set boxwidth 0.3
set style fill solid 0.5
unset key
plot '-' using 2:1:(0):2:($1 - 0.3):($1 + 0.3) with boxxyerrorbars linecolor '#4477aa', \\
     '-' using 2:1:3:4 with xerrorbars linecolor 'black' pointtype 7 pointsize 0.4
{bars}
e
{bars}
e
"""


def quoted(text):
    return text.replace("'", "''")


def draw(findings, folder):
    """A file for each unit: NAME-UNIT.svg."""
    for unit in dict.fromkeys(series.unit for series in findings.series):
        series = [one for one in findings.series if one.unit == unit]
        file = f"{findings.name}-{unit.replace('/', '-per-') or 'number'}.svg"
        script = SCRIPT.format(
            height=120 + 30 * len(series), output=os.path.join(folder, file), title=quoted(findings.title),
            unit=unit, count=len(series),
            names=", ".join(f"'{quoted(one.name)}' {place}" for place, one in enumerate(series)),
            bars="\n".join(f"{place} {one.median} {one.spread()[0]} {one.spread()[1]}"
                           for place, one in enumerate(series)))
        subprocess.run(["gnuplot"], input=script, check=True, text=True)


def can_draw():
    return has("gnuplot")
