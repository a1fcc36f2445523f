# SPDX-License-Identifier: Apache-2.0
"""Restored nodes are removed, even unknown ones: a server made them, and its answer was lost."""

import unittest
import unittest.mock

import nodes
from bare_client import NO_NODE, Node, Refused

LOCK = "/locks/faults"


class FakeClient:
    """One tree for all servers. `lost`: how many answers to a creation are lost."""

    def __init__(self, names, lost=0):
        self.names, self.lost = names, lost

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def children(self, _):
        if self.names is None:
            raise Refused(NO_NODE)
        return list(self.names)

    def get(self, _):
        return Node(b"{}", 7)

    def create_numbered(self, path, _):
        self.names.append(f"{path.rpartition('/')[2]}{len(self.names):010}")
        self.lost -= 1
        if self.lost >= 0:
            raise ConnectionError
        return f"{LOCK}/{self.names[-1]}"

    def delete(self, path):
        self.names.remove(path.rpartition("/")[2])


class NodesTest(unittest.TestCase):
    def setUp(self):
        self.client = FakeClient(["_c_1-lock-0000000000"])
        self.enterContext(unittest.mock.patch("nodes.BareClient", lambda _: self.client))
        self.nodes = nodes.Nodes(["a", "b"], LOCK)

    def restore(self, lost=0):
        self.client.lost = lost
        return self.nodes.restore(f"{LOCK}/_c_1-lock-0000000000")

    def test_a_restored_node_goes_and_no_other(self):
        self.assertIsNotNone(self.restore())
        self.assertEqual(len(self.client.names), 2)
        self.assertTrue(self.nodes.remove_restored())
        self.assertEqual(self.client.names, ["_c_1-lock-0000000000"])

    def test_so_does_one_whose_answer_was_lost(self):
        for lost in (1, 2):
            self.restore(lost)
            self.assertEqual(len(self.client.names), 3)
            self.assertTrue(self.nodes.remove_restored())
            self.assertEqual(self.client.names, ["_c_1-lock-0000000000"])

    def test_where_the_lock_has_gone_none_is_left(self):
        self.restore()
        self.client.names = None
        self.assertTrue(self.nodes.remove_restored())

    def test_while_no_server_answers_one_may_be_left(self):
        self.restore()
        with unittest.mock.patch("nodes.BareClient", side_effect=OSError):
            self.assertFalse(self.nodes.remove_restored())


if __name__ == "__main__":
    unittest.main()
