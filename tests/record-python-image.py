#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""record-python-image.py INTERPRETER IMAGE [COMMAND...] -- makes an image.

Runs tests/programs/pyimage.py, and writes what tests/test-python-image.c reads:
where the interpreter is, the thread's native frames (by gdb), the stack as the
program sees it, and the memory that the walk along the interpreter's frames reads.
COMMAND runs the interpreter elsewhere, as "chroot DIRECTORY" does; INTERPRETER is
its path as seen from here.  It must be at its addresses (not a PIE).  Needs root or
kernel.yama.ptrace_scope 0, and in the build's folder:

    ../tests/record-python-image.py DIR/usr/bin/python3.14 \\
        ../tests/data/python/3.14.image chroot DIR
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"_PyRuntime": "runtime", "PyCode_Type": "code_type",
         "Py_Version": "version", "_PyEval_EvalFrameDefault": "loop"}
FRAMES = """
for thread in gdb.selected_inferior().threads():
    if thread.ptid[1] == THREAD: thread.switch()
frames, frame = [], gdb.newest_frame()
while frame:
    frames.append((frame.pc(), int(frame.read_register("rsp"))))
    frame = frame.older()
for pc, sp in reversed(frames): print("native", hex(pc), hex(sp % 2**64))
"""


def output(*words):
    return subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout


def places(interpreter):
    """Lines that say where the interpreter's file has what is needed."""
    for line in output("readelf", "-W", "--dyn-syms",
                       interpreter).splitlines():
        words = line.split()
        if len(words) == 8 and words[7] in NAMES:
            yield f"{NAMES[words[7]]} 0x{words[1]} {words[2]}"
    for line in output("readelf", "-SW", interpreter).splitlines():
        match = re.search(r" \.eh_frame_hdr +PROGBITS +(\w+) \w+ (\w+)", line)
        if match:
            yield f"index 0x{match[1]} {int(match[2], 16)}"


def frames(root, process, thread):
    code = FRAMES.replace("THREAD", thread)
    return [line for line in output(
        "gdb", "-batch", "-ex", f"set sysroot {root}", "-p", str(process),
        "-ex", f"python exec({code!r})").splitlines()
        if line.startswith("native ")]


def main():
    interpreter, image, *command = sys.argv[1:]
    root = command[-1] if command else "/"
    with open(os.path.join(HERE, "programs", "pyimage.py"),
              encoding="utf-8") as file:
        program = file.read()
    with subprocess.Popen(
            [*command, "/" + os.path.relpath(interpreter, root), "-X",
             "utf8", "-c", f"exec(compile({program!r}, 'pyimage.py', 'exec'))"],
            stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        stack = []
        while not (line := process.stdout.readline()).startswith("ready"):
            stack.append(line.rstrip("\n"))
        thread = line.split()[1]
        with open(image, "w", encoding="utf-8") as file:
            print(f"thread {thread}", *places(interpreter), *frames(root,
                  process.pid, thread),
                  *stack, sep="\n", file=file)
        subprocess.run(["tests/test-python-image", image, thread], check=True)
        process.kill()


if __name__ == "__main__":
    main()
