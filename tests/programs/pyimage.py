#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pyimage.py -- a Python process that stands still, and says where.

Calls its way through asyncio tasks, C functions, generators and names that are not
ASCII, prints its stack, outermost function first (qualified name, file, first line;
of a task, what awaits it comes before its own), and waits.
tests/record-python-image.py records the memory that shows this stack.
"""
import asyncio
import os
import sys
import threading
import time


def awaiting():
    """The code of what awaits the task, outermost first."""
    for task in waiting:
        coroutine = task.get_coro()
        while hasattr(coroutine, "cr_code"):
            yield coroutine.cr_code
            coroutine = coroutine.cr_await


def leaf():
    frame, stack = sys._getframe(), []
    while frame is not None:
        if frame.f_code.co_qualname == "Handle._run":
            stack += reversed([*awaiting()])
        stack.append(frame.f_code)
        frame = frame.f_back
    for code in reversed(stack):
        print("function", code.co_firstlineno,
              os.path.basename(code.co_filename), code.co_qualname)
    print("ready", threading.get_native_id(), flush=True)
    time.sleep(1000)


def numbers():
    yield leaf()


class Größe:
    @property
    def 長さ(self):
        return sum(numbers())

    def __lt__(self, other):
        return self.長さ


def in_sort():
    return sorted([Größe(), Größe()])


def recurse(n):
    return recurse(n - 1) if n else list(map(lambda _: in_sort(), "x"))


async def inner():
    recurse(30)


async def middle():
    waiting.append(asyncio.current_task())
    async with asyncio.TaskGroup() as group:
        group.create_task(inner())


async def outer():
    waiting.append(asyncio.current_task())
    await asyncio.gather(asyncio.sleep(0), middle())


def run_tasks():
    asyncio.run(outer())


waiting = []


def main():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    thread = threading.Thread(target=run_tasks, name="second")
    thread.start()
    thread.join()


main()
