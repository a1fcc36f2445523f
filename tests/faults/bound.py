# SPDX-License-Identifier: Apache-2.0
"""Starts processes that do not outlive us, whatever ends us."""

import os

# A process that sets the signal only after our end does not get it, so an orphan does not begin.
CHECK = '[ "$PPID" = "$0" ] && exec "$@"'


def bound(*words):
    """Returns words that run `words` as the first process of a child of this process."""
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", CHECK, str(os.getpid()), *words]
