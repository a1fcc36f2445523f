# SPDX-License-Identifier: Apache-2.0
"""A bad line does to packets what it was told, and nothing without orders."""

import random
import unittest

from packets import Line

COUNT = 1000
PACKETS = [bytes(20) + number.to_bytes(4, "big") for number in range(COUNT)]


def sent(order, packets=None):
    line = Line(random.Random(1))
    line.obey(order)
    for at, packet in enumerate(packets or PACKETS):
        line.take(packet, at * 0.001)
    return list(line.due(1000))


class PacketsTest(unittest.TestCase):
    def test_a_good_line_changes_nothing(self):
        self.assertEqual(sent(""), PACKETS)

    def test_loss(self):
        self.assertTrue(0.7 * COUNT < len(sent("loss 0.2")) < 0.9 * COUNT)

    def test_a_delay_keeps_the_order_and_holds_back(self):
        line = Line(random.Random(1))
        line.obey("delay 0.05")
        line.take(b"packet", 1.0)
        self.assertEqual((list(line.due(1.04)), line.next_at()), ([], 1.05))
        self.assertEqual(sent("delay 0.05"), PACKETS)

    def test_jitter_lets_them_overtake(self):
        found = sent("jitter 0.1")
        self.assertNotEqual(found, PACKETS)
        self.assertEqual(sorted(found), PACKETS)

    def test_doubles_are_whole(self):
        found = sent("double 0.1")
        self.assertEqual(set(found), set(PACKETS))
        self.assertTrue(1.05 * COUNT < len(found) < 1.15 * COUNT)

    def test_a_bit_is_changed_behind_the_header_of_ip(self):
        changed = [(was, found) for was, found in zip(PACKETS, sent("corrupt 0.5")) if was != found]
        self.assertGreater(len(changed), COUNT // 4)
        for was, found in changed:
            self.assertEqual(was[:20], found[:20])
            self.assertEqual((int.from_bytes(was, "big") ^ int.from_bytes(found, "big")).bit_count(), 1)

    def test_large_ones_vanish(self):
        self.assertEqual(sent("largest 400", [bytes(400), bytes(401)]), [bytes(400)])


if __name__ == "__main__":
    unittest.main()
