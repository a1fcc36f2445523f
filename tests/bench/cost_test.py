# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest
from unittest import mock

import cost


class CostTest(unittest.TestCase):
    def test_the_epoch_in_a_zxid_is_no_transaction(self):
        self.assertEqual(cost.transactions("Sent: 1\nZxid: 0x30000001f\nMode: leader\n"), 31)

    def test_what_a_look_costs_is_not_counted(self):
        looks = [[0, 10, 0, 0], [0, 12, 0, 0], [7, 20, 1.5, 6], [11, 28, 2.5, 9]]
        with mock.patch.object(cost, "counted", side_effect=looks):
            self.assertEqual(cost.Account().of(lambda: None), [4, 6, 1, 3])

    def test_the_log_is_all_its_files_and_no_snapshot(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", ZKLOCK_SANDBOX=folder):
            data = os.path.join(folder, "1", "data", "version-2")
            os.makedirs(data)
            for name, size in (("log.1", 100), ("log.1f", 20), ("snapshot.0", 3)):
                with open(os.path.join(data, name), "wb") as file:
                    file.write(bytes(size))
            self.assertEqual(cost.log_size(), 120)


if __name__ == "__main__":
    unittest.main()
