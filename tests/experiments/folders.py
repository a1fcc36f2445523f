# SPDX-License-Identifier: Apache-2.0
"""Finds the experiments, and where their imports come from. Programs and tests import this module first.

The experiments share modules with the fault suite and with the benchmarks.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# The order matters: some modules of the two folders have the same name, and we need the fault suite's.
sys.path += [f"{ROOT}/tests/faults", f"{ROOT}/tests/bench"]
