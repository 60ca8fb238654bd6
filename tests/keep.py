#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""keep.py -- keep and log: profiles of commits, and where they changed.

Values are compared with sums that are made here from the stacks; changes with
those that were planted.  Speaks TAP.
"""
import collections
import json
import os
import random
import shlex
import shutil
import struct
import subprocess
import tempfile
import time

import cpprof
import pprof_writer
from claims import Claims

claims = Claims()
HEADER = "# cpprof 1\n# resource: cpu; gtick=microsecond; interval=1000\n"
# What a run has on average, in samples.
PROGRAM = {"main;parse;lex": 3000, "main;parse;node": 1500, "main;parse": 500,
           "main;run;eval": 2500, "main;run;gc": 1200,
           "main;run;eval;malloc": 900,
           **{f"main;run;f{i}": 60 + 7 * i for i in range(12)}}


def write(path, stacks, header=HEADER):
    with open(path, "w", encoding="ascii") as file:
        file.write(header + "".join(f"{stack} {hits}\n"
                                    for stack, hits in stacks.items()))
    return path


def keep(folder, commit, *files, status=0, **options):
    words = ["--id", commit] if commit else []
    return cpprof.run("keep", *words, *files, cwd=folder, status=status,
                      **options)


def log(folder, path, *options, **more):
    done = cpprof.run("-q", "-F", "json", *options, "-e", f"log {path}",
                      cwd=folder, **more)
    return json.loads(done.stdout) if done.stdout else done.stderr


def value_of(stacks, path):
    """The hits of stacks on which a path of one or two names occurs, of which
    none is entered again between."""
    names = path.split()
    return sum(hits for stack, hits in stacks.items()
               if any(stack.split(";")[i:i + len(names)] == names
                      for i in range(len(stack.split(";")))))


# ---- what is kept, and what log says of it ----

def check_values(folder):
    draw = random.Random(1)
    runs = {}
    for commit in ("one", "two/three", "v1.0 beta%"):
        runs[commit] = [{stack: draw.randrange(1, 2 * hits)
                         for stack, hits in PROGRAM.items()
                         if draw.random() < 0.9}
                        for _ in range(draw.randrange(1, 5))]
        files = [write(os.path.join(folder, f"run-{i}"), run)
                 for i, run in enumerate(runs[commit])]
        # One after the other is the same as all at once.
        keep(folder, commit, files[0])
        if len(files) > 1:
            keep(folder, commit, *files[1:])
        time.sleep(0.01)    # the order is that of the files' times
    for path in ("parse", "run", "main", "eval malloc", "lex"):
        table = log(folder, path)
        got = [(row["id"], row["runs"], row["value"]) for row in table["rows"]]
        expected = [(commit, len(all_runs), sum(
            value_of(run, path) for run in all_runs) / len(all_runs))
            for commit, all_runs in reversed(runs.items())]
        claims.check(f"log {path} shows the mean of the runs",
                     [row[:2] for row in got] == [row[:2] for row in expected]
                     and all(abs(a[2] - b[2]) < 1e-6
                             for a, b in zip(got, expected)), (got, expected))
    kept = os.path.join(folder, ".cpprof", "history", "one.merged")
    labels = cpprof.table(kept, "labels id")
    claims.check("a kept file is a merged profile with its runs",
                 sorted(row["hits"] for row in labels["rows"]) ==
                 sorted(sum(run.values()) for run in runs["one"]), labels)
    before = os.stat(kept).st_mtime_ns
    done = keep(folder, "one", os.path.join(folder, "run-0"), status=(0, 1))
    again = keep(folder, "one", os.path.join(folder, "run-0"), status=1)
    claims.check("the same run is not kept twice", "there already" in
                 again.stderr and "nothing new to keep" in again.stderr,
                 done.stderr + again.stderr)
    claims.check("a commit keeps the time at which it was first kept",
                 os.stat(kept).st_mtime_ns == before)
    claims.check("an unknown function is an error", "no commit that is kept "
                 "has the function nobody" in
                 log(folder, "nobody", status=1))
    claims.check("limit shows the newest", [row["id"] for row in log(
        folder, "parse", "-e", "limit 1")["rows"]] == ["v1.0 beta%"])
    with open(kept, "r+b") as file:
        file.truncate(100)
    done = cpprof.run("-q", "-F", "json", "-e", "log parse", cwd=folder)
    claims.check("a damaged file is named, and the others are shown",
                 "one.merged" in done.stderr and
                 len(json.loads(done.stdout)["rows"]) == 2, done.stderr)


def check_loaded(folder):
    """With a profile loaded, its steps and resource count."""
    two = HEADER + "# resource: faults; gtick=fault; interval=1\n"
    draw = random.Random(2)
    runs = [{stack: f"{hits} {draw.randrange(50)}"
             for stack, hits in PROGRAM.items()} for _ in range(3)]
    files = [write(os.path.join(folder, f"run-{i}"), run, two)
             for i, run in enumerate(runs)]
    done = cpprof.ask(files[:2], "keep --id a", cwd=folder, status=0)
    claims.check("keep without files keeps the loaded ones as runs",
                 "2" in done.stdout and log(folder, "parse")["rows"][0]["runs"]
                 == 2, done.stdout)
    keep(folder, "b", files[2])
    faults = [{stack: int(text.split()[1]) for stack, text in run.items()}
              for run in runs]
    table = cpprof.table(files[2], "resource faults", "log parse", cwd=folder)
    claims.check("the resource is that of the session",
                 [row["value"] for row in table["rows"]] ==
                 [value_of(faults[2], "parse"),
                  (value_of(faults[0], "parse") +
                   value_of(faults[1], "parse")) / 2], table)
    table = cpprof.table(files[2], "narrow lex", "log parse", cwd=folder)
    claims.check("steps apply", [row["value"] for row in table["rows"]] ==
                 [3000, 3000], table)
    done = cpprof.ask(files[2], "group all = lex node", "log all", cwd=folder)
    claims.check("so do groups", "4.50 s" in done.stdout, done.stdout)
    for pattern in ("lex*", "/^(lex|node)$/"):
        names = ("lex",) if "*" in pattern else ("lex", "node")
        claims.check(f"log {pattern} means all that match", [
            row["value"] for row in log(folder, pattern)["rows"]] ==
            [sum(PROGRAM[f"main;parse;{name}"] for name in names)] * 2)
    claims.check("between bars it is a name", "no commit that is kept has" in
                 log(folder, "|lex*|", status=1))
    table = cpprof.table(files[2], "granularity line", "log lex", cwd=folder)
    claims.check("log knows granularities", [
        row["value"] for row in table["rows"]] == [3000, 3000], table)
    interval = {stack: hits // 10 for stack, hits in PROGRAM.items()}
    keep(folder, "c", write(os.path.join(folder, "slow"), interval,
                            HEADER.replace("1000", "10000")))
    table = log(folder, "parse")
    claims.check("different intervals are compared in their unit",
                 table["resource"]["interval"] == 1 and
                 [row["value"] for row in table["rows"]] == [5e6] * 3, table)


def check_unlike(folder):
    """Commits that lack what is asked for, and files that others made."""
    file = os.path.join(folder, "run")
    keep(folder, "with", write(file, {"main;lex": 30, "main": 5}))
    time.sleep(0.01)
    keep(folder, "without", write(file, {"main": 7}))
    table = cpprof.table(file, "narrow main", "log main", cwd=folder)
    claims.check("a step that keeps all keeps all", [
        row["value"] for row in table["rows"]] == [7, 35], table)
    loaded = write(os.path.join(folder, "both"), {"main;lex": 1})
    table = cpprof.table(loaded, "narrow lex", "log main", cwd=folder)
    claims.check("where a step finds nothing, nothing is left", [
        row["value"] for row in table["rows"]] == [0, 30], table)
    files = [write(os.path.join(folder, f"m{i}"), {"main": 10 + i})
             for i in range(3)]
    time.sleep(0.01)
    kept = os.path.join(folder, ".cpprof", "history")
    cpprof.run("merge", "-o", os.path.join(kept, "sum.merged"), *files)
    row = log(folder, "main")["rows"][0]
    claims.check("of a sum whose runs are not known, a run has its part", (
        row["id"], row["runs"], row["value"]) == ("sum", 3, 11), row)
    labelled = os.path.join(folder, "labelled.pb.gz")
    pprof_writer.write(labelled, [([1], 3, [("k", "v", None)]),
                                  ([1], 4, [])], {1: "main"})
    done = cpprof.ask(labelled, "narrow label k=v", "log main", cwd=folder,
                      status=1)
    claims.check("steps by label are refused", "kept profiles do not know" in
                 done.stderr, done.stderr)


def check_recursion(folder):
    draw = random.Random(3)
    stacks = collections.Counter()
    for _ in range(400):
        stacks[";".join(draw.choice("abcd")
                        for _ in range(draw.randrange(1, 9)))] += \
            draw.randrange(1, 9)
    file = write(os.path.join(folder, "run"), stacks)
    keep(folder, "x", file)
    differ = []
    for path in ("a", "b c", "a b c", "a b a", "d c b", "c d d"):
        one = cpprof.table(file, f"path ({path})")["rows"][0]["hits"]
        kept = log(folder, f"({path})")["rows"][0]["value"]
        if one != kept:
            differ.append((path, one, kept))
    claims.make("of recursive stacks it says what path says", differ)


# ---- git ----

def git(folder, *words, **environment):
    return subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org",
         *words], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
             **environment}).stdout.strip()


def check_git(folder):
    if shutil.which("git") is None:
        claims.skip("git's order and hashes", "no git")
        return
    git(folder, "init", "-q", "-b", "main")
    inside = os.path.join(folder, "sub")
    os.mkdir(inside)
    hashes = []
    # All commits have one time, so only their parents tell the order.
    when = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    source = os.path.join(inside, "source")
    for i in range(6):
        write(source, {"x": i})
        git(folder, "add", "sub")
        git(folder, "commit", "-qm", f"change {i}", **when)
        hashes.append(git(folder, "rev-parse", "HEAD"))
    file = os.path.join(folder, "run")
    for i, at in enumerate((3, 0, 5, 1, 4)):
        write(file, {"main;parse": 1000 + at, "main": i})
        keep(inside, hashes[at][:9], file)
    write(file, {"main;parse": 1002, "main": 9})
    git(folder, "checkout", "-q", hashes[2])
    keep(inside, None, file)
    git(folder, "checkout", "-q", "main")
    claims.check("the history is at the top of the work tree", os.listdir(
        os.path.join(folder, ".cpprof")) and not os.path.exists(
            os.path.join(inside, ".cpprof")))
    claims.check("git does not see it", ".cpprof" not in
                 git(folder, "status", "--porcelain"))
    table = log(inside, "parse")
    claims.check("commits are in git's order, with their subjects",
                 [(row["id"], row["subject"], row["value"])
                  for row in table["rows"]] ==
                 [(hashes[i], f"change {i}", 1000 + i)
                  for i in reversed(range(6))], table)
    git(folder, "checkout", "-q", "-b", "other", hashes[1])
    write(source, {"x": 77})
    git(folder, "commit", "-qam", "other change", **when)
    git(folder, "tag", "v2")
    write(file, {"main;parse": 7, "main": 9})
    keep(folder, "v2", file)
    table = log(folder, "parse")
    claims.check("only ancestors of HEAD are shown",
                 [row["subject"] for row in table["rows"]] ==
                 ["other change", "change 1", "change 0"], table)
    claims.check("--all shows all", len(log(folder, "--all parse")["rows"])
                 == 7)
    done = keep(folder, hashes[0][:5], file)
    claims.check("a few digits are no commit, but a number of the user's",
                 f"history/{hashes[0][:5]}.merged" in done.stdout, done.stdout)
    os.remove(os.path.join(folder, ".cpprof", "history",
                           f"{hashes[0][:5]}.merged"))
    shallow = os.path.join(folder, "shallow")
    git(folder, "clone", "-q", "--depth=1", "--branch=main",
        f"file://{folder}", shallow)
    shutil.copytree(os.path.join(folder, ".cpprof"),
                    os.path.join(shallow, ".cpprof"))
    done = cpprof.run("-q", "-e", "log parse", cwd=shallow)
    claims.check("a shallow clone is told", "git fetch --unshallow" in
                 done.stdout and len(log(shallow, "parse")["rows"]) == 1,
                 done.stdout)
    tree = os.path.join(folder, "tree")
    git(shallow, "worktree", "add", "-q", "-b", "side", tree)
    shutil.copytree(os.path.join(folder, ".cpprof"),
                    os.path.join(tree, ".cpprof"))
    done = cpprof.run("-q", "-e", "log parse", cwd=tree)
    claims.check("so is a work tree of it", "git fetch --unshallow" in
                 done.stdout, done.stdout)
    os.rename(os.path.join(shallow, ".git", "HEAD"),
              os.path.join(shallow, ".git", "head"))
    done = keep(shallow, None, file, status=1)
    claims.check("so is what is no repository", "git: " in done.stderr and
                 "--id" in done.stderr, done.stderr)
    os.rename(os.path.join(shallow, ".git", "head"),
              os.path.join(shallow, ".git", "HEAD"))
    if os.geteuid() == 0:
        os.chown(os.path.join(shallow, ".git"), 1, 1)
        done = keep(shallow, None, file, status=1)
        claims.check("and that its directory is another user's", "another "
                     "user" in done.stderr and "--id" in done.stderr,
                     done.stderr)
    write(source, {"x": 78})
    write(file, {"main;parse": 8, "main": 9})
    done = keep(folder, None, file)
    claims.check("changed files are told", "differ from HEAD" in done.stderr,
                 done.stderr)
    table = log(folder, "parse", "--read-only",
                env={**os.environ, "PATH": ""})
    claims.check("git is not run: the order is the same without it, and with "
                 "--read-only", table["ordered_by_git"] and
                 [row["subject"] for row in table["rows"]] ==
                 ["other change", "change 1", "change 0"], table)


def check_status(folder):
    """Whether files are said to differ is what git says of them."""
    if shutil.which("git") is None:
        claims.skip("changed files", "no git")
        return
    git(folder, "init", "-q", "-b", "main")
    files = {name: os.path.join(folder, name)
             for name in ("plain", "program", "empty", "sub/deep")}
    os.mkdir(os.path.join(folder, "sub"))
    for name, path in files.items():
        write(path, {} if name == "empty" else {"x": 1}, "")
    os.chmod(files["program"], 0o755)
    os.symlink("plain", os.path.join(folder, "link"))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    profile = write(os.path.join(folder, "profile"), PROGRAM)
    n = 0

    def relink():
        os.remove(os.path.join(folder, "link"))
        os.symlink("empty", os.path.join(folder, "link"))

    def restage():
        write(files["plain"], {"staged": 1}, "")
        git(folder, "add", "plain")
        write(files["plain"], {"x": 1}, "")

    def to_pipe():
        os.remove(files["plain"])
        os.mkfifo(files["plain"])
    for what, change in (
            ("nothing", lambda: None),
            ("the time of a file", lambda: os.utime(files["plain"], (9, 9))),
            ("a file, at once and in its size",
             lambda: write(files["plain"], {"y": 1}, "")),
            ("a file that was empty",
             lambda: write(files["empty"], {"y": 1}, "")),
            ("a file's length", lambda: write(files["plain"], {"y": 12}, "")),
            ("a file in a directory, with its time", lambda: (
                write(files["sub/deep"], {"z": 1}, ""),
                os.utime(files["sub/deep"], (9, 9)))),
            ("rights", lambda: os.chmod(files["program"], 0o644)),
            ("a link", relink), ("what is staged", restage),
            ("a file for a pipe", to_pipe),
            ("a file, which is removed", lambda: os.remove(files["plain"])),
            ("a new file", lambda: write(os.path.join(folder, "new"), {}))):
        change()
        n += 1
        write(profile, {"main": n})
        done = keep(folder, None, profile)
        expected = git(folder, "status", "--porcelain",
                       "--untracked-files=no") != ""
        claims.check(f"changing {what}: files differ, or not, as git says",
                     ("differ from HEAD" in done.stderr) == expected,
                     (expected, done.stderr))
        git(folder, "reset", "-q", "--hard")


def check_no_programs(folder):
    """No program runs that the settings of a repository name."""
    if shutil.which("git") is None:
        claims.skip("settings that name programs", "no git")
        return
    clone, mark = os.path.join(folder, "clone"), os.path.join(folder, "mark")
    os.mkdir(clone)
    program = os.path.join(folder, "program")
    with open(program, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\necho ran >> {mark}\ncat\n")
    os.chmod(program, 0o755)
    git(clone, "init", "-q", "-b", "main")
    write(os.path.join(clone, "text"), {"x": 1})
    for i in range(3):
        with open(os.path.join(clone, ".gitattributes"), "w",
                  encoding="ascii") as file:
            file.write("* filter=x diff=x merge=x\n" + "#" * i + "\n")
        git(clone, "add", "-f", ".")
        git(clone, "commit", "-qm", f"change {i}")
    first = git(clone, "rev-parse", "HEAD~2")
    for name, value in (
            ("filter.x.clean", program), ("filter.x.smudge", program),
            ("filter.x.process", program), ("filter.x.required", "true"),
            ("diff.x.command", program), ("diff.x.textconv", program),
            ("core.fsmonitor", program), ("core.hooksPath", folder),
            ("core.pager", program), ("core.editor", program),
            ("core.sshCommand", program), ("core.gitProxy", program),
            ("credential.helper", f"!{program}"), ("gpg.program", program),
            ("log.showSignature", "true"), ("alias.log", f"!{program}"),
            ("alias.status", f"!{program}"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.url", f"ext::{program}"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.uploadpack", program),
            ("protocol.ext.allow", "always"),
            ("core.repositoryFormatVersion", "1")):
        git(clone, "config", name, value)
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        path = os.path.join(clone, ".git", "hooks", hook)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(program, path)
    os.utime(os.path.join(clone, "text"), (9, 9))
    # A commit that lacks, as in a partial clone.
    middle = git(clone, "rev-parse", "HEAD~1")
    os.remove(os.path.join(clone, ".git", "objects", middle[:2], middle[2:]))
    index = os.path.join(clone, ".git", "index")
    if os.path.exists(mark):
        os.remove(mark)
    before = os.stat(index).st_mtime_ns
    file = write(os.path.join(folder, "run"), PROGRAM)
    done = keep(clone, None, file)
    kept = os.path.join(clone, ".cpprof", "history")
    for commit in (first, middle, "0" * 39 + "1", "main~2"):
        keep(clone, commit, write(file, {"main": len(os.listdir(kept))}))
    table = log(clone, "main")
    for command in ("log main", "log --all main"):
        cpprof.run("-q", "-n", "--read-only", "-e", command, cwd=clone)
    claims.check("no program of a repository's settings runs, and its index "
                 "stays as it is", not os.path.exists(mark) and
                 os.stat(index).st_mtime_ns == before,
                 done.stdout + done.stderr)
    claims.check("what git lacks is not fetched: it ends the history",
                 [row["subject"] for row in table["rows"]] == ["change 2"],
                 table)


def check_hostile_git(folder):
    """What a repository has in the place of files, or names, is not opened."""
    if shutil.which("git") is None:
        claims.skip("repositories that name files", "no git")
        return
    source, pipe = os.path.join(folder, "source"), os.path.join(folder, "pipe")
    secret = write(os.path.join(folder, "secret"), {"x": 1})
    os.mkfifo(pipe)
    os.mkdir(source)
    git(source, "init", "-q", "-b", "main")
    write(os.path.join(source, "text"), {"x": 1})
    git(source, "add", ".")
    git(source, "commit", "-qm", "first")
    head = git(source, "rev-parse", "HEAD")
    file = write(os.path.join(folder, "run"), PROGRAM)

    def put(clone, name, text):
        with open(os.path.join(clone, ".git", name), "a",
                  encoding="ascii") as opened:
            opened.write(text)

    def put_pipe(clone, name, link=False):
        path = os.path.join(clone, ".git", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.remove(path)
        if link:
            os.symlink(pipe, path)
        else:
            os.mkfifo(path)

    def put_alternate(clone):
        other = os.path.join(clone, "other")
        os.makedirs(os.path.join(other, "aa"))
        os.mkfifo(os.path.join(other, "aa", "0" * 38))
        put(clone, "objects/info/alternates", f"{other}\n")

    def put_away(clone):
        os.rename(os.path.join(clone, ".git", "refs"),
                  os.path.join(clone, "refs"))
        os.mkdir(os.path.join(clone, ".git", "refs"))
        os.rename(os.path.join(clone, "refs", "heads"),
                  os.path.join(clone, "heads"))
        os.symlink("../../heads", os.path.join(clone, ".git", "refs", "heads"))

    def check(what, change, word):
        clone = os.path.join(folder, "clone")
        shutil.copytree(source, clone)
        change(clone)
        done = keep(clone, None, file, status=1, timeout=20)
        claims.check(f"{what} is refused", word in done.stderr and
                     "--id" in done.stderr, done.stderr)
        keep(clone, head, file, timeout=20)
        done = cpprof.run("-q", "-F", "json", "-e", "log main", cwd=clone,
                          timeout=20)
        table = json.loads(done.stdout)
        claims.check(f"with {what}, --id keeps, and log lists",
                     [row["id"] for row in table["rows"]] == [head] and
                     not table["ordered_by_git"] and
                     "not in git's order: " in done.stderr and
                     word in done.stderr, (table, done.stderr))
        shutil.rmtree(clone)
    for text in (f"[include]\n\tpath = {pipe}\n", f"[ Include] path={pipe}\n",
                 f'[core]\n[core] [includeIf "gitdir:/"]path = {pipe}\n'):
        check(f"a config with {text.strip()!r}",
              lambda clone, text=text: put(clone, "config", text), "[include]")
    for name in ("HEAD", "config", "index", "packed-refs", "commondir",
                 "refs/heads/main", "objects/info/alternates",
                 f"objects/{head[:2]}/{head[2:]}"):
        for link in (False, True):
            check(f"a {'link to a ' if link else ''}pipe as {name}",
                  lambda clone, name=name, link=link:
                  put_pipe(clone, name, link), "regular file")
    check("a pipe in borrowed objects", put_alternate, "regular file")
    check("a link below refs", put_away, "regular file")

    # Nothing here is refused.
    tree = os.path.join(folder, "tree")
    git(source, "worktree", "add", "-q", "-b", "side", tree)
    shared = os.path.join(folder, "shared")
    git(folder, "clone", "-q", "--shared", source, shared)
    linked = os.path.join(folder, "linked")
    os.makedirs(os.path.join(linked, ".git"))
    for name in ("config", "refs", "objects", "info", "logs"):
        os.symlink(os.path.join(source, ".git", name),
                   os.path.join(linked, ".git", name))
    for name in ("HEAD", "index"):
        shutil.copy(os.path.join(source, ".git", name),
                    os.path.join(linked, ".git", name))
    shutil.copy(os.path.join(source, "text"), linked)
    for place in (tree, shared, linked):
        done = keep(place, None, file)
        claims.check(f"git is read in a {os.path.basename(place)} repository",
                     head in done.stdout and "differ" not in done.stderr,
                     (done.stdout, done.stderr))

    # An index that names a file elsewhere: as long, with another content.
    other = os.path.join(source, "sub")
    os.mkdir(other)
    shutil.copy(secret, os.path.join(other, "secret"))
    git(source, "add", ".")
    git(source, "commit", "-qm", "second")
    shutil.rmtree(other)
    os.symlink("..", other)
    done = keep(source, None, write(file, {"main": 1}))
    claims.check("a file behind a link out of the work tree counts as changed",
                 "differ from HEAD" in done.stderr, done.stderr)


def check_merged_branch(folder):
    """A branch whose commit has an earlier date than its parent."""
    if shutil.which("git") is None:
        claims.skip("branches", "no git")
        return
    file = os.path.join(folder, "run")

    def commit(text, year, *words):
        date = f"{year}-01-01T00:00:00Z"
        git(folder, *(words or ("commit", "-q", "--allow-empty")), "-m", text,
            GIT_COMMITTER_DATE=date, GIT_AUTHOR_DATE=date)
        write(file, {"main": len(text)})
        keep(folder, None, file)
    git(folder, "init", "-q", "-b", "main")
    commit("parent", 2026)
    git(folder, "checkout", "-q", "-b", "branch")
    commit("child", 2026 - 1)
    git(folder, "checkout", "-q", "main")
    commit("merge", 2027, "merge", "-q", "--no-ff", "branch")
    table = log(folder, "main")
    claims.check("commits come after their parents, whatever their dates",
                 [row["subject"] for row in table["rows"]] ==
                 ["merge", "child", "parent"], table)


# ---- what is refused, and what is bounded ----

def check_refusals(folder):
    file = write(os.path.join(folder, "run"), PROGRAM)
    done = cpprof.run("-q", "--read-only", "-e", f"keep --id a {file}",
                      cwd=folder, status=1)
    claims.check("--read-only refuses keep", "not with --read-only" in
                 done.stderr and not os.path.exists(
                     os.path.join(folder, ".cpprof")), done.stderr)
    done = keep(folder, None, file, status=1)
    claims.check("without git a commit must be named", "--id" in done.stderr,
                 done.stderr)
    for name in ("", "x" * 121):
        done = keep(folder, None, "--id", name, file, status=(1, 2))
        claims.check(f"a name of {len(name)} bytes is refused", done.stderr)
    merged = os.path.join(folder, "sum.merged")
    cpprof.run("merge", "-o", merged, file,
               write(os.path.join(folder, "other"), {"main": 3}))
    done = keep(folder, "a", merged, status=1)
    claims.check("so is a merged profile without runs", "--by id" in
                 done.stderr, done.stderr)
    done = cpprof.ask(file, "keep --id a -", cwd=folder, status=1)
    claims.check("standard input cannot be kept", "standard input" in
                 done.stderr, done.stderr)
    kept = os.path.join(folder, ".cpprof", "history")
    claims.check("of what was refused nothing is left",
                 not os.path.isdir(kept) or
                 set(os.listdir(kept)) <= {".lock"})
    done = keep(folder, "a", file, os.path.join(folder, "none"), status=1)
    claims.check("what cannot be read is named, and the rest is kept",
                 "none" in done.stderr and os.listdir(kept), done.stderr)


def check_links(folder):
    """A directory whose .cpprof somebody else wrote, such as a clone."""
    file = write(os.path.join(folder, "run"), PROGRAM)
    precious = os.path.join(folder, "precious")
    ours, history = ".cpprof", ".cpprof/history"

    def read_precious():
        with open(precious, encoding="ascii") as opened:
            return opened.read()
    with open(precious, "w", encoding="ascii") as opened:
        opened.write("precious")
    os.mkdir(os.path.join(folder, "elsewhere"))
    for name, target in ((f"{ours}/.gitignore", "precious"),
                         (f"{history}/.lock", "precious"),
                         (f"{history}/a.merged", "precious"),
                         (f"{history}/.lock", "missing"),
                         (f"{ours}/.gitignore", "missing"),
                         (history, "elsewhere"), (ours, "elsewhere"),
                         (ours, "missing")):
        place = os.path.join(folder, "clone")
        os.makedirs(os.path.dirname(os.path.join(place, name)))
        os.symlink(os.path.join(folder, target), os.path.join(place, name))
        done = keep(place, "a", file, status=1)
        claims.check(f"{name} that is a link to what is {target} is refused",
                     name in done.stderr and read_precious() == "precious" and
                     os.listdir(os.path.join(folder, "elsewhere")) == [] and
                     not os.path.exists(os.path.join(folder, "missing")),
                     done.stderr)
        shutil.rmtree(place)
    for name in (f"{ours}/.gitignore", f"{history}/.lock",
                 f"{history}/a.merged"):
        place = os.path.join(folder, "clone")
        os.makedirs(os.path.dirname(os.path.join(place, name)))
        os.mkfifo(os.path.join(place, name))
        done = keep(place, "a", file, status=1)
        claims.check(f"so is {name} that is a named pipe", "regular file" in
                     done.stderr, done.stderr)
        shutil.rmtree(place)
    keep(folder, "a", file)
    kept = os.path.join(folder, history, "a.merged")
    os.link(kept, os.path.join(folder, "copy"))
    before = os.stat(os.path.join(folder, "copy"))
    keep(folder, "a", write(file, {"main": 3}))
    claims.check("a second name of a kept file stays as it was",
                 os.stat(os.path.join(folder, "copy")).st_size ==
                 before.st_size and os.stat(kept).st_ino != before.st_ino)
    if os.geteuid() != 0:
        claims.skip("directories of another user", "needs root")
        return
    for name in (ours, history, f"{history}/.lock", f"{history}/a.merged"):
        os.chown(os.path.join(folder, name), 1, 1)
        done = keep(folder, "a", write(file, {"main": 4}), status=1)
        claims.check(f"{name} of another user is refused", "another user" in
                     done.stderr, done.stderr)
        os.chown(os.path.join(folder, name), 0, 0)


def check_bounds(folder):
    for i in range(6):
        keep(folder, f"c{i}", "--most", "3",
             write(os.path.join(folder, "run"), {"main": 100 + i}))
        time.sleep(0.01)
    claims.check("the commits that were kept first are removed",
                 [row["id"] for row in log(folder, "main")["rows"]] ==
                 ["c5", "c4", "c3"])
    keep(folder, "c3", "--most", "1",
         write(os.path.join(folder, "run"), {"main": 1}))
    claims.check("but never the one that is kept now",
                 [(row["id"], row["runs"]) for row in
                  log(folder, "main")["rows"]] == [("c3", 2)])
    for i in range(2):
        files = [write(os.path.join(folder, f"r{k}"), {"main": 1000 * (i + 1)
                                                       + k})
                 for k in range(60)]
        done = keep(folder, "many", *files, status=i)
    claims.check("a commit has at most 100 runs", "at most 100" in done.stderr
                 and log(folder, "main")["rows"][0]["runs"] == 60,
                 done.stderr)


def check_large(folder):
    """Files that are no kept profiles take no memory, however large they
    are."""
    file = write(os.path.join(folder, "run"), PROGRAM)
    for name in ("a", "zeros", "line", "almost", "stacks"):
        keep(folder, name, file)
    kept = os.path.join(folder, ".cpprof", "history")
    for name, begin in (("zeros", b""), ("almost", b"cpprof merged profile 2"),
                        ("line", b"cpprof merged profile 1\n"),
                        ("stacks", b"main;lex 10\n")):
        with open(os.path.join(kept, name + ".merged"), "wb") as hostile:
            hostile.write(begin)
            hostile.truncate(100 << 20)
    with open(os.path.join(kept, "large.merged"), "wb") as hostile:
        hostile.truncate(1 << 40)
    os.mkfifo(os.path.join(kept, "pipe.merged"))
    os.symlink("/dev/zero", os.path.join(kept, "device.merged"))
    for words in (["log", "main"], ["log", "nobody"]):
        process = subprocess.Popen(
            [cpprof.CPPROF, "-q", "-n", "-F", "json", "-e", " ".join(words)],
            cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        output = process.stdout.read()
        usage = os.wait4(process.pid, 0)[2]
        process.returncode = 0
        rows = json.loads(output)["rows"] if output else []
        claims.check(f"{' '.join(words)} reads files of 100 MiB that are none "
                     "in 64 MiB of memory", usage.ru_maxrss < 64 << 10 and
                     [row["id"] for row in rows] ==
                     (["a"] if words[1] == "main" else []),
                     (usage.ru_maxrss, output))
    for name in ("zeros", "line", "almost", "large"):
        done = keep(folder, name, write(file, {"main": 7}), status=1)
        claims.check(f"keep does not add to such a file: {name}", name in
                     done.stderr and "begins anew" in done.stderr,
                     done.stderr)


def check_killed(folder):
    """What processes that were killed leave behind."""
    kept = os.path.join(folder, ".cpprof", "history")
    keep(folder, "a", write(os.path.join(folder, "run"), {"main": 1}))
    before = os.stat(os.path.join(kept, "a.merged")).st_ino
    write(os.path.join(folder, "run"), {"main": 2})
    # A number comes back, always if each job has processes of its own.
    subprocess.run(["sh", "-c", f'touch "{kept}/.cpprof-export-$$-0"; exec '
                    f"{shlex.quote(cpprof.CPPROF)} keep --id a run"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    claims.check("a file that another process of this number left does not "
                 "make it write in place", before !=
                 os.stat(os.path.join(kept, "a.merged")).st_ino and
                 log(folder, "main")["rows"][0]["runs"] == 2)
    left, = (name for name in os.listdir(kept) if "export" in name)
    old = os.path.join(kept, ".cpprof-export-1-0")
    write(old, {})
    os.utime(old, (0, 0))
    keep(folder, "b", os.path.join(folder, "run"))
    claims.check("files of processes that were killed are removed after a day",
                 left in os.listdir(kept) and not os.path.exists(old),
                 os.listdir(kept))
    # As after a disk was full when the first directory had been made.
    shutil.rmtree(kept)
    os.remove(os.path.join(folder, ".cpprof", ".gitignore"))
    keep(folder, "b", os.path.join(folder, "run"))
    claims.check("a directory without a history gets its .gitignore",
                 os.path.exists(os.path.join(folder, ".cpprof",
                                             ".gitignore")))
    os.remove(os.path.join(folder, ".cpprof", ".gitignore"))
    keep(folder, "c", os.path.join(folder, "run"))
    claims.check("one that the user has removed stays away",
                 not os.path.exists(os.path.join(folder, ".cpprof",
                                                 ".gitignore")))


def check_together(folder):
    files = [write(os.path.join(folder, f"r{k}"), {"main": 100 + k})
             for k in range(8)]
    running = [subprocess.Popen([cpprof.CPPROF, "keep", "--id", "x", file],
                                cwd=folder, stdout=subprocess.DEVNULL)
               for file in files]
    status = [process.wait() for process in running]
    rows = log(folder, "main")["rows"]
    claims.check("processes that keep runs of a commit at the same time lose "
                 "none", status == [0] * 8 and len(rows) == 1 and
                 rows[0]["runs"] == 8 and rows[0]["value"] == 103.5,
                 (status, rows))


# ---- changes ----

def make_history(folder, seed, factors, elsewhere=(), n=40, runs=5,
                 between=0.0):
    """Keeps n commits, by one process.  factors: {commit: by what parse has
    changed from there on}; elsewhere: commits where something else changed;
    between: how much commits differ by themselves."""
    draw = random.Random(seed)
    parse = other = 1.0
    script = ""
    for commit in range(n):
        parse *= factors.get(commit, 1)
        other *= 1.3 if commit in elsewhere else 1
        weather = draw.gauss(1, between)
        files = []
        for run in range(runs):
            speed = weather * draw.gauss(1, 0.01)
            stacks = {}
            for stack, hits in PROGRAM.items():
                mean = hits * speed * (parse if "parse" in stack else 1) * \
                    (other if "gc" in stack else 1)
                stacks[stack] = max(1, round(draw.gauss(mean, mean ** 0.5)))
            files.append(f"run-{commit}-{run}")
            write(os.path.join(folder, files[-1]), stacks)
        script += f"load {' '.join(files)}\nkeep --id c{commit}\n"
    cpprof.run("-q", input=script, cwd=folder)
    return [(int(row["id"][1:]), row["verdict"])
            for row in log(folder, "parse")["rows"] if row["verdict"]]


def check_changes(folder):
    found, false, others = 0, 0, []
    for seed in range(20):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            at = 5 + seed * 30 // 19
            changes = make_history(place, seed, {at: 1.03})
            found += changes == [(at, "grew")]
            others += [] if changes == [(at, "grew")] else [(at, changes)]
    claims.check("a step of 3% is found at its commit in 18 of 20 histories of "
                 "40 commits", found >= 18, others)
    print(f"# found in {found} of 20")
    for claim, options in (
            ("one without a step", {}),
            ("one whose commits differ by 1% besides their runs",
             {"between": 0.01}),
            ("one of six commits that differ so", {"between": 0.01, "n": 6}),
            ("one of ten", {"between": 0.01, "n": 10}),
            ("one where something else changes", {"elsewhere": (9, 25)})):
        false = 0
        for seed in range(20):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                false += len(make_history(place, 100 + seed, {}, **options)) \
                    > 0
        claims.check(f"at most one of 20 histories has a false step: {claim}",
                     false <= 1, false)
        print(f"# {false} of 20 false steps: {claim}")
    for n in (2, 3, 4):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            changes = make_history(place, 6, {n - 1: 1.4}, n=n)
            claims.check(f"a large change is found in {n} commits", changes ==
                         [(n - 1, "grew" if n > 3 else "likely grew")],
                         changes)
            done = cpprof.run("-q", "-e", "log parse", cwd=place)
            claims.check(f"of {n} commits it says whether they are too few",
                         ("less than 15% are undecided" in done.stdout) ==
                         (n < 4), done.stdout)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        changes = make_history(place, 7, {10: 1.2, 20: 1 / 1.2, 30: 1.1})
        claims.check("several changes are found, up and down", changes[::-1] ==
                     [(10, "grew"), (20, "shrank"), (30, "grew")], changes)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        changes = make_history(place, 8, {20: 1.1}, runs=1)
        claims.check("one run a commit is enough for a larger one",
                     changes == [(20, "grew")], changes)


def write_waits(folder, name, waited, most):
    """A run with 700 samples of one hit, and 10 of waits that were measured;
    most: of other samples, None: a file that does not say."""
    path = os.path.join(folder, name)
    with open(path + ".txt", "w", encoding="ascii") as file:
        for i in range(710):
            hits, leaf = (waited // 10, "wait") if i < 10 else (1, "run")
            file.write(f"prog 1 {i}.0: {hits:10} cycles: \n"
                       f"\t10 {leaf}+0x1 (/x)\n\t20 main+0x1 (/x)\n\n")
    cpprof.run("-q", "-e", f"export cpprofdata {path}", path + ".txt")
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        struct.pack_into("<24s24sQ", data, 512, b"real", b"microsecond", 4000)
        if most is not None:
            flags, = struct.unpack_from("<I", data, 16)
            struct.pack_into("<I", data, 16, flags | 0x40000)
            struct.pack_into("<Q", data, 1224, most)
        file.seek(0)
        file.write(data)
    return path


def check_waits(folder):
    """Ten waits of 300 hits each: their number is no matter of chance.  So 20%
    more are a change, but where such samples may have been drawn."""
    for most, name in (1, "measured"), (None, "drawn"):
        place = os.path.join(folder, name)
        os.mkdir(place)
        for i in range(8):
            keep(place, f"c{i}", write_waits(place, f"run-{i}",
                                             3000 if i < 4 else 3600, most))
            time.sleep(0.01)    # the order is that of the files' times
        table = log(place, "wait")
        changed = [row["id"] for row in table["rows"]
                   if row.get("change") not in (None, 0)]
        claims.check(f"waits that were {name} are taken for that",
                     changed == (["c4"] if most else []), table)


def check_speed(folder):
    """Prints how long 1,000 commits take; a busy machine decides nothing."""
    file = write(os.path.join(folder, "run"), PROGRAM)
    keep(folder, "c0", file)
    kept = os.path.join(folder, ".cpprof", "history")
    for i in range(1, 1000):
        shutil.copy(os.path.join(kept, "c0.merged"),
                    os.path.join(kept, f"c{i}.merged"))
    start = time.monotonic()
    table = log(folder, "parse")
    print(f"# log of 1,000 commits: {time.monotonic() - start:.2f} s")
    claims.check("1,000 equal commits have no change",
                 len(table["rows"]) == 1000 and table["changes"] == 0)


def main():
    for check in (check_values, check_loaded, check_unlike, check_recursion,
                  check_git, check_status, check_no_programs, check_hostile_git,
                  check_merged_branch, check_refusals, check_links,
                  check_bounds, check_large, check_killed, check_together,
                  check_changes, check_waits, check_speed):
        with tempfile.TemporaryDirectory() as folder:
            claims.attempt(f"{check.__name__} ends", check, folder)
    claims.end()


main()
