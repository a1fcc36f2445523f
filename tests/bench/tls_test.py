# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

import tls
from figures import Findings
from programs import Sample


class WaysTest(unittest.TestCase):
    def test_without_tls_there_is_nothing_of_it_left(self):
        given = {"ZKLOCK_SERVERS": "tls://a:1", "ZKLOCK_PLAIN_SERVERS": "a:2", "ZKLOCK_TLS_CA": "ca",
                 "ZKLOCK_TLS_CERT": "cert", "ZKLOCK_CONNECT_TIMEOUT": "1s"}
        with mock.patch.dict("os.environ", given, clear=True):
            ways = tls.ways()
        self.assertEqual(ways["TLS"], given)
        self.assertEqual(ways["plain"], {"ZKLOCK_SERVERS": "a:2", "ZKLOCK_PLAIN_SERVERS": "a:2",
                                         "ZKLOCK_CONNECT_TIMEOUT": "1s"})


class JudgeTest(unittest.TestCase):
    def test_it_is_cpu_that_has_a_target(self):
        findings = Findings("tls", "")
        tls.judge(findings, "a run", {"TLS": [Sample(9, 0.006)], "plain": [Sample(1, 0.002)]}, at_most=4)
        cpu, wall = findings.claims
        self.assertAlmostEqual(cpu.value, 3)
        self.assertTrue(cpu.is_met())
        self.assertAlmostEqual(wall.value, 9)
        self.assertIsNone(wall.is_met())


if __name__ == "__main__":
    unittest.main()
