#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pyimage.py -- a Python process that stands still, and says where.

Calls its way through C functions, generators and names that are not ASCII, prints
its stack, outermost function first (qualified name, file, first line), and waits.
tests/record-python-image.py records the memory that shows this stack.
"""
import os
import sys
import threading
import time


def leaf():
    frame, stack = sys._getframe(), []
    while frame is not None:
        code = frame.f_code
        stack.append((code.co_qualname, code.co_filename,
                      code.co_firstlineno))
        frame = frame.f_back
    for name, file, line in reversed(stack):
        print("function", line, os.path.basename(file), name)
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


def main():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    thread = threading.Thread(target=recurse, args=(30,), name="second")
    thread.start()
    thread.join()


main()
