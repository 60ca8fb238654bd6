# SPDX-License-Identifier: GPL-3.0-or-later
"""slow-calls.py -- what `record --calls` says of servers whose own logs know.

	python3 bench/slow-calls.py redis|nginx|postgres [ROUNDS [REQUESTS]]
	python3 bench/slow-calls.py cost [ROUNDS [REQUESTS]]

One request in 1,000 is slow for a cause that is known, one in 100 of middling
length, the others short.  The witnesses: redis's slow log, which has the time
of each `call`; the client's clock for nginx, less the median of all requests; and
PostgreSQL's auto_explain.  Prints for each round the percentiles beside the
true ones, how many calls are in another place than the truth allows, and
whether the cause comes first in the diff of slow calls and others.  `cost`: the
CPU time of redis with --calls beside that with -r real alone, by turns.

CPPROF as for the tests.  postgres runs as the user POSTGRES_USER (postgres),
who must be able to run cpprof; POSTGRES_BIN is where its programs are.
"""
import glob
import json
import math
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
PORT = 7395
SLOW = 0.02			# a slow call takes as long, or three times


class Server:
    function = cause = None
    user = None
    slack = 0.0			# seconds by which the witness says more

    def __init__(self, directory, observes=True):
        self.directory = directory
        self.observes = observes
        self.recording = os.path.join(directory, "recording")
        self.times = []
        self.process = subprocess.Popen(
            [CPPROF, "record", "--no-prompt", "--calls", self.function, "-o",
             self.recording, *self.command()] if self.observes else
            [CPPROF, "record", "--no-prompt", "-r", "real", "-o",
             self.recording, *self.command()], user=self.user,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self):
        for _ in range(200):
            try:
                return socket.create_connection(("127.0.0.1", PORT))
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the server does not answer")


class Redis(Server):
    function = "call"
    cause = "debugCommand"

    def command(self):
        return ["redis-server", "--port", str(PORT), "--bind", "127.0.0.1",
                "--save", "", "--appendonly", "no", "--logfile", "/dev/null",
                "--dir", self.directory, "--enable-debug-command", "yes",
                "--slowlog-log-slower-than", "0", "--slowlog-max-len",
                "10000000"]

    def begin(self):
        self.socket = self.connect()
        self.answers = self.socket.makefile("rb")
        self.ask("set", "key", "x" * 100)
        for _ in range(20):
            self.ask("rpush", "list", *range(1000))
        self.ask("slowlog", "reset")

    def reply(self):
        line = self.answers.readline()
        if line[:1] in b"+-:":
            return line[1:-2]
        size = int(line[1:])
        if line[:1] == b"$":
            return None if size < 0 else self.answers.read(size + 2)[:-2]
        return [self.reply() for _ in range(size)]

    def ask(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(str(word)), str(word).encode())
            for word in words))
        return self.reply()

    def short(self):
        self.ask("get", "key")

    def middling(self):
        self.ask("sort", "list", "limit", "0", "1")

    def slow(self, seconds):
        self.ask("debug", "sleep", seconds)

    def cpu_seconds(self):
        facts = dict(line.split(":") for line in
                     self.ask("info", "cpu").decode().splitlines()
                     if ":" in line)
        return sum(float(facts[f"used_cpu_{kind}_main_thread"])
                   for kind in ("sys", "user"))

    def end(self):
        # The second time for the first, which is a call, too.
        times = [int(entry[2]) / 1e6 for n in (-1, 1)
                 for entry in self.ask("slowlog", "get", n)]
        self.socket.sendall(b"shutdown nosave\r\n")
        self.process.wait()
        return times


class Nginx(Server):
    """A directory with many files takes long to list."""
    function = "ngx_http_core_run_phases"
    cause = "fstatat|stat64|lstat64"
    slack = 0.001

    def command(self):
        root = os.path.join(self.directory, "root")
        os.makedirs(os.path.join(root, "slow"))
        for i in range(12000):
            with open(os.path.join(root, "slow", f"file-{i:06}"), "w"):
                pass
        with open(os.path.join(root, "middling.txt"), "w") as file:
            numbers = random.Random(1)
            file.write(" ".join(str(numbers.randrange(10000))
                                for _ in range(8000)))
        with open(os.path.join(self.directory, "conf"), "w") as file:
            file.write(f"""
daemon off; master_process off; user root; pid {self.directory}/pid;
error_log /dev/null; events {{ }}
http {{
	access_log off; autoindex on; keepalive_requests 1000000;
	types {{ text/plain txt; }}
	gzip on; gzip_comp_level 9; gzip_types text/plain; gzip_http_version 1.0;
	server {{
		listen 127.0.0.1:{PORT}; root {root};
		location = /short {{ return 200 "short"; }}
	}}
}}
""")
        return ["nginx", "-c", os.path.join(self.directory, "conf")]

    def begin(self):
        self.socket = self.connect()

    def ask(self, name):
        before = time.monotonic()
        self.socket.sendall(f"GET /{name} HTTP/1.1\r\nHost: a\r\n"
                            "Accept-Encoding: gzip\r\n\r\n".encode())
        data = self.socket.recv(1 << 20)
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        while (len(body) < int(length[1]) if length else
               not body.endswith(b"0\r\n\r\n")):
            body += self.socket.recv(1 << 20)
        self.times.append(time.monotonic() - before)

    def short(self):
        self.ask("short")

    def middling(self):
        self.ask("middling.txt")

    def slow(self, _):
        self.ask("slow/")

    def end(self):
        self.socket.close()
        with open(os.path.join(self.directory, "pid")) as file:
            os.kill(int(file.read()), 3)
        self.process.wait()
        # What a request takes beside the call.
        beside = statistics.median(self.times)
        return [seconds - beside for seconds in self.times]


class Postgres(Server):
    function = "standard_ExecutorRun"
    cause = "pg_sleep"
    slack = 0.001
    user = os.environ.get("POSTGRES_USER", "postgres")
    programs = os.environ.get("POSTGRES_BIN") or (
        sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [""])[-1]

    def program(self, name):
        return os.path.join(self.programs, name)

    def command(self):
        shutil.chown(self.directory, self.user)
        self.data = os.path.join(self.directory, "data")
        subprocess.run([self.program("initdb"), "-D", self.data, "-A",
                        "trust"], user=self.user, check=True,
                       capture_output=True)
        return [self.program("postgres"), "-D", self.data, "-p", str(PORT),
                "-k", self.directory, "-c", "shared_preload_libraries=auto_explain", "-c",
                "auto_explain.log_min_duration=0",
                "-c", "logging_collector=on", "-c", "log_directory=log",
                "-c", "log_rotation_size=0", "-c", "jit=off", "-c",
                "max_parallel_workers_per_gather=0", "-c", "fsync=off"]

    def begin(self):
        self.connect().close()
        self.client = subprocess.Popen(
            ["psql", "-h", self.directory, "-p", str(PORT), "-qAtX",
             "postgres"], user=self.user, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True)
        self.ask("create table t as select generate_series(1, 60000) as i")
        self.ask("create index on t (i)")
        self.ask("analyze t")

    def ask(self, words):
        self.client.stdin.write(words + ";\n")

    def short(self):
        self.ask("select i from t where i = 7")

    def middling(self):
        self.ask("select count(*) from t where i % 7 = 1")

    def slow(self, seconds):
        self.ask(f"select pg_sleep({seconds:.4f})")

    def end(self):
        self.client.stdin.close()
        self.client.wait()
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            os.kill(int(file.readline()), 2)
        self.process.wait()
        times = []
        for name in glob.glob(os.path.join(self.data, "log", "*")):
            with open(name) as file:
                times += [float(ms) / 1000 for ms in re.findall(
                    r"duration: ([\d.]+) ms", file.read())]
        return times


def drive(server, n, seed):
    numbers = random.Random(seed)
    server.begin()
    for _ in range(n):
        kind = numbers.random()
        if kind < 0.001:
            server.slow(SLOW * (1 + 2 * numbers.random()))
        elif kind < 0.011:
            server.middling()
        else:
            server.short()
    return server.end()


def ask(recording, *commands):
    words = [word for command in commands for word in ("-e", command)]
    done = subprocess.run([CPPROF, "-q", "-F", "json", *words, recording],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def names(recording, *commands):
    """Of all functions of a view; none if there is nothing to see."""
    words = [word for command in ("threshold 0", *commands)
             for word in ("-e", command)]
    done = subprocess.run([CPPROF, "-q", "-F", "json", *words, recording],
                          capture_output=True, text=True, check=False)
    return {name for line in done.stdout.splitlines()
            for row in json.loads(line).get("rows", [])
            for name in row["path"]}


def count_misplaced(found, true, slack):
    """How many calls the bounds of the histogram's rows have on the wrong side,
    if a length is known to within half an interval."""
    half = found["rows"][0]["end_ns"] / 2e9
    most = 0
    for row in found["rows"][2:]:
        bound = row["least_ns"] / 1e9
        n = sum(each["calls"] for each in found["rows"]
                if each["least_ns"] >= row["least_ns"])
        most = max(most, n - sum(t >= bound - half for t in true),
                   sum(t >= bound + half + slack for t in true) - n)
    return most


def one_round(kind, n, seed):
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        os.chmod(directory, 0o755)
        server = kind(directory)
        true = drive(server, n, seed)
        found = ask(server.recording, f"calls {kind.function}")[-1]
        rows = ask(server.recording, f"base calls below {SLOW * 1000 - 4}ms",
                   "threshold 0", "diff functions")[-1]["rows"]
        callers = names(server.recording, f"up {kind.function}")
        first = next((row["path"][0] for row in rows if row["base"] == 0 and
                      row["path"][0] not in callers), "")
        is_first = any(first in names(server.recording, f"narrow {cause}",
                                      "functions") - callers
                       for cause in kind.cause.split("|"))
    least = found["rows"][0]["least_ns"] / 1e9
    true = sorted(t for t in true if t >= least)
    print(f"round {seed}: {found['calls']['value']} calls +- "
          f"{1.96 * found['calls']['error']:.0f}, truth {len(true)}; "
          f"misplaced {count_misplaced(found, true, kind.slack)}; first "
          f"{first}")
    inside = 0
    for key, share in SHARES.items():
        truth = true[int(share * len(true))] * 1e9
        low, high = found[key]["low_ns"], found[key]["high_ns"] or math.inf
        is_inside = low <= truth <= high
        inside += is_inside
        print(f"    {key:5}  {found[key]['ns'] / 1e6:6.2f} ms "
              f"({low / 1e6:.2f} to {high / 1e6:.2f}), truth "
              f"{truth / 1e6:.2f}{'' if is_inside else '  OUTSIDE'}")
    return inside, is_first


def cpu_used(n, seed, observes):
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        server = Redis(directory, observes)
        server.begin()
        before = server.cpu_seconds()
        for i in range(n):
            if i % 50 == seed % 50:
                server.middling()
            else:
                server.short()
        used = server.cpu_seconds() - before
        server.end()
    return used


def compare_cost(rounds, n):
    ratios = []
    for seed in range(rounds):
        order = (True, False) if seed % 2 else (False, True)
        used = {observes: cpu_used(n, seed, observes) for observes in order}
        ratios.append(used[True] / used[False])
        print(f"round {seed + 1}: {used[False]:.3f} s with -r real, "
              f"{used[True]:.3f} with --calls: {ratios[-1]:.4f}")
    error = statistics.stdev(ratios) / math.sqrt(rounds)
    print(f"--calls: {statistics.mean(ratios):.4f} +- {error:.4f} times the "
          f"CPU time, median {statistics.median(ratios):.4f}")


def main():
    if sys.argv[1] == "cost":
        compare_cost(*map(int, sys.argv[2:] or (9, 20000)))
        return
    kind = {"redis": Redis, "nginx": Nginx, "postgres": Postgres}[sys.argv[1]]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    results = [one_round(kind, n, seed) for seed in range(1, rounds + 1)]
    print(f"{sys.argv[1]}: {sum(inside for inside, _ in results)} of "
          f"{len(SHARES) * rounds} percentiles within their bounds; the cause "
          f"first in {sum(first for _, first in results)} of {rounds}")


main()
