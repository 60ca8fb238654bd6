#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pystacks.py SEED STEPS FILE -- walks through Python's ways to call, at random.

At the innermost place of each walk it notes its own stack (sys._getframe), and what
awaits its task, and writes a byte in the same line, so that each note is one hit of
the resource bytes-written.  Writes the notes to FILE as JSON: a list of stacks, outermost
first, of [qualified name, file, first line, line], with their numbers.
"""
import asyncio
import collections
import concurrent.futures
import contextlib
import ctypes
import functools
import json
import os
import random
import re
import sys
import threading

OUT = os.open("/dev/null", os.O_WRONLY)
NOTES = collections.Counter()
AWAITING = []   # tasks that await the one that runs, outermost first
TURN = threading.Lock()  # so that no thread disturbs another one's samples
libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def awaiting():
    """The frames of these tasks' coroutines, outermost first."""
    for task in AWAITING:
        coroutine = task.get_coro()
        while hasattr(coroutine, "cr_frame"):
            yield coroutine.cr_frame
            coroutine = coroutine.cr_await


def place(frame):
    code = frame.f_code
    return (code.co_qualname, code.co_filename, code.co_firstlineno,
            frame.f_lineno)


def note(frame):
    stack = []
    while frame is not None:
        if frame.f_code.co_qualname == "Handle._run":
            stack += [place(one) for one in reversed([*awaiting()])]
        stack.append(place(frame))
        frame = frame.f_back
    NOTES[tuple(reversed(stack))] += 1
    return 0


def leaf():
    note(sys._getframe()), os.write(OUT, b"x")


class Walker:
    """Each method calls `go` one level further in, in another way."""

    def __init__(self, seed, thread=0):
        self.random = random.Random(f"{seed} {thread}")

    def go(self, depth):
        if depth <= 0:
            leaf()
            return 0
        self.random.choice(WAYS)(self, depth - 1)
        return 0

    def plain(self, depth):
        self.go(depth)
        return self.go(depth - 2)

    def on_lines(self, depth):
        self.go(
            depth) if depth % 2 else self.go(
                depth - 1)
        return [
            self.go(depth - 2),
            1]

    def in_sort(self, depth):
        return sorted([3, 1], key=lambda x: self.go(depth) or x)

    def in_map(self, depth):
        return list(map(self.go, [depth - 1, depth - 2]))

    def in_generator(self, depth):
        def numbers():
            yield self.go(depth)
            yield from (self.go(depth - 1) for _ in range(2))
        return sum(numbers())

    def in_comprehension(self, depth):
        return {k: self.go(depth - 1) for k in range(2)}

    def in_substitution(self, depth):
        return re.sub("a", lambda _: str(self.go(depth)), "ba")

    def in_init(self, depth):
        outer = self

        class Made:
            def __init__(self):
                outer.go(depth)
        return Made() is None

    def in_operator(self, depth):
        outer = self

        class Number:
            def __lt__(self, _):
                return bool(outer.go(depth))

            def __getattr__(self, _):
                return outer.go(depth - 1)
        return max([Number(), Number()]).attribute

    def in_property(self, depth):
        outer = self

        class Holder:
            @property
            def value(self):
                return outer.go(depth)

            @value.setter
            def value(self, _):
                outer.go(depth - 1)
        holder = Holder()
        holder.value = 1
        return holder.value

    def in_exec(self, depth):
        names = {"self": self, "depth": depth}
        # Code objects that often take the place of the one before.
        for number in range(3):
            exec(f"def made{number}():\n    leaf()\nmade{number}()",
                 {"leaf": leaf})
        exec("def made():\n    return self.go(depth)\nmade()", names)
        return eval("self.go(depth - 1)", names)

    def in_exception(self, depth):
        try:
            raise ValueError
        except ValueError:
            return self.go(depth)
        finally:
            self.go(depth - 2)

    def in_context(self, depth):
        @contextlib.contextmanager
        def manager():
            self.go(depth - 1)
            yield
            self.go(depth - 1)
        with manager():
            return self.go(depth - 2)

    def in_partial(self, depth):
        return functools.partial(self.go, depth)()

    def in_callback(self, depth):
        array = (ctypes.c_int * 2)(2, 1)
        libc.qsort(array, 2, 4, COMPARE(lambda a, b: self.go(depth) and 0))
        return 0

    def in_coroutine(self, depth):
        async def inner():
            return self.go(depth)

        async def outer():
            return await inner()
        coroutine = outer()
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        return 0

    def in_destructor(self, depth):
        outer = self

        class Mortal:
            def __del__(self):
                outer.go(depth)
        mortal = Mortal()
        del mortal
        return 0

    def in_recursion(self, depth):
        def down(n):
            return self.go(depth) if n == 0 else down(n - 1)
        return down(self.random.randrange(12))


WAYS = [value for name, value in vars(Walker).items()
        if callable(value) and name not in ("__init__", "go")]


def walks(seed, steps, thread=0):
    walker = Walker(seed, thread)
    for _ in range(steps):
        with TURN:
            walker.go(walker.random.randrange(1, 7))


async def tasks(seed, steps):
    async def task(number):
        walker = Walker(seed, f"task {number}")
        for _ in range(steps):
            walker.go(3)
            await asyncio.sleep(0)

    async def group():
        AWAITING.append(asyncio.current_task())
        async with asyncio.TaskGroup() as members:
            for number in range(3):
                members.create_task(task(number))

    AWAITING.append(asyncio.current_task())
    await asyncio.gather(group())
    AWAITING.clear()


def main():
    seed, steps, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    walks(seed, steps)
    asyncio.run(tasks(seed, steps // 8))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for thread in range(3):
            pool.submit(walks, seed, steps // 4, thread)
    if os.fork() == 0:
        NOTES.clear()
        walks(seed, steps // 8, "child")
        path += ".child"
    else:
        os.wait()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(list(NOTES.items()), file)


if __name__ == "__main__":
    main()
