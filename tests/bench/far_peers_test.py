# SPDX-License-Identifier: Apache-2.0
import contextlib
import socket
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

import far_peers
from far import Connection, Waits
from figures import Findings

CLIENT = """
import os, socket, sys
host, _, port = os.environ["ZKLOCK_SERVERS"].rpartition(":")
server = socket.create_connection((host, int(port)))
for _ in range(int(sys.argv[1])):
    server.sendall(b"ask")
    server.recv(9)
"""


@contextlib.contextmanager
def echo():
    """Yields the port of a server that answers whatever it is sent by the same."""
    def serve():
        with contextlib.suppress(OSError):
            while True:
                client = listener.accept()[0]
                while data := client.recv(9):
                    client.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


class FarPeersTest(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", ResourceWarning)  # a relay keeps its sockets until the process ends

    def test_the_handshake_and_each_question_are_a_round_trip(self):
        with echo() as port:
            links = far_peers.Links([port], 0.05)
            for questions in (1, 3):
                self.assertEqual(links.count([sys.executable, "-c", CLIENT, str(questions)]), 1 + questions)

    def test_a_program_that_fails_is_not_counted(self):
        with echo() as port, self.assertRaises(RuntimeError):
            far_peers.Links([port], 0.05).count(["false"])

    def test_an_answer_to_a_program_that_has_ended_does_not_count(self):
        waits = Waits()
        connection = Connection(waits)
        waits.restart()
        connection.reach_client(7)
        self.assertEqual(waits.received, 0)
        Connection(waits).reach_client(2)
        self.assertEqual(waits.received, 2)

    def test_a_contender_is_quiet_when_its_last_answer_is_old(self):
        with echo() as port, mock.patch.object(far_peers, "QUIET", 0.2):
            links = far_peers.Links([port], 0.05)
            begun = time.monotonic()
            with far_peers.started([sys.executable, "-c", CLIENT, "2"], links.far):
                links.await_quiet()
            self.assertEqual(links.waits.received, 3)
            self.assertGreater(time.monotonic() - begun, 0.2)

    def test_a_peer_that_is_not_installed_has_no_words(self):
        with mock.patch.multiple(far_peers, has_kazoo=lambda _: None, has_curator=lambda _: True):
            found = far_peers.programs("zklock", "/root", Findings("far", "title"), None)
        self.assertEqual(list(found), ["zklock", "Curator"])

    def test_what_a_program_cannot_do_is_not_measured(self):
        found = {"one": {"set": ["a"], "get": ["b"]}, "other": {"get": ["c"]}}
        self.assertEqual(far_peers.in_turns(len, "set", found, 2), {"one": [1, 1]})


if __name__ == "__main__":
    unittest.main()
