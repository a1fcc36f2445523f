# SPDX-License-Identifier: Apache-2.0
"""Compares the trees of three servers, equal and different ones."""

import unittest
import unittest.mock

import agreement


class AgreementTest(unittest.TestCase):
    def test_the_same_nodes_are_no_difference(self):
        self.assertEqual(list(agreement.differences(dict.fromkeys("abc", {"/l", "/q"}))), [])

    def test_each_server_that_has_more_is_told_with_what(self):
        trees = {"a": {"/l", "/q", "/q/1"}, "b": {"/l", "/q"}, "c": {"/l", "/q", "/q/2", "/q/1"}}
        self.assertEqual(list(agreement.differences(trees)), ["a has 1 nodes that not all have: /q/1",
                                                              "c has 2 nodes that not all have: /q/1, /q/2"])

    def test_a_server_that_has_ended_is_told(self):
        with unittest.mock.patch("agreement.PATIENCE", 0):
            self.assertEqual(list(agreement.look(["127.0.0.1:1"])),
                             ["127.0.0.1:1 does not answer: [Errno 111] Connection refused"])


if __name__ == "__main__":
    unittest.main()
