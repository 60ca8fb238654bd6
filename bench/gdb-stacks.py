# SPDX-License-Identifier: GPL-3.0-or-later
"""gdb-stacks.py -- stacks from outside beside gdb's: gdb-stacks.py UNWIND N PROGRAM...

Stops a running program N times at random moments.  At each stop gdb walks the
stacks of all threads, and UNWIND, which is bench/unwind-stopped.c, walks them
as record -p does, from registers and a copy of the stack's top.  Prints how many
stacks are equal, and those that are not.  `make bench/unwind-stopped` builds
UNWIND.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SCRIPT = '''
import gdb
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit 5000")
NAMES = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
         "r10", "r11", "r12", "r13", "r14", "r15", "rip"]
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame = gdb.newest_frame()
    registers = [int(frame.read_register(name)) & (1 << 64) - 1
                 for name in NAMES]
    pcs = []
    try:
        while frame is not None and frame.is_valid():
            # These two are not on the stack: gdb infers them.
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                pcs.append(frame.pc())
            frame = frame.older()
        end = "whole"
    except gdb.error as error:
        end = "error"
    print("STACK", thread.ptid[1], ",".join("%x" % r for r in registers),
          ",".join("%x" % pc for pc in pcs), end)
'''


def is_stopped(pid):
    with open(f'/proc/{pid}/stat') as file:
        return file.read().rpartition(')')[2].split()[0] in 'Tt'


def stop(pid, script, unwind):
    """Stacks at one stop: by tid, gdb's and ours."""
    os.kill(pid, signal.SIGSTOP)
    while not is_stopped(pid):
        time.sleep(0.001)
    gdb = subprocess.run(['gdb', '-nx', '-q', '-batch', '-p', str(pid), '-x',
                          script], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    theirs, lines = {}, []
    for line in gdb.stdout.splitlines():
        if line.startswith('STACK '):
            _, tid, registers, pcs, end = line.split(' ')
            theirs[tid] = [int(pc, 16) for pc in pcs.split(',')], end
            lines.append(f'{tid} {registers.replace(",", " ")}')
    ours = subprocess.run([unwind, str(pid)], input='\n'.join(lines),
                          capture_output=True, text=True)
    os.kill(pid, signal.SIGCONT)
    assert ours.returncode == 0, ours.stderr
    found = {}
    for line in ours.stdout.splitlines():
        tid, *frames = line.split()
        found[tid] = ([int(f, 16) for f in frames if f != 'partial'],
                      'partial' in frames)
    return theirs, found


def main():
    unwind, n, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    counts = collections.Counter()
    with tempfile.NamedTemporaryFile('w', suffix='.py') as script:
        script.write(SCRIPT)
        script.flush()
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
        time.sleep(0.5)
        for _ in range(n):
            time.sleep(random.uniform(0, 0.05))
            if program.poll() is not None:
                break
            theirs, ours = stop(program.pid, script.name, unwind)
            for tid, (pcs, end) in theirs.items():
                frames, is_partial = ours[tid]
                # Where gdb has no rules, it can go on with what is no code.
                n_code = next((i for i, pc in enumerate(pcs) if pc < 4096),
                              len(pcs))
                if n_code < len(pcs):
                    pcs, end = pcs[:n_code], 'error'
                # Ours are addresses of calls, gdb's where they return to.
                same = [abs(a - b) <= 1 for a, b in zip(pcs, frames)]
                if all(same) and len(pcs) == len(frames):
                    counts['equal'] += 1
                elif end == 'error' or (all(same) and len(frames) > len(pcs)):
                    counts['gdb ends earlier'] += 1
                elif all(same):
                    counts['ours ends earlier' + (', partial' if is_partial
                                                  else '')] += 1
                else:
                    counts['different'] += 1
                    print('different:', [hex(a) for a in pcs[:12]],
                          [hex(a) for a in frames[:12]])
        program.kill()
        program.wait()
    print(os.path.basename(words[0]), dict(counts))


main()
