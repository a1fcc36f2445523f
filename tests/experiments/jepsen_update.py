#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""jepsen_update.py FILE NAME SECONDS: runs under the lock.

It reads FILE, waits, and puts a new file in its place: what was read, and a line with NAME. Only the lock keeps
two of them apart: if two have read the same, the later one drops the line of the earlier. It says what it does.
"""

import os
import sys
import time


def say(name, what):
    print(f"{time.monotonic():.3f} {name}: {what}", flush=True)


def main():
    path, name, seconds = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        read = file.read()
    number = read.count("\n")
    say(name, f"read {number}")
    time.sleep(float(seconds))
    new = f"{path}.{name}"
    with open(new, "w", encoding="ascii") as file:
        file.write(f"{read}{name}\n")
    os.rename(new, path)
    say(name, f"wrote {number + 1}")


main()
