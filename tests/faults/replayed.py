# SPDX-License-Identifier: Apache-2.0
"""What the zklocks of a run wrote down (ZKLOCK_TRACE), held against the models: tests/model/replay.h."""

import os
import subprocess

MODELS = ("line_model", "lease_model")


def check(trace, helpers):
    """Whether the models allow it; prints what they say. The steps that no history took are for people by hand."""
    allowed = True
    for name in MODELS:
        done = subprocess.run([os.path.join(helpers, name), "--replay", trace], text=True, stdout=subprocess.PIPE,
                              check=False)
        print(*(line for line in done.stdout.splitlines() if not line.startswith("  never:")), sep="\n")
        allowed &= done.returncode == 0
    return allowed
