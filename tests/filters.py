# SPDX-License-Identifier: GPL-3.0-or-later
"""filters.py -- filters of system calls as containers have them, for tests.

To be called between fork and exec, as preexec_fn.  On x86-64.
"""
import ctypes
import os
import struct


def forbid_events(why=1):
    """Installs a filter that makes perf_event_open fail with an errno."""
    install_filter((0x20, 0, 0, 0),             # load the call's number
                   (0x15, 0, 1, 298),           # perf_event_open?
                   (0x06, 0, 0, 0x00050000 | why),
                   (0x06, 0, 0, 0x7fff0000))    # else go on


def forbid_stopping_calls():
    """The same, and makes syscall user dispatch fail, too."""
    install_filter((0x20, 0, 0, 0),             # load the call's number
                   (0x15, 3, 0, 298),           # perf_event_open?
                   (0x15, 0, 3, 157),           # prctl?
                   (0x20, 0, 0, 16),            # load its first argument
                   (0x15, 0, 1, 59),            # PR_SET_SYSCALL_USER_DISPATCH?
                   (0x06, 0, 0, 0x00050001),    # then EPERM
                   (0x06, 0, 0, 0x7fff0000))    # else go on


def install_filter(*instructions):
    program = b''.join(struct.pack('HBBI', *instruction)
                       for instruction in instructions)
    keep = ctypes.create_string_buffer(program)
    header = struct.pack('HxxxxxxP', len(instructions),
                         ctypes.addressof(keep))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, header) != 0:
        os._exit(99)
