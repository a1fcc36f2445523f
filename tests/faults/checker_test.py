# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made histories: one keeps every rule, and for each rule some break it."""

import json
import os
import tempfile
import unittest

import checker
import leftovers

SECOND = 10**9
GOOD = ["enter 1.1 100 1.0", "alive 1.1 100 1.1", "alive 1.1 100 1.2", "exit 1.1 100 1.3",
        "enter 2.1 101 1.4", "alive 2.1 101 1.5",
        "enter 1.2 107 5.0", "exit 1.2 107 5.1"]
EVENTS = [(0, "start", {}), (0.9, "fault", {"kind": "guard killed", "run": "2.1"}),
          (1.35, "end", {"run": "1.1", "status": 0}), (1.6, "end", {"run": "2.1", "status": 76}),
          (5.2, "end", {"run": "1.2", "status": 0}), (6, "stop", {})]


def history_line(words):
    word, run, token, at = words.split()
    return f"{word} {run} {token} {int(float(at) * SECOND)} 77\n"


def event_line(at, what, details):
    return json.dumps({"at": int(at * SECOND), "what": what, **details}) + "\n"


class CheckerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, history, events=None, wanted=(0, 0)):
        text = history if isinstance(history, str) else "".join(map(history_line, history))
        return checker.check(self.write("history", text),
                             self.write("events", "".join(event_line(*event) for event in events or EVENTS)), wanted)

    def expect(self, words, history, events=None, wanted=(0, 0)):
        """Expects exactly one violation, with these words."""
        violations = self.check(history, events, wanted)[1]
        self.assertEqual(len(violations), 1, violations)
        for word in words if isinstance(words, tuple) else (words,):
            self.assertIn(word, violations[0])

    def events_with(self, *more):
        return sorted([*EVENTS, *more], key=lambda event: event[0])

    def test_a_good_history_has_no_violation_and_is_counted(self):
        counted, violations = self.check(GOOD, wanted=(1, 1))
        self.assertEqual(violations, [])
        self.assertIn("sections: 3, 1 of them cut short", counted)
        self.assertIn("statuses: 2 × 0, 1 × 76", counted)
        self.assertIn("faults: 1 of 1 kinds", counted)
        self.assertIn("longest free time: 3.500 s with a quorum (6.0 s allowed)", counted)

    # --- overlaps ------------------------------------------------------------------------------------

    def test_a_sign_of_life_after_the_next_enter_is_an_overlap(self):
        history = [*GOOD[:5], "alive 1.1 100 1.45", *GOOD[5:]]
        history.remove("exit 1.1 100 1.3")
        events = [event for event in EVENTS if event[2].get("run") != "1.1"]
        self.expect(("overlap: 1.1 lives on for 0.050000 s after 2.1", "line 4: enter 2.1", "line 5: alive 1.1"),
                    history, events)

    def test_a_line_written_after_the_next_enter_is_one_although_its_clock_is_older(self):
        self.expect(("overlap: 1.1", "line 5: alive 1.1"),
                    [*GOOD[:3], "enter 2.1 101 1.4", "alive 1.1 100 1.25", "alive 2.1 101 1.5", *GOOD[6:]],
                    [event for event in EVENTS if event[2].get("run") != "1.1"])

    def test_a_clock_later_than_the_next_enters_is_one_although_its_line_stands_before(self):
        self.expect("overlap: 1.1", [*GOOD[:3], "exit 1.1 100 1.42", *GOOD[4:]])

    def test_an_earlier_section_than_the_one_before_is_found_too(self):
        self.expect(("overlap: 2.1", "alive 2.1"), [*GOOD, "alive 2.1 101 5.05"])

    def test_the_same_moment_is_an_overlap(self):
        self.expect("overlap: 1.1", [*GOOD[:3], "exit 1.1 100 1.4", *GOOD[4:]])

    def test_who_does_not_get_the_kernels_lock_overlaps_whatever_clock_and_lines_say(self):
        self.expect(("overlap by the kernel's lock", "overlap 2.1"),
                    [line.replace("enter 2.1", "overlap 2.1") for line in GOOD])

    # --- tokens --------------------------------------------------------------------------------------

    def test_a_token_has_to_be_larger_than_the_one_before(self):
        for token in ("101", "100", "99"):
            changed = [line.replace(" 107 ", f" {token} ") for line in GOOD]
            self.expect(("token does not grow", "enter 2.1", "enter 1.2"), changed)

    def test_tokens_are_compared_as_numbers(self):
        self.assertEqual(self.check([line.replace(" 107 ", " 1000 ") for line in GOOD])[1], [])

    def test_a_run_has_one_token(self):
        self.expect("cannot follow", [line.replace("alive 2.1 101", "alive 2.1 102") for line in GOOD])

    def test_nothing_follows_an_exit(self):
        self.expect("cannot follow", [*GOOD[:4], "alive 1.1 100 1.35", *GOOD[4:]])

    def test_nobody_enters_twice(self):
        self.expect("cannot follow", [*GOOD[:2], "enter 1.1 100 1.15", *GOOD[2:]])

    # --- free for too long ---------------------------------------------------------------------------

    def late(self, at):
        return [*GOOD[:6], f"enter 1.2 107 {at}", f"exit 1.2 107 {at + 0.1}"]

    def late_events(self, at, *more):
        return sorted([*EVENTS[:4], (at + 0.2, "end", {"run": "1.2", "status": 0}), (at + 1, "stop", {}), *more],
                      key=lambda event: event[0])

    def test_the_lock_may_not_be_free_for_too_long(self):
        self.assertEqual(self.check(self.late(7.4), self.late_events(7.4))[1], [])
        self.expect(("free for 6.100 s, from 1.5", "until: line 7: enter 1.2"), self.late(7.6), self.late_events(7.6))

    def test_not_at_the_end_of_the_run_either(self):
        self.expect("until: the end of the run", GOOD, [*EVENTS[:-1], (11.2, "stop", {})])

    def test_what_comes_after_the_stop_does_not_count(self):
        settled = (60, "crowd end", {"run": "pull1.1", "status": 0, "said": "", "over": True})
        self.assertEqual(self.check(GOOD, [*EVENTS, settled])[1], [])

    def test_nor_at_its_beginning(self):
        shifted = [" ".join([*line.split()[:3], str(float(line.split()[3]) + 6)]) for line in GOOD]
        self.expect("line 1: enter", shifted, [EVENTS[0], *((at + 6, what, rest) for at, what, rest in EVENTS[1:])])

    def test_time_without_a_quorum_does_not_count(self):
        without = [(2, "quorum", {"there": False}), (4, "quorum", {"there": True})]
        self.assertEqual(self.check(self.late(9.9), self.late_events(9.9, *without))[1], [])
        self.expect("free for 6.100 s, from 4.0", self.late(10.1), self.late_events(10.1, *without))

    def test_a_quorum_lost_before_and_back_within_counts_from_then_on(self):
        without = [(1.45, "quorum", {"there": False}), (3, "quorum", {"there": True})]
        self.assertEqual(self.check(self.late(8.9), self.late_events(8.9, *without))[1], [])
        self.expect("from 3.0", self.late(9.2), self.late_events(9.2, *without))

    def test_a_waiter_that_is_hit_begins_it_anew_and_other_faults_do_not(self):
        def hit(kind):
            return (5, "fault", {"kind": kind, "run": "3.1"})
        self.assertEqual(self.check(self.late(9), self.late_events(9, hit("waiting zklock killed")))[1], [])
        self.expect("from 5.0", self.late(11.2), self.late_events(11.2, hit("waiting zklock frozen")))
        self.expect("from 1.5", self.late(9), self.late_events(9, hit("slow link")))

    def test_so_does_a_server_that_is_back_with_what_it_had_not_passed_on(self):
        for kind in ("follower frozen", "followers frozen", "leader cut off from clients"):
            healed = (5, "healed", {"kind": kind})
            self.assertEqual(self.check(self.late(9), self.late_events(9, healed))[1], [])
            self.expect("from 5.0", self.late(11.2), self.late_events(11.2, healed))
        for kind in ("follower killed", "zklock frozen, more than a session", "slow link"):
            self.expect("from 1.5", self.late(9), self.late_events(9, (5, "healed", {"kind": kind})))

    # --- statuses ------------------------------------------------------------------------------------

    def with_status(self, run, status):
        return [(at, what, {**rest, "status": status} if what == "end" and rest["run"] == run else rest)
                for at, what, rest in EVENTS]

    def test_success_is_not_claimed_for_a_section_that_was_cut_short(self):
        self.expect("status 0 of 2.1, which was cut short inside", GOOD, self.with_status("2.1", 0))

    def test_other_statuses_are_violations(self):
        for status in (70, 69, 137, -15):
            self.expect(f"status {status} of 1.1", GOOD, self.with_status("1.1", status))

    def test_a_lock_cannot_be_lost_that_was_never_had(self):
        lost = (2, "end", {"run": "4.1", "status": 76})
        self.expect("status 76 of 4.1, which never entered", GOOD, self.events_with(lost))

    def test_a_death_by_sigkill_is_ours_or_a_violation(self):
        self.expect("status -9 of 2.1", GOOD, self.with_status("2.1", -9))
        shot = self.events_with((1.5, "fault", {"kind": "zklock killed", "run": "2.1"}))
        shot = [(at, what, {**rest, "status": -9} if rest.get("status") == 76 else rest) for at, what, rest in shot]
        self.assertEqual(self.check(GOOD, shot)[1], [])

    def test_what_a_busy_machine_can_cause_has_a_status_of_its_own(self):
        late = ["free for 9.1 s, from 1 to 10", "number 3 is unused for 8 s", "waits: late: wait1.3 has ended after 9 s",
                "contender 2 has not been inside since the last fault", "left over: node /l/_c_1-lock-1, of session 0x1"]
        self.assertEqual(checker.status_of([]), 0)
        self.assertEqual(checker.status_of(late), checker.LATE)
        for worse in ("overlap: 1.1 lives on", "lost: 3 of 9 lines", "left over: process 7", "margin: 1.1 lives"):
            self.assertEqual(checker.status_of([*late, worse]), 1)

    def test_nothing_is_proved_on_servers_that_do_not_agree(self):
        differ = [*EVENTS, (30, "servers differ", {"texts": ["1:2181 has 2 nodes that not all have: /a, /b"]})]
        self.expect("the servers do not agree: 1:2181 has 2 nodes", GOOD, differ)
        self.assertEqual(checker.status_of(["lost: 3 of 9 lines", *self.check(GOOD, differ)[1]]), checker.LATE)

    # --- what is left ---------------------------------------------------------------------------------

    def test_a_process_or_a_node_that_is_left_is_a_violation(self):
        left = "node /locks/faults/_c_1-lock-0000000007, of session 0x1"
        self.expect(f"left over: {left}", GOOD, [*EVENTS, (30, "left over", {"texts": [left]})])

    def test_what_stays_by_design_is_not(self):
        for path in ("/locks/faults", "/promises/once.last", "/promises/slots/leases", "/queues/dead/dead/100-0000000001",
                     "/queues/dead/dead/100-0000000001/abcdefghijkl-0000000001/why", "/groups/faults", "/values/counter",
                     "/queues/lines/items/100-0000000003", "/numbers/7", "/zookeeper/quota"):
            self.assertTrue(leftovers.is_by_design(path), path)
        for path in ("/locks/faults/_c_x-lock-0000000001", "/queues/lines/items/100-0000000003/abcdefghijkl-0000000001/claim",
                     "/promises/slots/leases/_c_x-lease-0000000001", "/what", "/groups/faults/join1-0000000001",
                     "/queues/lines/pushing/abcdefghijkl"):
            self.assertFalse(leftovers.is_by_design(path), path)

    # --- what cannot be judged -----------------------------------------------------------------------

    def test_garbled_and_truncated_lines_are_violations_and_the_rest_is_judged(self):
        text = "".join(map(history_line, GOOD))
        self.expect("unreadable: line 9: 'alive 1.2 10'", text + "alive 1.2 10")
        self.expect("unreadable: line 9", text + history_line("alive 1.2 107 5.1").rstrip("\n"))
        for garbage in ("\n", "enter 9.1 x 5 77\n", "alive 1.1 10alive 1.1 100 5 77\n", "\0\0\n", "left 1.1 1 1 1\n"):
            self.expect("unreadable: line 1", garbage + text)
        broken = text + "what?\n" + history_line("enter 2.2 50 5.5")
        self.assertEqual(len(self.check(broken)[1]), 2)

    def test_bytes_that_are_no_text_are_a_violation(self):
        path = self.write("history", "".join(map(history_line, GOOD)))
        with open(path, "ab") as file:
            file.write(b"\xff\xfe\n")
        events = self.write("events", "".join(event_line(*event) for event in EVENTS))
        self.assertIn("unreadable: line 9", checker.check(path, events)[1][0])

    def test_life_without_having_entered_is_a_violation(self):
        self.expect("outside of any section: line 1: alive 7.7", ["alive 7.7 90 0.5", *GOOD])

    def test_an_empty_history_proves_nothing(self):
        self.assertIn("nobody ever entered", self.check([], [EVENTS[0], EVENTS[-1]])[1])

    def test_too_little_time_with_a_quorum_proves_nothing(self):
        self.expect("a quorum for 0.8 s only", GOOD, self.events_with((0.8, "quorum", {"there": False}),
                                                                        (6, "quorum", {"there": True})))

    def test_too_few_faults_prove_nothing(self):
        self.expect("1 faults of 1 kinds; wanted were 2 of 1", GOOD, wanted=(2, 1))
        self.expect("1 faults of 1 kinds; wanted were 1 of 2", GOOD, wanted=(1, 2))

    # --- the suite itself, and what is left ----------------------------------------------------------

    def test_a_kind_that_is_never_made_is_one(self):
        skipped = [(2 + n, "skipped", {"kind": "leader killed"}) for n in range(3)]
        self.expect("3 times planned, never made: leader killed", GOOD, self.events_with(*skipped))
        self.assertEqual(self.check(GOOD, self.events_with(*skipped[:2]))[1], [])
        made = (4, "fault", {"kind": "leader killed"})
        self.assertEqual(self.check(GOOD, self.events_with(*skipped, made, (4.1, "begin", {"run": "1.3", "pid": 1})))[1], [])

    def test_who_has_no_turn_after_the_last_fault_is_one(self):
        begins = [(0.1, "begin", {"run": run, "pid": 1}) for run in ("1.1", "2.1")]
        self.expect("contender 2 has not been inside since the last fault", GOOD,
                    self.events_with(*begins, (4, "healed", {"kind": "guard killed"})))

    def test_a_node_that_is_left_is_one(self):
        self.expect("left over: /locks/faults/_c_1-lock-0000000001", GOOD,
                    self.events_with((7, "left over", {"texts": ["/locks/faults/_c_1-lock-0000000001"]})))


if __name__ == "__main__":
    unittest.main()
