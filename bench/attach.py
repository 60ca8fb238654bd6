# SPDX-License-Identifier: GPL-3.0-or-later
"""attach.py -- record -p of servers under load: attach.py [N] [SERVER...].

N times each, 1,000 unless it is given: a server is sampled for a moment, by the
collector inside it and from outside.  It must not crash, nor keep a thread or
mapping for each recording.  One connection asks it all the time; the longest
answer while it was sampled stands beside the longest in between, since other
programs of the machine delay answers, too.  Servers: redis, nginx, postgres,
node, python3; those that are not installed are skipped, and postgres needs root
and a user of that name.  Needs a build in ./build, or CPPROF.
"""
import contextlib
import glob
import os
import pwd
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

CPPROF = os.path.abspath(os.environ.get('CPPROF', 'build/cpprof'))
INSIDE = (('cpu',), ('real',), ('alloc-bytes',), ('live',),
          ('bytes-read', 'bytes-written'), ('real', 'live', 'io-time'))
OUTSIDE = (('cpu',), ('page-faults',), ('cpu', 'context-switches'))
NODE = '''
require('net').createServer(s => s.on('data', () => {
    let list = []; for (let i = 0; i < 200; i++) list.push({ i });
    s.write(JSON.stringify(list.length)) })).listen(PORT, '127.0.0.1')
'''
PYTHON = '''
import asyncio, json
async def serve(reader, writer):
    while await reader.read(100):
        writer.write(json.dumps(len([{} for i in range(200)])).encode())
async def main():
    await (await asyncio.start_server(serve, '127.0.0.1', PORT)).serve_forever()
asyncio.run(main())
'''
NGINX = '''daemon off; worker_processes 1; pid PLACE/pid; error_log PLACE/error;
USER
events { worker_connections 64; }
http { access_log off; keepalive_requests 1000000000;
  client_body_temp_path PLACE/1; proxy_temp_path PLACE/2;
  fastcgi_temp_path PLACE/3; uwsgi_temp_path PLACE/4; scgi_temp_path PLACE/5;
  server { listen 127.0.0.1:PORT; location / { return 200 "well\\n"; } } }
'''
GET = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def connect(port):
    until = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(('127.0.0.1', port), timeout=60)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def ask_for_ever(port, request, pause, notes, is_over):
    """Notes (time, seconds) of each answer, if there are notes."""
    with connect(port) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not is_over.is_set():
            since = time.monotonic()
            one.sendall(request)
            if not one.recv(65536):
                return
            now = time.monotonic()
            if notes is not None:
                notes.append((since, now - since))
            if pause:
                time.sleep(pause)


class Server:
    """A server, its load, and what it answers."""
    def __init__(self, port, process, pid, request):
        self.port, self.process, self.pid = port, process, pid
        self.request = request
        self.answers = []
        self.is_over = threading.Event()
        self.asker = threading.Thread(target=ask_for_ever, args=(
            port, request, 0.002, self.answers, self.is_over), daemon=True)
        self.load = subprocess.Popen([sys.executable, __file__, '--load',
                                      str(port), request.hex()])

    def __enter__(self):
        self.asker.start()
        time.sleep(1)
        return self

    def __exit__(self, *unused):
        self.is_over.set()
        self.load.kill()
        self.load.wait()
        self.process.terminate()
        self.process.wait()


def start(words, **options):
    return subprocess.Popen(words, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **options)


def child_of(pid, title):
    """The newest child of a process whose title has that in it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with open(f'/proc/{pid}/task/{pid}/children') as file:
            for child in reversed(file.read().split()):
                with contextlib.suppress(OSError), \
                        open(f'/proc/{child}/cmdline') as line:
                    if title in line.read():
                        return int(child)
        time.sleep(0.1)
    raise RuntimeError(f'no process {title}')


def start_redis(place, port):
    process = start(['redis-server', '--port', str(port), '--save', '',
                     '--dir', place])
    return Server(port, process, process.pid, b'PING\r\n')


def start_nginx(place, port):
    config = os.path.join(place, 'config')
    with open(config, 'w') as file:
        file.write(NGINX.replace('PLACE', place).replace('PORT', str(port))
                   .replace('USER', 'user root;' if os.geteuid() == 0 else ''))
    process = start(['nginx', '-c', config, '-e', os.path.join(place, 'e')])
    return Server(port, process, child_of(process.pid, 'worker'), GET)


def start_node(place, port):
    process = start(['node', '-e', NODE.replace('PORT', str(port))], cwd=place)
    return Server(port, process, process.pid, b'x')


def start_python3(place, port):
    process = start(['python3', '-c', PYTHON.replace('PORT', str(port))],
                    cwd=place)
    return Server(port, process, process.pid, b'x')


def postgres_program(name):
    found = sorted(glob.glob(f'/usr/lib/postgresql/*/bin/{name}'))
    return found[-1] if found else shutil.which(name)


class Postgres(Server):
    """pgbench is its load, and the answers are in its log."""
    def __init__(self, place, port):
        user = pwd.getpwnam('postgres')
        who = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': [],
               'cwd': place}
        self.place = place
        os.chown(place, user.pw_uid, user.pw_gid)
        data = os.path.join(place, 'data')
        for words in ([postgres_program('initdb'), '-D', data],):
            subprocess.run(words, check=True, capture_output=True, **who)
        self.process = start([postgres_program('postgres'), '-D', data, '-p',
                              str(port), '-k', place, '-h', ''], **who)
        words = ['-h', place, '-p', str(port), 'postgres']
        pgbench = postgres_program('pgbench')
        for _ in range(50):
            if subprocess.run([pgbench, '-i', '-q', *words], **who,
                              capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        self.load = start([pgbench, '-S', '-n', '-c', '1', '-T', '1000000',
                           '-l', *words], **who)
        time.sleep(2)
        self.pid = child_of(self.process.pid, '[local]')
        self.is_over = threading.Event()
        self.asker = threading.Thread(target=lambda: None)

    def __exit__(self, *unused):
        # Its times are those of the clock on the wall.
        off = time.time() - time.monotonic()
        super().__exit__()
        self.answers = []
        for name in glob.glob(os.path.join(self.place, 'pgbench_log.*')):
            with open(name) as file:
                for line in file:
                    words = line.split()
                    if len(words) < 6:
                        continue
                    took = int(words[2]) / 1e6
                    end = int(words[4]) + int(words[5]) / 1e6 - off
                    self.answers.append((end - took, took))


SERVERS = {
    'redis': ('redis-server', start_redis),
    'nginx': ('nginx', start_nginx),
    'postgres': (None, Postgres),
    'node': ('node', start_node),
    'python3': ('python3', start_python3),
}


def why_not(name):
    program = SERVERS[name][0]
    if program is not None:
        return '' if shutil.which(program) else f'there is no {program}'
    if postgres_program('initdb') is None:
        return 'there is no initdb'
    if os.geteuid() != 0:
        return 'it needs root'
    return ''


def state_of(pid):
    """Names of threads, the number of mappings, and what must not be."""
    names = []
    for task in os.listdir(f'/proc/{pid}/task'):
        with contextlib.suppress(OSError), \
                open(f'/proc/{pid}/task/{task}/comm') as file:
            names.append(file.read().strip())
    with open(f'/proc/{pid}/maps') as file:
        maps = file.read().splitlines()
    with open(f'/proc/{pid}/status') as file:
        status = file.read()
    wrong = []
    if 'cpprof' in names:
        wrong.append('a thread of cpprof')
    if any('/cpprofdata' in line for line in maps):
        wrong.append('a recording is mapped')
    if '\nTracerPid:\t0\n' not in status:
        wrong.append('it is traced')
    return len(names), len(maps), wrong


def is_within(when, took, windows):
    return any(when + took >= start and when <= end for start, end in windows)


def longest(answers, windows, is_inside):
    """The longest answer in ms, and how many took more than 20."""
    found = [1000 * took for when, took in answers
             if is_within(when, took, windows) == is_inside]
    return (f'{max(found, default=0):.1f} ms '
            f'({sum(ms > 20 for ms in found)} of {len(found)} over 20 ms)')


def attach(server, n, inside, place):
    """N recordings: their windows of time, and what went wrong."""
    draw = random.Random(27)
    windows, wrong, states = [], [], []
    for i in range(n):
        resources = draw.choice(INSIDE if inside else OUTSIDE)
        words = [word for name in resources for word in ('-r', name)]
        since = time.monotonic()
        result = subprocess.run(
            [CPPROF, 'record', '--no-prompt', '--force', '-o',
             os.path.join(place, 'recording'), '-p', str(server.pid),
             '--no-children', '--for', f'{.01 + draw.random() / 2:.2f}s',
             *(['--inside'] if inside else []), *words],
            capture_output=True, text=True, timeout=120)
        windows.append((since, time.monotonic()))
        if result.returncode != 0:
            wrong.append(f'{i}: {result.stderr.strip()}')
        try:
            states.append(state_of(server.pid))
        except OSError:
            wrong.append(f'{i}: the server has ended ({resources})')
            break
        wrong += [f'{i}: {what}' for what in states[-1][2]]
        time.sleep(0.2)
    if len(states) > 20 and states[-1][1] > states[len(states) // 2][1] + 16:
        wrong.append('mappings grow: ' +
                     ' '.join(str(one[1]) for one in states[::len(states) // 10]))
    if states and states[-1][0] > states[0][0] + 2:
        wrong.append(f'threads: {states[0][0]}, {states[-1][0]} later')
    return windows, wrong, states


def try_server(name, n):
    for inside in True, False:
        with tempfile.TemporaryDirectory() as place, \
                tempfile.TemporaryDirectory() as recordings:
            with SERVERS[name][1](place, free_port()) as server:
                windows, wrong, states = attach(server, n, inside, recordings)
            print(f'{name}, {"inside" if inside else "outside"}: '
                  f'{len(windows)} recordings, longest answer meanwhile '
                  f'{longest(server.answers, windows, True)}, in between '
                  f'{longest(server.answers, windows, False)}; mappings '
                  f'{[one[1] for one in states[:1] + states[-1:]]}')
            for line in wrong[:10]:
                print(f'    {line}')
            sys.stdout.flush()
            yield not wrong


def main():
    if sys.argv[1:2] == ['--load']:
        ask_for_ever(int(sys.argv[2]), bytes.fromhex(sys.argv[3]), 0, None,
                     threading.Event())
        return 0
    words = sys.argv[1:]
    n = int(words.pop(0)) if words and words[0].isdigit() else 1000
    is_well = True
    for name in words or SERVERS:
        if why_not(name):
            print(f'{name}: skipped: {why_not(name)}')
            continue
        for one in try_server(name, n):
            is_well &= one
    return 0 if is_well else 1


if __name__ == '__main__':
    sys.exit(main())
