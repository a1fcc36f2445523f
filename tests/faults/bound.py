# SPDX-License-Identifier: Apache-2.0
"""Processes that do not outlive us, whatever ends us."""

import os

# Only what sets the signal before our end gets it: who finds itself orphaned by then does not begin.
CHECK = '[ "$PPID" = "$0" ] && exec "$@"'


def bound(*words):
    """`words`, as the first process of a child of this process."""
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", CHECK, str(os.getpid()), *words]
