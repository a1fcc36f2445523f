# SPDX-License-Identifier: Apache-2.0
"""A stamp changes with everything that the test depends on; the eighths together are all, without repeats."""

import glob
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import changes
import stamps


class StampsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, stamps, "ROOT", stamps.ROOT)
        self.addCleanup(stamps.content_of.cache_clear)
        stamps.ROOT = folder.name
        self.write("src/zk/a.cc", '#include "zk/b.h"\n#include <vector>\n')
        self.write("src/zk/b.h", '#include "base/c.h"\n')
        self.write("src/base/c.h", '#include "zk/b.h"\n')
        self.write(".clang-tidy", "Checks: a\n")
        self.write("CMakePresets.json", "{}\n")

    def write(self, path, text):
        stamps.content_of.cache_clear()
        os.makedirs(os.path.dirname(f"{stamps.ROOT}/{path}") or ".", exist_ok=True)
        with open(f"{stamps.ROOT}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_file_depends_on_what_it_includes(self):
        self.assertEqual(set(stamps.included("src/zk/a.cc")), {"src/zk/a.cc", "src/zk/b.h", "src/base/c.h"})

    def test_of_a_changed_header_one_file_is_checked_that_includes_it_its_own_if_that_does(self):
        self.write("src/zk/b.cc", '#include "zk/b.h"\n')
        paths = ["src/zk/a.cc", "src/zk/b.cc"]
        self.assertEqual(stamps.to_check(paths, {"src/zk/b.h"}), {"src/zk/b.cc"})
        self.assertEqual(stamps.to_check(paths, {"src/base/c.h"}), {"src/zk/a.cc"})
        self.assertEqual(stamps.to_check(paths, {"src/zk/a.cc", "src/zk/other.h"}), {"src/zk/a.cc"})

    def test_what_tidy_has_passed_is_judged_anew_after_a_change_of_anything_that_counts(self):
        seen = {stamps.of_tidy("src/zk/a.cc", "14")}
        seen.add(stamps.of_tidy("src/zk/a.cc", "15"))
        for path in ("src/zk/a.cc", "src/base/c.h", ".clang-tidy", "CMakePresets.json"):
            self.write(path, "// other\n" if path != "src/zk/a.cc" else '#include "zk/b.h"\n// other\n')
            seen.add(stamps.of_tidy("src/zk/a.cc", "14"))
        self.assertEqual(len(seen), 6)

    def test_what_is_not_depended_on_changes_nothing(self):
        before = stamps.of_tidy("src/zk/a.cc", "14")
        self.write("src/zk/d.h", "// other\n")
        self.assertEqual(stamps.of_tidy("src/zk/a.cc", "14"), before)

    def test_a_file_more_in_a_folder_is_a_change(self):
        before = stamps.stamp_of("x", ["src"])
        self.write("src/zk/e.cc", "")
        self.assertNotEqual(stamps.stamp_of("x", ["src"]), before)

    def test_a_test_of_zklock_has_no_stamp(self):
        self.assertIsNone(stamps.of_bats("run_wait"))


class TableTest(unittest.TestCase):
    def test_what_the_table_names_is_there(self):
        for name, paths in stamps.TESTED.items():
            self.assertTrue(stamps.bats_file(name), name)
            for path in paths:
                self.assertTrue(glob.glob(f"{stamps.ROOT}/{path}"), path)


class ChangesTest(unittest.TestCase):
    def test_the_eighths_are_all(self):
        names = {f"n{number}" for number in range(77)}
        eighths = [changes.eighth_of(names, number) for number in range(8)]
        self.assertEqual({name for eighth in eighths for name in eighth}, names)
        self.assertEqual(sum(map(len, eighths)), 77)
        self.assertLessEqual({len(eighth) for eighth in eighths}, {9, 10})

    def test_the_turn_is_the_commits(self):
        self.assertEqual([changes.turn("0000000f"), changes.turn("00000010")], [7, 0])

    def test_subjects_are_folders(self):
        self.assertEqual(changes.subjects_of(["src/recipe/queue/ack.cc", "src/command/lock/run.cc", "src/zk/words/x.cc",
                                              "tests/bats/top/top_tree.bats", "README.md", "src/recipe/line.cc"]),
                         {"queue", "lock", "zk", "top", "recipe"})

    def test_a_comment_is_no_code_but_for_clang_tidy(self):
        code = 'a("x // y", 1\'000, \'"\');'
        self.assertEqual(changes.code_of(f"// b\n{code}  // c\n/* d\n e */\n"), code)
        self.assertNotEqual(changes.code_of(f"{code}  // NOLINT(e)"), code)
        self.assertNotEqual(changes.code_of(code.replace("x", "z")), code)


if __name__ == "__main__":
    unittest.main()
