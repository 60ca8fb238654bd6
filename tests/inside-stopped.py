# SPDX-License-Identifier: GPL-3.0-or-later
"""inside-stopped.py -- record -p --inside ends while a thread is stopped.

A thread that waits for a processor may be anywhere when the recording ends: in
the stub that a marked frame returns to, at the first instruction of a handler,
or in the handler.  This test stops it there by ptrace, ends the recording, and
lets it go on.  The program must end as ever, nothing may be left in it, and it
can be recorded again, also while the thread is stopped in the stub.

Speaks TAP.
"""
import contextlib
import ctypes
import os
import platform
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
from collector_file import Profile  # noqa: E402
from cpprof import has_recorded  # noqa: E402

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
HOSTED = os.path.join(BUILD, 'tests', 'programs', 'hosted')
PATIENCE = 120
claims = Claims()

CONT, SINGLESTEP, GETREGS, POKEUSER = 7, 9, 12, 6
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
N_REGISTERS, RIP = 27, 16
DEBUG_REGISTERS = 848           # offsetof(struct user, u_debugreg)
TICK = signal.SIGRTMAX - 1
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]


def ptrace(request, tid, data=0):
    if libc.ptrace(request, tid, None, data) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Stopped:
    """A thread that this test has stopped."""
    def __init__(self, pid, tid):
        self.pid, self.tid = pid, tid
        ptrace(SEIZE, tid)
        ptrace(INTERRUPT, tid)
        self.wait()

    def wait(self):
        """The signal at which it stops."""
        status = os.waitpid(self.tid, WALL)[1]
        assert os.WIFSTOPPED(status), status
        return os.WSTOPSIG(status)

    def registers(self):
        buffer = (ctypes.c_uint64 * N_REGISTERS)()
        ptrace(GETREGS, self.tid, ctypes.addressof(buffer))
        return list(buffer)

    def set_debug_register(self, which, value):
        if libc.ptrace(POKEUSER, self.tid, DEBUG_REGISTERS + 8 * which,
                       value) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def go_to(self, address):
        """Goes on until it is at that instruction.  The breakpoint is the
        processor's, so that no other thread meets it."""
        self.set_off_to(address)
        self.arrive(address)

    def set_off_to(self, address):
        self.set_debug_register(0, address)
        self.set_debug_register(7, 1)
        ptrace(CONT, self.tid)

    def arrive(self, address):
        while True:
            number = self.wait()
            if number == signal.SIGTRAP and \
                    self.registers()[RIP] == address:
                break
            ptrace(CONT, self.tid, number)
        self.set_debug_register(7, 0)

    def can_arrive(self, address):
        """Whether the processor, perhaps a virtual one, has breakpoints: this code
        is run all the time.  Leaves the thread stopped."""
        self.set_off_to(address)
        end = self.run_ns() + 1e9
        number = 0
        while number == 0 and self.run_ns() < end:
            time.sleep(0.01)
            pid, status = os.waitpid(self.tid, WALL | os.WNOHANG)
            number = os.WSTOPSIG(status) if pid != 0 else 0
            if number not in (0, signal.SIGTRAP):
                ptrace(CONT, self.tid, number)
                number = 0
        if number == 0:
            ptrace(INTERRUPT, self.tid)
            self.wait()
        self.set_debug_register(7, 0)
        return number != 0 and self.registers()[RIP] == address

    def run_ns(self):
        with open(f'/proc/{self.tid}/schedstat') as file:
            return int(file.read().split()[0])

    def step(self, number=0):
        """One instruction; signals that come now are lost."""
        ptrace(SINGLESTEP, self.tid, number)
        return self.wait()

    def go_to_tick(self):
        """Goes on until a tick comes, which then begins its handler."""
        number = 0
        while number != TICK:
            ptrace(CONT, self.tid, number if number != signal.SIGTRAP else 0)
            number = self.wait()
        self.step(number)

    def release(self):
        ptrace(DETACH, self.tid)


def mappings(pid):
    with open(f'/proc/{pid}/maps') as file:
        for line in file:
            words = line.split(None, 5)
            start, end = (int(one, 16) for one in words[0].split('-'))
            yield start, end, int(words[2], 16), \
                words[5].strip() if len(words) > 5 else ''


def address_of(pid, name):
    """Where a symbol of the collector is in a process; None: not known."""
    for start, _, offset, path in mappings(pid):
        if offset == 0 and 'libcpprof' in os.path.basename(path):
            answer = subprocess.run(['nm', path], capture_output=True,
                                    text=True).stdout
            for line in answer.splitlines():
                if line.split()[-1] == name:
                    return start + int(line.split()[0], 16)
    return None


def code_of_stub(pid):
    """The addresses of all code that runs in the stub, between two symbols."""
    return range(address_of(pid, 'trampoline_hit') & ~4095,
                 address_of(pid, 'trampoline_stub') + 4096)


def await_that(what, process=None):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = what()
        if found:
            return found
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.01)
    raise AssertionError(f'{what.__doc__}: this did not come')


def thread_of(process, name):
    def find():
        """a thread of that name"""
        for task in os.listdir(f'/proc/{process.pid}/task'):
            with contextlib.suppress(OSError), open(
                    f'/proc/{process.pid}/task/{task}/comm') as file:
                if file.read().strip() == name:
                    return int(task)
        return None
    return await_that(find, process)


def data_mappings(pid, path):
    return [(start, end) for start, end, _, name in mappings(pid)
            if name.startswith(os.path.join(path, 'cpprofdata.'))]


@contextlib.contextmanager
def hosted(directory):
    sums = os.path.join(directory, f'sums-{time.monotonic_ns()}')
    process = subprocess.Popen([HOSTED, sums, '600000', 'returns'],
                               stdout=subprocess.PIPE, text=True)
    process.sums = sums
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ends_when_told(process):
    """'': it ends as if nobody had looked at it."""
    with open(process.sums, 'r+b') as file:
        file.seek(8 * 7)        # after the sums
        file.write(b'\1')
    output = process.communicate(timeout=PATIENCE)[0]
    if process.returncode == 7 and output == 'interrupted 0, wrong 0\n':
        return ''
    return f'status {process.returncode}, output {output!r}'


def what_is_left(process, path):
    """'': what is left in the process after the end is what may be left."""
    wrong = []
    for task in os.listdir(f'/proc/{process.pid}/task'):
        with contextlib.suppress(OSError), open(
                f'/proc/{process.pid}/task/{task}/comm') as file:
            if file.read().strip() == 'cpprof':
                wrong.append('a thread')
    with open(f'/proc/{process.pid}/status') as file:
        caught, = (int(line.split()[1], 16) for line in file
                   if line.startswith('SigCgt:'))
    # Its handlers: of SIGTRAP, SIGBUS, SIGRTMAX - 1.
    if caught & (1 << 4 | 1 << 6 | 1 << 62):
        wrong.append(f'handlers {caught:x}')
    with open(f'/proc/{process.pid}/timers') as file:
        if file.read():
            wrong.append('timers')
    if data_mappings(process.pid, path + '-meanwhile') or \
            data_mappings(process.pid, path):
        wrong.append('memory')
    return ', '.join(wrong)


class Recording:
    """One that goes on until it is told to end."""
    def __init__(self, process, path, *options):
        self.process, self.path = process, path
        self.recorder = subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '-o', path, '-p',
             str(process.pid), '--inside', *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

        def has_begun():
            """a recording"""
            return data_mappings(process.pid, path)
        try:
            await_that(has_begun, self.recorder)
        except AssertionError:
            raise AssertionError(self.recorder.communicate()[1]) from None

    def end(self):
        """'': it has ended well."""
        self.recorder.send_signal(signal.SIGINT)
        text = self.recorder.communicate(timeout=PATIENCE)[1]
        return '' if has_recorded(self.recorder, text) else text


# ---- where a thread is stopped ----

def in_the_stub(thread, path):
    thread.go_to(address_of(thread.pid, 'trampoline_stub'))


def with_a_count_of_the_recording(thread, path):
    """Inside the stub's code, about to count a return in the recording's file,
    whose address it has in a register."""
    stub = address_of(thread.pid, 'trampoline_stub')
    code = code_of_stub(thread.pid)
    while True:
        thread.go_to(stub)
        while True:
            thread.step()
            registers = thread.registers()
            data = data_mappings(thread.pid, path)
            if any(start <= value < end for value in registers[:15]
                   for start, end in data):
                return
            if registers[RIP] not in code:
                break


def at_the_start_of_a_handler(thread, path):
    thread.go_to_tick()


def in_a_handler(thread, path):
    thread.go_to_tick()
    for _ in range(100):
        thread.step()


def between_functions(thread, path):
    """Wherever it is."""


PLACES = (with_a_count_of_the_recording, in_the_stub,
          at_the_start_of_a_handler, in_a_handler, between_functions)


class Place:
    """What is claimed of a thread that is stopped in one place, by name."""
    def __init__(self, process, directory, name):
        self.process, self.name = process, name
        self.path = os.path.join(directory, name.replace(' ', '-'))

    def record(self, which, where):
        """A second or third recording, which ends at once."""
        try:
            problem = Recording(self.process, f'{self.path}-{which}',
                                '--returns').end()
        except AssertionError as wrong:
            problem = str(wrong)
        claims.check(f'{where} ({self.name})', problem == '', problem)

    def end(self, recording):
        problem = recording.end()
        claims.check(f'it ends while a thread is stopped {self.name}',
                     problem == '' and self.process.poll() is None, problem)

    def go_on(self, thread):
        thread.release()
        left = '?'

        def is_clean():
            """a program in which nothing is left"""
            nonlocal left
            left = what_is_left(self.process, self.path)
            return left == ''
        try:
            await_that(is_clean, self.process)
        except (AssertionError, OSError) as wrong:
            left = f'{left}, {wrong}'
        claims.check(f'nothing is left when the thread goes on ({self.name})',
                     left == '' and self.process.poll() is None,
                     (left, self.process.returncode))
        self.record('again', 'it can be recorded again')
        ended = ends_when_told(self.process)
        claims.check(f'it ends as if nobody had looked at it ({self.name})',
                     ended == '', ended)
        claims.check(f'the recording is whole ({self.name})',
                     all(Profile(os.path.join(self.path, one)).end > 0
                         for one in os.listdir(self.path)
                         if one.startswith('cpprofdata.')),
                     os.listdir(self.path))


def check_place(directory, where):
    with hosted(directory) as process:
        place = Place(process, directory, where.__name__.replace('_', ' '))
        tid = thread_of(process, 'returns')
        recording = Recording(process, place.path, '--returns')
        thread = Stopped(process.pid, tid)
        where(thread, place.path)
        place.end(recording)
        if where in (with_a_count_of_the_recording, in_the_stub):
            place.record('meanwhile', 'another can be made meanwhile')
        place.go_on(thread)


def check_beginning(directory, function):
    """A thread that just begins to be sampled would make a timer after that."""
    with hosted(directory) as process:
        place = Place(process, directory, 'in ' + function)
        tid = thread_of(process, 'returns')
        place.record('before', 'it is recorded')
        thread = Stopped(process.pid, tid)
        address = address_of(process.pid, function)
        thread.set_off_to(address)
        recording = Recording(process, place.path, '--returns')
        thread.arrive(address)
        place.end(recording)
        place.go_on(thread)


def why_not(directory):
    """'': threads can be stopped here, and the collector be loaded."""
    if platform.machine() != 'x86_64':
        return 'not for this machine'
    with hosted(directory) as process:
        try:
            recording = Recording(process, os.path.join(directory, 'first'),
                                  '--returns')
            thread = Stopped(process.pid, thread_of(process, 'returns'))
            stub = address_of(process.pid, 'trampoline_stub')
            can_arrive = stub is not None and thread.can_arrive(stub)
            thread.release()
            text = recording.end()
        except (AssertionError, OSError) as wrong:
            return str(wrong)
        return text or ('no nm, or no symbols' if stub is None else
                        '' if can_arrive else
                        'the processor has no breakpoints')


def main():
    with tempfile.TemporaryDirectory() as directory:
        why = why_not(directory)
        if why:
            claims.skip('recordings end while threads are stopped', why)
        else:
            for place in PLACES:
                check_place(directory, place)
            for function in 'threads_begin', 'timer_start':
                check_beginning(directory, function)
    claims.end()


main()
