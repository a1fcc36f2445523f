# SPDX-License-Identifier: Apache-2.0
import os
import unittest

import shares

LINES = [
    '0 0 127.0.0.1:40722 127.0.0.1:43251 users:(("zklock",pid=77,fd=5)) cubic wscale:7,7 rto:201 '
    'bytes_sent:120 bytes_acked:121 bytes_received:4096 segs_out:5',
    '0 0 127.0.0.1:40723 127.0.0.1:43251 users:(("zklock",pid=77,fd=6)) cubic bytes_received:4 segs_out:5',
    '0 0 127.0.0.1:40724 127.0.0.1:43251 users:(("zklock",pid=78,fd=5)) cubic segs_out:1',
    '0 0 127.0.0.1:40725 127.0.0.1:43251 cubic bytes_received:9',
]


class SharesTest(unittest.TestCase):
    def test_what_was_received_is_counted_by_process(self):
        self.assertEqual(shares.received_in(LINES), {77: 4100})

    def test_cpu_time_is_read_behind_whatever_the_program_is_called(self):
        stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 9 9 20 0 1 0 123 4096 17\n"
        self.assertEqual(shares.cpu_in(stat), 200 / shares.TICKS)

    def test_of_a_process_there_is_what_it_has(self):
        self.assertGreater(shares.resident_size(os.getpid()), 1)
        before = shares.descriptors(os.getpid())
        with open("/dev/null", encoding="ascii"):
            self.assertEqual(shares.descriptors(os.getpid()), before + 1)
        self.assertGreaterEqual(shares.wakes(os.getpid()), 0)


if __name__ == "__main__":
    unittest.main()
