# SPDX-License-Identifier: GPL-3.0-or-later
"""blame-servers.py -- what `record -r blame` costs servers.

Two servers run beside each other, one by itself and one with the collector, and
are asked in turn for a second or so: redis with one thread and with io-threads,
PostgreSQL by pgbench -S.  Prints how many requests a second the second one
answers for each of the first's, and its CPU time per request: the median of
the pairs' ratios, with the error of the median.

	python3 bench/blame-servers.py [PAIRS [RESOURCES]]

builddir as for the tests.  PostgreSQL is skipped unless it is installed and the
user is root, who starts it as postgres.
"""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("builddir", "build")
LIBRARY = os.path.abspath(os.path.join(BUILD, ".libs", "libcpprof.so.0"))


def environment(directory, resources):
    """Of a server; resources None: without the collector."""
    if resources is None:
        return dict(os.environ)
    return dict(os.environ, LD_PRELOAD=LIBRARY, CPPROF_OUTPUT=directory,
                CPPROF_RESOURCES=resources)


def cpu_ns(pid):
    """Of a process and its children, and of those that have ended."""
    total = 0
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            ended = file.read().rpartition(")")[2].split()[13:15]
        total += sum(map(int, ended)) * 10 ** 9 // os.sysconf("SC_CLK_TCK")
        for thread in glob.glob(f"/proc/{pid}/task/*"):
            with open(f"{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
            with open(f"{thread}/children", encoding="ascii") as file:
                total += sum(cpu_ns(child) for child in file.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return total


class Redis:
    def __init__(self, port, resources, threads):
        self.directory = tempfile.mkdtemp(prefix="cpprof-bench-")
        self.port = str(port)
        self.server = subprocess.Popen(
            ["redis-server", "--port", self.port, "--save", "", "--bind",
             "127.0.0.1", "--io-threads", str(threads),
             "--io-threads-do-reads", "yes", "--dir", self.directory],
            env=environment(self.directory, resources),
            stdout=subprocess.DEVNULL)
        while "PONG" not in subprocess.run(
                ["redis-cli", "-p", self.port, "ping"], capture_output=True,
                text=True, check=False).stdout:
            time.sleep(0.05)

    def ask(self):
        """Requests a second, and CPU time of each."""
        n, before = 60000, cpu_ns(self.server.pid)
        out = subprocess.run(
            ["redis-benchmark", "-p", self.port, "-t", "get", "-n", str(n),
             "-c", "20", "--csv"], capture_output=True, text=True,
            check=True).stdout
        return (float(out.splitlines()[1].split(",")[1].strip('"')),
                (cpu_ns(self.server.pid) - before) / n)

    def end(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.directory)


class Postgres:
    def __init__(self, port, resources):
        self.directory = tempfile.mkdtemp(prefix="cpprof-bench-")
        shutil.chown(self.directory, "postgres")
        self.port = str(port)
        (programs,) = glob.glob("/usr/lib/postgresql/*/bin")[-1:]
        data = os.path.join(self.directory, "data")
        self.run(os.path.join(programs, "initdb"), "-D", data)
        recording = os.path.join(self.directory, "recording")
        self.run("mkdir", recording)
        self.server = subprocess.Popen(
            [os.path.join(programs, "postgres"), "-D", data, "-p", self.port,
             "-k", self.directory], user="postgres",
            env=environment(recording, resources),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.bench("-i", "-s", "1", check=False).returncode != 0:
            time.sleep(0.2)

    def run(self, *words, check=True):
        return subprocess.run(words, user="postgres", cwd=self.directory,
                              capture_output=True, text=True, check=check)

    def bench(self, *words, check=True):
        return self.run("pgbench", "-h", self.directory, "-p", self.port,
                        *words, "postgres", check=check)

    def ask(self):
        """Transactions a second, and CPU time of each."""
        before = cpu_ns(self.server.pid)
        out = self.bench("-n", "-S", "-c", "4", "-T", "1").stdout
        time.sleep(0.1)			# its backends end
        n = int(re.search(r"actually processed: (\d+)", out)[1])
        return (float(re.search(r"tps = ([\d.]+)", out)[1]),
                (cpu_ns(self.server.pid) - before) / n)

    def end(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.directory)


def describe(ratios):
    """The median and its standard error, were the ratios normal."""
    error = 1.25 * statistics.stdev(ratios) / len(ratios) ** 0.5
    return f"{statistics.median(ratios):.3f} +- {error:.3f}"


def compare(name, make, pairs, resources):
    servers = [make(7491, None), make(7492, resources)]
    runs = []
    for i in range(pairs):
        answers = {}
        for which in (0, 1) if i % 2 else (1, 0):
            answers[which] = servers[which].ask()
        runs.append((answers[0], answers[1]))
    for server in servers:
        server.end()
    throughput, cpu = ([with_it[i] / alone[i] for alone, with_it in runs]
                       for i in (0, 1))
    print(f"{name}: throughput {describe(throughput)}, CPU time per request "
          f"{describe(cpu)}", flush=True)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    resources = sys.argv[2] if len(sys.argv) > 2 else "blame"
    for name, threads in (("redis", 1), ("redis, 2 io-threads", 2)):
        if threads > 1 and os.cpu_count() < 2 * threads:
            print(f"{name}: skipped: they spin, and there are only "
                  f"{os.cpu_count()} processors")
            continue
        compare(name, lambda port, what, n=threads: Redis(port, what, n),
                pairs, resources)
    if os.getuid() == 0 and glob.glob("/usr/lib/postgresql/*/bin"):
        compare("pgbench -S", Postgres, pairs, resources)


main()
