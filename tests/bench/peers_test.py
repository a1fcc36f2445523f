# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

import peers
from figures import Findings


class PeersTest(unittest.TestCase):
    def left_out(self, has):
        findings = Findings("name", "title")
        self.assertFalse(has(findings))
        return [item["what"] for item in findings.left_out]

    def test_a_peer_without_its_jars_is_left_out_by_name(self):
        with mock.patch.object(peers, "CURATOR_PATH", ["/none.jar"]):
            self.assertEqual(self.left_out(peers.has_curator), ["Curator"])
        with mock.patch.object(peers, "ZOOKEEPER_PATH", ["/none.jar"]):
            self.assertEqual(self.left_out(peers.has_zookeeper_shell), ["FourLetterWordMain and ZooKeeperMain"])

    def test_a_peer_without_its_programs_is_left_out_by_name(self):
        with mock.patch.dict("os.environ", PATH="/none"):
            self.assertEqual(self.left_out(peers.has_etcd), ["etcdctl"])
            self.assertEqual(self.left_out(peers.has_curator), ["Curator"])

    def test_kazoo_is_asked_for_where_it_would_be_imported(self):
        with mock.patch.object(peers, "KAZOO", ["false"]):
            self.assertEqual(self.left_out(peers.has_kazoo), ["Kazoo"])

    def test_what_is_there_is_not_left_out(self):
        findings = Findings("name", "title")
        with mock.patch.object(peers, "KAZOO", ["true"]):
            self.assertTrue(peers.has_kazoo(findings))
        self.assertEqual(findings.left_out, [])


if __name__ == "__main__":
    unittest.main()
