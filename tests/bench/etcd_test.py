# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

import etcd
from figures import Findings


class EtcdTest(unittest.TestCase):
    def test_where_it_is_not_it_is_left_out_by_name(self):
        findings = Findings("name", "title")
        with mock.patch.dict("os.environ", PATH="/none"), etcd.server(findings) as etcdctl:
            self.assertIsNone(etcdctl)
        self.assertEqual([item["what"] for item in findings.left_out], ["etcdctl"])


if __name__ == "__main__":
    unittest.main()
