# SPDX-License-Identifier: Apache-2.0
"""The parts of scripts/test: what each runs. A part is a function that returns whether it has passed."""

import contextlib
import fcntl
import itertools
import json
import os
import random
import re
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import changes
import stamps
from ctests import FOUND, note, on_servers, run_tests, tests_in
from memory import Memory
from stamps import ROOT

JOBS = os.cpu_count() or 1
WAITING = 3 * JOBS  # tests at a time that wait more than they work
QUICK, USUAL, ALL = "quick", "usual", "all"
BESIDE = "beside"  # a part that runs while those after it run

# No test expects this status. The longest wait for a fact is in seconds: sanitizers make a start seven times as long.
UNDER_SANITIZERS = {
    "ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "LSAN_OPTIONS": f"print_suppressions=0:suppressions={ROOT}/tests/helpers/lsan.supp",
    "ZKLOCK_TEST_WAIT": "60",
}
# These of clang-tidy's checks depend on the main file, so each file is checked alone for them.
ALONE = ("-*,bugprone-exception-escape,bugprone-suspicious-include,misc-unused-alias-decls,misc-unused-using-decls,"
         "modernize-deprecated-headers")  # these depend on the main file
TOGETHER = "-bugprone-exception-escape,-bugprone-suspicious-include"
CLASSES = f"{ROOT}/build/classes"  # Java's, for the servers
WORKLOADS = ("lock", "jobs", "queue", "upkeep", "await", "group", "value", "looks")  # of tests/sim
# These do not test zklock.
NOT_OF_ZKLOCK = {"sandbox", "sandbox_tls", "check_includes", "try"}


class Scope:
    """How much is run, and what has changed."""

    def __init__(self, mode):
        self.mode = mode
        self.memory = Memory()
        self.number = changes.turn(changes.head())
        self.base = changes.last_passed(self.memory.passed())
        if mode == QUICK:
            self.base = changes.before_last_change()
        self.changed = set(changes.changed_since(self.base)) if self.base else set()
        self.changed_or_gone = self.changed | set(changes.gone_since(self.base) if self.base else ())
        self.subjects = changes.subjects_of(self.changed)

    def picked(self, what, names, is_changed, stamp, eighth_of=changes.eighth_of):
        """Returns the names that have to be run: all; or the changed ones and an eighth of the others, without tests
        that are known to have passed as they are."""
        if self.mode == ALL:
            return sorted(names)
        changed = [name for name in sorted(names) if is_changed(name)]
        eighth = [] if self.mode == QUICK else eighth_of(set(names) - set(changed), self.number)
        picked = [name for name in (*changed, *eighth) if not self.memory.has_stamp(stamp(name))]
        print(f"{what}: {len(changed)} changed; eighth {self.number + 1} of 8 of the rest: {' '.join(eighth) or 'none'}; "
              f"{len(changed) + len(eighth) - len(picked)} of these have passed as they are", flush=True)
        return picked


def succeeds(words, **more):
    return subprocess.run(words, cwd=ROOT, check=False, **more).returncode == 0


def quietly(log, words, **more):
    """Runs WORDS with the output in LOG below build/, which is shown if they fail."""
    os.makedirs(os.path.dirname(f"{ROOT}/build/{log}"), exist_ok=True)
    with open(f"{ROOT}/build/{log}", "w+", encoding="utf-8", errors="replace") as file:
        passed = succeeds(words, stdout=file, stderr=subprocess.STDOUT, **more)
        if not passed:
            file.seek(0)
            print(file.read(), flush=True)
    return passed


def at_a_time(count, work, items):
    """Returns what WORK returns for each item."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, items))


def environment(**more):
    return {**os.environ, **more}


@contextlib.contextmanager
def alone_in(preset):
    """Holds a lock on the preset, because two parts may build it at once."""
    os.makedirs(f"{ROOT}/build", exist_ok=True)
    with open(f"{ROOT}/build/{preset}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(preset, *targets):
    """Configures and builds a preset (CMakePresets.json) in build/PRESET."""
    launcher = "ccache" if succeeds(["sh", "-c", "command -v ccache >/dev/null"]) else ""
    # This lets ccache find what another clone has compiled.
    its = environment(CCACHE_BASEDIR=ROOT, CCACHE_NOHASHDIR="1",
                      CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime")
    cache = f"{ROOT}/build/{preset}/CMakeCache.txt"
    fresh = []
    if os.path.exists(cache):
        with open(cache, encoding="utf-8") as file:
            fresh = [] if "CMAKE_GENERATOR:INTERNAL=Ninja" in file.read() else ["--fresh"]
    configure = ["cmake", "--preset", preset, *fresh, f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
    target = ["--target", *targets] if targets else []
    with alone_in(preset):
        return (quietly(f"{preset}/configure.log", configure, env=its)
                and quietly(f"{preset}/build.log",
                            ["cmake", "--build", f"build/{preset}", "--parallel", str(JOBS), *target], env=its))


# --- the files -------------------------------------------------------------------------------------------------------

def listed(scope, *patterns):
    """Returns our files that match the patterns; for a quick check, only the changed ones."""
    paths = changes.git("ls-files", "--cached", "--others", "--exclude-standard", *patterns).splitlines()
    return [path for path in paths if os.path.isfile(f"{ROOT}/{path}") and (scope.mode != QUICK or path in scope.changed)]


def is_shell(path):
    if path.endswith((".bash", ".bats")):
        return True
    with open(f"{ROOT}/{path}", "rb") as file:
        first = file.readline()
    return first.startswith(b"#!") and first.rstrip().endswith((b"sh", b"bats"))


def check_each(words, paths):
    """Checks the paths in several calls of WORDS side by side."""
    calls = [paths[at::JOBS] for at in range(JOBS)]
    return all(at_a_time(JOBS, lambda its: not its or succeeds([*words, *its]), calls))


def format_(scope):
    """clang-format would change nothing"""
    return check_each(["clang-format", "--dry-run", "-Werror", "--ferror-limit=3"], listed(scope, "*.cc", "*.h"))


def shell(scope):
    """shellcheck has nothing to say"""
    return check_each(["shellcheck"], [path for path in listed(scope, "scripts", "tests", "completions", ".ci")
                                       if is_shell(path)])


def includes(_):
    """the includes point down (scripts/check-includes)"""
    return succeeds(["scripts/check-includes"])


def words(scope):
    """codespell knows every word, but for a few that are meant so"""
    # Recorded files are left out: pictures, certificates, histories, seeds of the fuzz targets.
    recorded = (".svg", ".pem", ".trace", ".seeds")
    return check_each(["codespell"], [path for path in listed(scope) if not path.endswith(recorded)])


def scripts(scope):
    """the unit tests of what is written in Python; each mutant fits the source"""
    # These take a minute, and test the Python code more than zklock.
    theirs = ("tests/faults/", "tests/experiments/", "tests/bench/", "tests/helpers/", "scripts/zk-sandbox")
    changed = any(path.startswith(theirs) for path in scope.changed_or_gone)
    slow = scope.picked("scripts", ["tests/faults", "tests/experiments"], lambda _: changed, lambda _: "")
    folders = ["tests/check", "tests/mutants", "tests/bench", *slow]
    os.environ["ZKLOCK_HELPERS"] = f"{ROOT}/build/test/tests"
    discover = ["python3", "-B", "-m", "unittest", "discover", "-p", "*_test.py", "-s"]
    # The folders are tested one after another, because those of the fault suite measure times.
    return all(quietly(f"check/{folder.replace('/', '-')}.log", [*discover, folder]) for folder in folders)


# --- zklock -----------------------------------------------------------------------------------------------------------

def build_(_):
    """build/test: zklock, by gcc with warnings as errors, and with traps at undefined behaviour; what its tests need"""
    if not build("test", "programs"):
        return False
    if not os.path.exists(CLASSES) and not quietly(
            "test/classes.log", ["tests/check/archive-classes", CLASSES, f"{ROOT}/build/test/zklock"]):
        print("build: there is no archive of Java's classes, so servers start later", flush=True)
    return True


def models(scope, *options):
    """the protocols, model checked, mistakes in them that have to be found, and kept histories"""
    names = [path[len("tests/model/"):-3] for path in listed(Scope(USUAL), "tests/model/*_model.cc")]
    its = {name: stamps.of_model(name) for name in names}
    if scope.mode != ALL:
        names = [name for name in names if not scope.memory.has_stamp(its[name])]
    if not names:
        print("models: all have passed as they are")
        return True
    if not build("test", *{*names, "line_model", "lease_model"}):
        return False

    def check(name):
        result = subprocess.run([f"build/test/tests/{name}", *(options or ("--quick", "--mutants"))], cwd=ROOT, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(result.stdout, end="", flush=True)
        return result.returncode == 0
    passed = check_histories()
    results = dict(zip(names, at_a_time(JOBS, check, names)))
    note("failed", [name for name, good in results.items() if not good])
    if passed:
        scope.memory.note_stamps([its[name] for name, good in results.items() if good])
    return passed and all(results.values())


def check_histories():
    """Checks the kept histories: a model must accept the allowed ones and reject the others."""
    folder = "tests/model/histories"
    allowed = [path for path in stamps.files_in(f"{folder}/allowed") if path.endswith(".trace")]
    refused = stamps.files_in(f"{folder}/refused")
    return all(quietly("test/histories.log", [f"build/test/tests/{model}_model", "--replay", history])
               for model in ("line", "lease") for history in allowed) and all(
        succeeds([f"build/test/tests/{model}_model", "--refuse",
                  *(path for path in refused if os.path.basename(path).startswith(f"{model}_"))])
        for model in ("line", "lease"))


def sim(scope, *options):
    """zklock in virtual time on simulated servers, with faults (tests/sim): 20 CPU seconds of locks and of queues, 10 of
    each other workload; for `all`, of other seeds in each commit, and for longer"""
    if not build("test", "sim"):
        return False
    if options:
        return succeeds(["build/test/tests/sim", *options], stdin=subprocess.DEVNULL)

    def holds(name):
        usual = ["--seeds", "500", "--cpu", "20" if name in ("lock", "queue") else "10"]
        if scope.mode == ALL:
            usual = ["--seeds", "100000", "--cpu", "300", "--first", str(int(changes.head()[:6], 16))]
        return succeeds(["build/test/tests/sim", name, *usual], stdin=subprocess.DEVNULL)

    return all(at_a_time(JOBS, holds, WORKLOADS))


def conformance(scope):
    """the simulated servers of tests/sim answer as real ones do, one and three; in `all`, sessions expire as there"""
    if not build("test", "conformance"):
        return False
    def holds(servers, *options, tick="2000"):
        return succeeds(["scripts/zk-sandbox", "--servers", servers, "--tick", tick, "--java-property",
                         "znode.container.checkIntervalMs=86400000", "--", "build/test/tests/conformance", "--tick", tick,
                         "--seed", str(scope.number + 1), *options])
    for servers in ("1", "3"):
        sequences = "2000" if scope.mode == ALL else "150"
        if not holds(servers, "--sequences", sequences):
            # The real servers are late now and then, so this gets a second try.
            if not holds(servers, "--sequences", sequences):
                return False
            note("flaky", [f"conformance on {servers} servers"])
        if scope.mode == ALL and not holds(servers, "--sequences", "0", "--expiry", "5", tick="200"):
            return False
    return True


def of_bats(scope):
    """Returns the Bats files to run, without those whose stamp says that they have passed. For a quick check these are
    the changed ones, those of the changed subjects, and the smoke tests."""
    labels = tests_in("build/test")
    names = {name for name, its in labels.items() if its & {"bats", "unsanitized", "race"}}
    if scope.mode == QUICK:
        changed = {f"bats.{os.path.basename(path)[:-5]}" for path in scope.changed if path.endswith(".bats")}
        return {name for name in names if labels[name] & scope.subjects} | (changed & names) | {"bats.smoke"}
    stamped = {f"bats.{name}" for name in stamps.TESTED if scope.memory.has_stamp(stamps.of_bats(name))}
    return names - stamped if scope.mode == USUAL else names


def bats(scope):
    """the program on real servers; where a promise is kept while something fails, over TLS; the tests' own thread, for
    races"""
    if not build("test", "programs"):
        return False
    names = of_bats(scope)
    # Computed now, because the files may be edited before the tests end.
    its = [stamps.of_bats(name) for name in stamps.TESTED if f"bats.{name}" in names]
    if not run_tests("build/test", names, WAITING, tls=True):
        return False
    scope.memory.note_stamps(its)
    return True


def faults(scope, *options):
    """contenders for one lock while things fail, and a checker; over TLS when the seed is odd; the simulation has more
    faults, so that these go on for a third of what they do in `all`"""
    if not build("test", "programs"):
        return False
    os.environ.update(ZKLOCK_BIN=f"{ROOT}/build/test/zklock", ZKLOCK_HELPERS=f"{ROOT}/build/test/tests")
    if scope and scope.mode == USUAL and not options:
        options = ("--seconds", "22")
    if "--seed" not in options:
        options = ("--seed", str(random.SystemRandom().randrange(10000)), *options)
    if int(options[options.index("--seed") + 1]) % 2 and "--tls" not in options:
        options = (*options, "--tls")
    return run_faults(options)


def run_faults(options):
    """Gives a late run a second try with the same seed, as for a test; a broken promise gets none."""
    status = subprocess.run(["tests/faults/run", *options], cwd=ROOT, check=False).returncode
    if status != 3:
        return status == 0
    print(f"== second try: faults {' '.join(options)}", flush=True)
    if not succeeds(["tests/faults/run", *options]):
        return False
    note("flaky", [f"faults {' '.join(options)}"])
    return True


# --- under sanitizers -------------------------------------------------------------------------------------------------

def clang(_):
    """build/clang: zklock, unit tests and fuzz targets by clang, under address and undefined-behaviour sanitizers"""
    return build("clang", "zklock", "unit_tests", "recipe_tests", "fuzz_targets")


def run_sanitized(preset, names, suffix=""):
    os.environ.update(UNDER_SANITIZERS)
    return run_tests(f"build/{preset}", names, WAITING, suffix=suffix)


def of_kind(preset, kind):
    return {name for name, labels in tests_in(f"build/{preset}").items() if kind in labels}


def unit(_):
    """unit tests, under sanitizers"""
    return build("clang", "unit_tests") and run_sanitized("clang", of_kind("clang", "unit"))


def recipe(_):
    """tests of recipes on real servers and through a proxy, under sanitizers"""
    return build("clang", "recipe_tests") and run_sanitized("clang", of_kind("clang", "recipe"))


def sanitized(scope):
    """unit and recipe at once, which is quicker and needs more second tries; for a quick check, of tests of recipes those
    of what has changed"""
    if not build("clang", "unit_tests", "recipe_tests"):
        return False
    recipes = of_kind("clang", "recipe")
    if scope.mode == QUICK:
        labels = tests_in("build/clang")
        recipes = {name for name in recipes if labels[name] & scope.subjects}
    return run_sanitized("clang", of_kind("clang", "unit") | recipes)


def fuzz(_):
    """each fuzz target (tests/fuzz) for 2 s"""
    # The random numbers are always the same: a change must not fail for an old bug.
    return build("clang", "fuzz_targets") and succeeds(["tests/fuzz/run", "--seed", "1", "build/clang", "2"])


# --- what is the same from change to change ---------------------------------------------------------------------------

def tidy(scope):
    """clang-tidy has nothing to say of src (.clang-tidy), and each file includes what it uses: those that have changed,
    one that includes each header that has changed, and an eighth of the others"""
    if not build("tidy", "zklock_commit"):
        return False
    version = subprocess.run(["clang-tidy", "--version"], check=False, stdout=subprocess.PIPE, text=True).stdout
    # Files that the build leaves out cannot be judged by its flags.
    paths = [path for path in changes.git("ls-files", "src/*.cc").splitlines()
             if os.path.basename(path) not in ("fmt.cc", "no_tls.cc")]
    stamp = lambda path: stamps.of_tidy(path, version)
    sources = [path for path in scope.changed if path.startswith("src/")]
    its_changes = stamps.to_check(paths, changes.with_other_code(sources, scope.base))
    picked = scope.picked("tidy", paths, lambda path: path in its_changes, stamp, changes.neighbours_of)
    words = compile_words()
    # Each file is checked by itself, too, for what it includes.
    alone = dict(zip(picked, at_a_time(JOBS, lambda path: has_nothing_to_say(path, words[path], ALONE), picked)))
    groups = together(picked, words, 12)
    good = at_a_time(JOBS, lambda group: has_nothing_to_say(including(group), words[group[0]], TOGETHER), groups)
    passed = [path for group, its in zip(groups, good) if its for path in group if alone[path]]
    note("failed", sorted(set(picked) - set(passed)))
    scope.memory.note_stamps(list(map(stamp, passed)))
    return len(passed) == len(picked)


def compile_words():
    """Returns how each file of build/tidy is compiled, without the names of input and output."""
    with open(f"{ROOT}/build/tidy/compile_commands.json", encoding="utf-8") as file:
        return {os.path.relpath(one["file"], ROOT): shlex.split(one["command"].partition(" -o ")[0]) for one in json.load(file)}


def together(paths, words, most):
    """Returns lists of up to MOST files of a folder that are compiled in the same way."""
    kind = lambda path: (os.path.dirname(path), words[path])
    return [group for _, its in itertools.groupby(sorted(paths, key=kind), kind) for files in [list(its)]
            for group in (files[at:at + most] for at in range(0, len(files), most))]


def including(paths):
    """Returns a file that includes these, so that shared headers are checked once."""
    file = f"{ROOT}/build/tidy/{paths[0].replace('/', '-')}"
    with open(file, "w", encoding="utf-8") as text:
        text.writelines(f'#include "{ROOT}/{path}"\n' for path in paths)
    return file


def has_nothing_to_say(path, words, checks):
    return succeeds(["clang-tidy", "--quiet", f"--checks={checks}", path, "--", *words[1:]], stderr=subprocess.DEVNULL)


def failsafe(scope):
    """the Bats files fail with a zklock that does nothing and claims success: those that have changed, and an eighth"""
    names = [os.path.basename(path)[:-5] for path in changes.git("ls-files", "tests/bats/*/*.bats").splitlines()]
    names = [name for name in names if name not in NOT_OF_ZKLOCK]
    picked = scope.picked("failsafe", names, lambda name: stamps.bats_file(name) in scope.changed, stamps.of_failsafe)
    if not picked:
        return True
    os.environ.update(ZKLOCK_BIN=f"{ROOT}/tests/helpers/always-0", ZKLOCK_TEST_WAIT="1",
                      ZKLOCK_HELPERS=f"{ROOT}/build/test/tests")
    os.makedirs(FOUND, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOUND) as folder:
        succeeds(on_servers(["xargs", "-n", "1", "-P", str(WAITING), "tests/check/must-fail", folder]),
                 input="\n".join(map(stamps.bats_file, picked)), text=True)
        good = {name for name in picked if os.path.exists(f"{folder}/{name}.bats")}
    note("failed", [f"{name}.bats with a zklock that does nothing" for name in set(picked) - good])
    scope.memory.note_stamps([stamps.of_failsafe(name) for name in good])
    return len(good) == len(picked)


def same_under_sanitizers():
    """Checks that the simulation does the same under sanitizers, to the last byte of its log."""
    if not build("test", "sim") or not build("clang", "sim"):
        return False
    def hash_of(preset, workload):
        words = [f"build/{preset}/tests/sim", workload, "--seed", "1", "--storms", "30"]
        result = subprocess.run(words, cwd=ROOT, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        found = re.findall("^hash .*$", result.stdout, re.MULTILINE)
        if result.returncode != 0 or not found:
            print(result.stdout, flush=True)
        return found if result.returncode == 0 else []
    different = [name for name in WORKLOADS if len({*hash_of("test", name), *hash_of("clang", name)}) != 1]
    note("failed", [f"sim {name} --seed 1 under sanitizers" for name in different])
    return not different


def rest(scope):
    """an eighth of what is left out otherwise: Bats files under sanitizers, and without TLS those that had it; with the
    first eighth, one seed of each workload of tests/sim under sanitizers, too"""
    plain = changes.eighth_of(of_kind("test", "tls"), scope.number)
    asan = changes.eighth_of(of_kind("clang", "asan"), scope.number)
    print(f"rest, eighth {scope.number + 1} of 8: without TLS {' '.join(plain)}; under sanitizers {' '.join(asan)}",
          flush=True)
    return (run_tests("build/test", plain, WAITING, suffix=" without TLS") and build("clang", "programs")
            and run_sanitized("clang", asan, suffix=" under sanitizers")
            and (scope.number > 0 or same_under_sanitizers()))


def beside(scope):
    """models, sim and tidy, which use no server and no other time than the processor's, while others wait"""
    for name in ("models", "sim", "tidy"):
        print(f"== {name}", flush=True)
        began = time.monotonic()
        if not PARTS[name][0](scope):
            note("failed", [name])
            return False
        print(f"== {name}: passed in {time.monotonic() - began:.0f} s beside others", flush=True)
    return True


# --- only in `all` ----------------------------------------------------------------------------------------------------

def plain(_):
    """without TLS, those Bats files that the part bats has run over TLS; the faults both ways"""
    return (run_tests("build/test", of_kind("test", "tls"), WAITING, suffix=" without TLS")
            and faults(None, "--seed", str(2 * random.SystemRandom().randrange(5000)))
            and faults(None, "--seed", str(2 * random.SystemRandom().randrange(5000) + 1)))


def gcc(_):
    """unit tests and tests of recipes in build/test: by gcc, and without sanitizers"""
    return build("test") and run_tests("build/test", of_kind("test", "unit") | of_kind("test", "recipe"), WAITING)


def sanitize(_):
    """the same, and Bats files, in build/sanitize: under gcc's sanitizers"""
    names = lambda: of_kind("sanitize", "unit") | of_kind("sanitize", "recipe") | of_kind("sanitize", "asan")
    return build("sanitize") and run_sanitized("sanitize", names(), suffix=" under gcc's sanitizers")


# --- the commands -----------------------------------------------------------------------------------------------------

def package(_):
    """the Debian package, the RPM and the tarball, in clean Debians; needs root and the network (tests/package/run)"""
    if os.geteuid() != 0:
        print("test: package must be root")
        return False
    files = "build/package/files"
    return (succeeds(["scripts/setup", "package"]) and build("release") and succeeds(["rm", "-rf", files])
            and quietly("release/package.log", ["cpack", "--config", "build/release/CPackConfig.cmake", "-G", "DEB;RPM;TGZ",
                                                "-B", files])
            and succeeds(["tests/package/run", files, "build/package"]))


# Each part has the seconds that it takes on a slow machine, without any cache. A part hangs if it takes twice as long,
# and twice its longest time on this machine.
PARTS = {
    "format": (format_, 60), "shell": (shell, 120), "includes": (includes, 60), "words": (words, 60),
    "build": (build_, 900), "scripts": (scripts, 180), "models": (models, 400), "sim": (sim, 600),
    "conformance": (conformance, 400), "bats": (bats, 1800),
    "faults": (faults, 500), "clang": (clang, 1200), "unit": (unit, 300), "recipe": (recipe, 600),
    "sanitized": (sanitized, 700), "fuzz": (fuzz, 120),
    BESIDE: (beside, 2000), "tidy": (tidy, 900), "failsafe": (failsafe, 600), "rest": (rest, 900),
    "plain": (plain, 1800), "gcc": (gcc, 1200), "sanitize": (sanitize, 2400), "package": (package, 3600),
}
IN = {
    QUICK: ("format", "shell", "includes", "words", "build", "sanitized", "models", "bats"),
    USUAL: ("format", "shell", "includes", "words", "build", "clang", "unit", "recipe", BESIDE, "scripts", "conformance",
            "fuzz", "bats", "faults", "failsafe", "rest"),
    ALL: ("format", "shell", "includes", "words", "build", "scripts", "models", "sim", "conformance", "clang", "unit",
          "recipe", "fuzz", "bats", "tidy", "failsafe", "plain", "gcc", "sanitize"),
}
