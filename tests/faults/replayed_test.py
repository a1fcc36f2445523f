# SPDX-License-Identifier: Apache-2.0
import unittest

import replayed

BEGUN = [{"at": 1, "what": "begin", "run": "1.1", "pid": 11}, {"at": 2, "what": "begin", "run": "2.1", "pid": 22}]


class TakenAway(unittest.TestCase):
    def test_of_one_and_of_all(self):
        one = {"at": 3, "what": "fault", "kind": "holder's node deleted", "run": "2.1"}
        everybody = {"at": 4, "what": "fault", "kind": "lock deleted with all below it", "runs": ["1.1", "2.1", "3.9"]}
        self.assertEqual(sorted(replayed.taken_away([*BEGUN, one, everybody])), [(3, 22), (4, 11), (4, 22)])

    def test_of_those_that_begin_while_it_is_done(self):
        everybody = {"at": 4, "what": "fault", "kind": "lock deleted with all below it", "runs": ["1.1", "2.1"]}
        late = [{"at": 5, "what": "begin", "run": "3.1", "pid": 33},
                {"at": 6, "what": "healed", "kind": "lock deleted with all below it"},
                {"at": 7, "what": "begin", "run": "4.1", "pid": 44}]
        self.assertEqual(sorted(replayed.taken_away([*BEGUN, everybody, *late])), [(4, 11), (4, 22), (4, 33)])

    def test_not_by_other_faults(self):
        self.assertEqual(list(replayed.taken_away([*BEGUN, {"at": 3, "what": "fault", "kind": "zklock killed",
                                                            "run": "1.1"}])), [])


if __name__ == "__main__":
    unittest.main()
