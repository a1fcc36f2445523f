# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made traces: in some each command ends by its fence, and in others one does not, or has no proof."""

import json
import os
import tempfile
import unittest

import margin

SECOND = 10**9
HISTORY = ["enter 1.1 10 1.0", "alive 1.1 10 2.3", "enter 2.1 11 4.0", "exit 2.1 11 4.2"]
EVENTS = [(0, "start", {}), (0.5, "begin", {"run": "1.1", "pid": 71}), (0.6, "begin", {"run": "2.1", "pid": 72})]
# The session has 2 s, so the first fence is at 1.0 + 4/3.
TRACE = [(0.6, 71, "session", {"timeout": 2000}), (0.9, 71, "proved", {"sent": 0.8}), (1.1, 71, "proved", {"sent": 1.0}),
         (2.3, 71, "lost", {"why": "unproved"}), (3.0, 72, "session", {"timeout": 2000}),
         (3.9, 72, "proved", {"sent": 3.8})]
FROZEN = (5, "fault", {"kind": "followers frozen", "length": 3, "servers": [1, 2]})
CUT = (5, "fault", {"kind": "leader cut off from servers", "length": 4, "server": 1})


class MarginTest(unittest.TestCase):
    def check(self, history=None, trace=None, events=()):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "history"), "w", encoding="ascii") as file:
                for word, run, token, at in map(str.split, HISTORY if history is None else history):
                    file.write(f"{word} {run} {token} {round(float(at) * SECOND)} 7\n")
            with open(os.path.join(folder, "trace"), "w", encoding="ascii") as file:
                for at, pid, event, more in TRACE if trace is None else trace:
                    more = {name: round(value * SECOND) if name == "sent" else value for name, value in more.items()}
                    file.write(json.dumps({"at": round(at * SECOND), "pid": pid, "event": event, **more}) + "\n")
            noted = [{"at": round(at * SECOND), "what": what, **more} for at, what, more in [*EVENTS, *events]]
            return margin.check(folder, noted)

    def expect(self, words, **given):
        """Expects exactly one violation, with these words."""
        violations = self.check(**given)[1]
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(words, violations[0])

    def test_who_ends_by_the_fence_is_no_violation_and_counted(self):
        counted, violations = self.check()
        self.assertEqual(violations, [])
        self.assertIn("3 proofs; 1 commands cut short, the last sign of life 0.033 s before its fence", counted[0])

    def test_a_fence_that_is_the_whole_session_exceeds_the_margin(self):
        self.expect("margin: 1.1 lives 0.667 s after its fence", history=["enter 1.1 10 1.0", "alive 1.1 10 3.0"])

    def test_so_does_an_end_in_order_that_comes_too_late(self):
        self.expect("margin: 2.1 lives", history=[*HISTORY[:3], "exit 2.1 11 5.4"])

    def test_a_proof_counts_from_when_it_was_sent(self):
        late = [*TRACE[:2], (2.2, 71, "proved", {"sent": 1.0}), *TRACE[3:]]
        self.expect("margin: 1.1 lives", trace=late, history=["enter 1.1 10 1.0", "alive 1.1 10 2.5"])

    def test_an_answer_that_comes_later_is_no_help_for_then(self):
        late = [*TRACE[:3], (2.7, 71, "proved", {"sent": 2.2}), *TRACE[3:]]
        self.expect("margin: 1.1 lives", trace=late, history=["enter 1.1 10 1.0", "alive 1.1 10 2.6"])
        self.assertEqual(self.check(trace=late, history=["enter 1.1 10 1.0", "alive 1.1 10 2.8"])[1], [])

    def test_nobody_is_inside_without_a_proof(self):
        self.expect("2.1 is inside without a proof", trace=TRACE[:5])

    def test_what_is_not_promised_is_excused(self):
        killed = (1.2, "fault", {"kind": "zklock and guard killed", "run": "1.1", "length": 4})
        healed = (5, "healed", {"kind": "zklock and guard killed"})
        self.assertEqual(self.check(history=["enter 1.1 10 1.0", "alive 1.1 10 4.0"], events=[killed, healed])[1], [])

    def test_nothing_is_proved_while_both_followers_are_frozen(self):
        for span in (FROZEN, CUT):
            asked = (6.6, 72, "proved", {"sent": 6.5})
            self.expect(f"proved without a quorum ({span[2]['kind']}): process 72", trace=[*TRACE, asked], events=[span])

    def test_what_is_answered_before_or_after_is_good(self):
        for at, sent in ((5.4, 5.3), (8.3, 6.5), (9.2, 9.1)):
            proof = (at, 72, "proved", {"sent": sent})
            self.assertEqual(self.check(trace=[*TRACE, proof], events=[FROZEN])[1], [])

    def test_others_may_have_a_leader_of_their_own_in_the_end(self):
        self.assertEqual(self.check(trace=[*TRACE, (8.6, 72, "proved", {"sent": 8.5})], events=[CUT])[1], [])

    def test_an_empty_trace_proves_nothing(self):
        self.assertEqual(len(self.check(trace=[])[1]), 2)


if __name__ == "__main__":
    unittest.main()
