#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sensitivity.py -- whether the tests find what they are there to find.

Plants one fault after the other in a copy of the source tree and its build, and
runs the tests that should find it.  Each fault loses or moves as much as a user
would mind: an eighth of the hits, threads, processes, frees or waits, or one
frame.  A fault that its tests do not always find is a hole in them: the exit
status is 1.  A test that is red without a fault finds nothing.

    sensitivity.py [-n RUNS] [-l] [FAULT...]    in the source tree, with its build
                                                in build/; RUNS times each, 5
                                                unless told; -l lists them
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# True in one of eight cases.
EIGHTH = """
static unsigned planted;

static inline int
planted_eighth(void)
{
	return __atomic_add_fetch(&planted, 1, __ATOMIC_RELAXED) % 8 == 0;
}
"""


class Fault:
    """What is changed, and a test with the words that choose its cases."""

    def __init__(self, what, path, before, after, *tests):
        self.what, self.path, self.tests = what, path, tests
        self.before, self.after = before, after

    def plant(self, tree):
        path = os.path.join(tree, self.path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.count(self.before) == 1, \
            f"{self.path} has changed: {self.before!r} is there " \
            f"{text.count(self.before)} times"
        text = text.replace(self.before, self.after)
        if "planted_eighth" in self.after:
            end = text.index("\n", text.index("#include")) + 1
            text = text[:end] + EIGHTH + text[end:]
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


FAULTS = {
    "hits": Fault(
        "an eighth of the hits is lost, inside",
        "lib/run/sample.c",
        "		if ((columns >> column & 1) == 0 || account->pending == 0)\n"
        "			continue;\n		if (leaf == NULL)\n",
        "		if ((columns >> column & 1) == 0 || account->pending == 0)\n"
        "			continue;\n"
        "		if (planted_eighth()) {\n			account->pending = 0;\n"
        "			continue;\n		}\n		if (leaf == NULL)\n",
        ("shares.py", "alike in parent", "root")),
    "ticks": Fault(
        "an eighth of the hits of ticks is lost",
        "lib/sources/timer.c",
        "	return ns / resources.tick_ns +\n",
        "	if (planted_eighth())\n		return 0;\n"
        "	return ns / resources.tick_ns +\n",
        ("shares.py", "threads, 1 ms and 2, without")),
    "stack": Fault(
        "an eighth of the samples has the stack of the one before",
        "lib/run/sample.c",
        "	*hits = 0;\n	for (column = 0; column < resources.n; column++) {\n",
        "	static __thread struct node before;\n\n	*hits = 0;\n"
        "	if (leaf != NULL && before.twin != NULL && planted_eighth())\n"
        "		leaf = &before;\n	else if (leaf != NULL)\n"
        "		before = *leaf;\n"
        "	for (column = 0; column < resources.n; column++) {\n",
        ("test-stacks.py",)),
    "frame": Fault(
        "the outermost frame is missing, inside",
        "lib/unwind/unwind.c",
        "	frames_join(unwinder);\n	if (unwinder->end == UNWIND_COMPLETE)\n",
        "	if (unwinder->fresh.n > 2 && n_kept == 0)\n"
        "		unwinder->fresh.n--;\n"
        "	frames_join(unwinder);\n	if (unwinder->end == UNWIND_COMPLETE)\n",
        ("test-stacks.py",), ("test-unwind",)),
    "kernel": Fault(
        "an eighth of the samples lacks the kernel's frames, inside",
        "lib/sources/perf-stack.c",
        "		if (!perf_stack_insert(thread, account, at, &node))\n",
        "		if (!planted_eighth() &&\n"
        "		    !perf_stack_insert(thread, account, at, &node))\n",
        ("kernel-shares.py",)),
    "budget": Fault(
        "what comes after an expensive sample is deferred, not what chance says",
        "lib/base/allowance.c",
        "	allowance->seed = meter_random(allowance->seed + 1);\n",
        "	if (allowance->left_ns >= 0)\n		return true;\n"
        "	allowance->seed = meter_random(allowance->seed + 1);\n",
        ("shares.py", "deep in recursion", "root"), ("test-allowance",)),
    "awaits": Fault(
        "an eighth of the samples lacks what awaits its task, in Python 3.11",
        "cpython/walk.h",
        "		if (fresh->n > from)\n"
        "			python_add_tasks(reading, frame);\n",
        "		if (fresh->n > from && !planted_eighth())\n"
        "			python_add_tasks(reading, frame);\n",
        ("tasks.py",)),
    "thread": Fault(
        "an eighth of the threads is not sampled",
        "lib/run/start.c",
        "		ok = resources_start(thread);\n",
        "		ok = !thread->is_main && planted_eighth() ? true :\n"
        "		    resources_start(thread);\n",
        ("shares.py", "threads, 1 ms and 2, root")),
    "process": Fault(
        "an eighth of the forked processes is not sampled",
        "lib/run/start.c",
        "		datafile_count_thread(resources_start(self));\n	}\n}\n",
        "		datafile_count_thread(process_own.pid % 8 == 0 ||\n"
        "		    resources_start(self));\n	}\n}\n",
        ("shares.py", "alike in parent and child, root")),
    "free": Fault(
        "an eighth of the frees is not seen",
        "lib/store/live.c",
        "	block = live_remove(address);\n	if (block != NULL)\n"
        "		live_end_block(block);\n	live_leave(&guard);\n}\n",
        "	block = live_remove(address);\n"
        "	if (block != NULL && !planted_eighth())\n"
        "		live_end_block(block);\n	live_leave(&guard);\n}\n",
        ("heap.py",)),
    "blocks": Fault(
        "an eighth of the allocated memory is not counted",
        "lib/run/sample.c",
        "		thread->meters->accounts[column].pending += hits;\n"
        "		sample_take_guarded(thread, &request, context);\n",
        "		if (function != NULL && planted_eighth())\n"
        "			hits = 0;\n"
        "		thread->meters->accounts[column].pending += hits;\n"
        "		sample_take_guarded(thread, &request, context);\n",
        ("heap.py",), ("test-resources.py",)),
    "wait": Fault(
        "an eighth of the waits is not counted",
        "lib/run/sample.c",
        "		thread->meters->accounts[column].pending += hits;\n"
        "		sample_take_guarded(thread, &request, context);\n",
        "		if (column + 1 == resources.place[RESOURCE_REAL] &&\n"
        "		    function != NULL && planted_eighth())\n"
        "			hits = 0;\n"
        "		thread->meters->accounts[column].pending += hits;\n"
        "		sample_take_guarded(thread, &request, context);\n",
        ("real-errors.py",)),
    "release": Fault(
        "an eighth of the releases of locks is charged to nobody",
        "lib/wrap/blame.c",
        "	if (release->charges.n > 0) {\n",
        "	if (release->charges.n > 0 && !planted_eighth()) {\n",
        ("locks.py",)),
    "wake": Fault(
        "an eighth of the wake-ups is not seen",
        "lib/wrap/blame.c",
        "	if (blame_enter(&mask)) {\n		now_ns = blame_now_ns();\n"
        "		contention_wake(",
        "	if (!planted_eighth() && blame_enter(&mask)) {\n"
        "		now_ns = blame_now_ns();\n		contention_wake(",
        ("locks.py",)),
    "drawn": Fault(
        "how many hits drawn samples of real have is not noted",
        "lib/store/datafile.c",
        "	while (hits > most)\n",
        "	while (hits > most && hits < 2)\n",
        ("real-errors.py",)),
    "call": Fault(
        "an eighth of the observed calls is not counted",
        "lib/run/open-calls.c",
        "	length = open_calls_length(call, &end);\n",
        "	if (planted_eighth()) {\n		call->without = end;\n"
        "		open_calls_close(thread, function,\n"
        "		    CPPROFDATA_CALL_NO_LENGTH);\n		return;\n	}\n"
        "	length = open_calls_length(call, &end);\n",
        ("calls.py",)),
    "outside": Fault(
        "an eighth of the samples is not taken, from outside",
        "src/sample/sampler.c",
        "	resource = options->kinds[sample.event].resource;\n"
        "	if (!sampler_need_record(",
        "	if (planted_eighth())\n		return 0;\n"
        "	resource = options->kinds[sample.event].resource;\n"
        "	if (!sampler_need_record(",
        ("shares.py", "from outside"), ("attach.py",)),
    "outside-process": Fault(
        "an eighth of the processes is not sampled, from outside",
        "src/sample/sampler.c",
        "	resource = options->kinds[sample.event].resource;\n"
        "	if (!sampler_need_record(",
        "	if (sample.pid % 8 == 0)\n		return 0;\n"
        "	resource = options->kinds[sample.event].resource;\n"
        "	if (!sampler_need_record(",
        ("descendants.py",), ("shares.py", "forked", "from outside")),
    "outside-frame": Fault(
        "a frame is missing, from outside",
        "src/sample/sampler_process.c",
        "	if (n == 0)\n		return 0;\n	sample_file_count(",
        "	if (n == 0)\n		return 0;\n	n -= n > 2;\n"
        "	sample_file_count(",
        ("attach.py",)),
    "outside-wait": Fault(
        "an eighth of the waits is not counted, from outside",
        "src/sample/sampler_waits.c",
        "	if (hits == 0 || !sampler_need_record(sampler, thread, &ignored))\n"
        "		return;\n	if (path->n == 0)\n",
        "	if (hits == 0 || planted_eighth() ||\n"
        "	    !sampler_need_record(sampler, thread, &ignored))\n"
        "		return;\n	if (path->n == 0)\n",
        ("real-outside.py",)),
}


def run(test, words, build):
    """Whether a test finds something."""
    environment = dict(os.environ, builddir=build, srcdir="..",
                       CPPROF=os.path.join(build, "cpprof"), TEST_ONCE="1")
    command = [os.path.join(build, "tests", test), *words]
    if test.endswith(".py"):
        command = [sys.executable, "-u", os.path.join("..", "tests", test),
                   *words]
    done = subprocess.run(command, cwd=build, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines()
             if line.startswith(("not ok", "[  FAILED  ]"))]
    return done.returncode != 0 or bool(lines), lines


def make(build):
    made = subprocess.run(["make", "-s", "-j", str(os.cpu_count()), "check",
                           "TESTS="], cwd=build, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if made.returncode != 0:
        sys.exit(f"sensitivity.py: the copy is not built: {made.stderr}")


def is_found(name, fault, tree, n_runs):
    """Whether one of its tests is red in all runs, and green without it."""
    build = os.path.join(tree, "build")
    source = os.path.join(tree, fault.path)
    green = [test for test in fault.tests
             if not run(test[0], test[1:], build)[0]]
    shutil.copy2(source, source + ".whole")
    fault.plant(tree)
    make(build)
    most = 0
    for test in fault.tests:
        found, shown = 0, []
        for _ in range(n_runs):
            is_red, lines = run(test[0], test[1:], build)
            found += is_red
            shown = lines or shown
        print(f"{name:10} {found} of {n_runs}  {' '.join(test)}: "
              f"{'; '.join(shown)[:200]}"
              f"{'' if test in green else ' (red without it, too)'}",
              flush=True)
        if test in green:
            most = max(most, found)
    os.replace(source + ".whole", source)
    os.utime(source)
    make(build)
    return most == n_runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("-l", action="store_true")
    parser.add_argument("faults", nargs="*")
    options = parser.parse_args()
    chosen = {name: fault for name, fault in FAULTS.items()
              if not options.faults or name in options.faults}
    if options.l:
        for name, fault in chosen.items():
            print(f"{name:10} {fault.what}")
        return
    with tempfile.TemporaryDirectory(prefix="cpprof-") as place:
        tree = os.path.join(place, "tree")
        subprocess.run(["cp", "-a", TOP, tree], check=True)
        with open(os.path.join(tree, "build", "Makefile"),
                  encoding="utf-8") as file:
            if "\nsrcdir = ..\n" not in file.read():
                sys.exit("sensitivity.py: expected a build in build/, made by "
                         "../configure")
        missed = [name for name, fault in chosen.items()
                  if not is_found(name, fault, tree, options.n)]
    if missed:
        sys.exit(f"sensitivity.py: not always found: {', '.join(missed)}")


main()
