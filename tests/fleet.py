#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet.py -- the commands of doc/fleet.md give the bytes of one merge.

Those for xargs, GNU parallel, Slurm and Hadoop streaming are taken from the
page; cpprof-mpi runs on four processes.  Where parallel is not installed, and
always in place of Slurm, a small script does what the manual of the real
program says of the options that the page uses.  Speaks TAP.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "doc", "fleet.md")
CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
MPI = os.path.join(os.path.dirname(CPPROF), "cpprof-mpi")
claims = Claims()


def blocks():
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"```sh\n(.*?)```", file.read(), re.S)


def block(word):
    return next(text for text in blocks() if word in text)


# parallel -0 -n N COMMAND: {} is the arguments, {#} the number of the job.
PARALLEL = r"""#!/usr/bin/env python3
import subprocess, sys
assert sys.argv[1:3] == ["-0", "-n"], sys.argv
n, command = int(sys.argv[3]), sys.argv[4:]
inputs = sys.stdin.buffer.read().split(b"\0")[:-1]
jobs = []
for i in range(0, len(inputs), n):
    words = []
    for word in command:
        if word == "{}":
            words += inputs[i:i + n]
        else:
            words.append(word.replace("{#}", str(i // n + 1)).encode())
    jobs.append(subprocess.Popen(words))
sys.exit(sum(job.wait() != 0 for job in jobs))
"""

# sbatch runs what --wrap says with sh, for each task of an --array; a job that
# depends on one by afterok never starts if a task of it failed.
SBATCH = r"""#!/usr/bin/env python3
import os, re, subprocess, sys
tasks, script, number = [None], None, "7"
words = iter(sys.argv[1:])
for word in words:
    if word == "--wrap":
        script = next(words)
    elif word.startswith("--array="):
        first, last = map(int, word[8:].split("-"))
        tasks = range(first, last + 1)
    elif word.startswith("--dependency="):
        assert word == "--dependency=afterok:" + number, word
        if os.path.exists("a-task-failed"):
            tasks = []
    else:
        assert word == "--parsable", word
for task in tasks:
    if task is not None:
        os.environ["SLURM_ARRAY_TASK_ID"] = str(task)
    done = subprocess.run(["sh", "-c", script], check=False,
                          stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        open("a-task-failed", "w").close()
print(number)
"""


class Folder:
    """Where the commands run: profiles, and cpprof in the path."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "work")
        self.profiles = os.path.join(folder, "profiles")
        os.mkdir(self.path)
        os.mkdir(self.profiles)
        data = os.path.join(HERE, "data")
        for i, name in enumerate(("go/cpu.pb.gz", "go/heap.pb.gz",
                                  "raw/labels.pb.gz")):
            for copy in range(3):
                shutil.copy(os.path.join(data, name), os.path.join(
                    self.profiles, f"{i}-{copy} x.pb.gz"))
        self.inputs = sorted(os.path.join(self.profiles, name)
                             for name in os.listdir(self.profiles))
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        os.symlink(CPPROF, os.path.join(programs, "cpprof"))
        for name, text in (("parallel", PARALLEL), ("sbatch", SBATCH)):
            if name == "sbatch" or shutil.which(name) is None:
                path = os.path.join(programs, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o755)
        self.environment = dict(os.environ, TMPDIR=self.path,
                                PATH=programs + ":" + os.environ["PATH"])
        self.run([CPPROF, "merge", "-o", "whole", *self.inputs])

    def run(self, words, **options):
        return subprocess.run(words, cwd=self.path, check=True,
                              env=self.environment, timeout=300,
                              capture_output=True, **options)

    def content(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def check(self, name):
        assert self.content(name) == self.content("whole")


def run_page(folder, word, n):
    """The block with that word, n files a command; its exit status."""
    script = block(word).replace("/profiles", folder.profiles)
    assert script.startswith("#!/bin/bash\n")
    script = re.sub(r"-n 200\b", f"-n {n}", script)
    return subprocess.run(["bash", "-c", script], cwd=folder.path,
                          env=folder.environment, timeout=300, check=False,
                          capture_output=True)


def clear(folder):
    folder.run(["sh", "-c", "rm -rf tmp.* parts.* fleet.merged a-task-failed"])


def page_merges(folder, word):
    done = run_page(folder, word, 2)
    assert done.returncode == 0, done
    folder.check("fleet.merged")
    clear(folder)


def page_stops_at_bad_inputs(folder, word):
    """No sum is written, and the input is named."""
    bad = os.path.join(folder.profiles, "bad.pb.gz")
    with open(bad, "wb") as file:
        file.write(b"\x1f\x8bno profile")
    vanished = os.path.join(folder.profiles, "vanished.pb.gz")
    for path in bad, vanished:
        if path == vanished:
            os.symlink("nothing", path)
        done = run_page(folder, word, 2)
        # Slurm tells of a failed task in its own way.
        assert done.returncode != 0 or "sbatch" in word, done
        assert os.path.basename(path).encode() in done.stderr, done
        assert not os.path.exists(os.path.join(folder.path, "fleet.merged"))
        os.remove(path)
        clear(folder)


def page_has_no_limit_of_names(folder, word):
    """More than one command can take: 128 KiB for xargs."""
    deep = os.path.join(folder.profiles, *["d" * 250] * 12)
    os.makedirs(deep)
    for i in range(48):
        with open(os.path.join(deep, f"{i}.pb.gz"), "w",
                  encoding="ascii") as file:
            file.write(f"main;f{i} 1\n")
    done = run_page(folder, word, 200)
    assert done.returncode == 0, done
    folder.run([CPPROF, "merge", "-o", "all", folder.profiles])
    assert folder.content("fleet.merged") == folder.content("all")
    shutil.rmtree(os.path.join(folder.profiles, "d" * 250))
    clear(folder)


def write_scripts(folder):
    for name, word in (("mapper", "sed 's/^[0-9]*"), ("reducer", "base64 -d <")):
        with open(os.path.join(folder.path, name), "w",
                  encoding="utf-8") as file:
            file.write(block(word))
        os.chmod(os.path.join(folder.path, name), 0o755)


def fails(folder, command, text):
    """Neither a sum nor exit status 0."""
    done = subprocess.run([command], cwd=folder.path, input=text, check=False,
                          env=folder.environment, timeout=300,
                          capture_output=True)
    assert done.returncode != 0 and done.stdout == b"", done


def hadoop_fails_for_bad_inputs(folder):
    write_scripts(folder)
    good = folder.inputs[0].encode()
    bad = os.path.join(folder.path, "bad")
    with open(bad, "wb") as file:
        file.write(b"no profile")
    for names in (b"0\t" + good + b"\n9\t/missing\n",
                  b"0\t" + bad.encode() + b"\n9\t" + good + b"\n",
                  b"0\t" + good + b"\n1\t" + good + b"\n"):
        fails(folder, "./mapper", names)
    part = folder.run(["./mapper"], input=b"0\t" + good + b"\n").stdout
    for broken in (part + b"sum\t!!!\n", part[:-100] + b"\n" + part,
                   part + b"sum\t\n"):
        fails(folder, "./reducer", broken)
    # A last line without its end counts.
    assert folder.run(["./reducer"], input=part + part[:-1]).stdout == \
        folder.run(["./reducer"], input=part + part).stdout
    # More names than a command can take.
    deep = os.path.join(folder.path, *["d" * 250] * 12)
    os.makedirs(deep)
    names = [os.path.join(deep, str(i)) for i in range(48)]
    for i, name in enumerate(names):
        with open(name, "w", encoding="ascii") as file:
            file.write(f"main;f{i} 1\n")
    lines = "".join(f"{i}\t{name}\n" for i, name in enumerate(names))
    part = folder.run(["./mapper"], input=lines.encode()).stdout
    folder.run(["sh", "-c", "cut -f 2 | base64 -d > many"], input=part)
    folder.run([CPPROF, "merge", "-o", "all", os.path.join(
        folder.path, "d" * 250)])
    assert folder.content("many") == folder.content("all")
    shutil.rmtree(os.path.join(folder.path, "d" * 250))


def hadoop_job(folder):
    """The block that starts the job, with programs in place of Hadoop's."""
    script = block("hadoop fs").replace("mapred streaming", "true")
    for status in 0, 1:
        text = ("hadoop() { printf 'sum\\t'; base64 -w 0 whole; echo; "
                f"return {status}; }}\n" + script)
        done = subprocess.run(["bash", "-c", text], cwd=folder.path,
                              check=False, env=folder.environment,
                              timeout=300, capture_output=True)
        assert done.returncode == status, done
        if status == 0:
            folder.check("fleet.merged")
            os.remove(os.path.join(folder.path, "fleet.merged"))
    assert not os.path.exists(os.path.join(folder.path, "fleet.merged"))


def hadoop_merges(folder):
    """Splits of two lines each; the framework sorts between the two."""
    write_scripts(folder)
    parts = b""
    for i in range(0, len(folder.inputs), 2):
        lines = "".join(f"{i}\t{path}\n" for path in folder.inputs[i:i + 2])
        parts += folder.run(["./mapper"], input=lines.encode()).stdout
    assert parts.count(b"\n") == (len(folder.inputs) + 1) // 2
    combined = folder.run(["./reducer"],
                          input=b"".join(parts.splitlines(True)[:2])).stdout
    rest = b"".join(sorted(parts.splitlines(True)[2:]))
    reduced = folder.run(["./reducer"], input=combined + rest).stdout
    assert reduced.count(b"\n") == 1
    with open(os.path.join(folder.path, "hadoop"), "wb") as file:
        file.write(folder.run(["sh", "-c", "cut -f 2 | base64 -d"],
                              input=reduced).stdout)
    folder.check("hadoop")


def mpirun(folder, n, *words):
    done = run_mpi(folder, n, *words)
    # What the program says begins with its name.
    assert b"cpprof: " not in done.stderr, done
    return done


def start_mpi(folder, n, *words):
    # OpenMPI itself leaks, which a sanitizer would report.
    environment = dict(folder.environment, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       ASAN_OPTIONS="detect_leaks=0")
    oversubscribe = ["--oversubscribe"] if shutil.which("ompi_info") else []
    return subprocess.Popen(["mpirun", *oversubscribe, "-n", str(n), MPI,
                             *words], cwd=folder.path, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_mpi(folder, n, *words):
    process = start_mpi(folder, n, *words)
    out, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out,
                                       errors)


def who_has_open(path):
    """A process that has the file open."""
    for place in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.path.samefile(place, path):
                return int(place.split("/")[2])
        except OSError:
            pass
    return None


def mpi_process_dies(folder):
    """One waits for an input when it is killed: there is no sum."""
    pipe = os.path.join(folder.path, "pipe")
    os.mkfifo(pipe)
    process = start_mpi(folder, 3, "-o", "none", *folder.inputs, "pipe")
    while (reader := who_has_open(pipe)) is None and process.poll() is None:
        time.sleep(0.05)
    assert reader is not None, process.communicate()
    os.kill(reader, signal.SIGKILL)
    process.communicate(timeout=300)
    assert process.returncode != 0
    assert not [name for name in os.listdir(folder.path) if "none" in name]
    os.remove(pipe)


def mpi_merges(folder):
    for n in (1, 3, 4):
        done = mpirun(folder, n, "-o", "mpi", *reversed(folder.inputs))
        assert done.returncode == 0, done.stderr.decode()
        folder.check("mpi")
    # More processes than files, and a file that cannot be read.
    done = mpirun(folder, 4, "-o", "mpi", "missing", folder.inputs[0])
    assert done.returncode == 1, done
    assert b"cpprof-mpi: missing: No such file or directory (skipped)" in \
        done.stderr, done
    folder.run([CPPROF, "merge", "-o", "one", folder.inputs[0]])
    assert folder.content("mpi") == folder.content("one")
    folder.run([CPPROF, "merge", "--by", "route", "-o", "by", *folder.inputs])
    mpirun(folder, 4, "--by", "route", "-o", "mpi", *folder.inputs)
    assert folder.content("mpi") == folder.content("by")
    folder.run([CPPROF, "merge", "-o", "one.pb.gz", *folder.inputs])
    mpirun(folder, 4, "-o", "mpi.pb.gz", *folder.inputs)
    assert folder.content("mpi.pb.gz") == folder.content("one.pb.gz")
    folder.run(["cp", "one", "one2"])
    done = mpirun(folder, 3, "--by", "route", "-o", "mpi", "one", "one2",
                  *folder.inputs)
    assert done.stderr.count(b"2 of 11 members were merged without") == 1, done
    done = mpirun(folder, 3, "-o", "mpi", "by", *folder.inputs)
    assert done.stderr.count(b"9 of 18 members were merged without") == 1, done
    done = mpirun(folder, 2, "--by", "route", "-o", "mpi", "one", "one2")
    assert done.returncode == 1 and b"none of 2 members" in done.stderr, done
    # Counts by two keys: nothing is written, and no process is killed.
    folder.run([CPPROF, "merge", "--by", "id", "-o", "by-id",
                *folder.inputs])
    for n in 2, 3:
        done = mpirun(folder, n, "-o", "none", "by", "by-id")
        assert done.returncode == 1, done
        assert done.stderr.count(b"by has counts by route, by-id by id, which "
                                 b"cannot be added up") == 1, done
        assert b"name the key to keep with --by" in done.stderr, done
        assert b"MPI_ABORT" not in done.stderr, done
        assert not os.path.exists(os.path.join(folder.path, "none"))
    done = mpirun(folder, 2, "--by", "route", "-o", "mpi", "by", "by-id")
    assert done.returncode == 1 and b"by-id" in done.stderr and \
        folder.content("mpi") == folder.content("by"), done
    sums = [os.path.join(folder.profiles, "sum") for _ in range(2)]
    notes = [mpirun(folder, 2, "-o", out, folder.profiles).stderr
             for out in sums]
    assert b"itself" not in notes[0] and notes[1].count(b"itself") == 1, notes
    folder.check(sums[0])
    os.remove(sums[0])
    os.symlink("one", os.path.join(folder.path, "again"))
    os.remove(os.path.join(folder.path, "mpi"))
    done = run_mpi(folder, 3, "-o", "mpi", "one", "again", "one2")
    assert done.returncode != 0 and b"are the same file" in done.stderr, done
    assert not os.path.exists(os.path.join(folder.path, "mpi"))
    done = mpirun(folder, 2, folder.inputs[0])
    assert done.returncode == 2 and \
        done.stderr.startswith(b"cpprof-mpi: usage: "), done


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(name)
        for name, word in (("xargs on one machine", "xargs -0 -n 200 -P"),
                           ("GNU parallel", "parallel -0"),
                           ("Slurm", "sbatch")):
            claims.attempt(name, page_merges, folder, word)
            claims.attempt(name + ": bad inputs", page_stops_at_bad_inputs,
                           folder, word)
            claims.attempt(name + ": many long names",
                           page_has_no_limit_of_names, folder, word)
        claims.attempt("Hadoop's mapper and reducer with bad inputs",
                       hadoop_fails_for_bad_inputs, folder)
        claims.attempt("Hadoop's job", hadoop_job, folder)
        claims.attempt("Hadoop's mapper and reducer", hadoop_merges, folder)
        if os.path.exists(MPI) and shutil.which("mpirun"):
            claims.attempt("cpprof-mpi on four processes", mpi_merges, folder)
            claims.attempt("cpprof-mpi, of which one dies", mpi_process_dies,
                           folder)
        else:
            claims.skip("cpprof-mpi on four processes", "no MPI")
    claims.end()


main()
