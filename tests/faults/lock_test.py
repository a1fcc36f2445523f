# SPDX-License-Identifier: Apache-2.0
"""Checks hand-made histories of the families of `zklock run`: some keep every rule, and for each rule some break it."""

import os
import tempfile
import unittest
import unittest.mock

import history
import lock_checker
from promises import BY_NAME, INNER_PATHS, SPECS, TOO_HEAVY, chosen, spec_of

SECOND = 10**9
SHARED = ["enter reader1.1 10 1.0", "enter reader2.1 11 1.1", "exit reader1.1 10 1.2", "alive reader2.1 11 1.3",
          "exit reader2.1 11 1.4", "enter writer1.1 12 1.5", "exit writer1.1 12 1.6"]
SLOTS = ["enter slot1.1 10 1.0", "enter slot2.1 11 1.1", "enter slot3.1 12 1.2", "exit slot1.1 10 1.3",
         "enter slot4.1 13 1.4", "exit slot2.1 11 1.5", "exit slot3.1 12 1.5", "exit slot4.1 13 1.6"]
SEVERAL = ["enter both1.1 10,11 1.0", "exit both1.1 10,11 1.1", "enter left1.1 12 1.2", "enter right1.1 13 1.25",
           "exit left1.1 12 1.3", "exit right1.1 13 1.35", "enter both2.1 14,15 1.4", "exit both2.1 14,15 1.5"]
NESTED = ["enter same1.1 10 1.0", "enter insame1.1 10 1.1", "exit insame1.1 10 1.2", "exit same1.1 10 1.3",
          "enter other1.1 11 1.4", "enter inother1.1 12 1.5", "exit inother1.1 12 1.6", "exit other1.1 11 1.7"]
ONCE = ["enter once1.1 10 1.0", "fail once1.1 10 1.1", "enter once2.1 11 1.2", "exit once2.1 11 1.3",
        "enter once1.3 14 5.0", "exit once1.3 14 5.1"]
ONCE_ENDS = {"once1.1": (0.5, 1.15, 1), "once2.1": (0.6, 1.35, 0), "once3.1": (1.5, 1.6, 75), "once1.3": (4.9, 5.2, 0)}
RESTART = ["enter standby1.1 10 1.0", "alive standby1.1 10 1.5", "enter standby2.1 11 2.0", "exit standby2.1 11 2.5",
           "enter standby1.1 12 3.0", "exit standby1.1 12 3.5"]


class LockTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, family, lines):
        with open(os.path.join(self.folder, f"history.{family}"), "w", encoding="ascii") as file:
            for word, run, token, at in map(str.split, lines):
                file.write(f"{word} {run} {token} {round(float(at) * SECOND)} 7\n")

    def events_of(self, ends):
        """Returns events. `ends`: for each run, when it began and ended, and its status."""
        for run, (begun, at, status, *said) in ends.items():
            common = {"run": run, "family": "run", "alive": int(at * SECOND)}
            yield {"at": int(begun * SECOND), "what": "crowd begin", **common}
            yield {"at": int(at * SECOND), "what": "crowd end", "status": status, "said": "".join(said), **common}

    def check(self, family, lines, ends=None, faults=()):
        self.write(family, lines)
        events = [*self.events_of(ends or {}), *({"at": 0, "what": "fault", "kind": kind, **({"run": run} if run else {})}
                                                for run, kind in faults)]
        return lock_checker.check(self.folder, sorted(events, key=lambda event: event["at"]))

    def expect(self, words, *given, **more):
        """Expects exactly one violation, with these words."""
        violations = self.check(*given, **more)[1]
        self.assertEqual(len(violations), 1, violations)
        for word in words if isinstance(words, tuple) else (words,):
            self.assertIn(word, violations[0])

    def test_good_histories_have_no_violation_and_are_counted(self):
        good = {"shared": SHARED, "slots": SLOTS, "several": SEVERAL, "nested": NESTED, "restart": RESTART}
        for family, lines in good.items():
            self.assertEqual(self.check(family, lines)[1], [], family)
        counted, violations = self.check("once", ONCE, ONCE_ENDS)
        self.assertEqual(violations, [])
        self.assertIn("shared: 3 sections, 0 of them cut short, 2 at once; ", counted)
        self.assertIn("slots: 4 sections, 0 of them cut short, 3 at once; ", counted)
        self.assertIn("once: 3 sections, 0 of them cut short, 1 at once; 2 × 0, 1 × 1, 1 × 75", counted)

    def test_nothing_is_said_of_families_that_did_not_run(self):
        self.assertEqual(lock_checker.check(self.folder, []), ([], []))

    # --- exclusion -----------------------------------------------------------------------------------

    def test_who_does_not_get_the_kernels_lock_overlaps(self):
        for family, lines in (("shared", SHARED), ("slots", SLOTS), ("several", SEVERAL)):
            self.expect("overlap by the kernel's lock", family, [lines[0].replace("enter", "overlap"), *lines[1:]])
            os.remove(os.path.join(self.folder, f"history.{family}"))

    def test_a_reader_beside_a_writer_is_an_overlap_by_the_clock(self):
        self.expect(("hold shared: writer1.1", "enter reader3.1"), "shared",
                    [*SHARED[:6], "enter reader3.1 13 1.55", "exit writer1.1 12 1.6", "exit reader3.1 13 1.7"])

    def test_and_by_the_order_of_lines(self):
        self.expect("hold shared: reader2.1 lives on after writer1.1", "shared",
                    [*SHARED[:4], SHARED[5], "alive reader2.1 11 1.4", SHARED[6]])

    def test_two_writers_are_an_overlap(self):
        self.expect("hold shared: writer1.1", "shared", [*SHARED[:6], "enter writer2.1 14 1.55", SHARED[6]])

    def test_one_more_than_there_are_slots_is_an_overlap(self):
        self.expect("4 hold slots", "slots", [*SLOTS[:3], "enter slot4.1 13 1.25", *SLOTS[3:4], *SLOTS[5:]])

    def test_who_takes_both_locks_is_alone_in_each(self):
        self.expect("hold right: both1.1", "several", [SEVERAL[0], "enter right1.1 13 1.05", SEVERAL[1]])
        self.expect("hold left: left1.1", "several", [SEVERAL[2], "enter both2.1 14,15 1.25", SEVERAL[4]])

    def test_tokens_of_one_lock_grow(self):
        lines = [line.replace("14,15", "14,9") for line in SEVERAL]
        self.expect("token of right does not grow", "several", lines)

    def test_so_do_those_of_writers(self):
        self.expect("token of shared does not grow", "shared", [*SHARED, "enter writer2.1 12 1.8"])

    def test_tokens_of_those_who_share_need_not(self):
        self.assertEqual(self.check("slots", [line.replace("slot4.1 13", "slot4.1 9") for line in SLOTS])[1], [])

    def test_an_inner_one_does_not_outlive_its_outer_one(self):
        self.expect("the inner one lives on", "nested", [*NESTED[:4], "alive insame1.1 10 1.35", *NESTED[4:]][:2]
                    + [NESTED[3], "alive insame1.1 10 1.35"])
        self.expect("inside of nothing", "nested", NESTED[5:7])

    def test_those_who_may_be_together_are_so(self):
        alone = [line for n in range(lock_checker.ENOUGH)
                 for line in (f"enter reader1.{n} {n} {n}.0", f"exit reader1.{n} {n} {n}.5")]
        self.expect("never were 2 in together", "shared", alone)

    def test_a_line_that_cannot_follow_and_one_that_cannot_be_read(self):
        self.expect("cannot follow", "shared", [*SHARED, "alive writer1.1 12 1.7"])
        self.expect("outside of any", "shared", [*SHARED, "alive writer9.1 12 1.7"])
        self.write("slots", [])
        with open(os.path.join(self.folder, "history.slots"), "w", encoding="ascii") as file:
            file.write("enter slot1.1 x 5 7\n")
        self.assertIn("unreadable", lock_checker.check(self.folder, [])[1][-1])

    # --- --once-per ----------------------------------------------------------------------------------

    def test_nobody_succeeds_twice_in_the_time_of_once_per(self):
        self.expect("once1.3 runs 2.700 s after once2.1 has succeeded", "once",
                    [line.replace(" 5.0", " 4.0") for line in ONCE], ONCE_ENDS)

    def test_where_a_servers_clock_is_wrong_it_is_not_judged(self):
        lines = [line.replace(" 5.0", " 4.0") for line in ONCE]
        self.assertEqual(self.check("once", lines, ONCE_ENDS, [(None, "wall clock of a server an hour ahead")])[1], [])
        self.assertEqual(len(self.check("once", lines, ONCE_ENDS, [(None, "wall clock of clients an hour ahead")])[1]), 1)

    def test_a_success_that_was_not_noted_does_not_count(self):
        ends = {**ONCE_ENDS, "once2.1": (0.6, 1.35, 76)}
        self.assertEqual(self.check("once", [line.replace(" 5.0", " 4.0") for line in ONCE], ends)[1], [])

    def test_nobody_is_refused_because_of_a_failure(self):
        self.expect("once3.1 is refused, but nobody has succeeded", "once", ONCE[:2],
                    {"once1.1": (0.5, 1.15, 1), "once3.1": (1.2, 1.3, 75)})

    def test_nor_when_the_time_is_over(self):
        self.expect("once3.9 is refused", "once", ONCE, {**ONCE_ENDS, "once3.9": (8.3, 8.4, 75)})

    # --- -w, -n, --restart ---------------------------------------------------------------------------

    def test_a_wait_ends_in_time(self):
        self.assertEqual(self.check("waits", [], {"wait1.1": (1, 3, 75), "try1.1": (1, 2, 75)})[1], [])
        self.expect("late: wait1.1 has ended with 75 after 5.000 s", "waits", [], {"wait1.1": (1, 6, 75)})
        self.expect("late: try1.1", "waits", [], {"try1.1": (1, 4.5, 75)})

    def test_an_end_that_was_noticed_late_is_not_a_late_end(self):
        self.write("waits", [])
        events = list(self.events_of({"try1.1": (1, 4.5, 75)}))
        self.assertEqual(len(lock_checker.check(self.folder, events)[1]), 1)
        events[-1]["alive"] = int(1.2 * SECOND)
        self.assertEqual(lock_checker.check(self.folder, events)[1], [])

    def test_where_servers_fail_it_may_take_longer_but_not_for_ever(self):
        fails = [(None, "leader killed")]
        self.assertEqual(self.check("waits", [], {"wait1.1": (1, 6, 75)}, fails)[1], [])
        self.expect("late: wait1.1 has ended with 69 after 9.000 s", "waits", [], {"wait1.1": (1, 10, 69)}, faults=fails)

    def test_who_was_frozen_may_be_late(self):
        ends = {"wait1.1": (1, 6, 75)}
        self.assertEqual(self.check("waits", [], ends, [("wait1.1", "run frozen, more than a session")])[1], [])

    def test_restart_enters_again_with_a_larger_token_only(self):
        self.expect("cannot follow", "restart", [*RESTART[:2], "enter standby1.1 10 1.6"])
        self.expect("token of restart does not grow", "restart", [line.replace(" 12 ", " 9 ") for line in RESTART])

    # --- statuses ------------------------------------------------------------------------------------

    def test_statuses_that_do_not_fit(self):
        for run, status, lines in (("writer1.1", 75, SHARED), ("writer1.1", 1, SHARED), ("reader1.1", 0, SHARED[:2]),
                                   ("writer9.1", 76, SHARED), ("writer9.1", 69, SHARED), ("writer1.1", -9, SHARED)):
            self.expect(f"status {status} of {run}", "shared", lines, {run: (0.5, 3, status, "zklock: what?")})

    def test_statuses_that_fit(self):
        for run, status, lines in (("writer1.1", 76, SHARED), ("reader1.1", 76, SHARED[:2]), ("writer1.1", 0, SHARED)):
            self.assertEqual(self.check("shared", lines, {run: (0.5, 3, status)})[1], [])
        killed = [("writer1.1", "run killed")]
        self.assertEqual(self.check("shared", SHARED, {"writer1.1": (0.5, 3, -9)}, killed)[1], [])

    def test_another_programs_contender_ends_itself_when_it_is_cut_off(self):
        inside = ["enter kazoo1.1 1 1.0", "alive kazoo1.1 1 1.1"]
        self.assertEqual(self.check("peers", inside, {"kazoo1.1": (0.5, 2, 76)})[1], [])

    def test_restart_ends_neither_by_a_loss_nor_by_a_lack_of_servers(self):
        for status in (76, 69, 75):
            self.expect(f"status {status} of standby1.1", "restart", RESTART, {"standby1.1": (0.5, 4, status)})

    def test_a_command_that_fails_is_no_success(self):
        self.expect("status 0 of once1.1", "once", ONCE, {**ONCE_ENDS, "once1.1": (0.5, 1.15, 0)})

    def test_a_lock_may_be_lost_before_the_record_of_a_success_is_read(self):
        never = {**ONCE_ENDS, "once7.1": (0.2, 0.4, 76, "zklock: lost /l: ...; the command was not started\n")}
        self.assertEqual(self.check("once", ONCE, never)[1], [])
        self.expect("status 76 of once7.1, which never entered", "once", ONCE, {**never, "once7.1": (0.2, 0.4, 76)})

    # --- groups --------------------------------------------------------------------------------------

    def test_a_members_command_is_never_cut_short_by_the_group(self):
        inside = ["enter guest1.1 1 1.0", "alive guest1.1 1 1.1"]
        self.expect("status 76 of guest1.1, which was cut short inside", "groups", inside, {"guest1.1": (0.5, 2, 76)})
        self.assertEqual(self.check("groups", inside, {"guest1.1": (0.5, 2, -9)}, [("guest1.1", "member killed")])[1], [])

    def test_it_is_dead_when_the_next_one_joins(self):
        self.expect("hold guest1: guest1.1 lives on after guest1.2", "groups",
                    ["enter guest1.1 1 1.0", "enter guest1.2 1 1.1", "alive guest1.1 1 1.2"])

    def test_there_are_never_so_many(self):
        self.expect("status 0 of many1.1, which never entered", "groups", [], {"many1.1": (1, 2, 0)})
        self.assertEqual(self.check("groups", [], {"few1.1": (1, 2, 0), "many1.1": (1, 3, 75)})[1], [])

    # --- turns ---------------------------------------------------------------------------------------

    def test_who_had_no_turn_since_is_named(self):
        self.write("shared", SHARED)
        self.write("waits", [])
        events = list(self.events_of({"try1.1": (1, 2, 75), "wait1.1": (0.1, 0.5, 75)}))
        loops = ["reader1", "reader3", "writer1", "try1", "wait1"]
        self.assertEqual(lock_checker.turned(self.folder, events, loops, 1.1 * SECOND), ["reader3", "wait1"])

    def test_who_had_a_turn_is_found_however_the_file_is_read(self):
        self.write("shared", SHARED)
        path = os.path.join(self.folder, "history.shared")
        for block in range(1, 200):
            with unittest.mock.patch("history.BLOCK", block):
                self.assertEqual(history.runs_since(path, 0), {section.run for section in history.read_history(path).sections})



class FamiliesTest(unittest.TestCase):
    def test_each_comes_in_some_short_run(self):
        self.assertEqual({family for seed in range(40) for family in chosen(seed, False)},
                         set(chosen(0, True)) - {*TOO_HEAVY})

    def test_names_lead_to_their_specs(self):
        for spec in SPECS:
            self.assertIs(spec_of(f"{spec.name}1.17"), spec)
            self.assertIn(spec.inner, ("", *INNER_PATHS))
            self.assertEqual(BY_NAME[spec.name], spec)


if __name__ == "__main__":
    unittest.main()
