#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""parquet.py -- merge -f parquet: DuckDB gives what cpprof gives, row for row.

DuckDB is that of npm: @duckdb/node-api in NODE_PATH.  Without it only what needs
no engine is tested.  hyparquet (with hyparquet-compressors), a reader of other
authors, is a second witness.  parquet_reader.py, which is strict and needs nothing,
reads every file's bytes.  Speaks TAP.
"""
import fcntl
import glob
import gzip
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import tempfile

import cpprof
import oracle
import parquet_reader
import pprof_writer
from claims import Claims, rounds

HERE = os.path.dirname(os.path.abspath(__file__))
claims = Claims()
PROFILES = 1000
ROUTES = ["/", "/cart", "/search?q=1", "/%41 b"]

# Reads queries, a JSON list, and answers with a list of lists of rows.
ENGINE = """
import duckdb from '@duckdb/node-api';
import fs from 'fs';
const instance = await duckdb.DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const answers = [];
for (const query of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const reader = await connection.runAndReadAll(query);
    answers.push(reader.getRowsJson());
}
console.log(JSON.stringify(answers));
"""

# Reads each file that is named, and answers with an object of lists of rows.
READER = """
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
const rows = {};
for (const path of process.argv.slice(2)) {
    const file = await asyncBufferFromFile(path);
    rows[path] = await parquetReadObjects({ file, compressors });
}
console.log(JSON.stringify(rows, (key, value) =>
    typeof value === 'bigint' ? value.toString() : value));
"""

# What doc/tables.md tells users to begin with.
VIEWS = """
create view hit as select * from read_parquet('{0}/hit/**/*.parquet');
create view stack as select distinct * from '{0}/stack/*.parquet';
create view stack_path as select distinct * from '{0}/stack_path/*.parquet';
create view path as select distinct * from '{0}/path/*.parquet';
create view label as select distinct * from '{0}/label/*.parquet';
"""


def run_node(folder, name, text, *arguments, **more):
    """What a script answers."""
    script = os.path.join(folder, name)
    if not os.path.exists(os.path.join(folder, "node_modules")):
        os.symlink(os.environ["NODE_PATH"],
                   os.path.join(folder, "node_modules"))
    with open(script, "w", encoding="ascii") as file:
        file.write(text)
    done = subprocess.run(["node", script, *arguments], text=True,
                          capture_output=True, timeout=300, check=False,
                          **more)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def engine(folder, tables, queries):
    """The rows of each query, as lists."""
    views = [line for line in VIEWS.format(tables).splitlines() if line]
    return run_node(folder, "engine.mjs", ENGINE,
                    input=json.dumps(views + queries))[len(views):]


def has_package(*names):
    return shutil.which("node") and all(os.path.isdir(os.path.join(
        os.environ.get("NODE_PATH", ""), name)) for name in names)


def make_profiles(folder):
    """Profiles of recursive stacks with labels and two resources."""
    draw = random.Random(5)
    names = {i + 1: name for i, name in enumerate(
        ["main", "parse", "eval", "call", "malloc", "std::map<int, char>::at",
         "f\u00e4n", "free"])}
    pool = [[1] + [draw.randrange(2, 9) for _ in range(draw.randrange(0, 9))]
            for _ in range(150)]
    paths = []
    for i in range(PROFILES):
        samples = [([*reversed(draw.choice(pool))],
                    (draw.randrange(1, 9), draw.randrange(0, 4)),
                    [("route", draw.choice(ROUTES), None)]
                    if draw.random() < 0.8 else [])
                   for _ in range(draw.randrange(5, 20))]
        paths.append(os.path.join(folder, f"profile-{i}.pb.gz"))
        pprof_writer.write(paths[-1], samples, names,
                           types=(("cpu", "nanoseconds"),
                                  ("alloc", "bytes")))
    return paths


def sum_of(path_rows):
    return sorted((tuple(row["path"]), row["hits"]) for row in path_rows)


def rows_of(answer):
    """Rows of names and a number, as sum_of has them."""
    return sorted((tuple(names if isinstance(names, list) else [names]),
                   int(hits)) for names, hits in answer)


# The value of each of some paths.  {0}: which paths; {1}: which hits.
VALUES = """
with h as (select stack, sum("count") as n from hit
           where resource = 'cpu' and {1} group by stack),
     p as (select * from path where {0})
select p.names, sum(h.n) from p join stack_path using (path)
join h using (stack) group by p.path, p.names"""
BODIES = """
with h as (select stack, sum("count") as n from hit
           where resource = 'cpu' and {0} group by stack)
select leaf, sum(n) from h join stack using (stack) group by leaf"""
OF_ROUTE = ("labels in (select labels from label where \"key\" = 'route' and "
            "\"value\" = '{}')")
WITH_PATH = ("stack in (select stack from stack_path where path in (select "
             "path from path where names = {}))")


def questions():
    """Of each: what it is about, commands of cpprof, a query."""
    yield "functions", ["functions"], VALUES.format("len(names) = 1", "true")
    yield "body", ["body"], BODIES.format("true")
    for root in ("main", "parse", "eval", "malloc"):
        yield (f"down {root}", [f"down {root}"],
               VALUES.format(f"names[1] = '{root}'", "true"))
    for root in ("call", "free", "f\u00e4n"):
        yield (f"up {root}", [f"up {root}"],
               VALUES.format(f"names[-1] = '{root}'", "true"))
    for path in (["main", "parse"], ["parse", "eval", "parse"],
                 ["eval", "eval"], ["call", "malloc", "free"]):
        words = " ".join(path)
        yield (f"path {words}", [f"path ({words})"],
               VALUES.format(f"names = {path}", "true"))
    for route in ROUTES[1:]:
        narrow = f"narrow label route={route}"
        yield (f"functions of {route}", [narrow, "functions"],
               VALUES.format("len(names) = 1", OF_ROUTE.format(route)))
    yield ("down main of /cart", ["narrow label route=/cart", "down main"],
           VALUES.format("names[1] = 'main'", OF_ROUTE.format("/cart")))
    yield ("functions after narrow parse eval",
           ["narrow parse eval", "functions"],
           VALUES.format("len(names) = 1",
                         WITH_PATH.format(["parse", "eval"])))
    yield ("body after drop malloc", ["drop malloc", "body"],
           BODIES.format("not " + WITH_PATH.format(["malloc"])))
    yield ("body of /search after narrow call",
           ["narrow label route=/search?q=1", "narrow call", "body"],
           BODIES.format(OF_ROUTE.format("/search?q=1") + " and " +
                         WITH_PATH.format(["call"])))


def check_answers(folder, paths, tables):
    asked = list(questions())
    answers = engine(folder, tables, [query for _, _, query in asked])
    settings = ["resource cpu", "threshold 0", "depth off"]
    lines = [line for _, commands, _ in asked for line in
             (*commands, *(["reset"] if len(commands) > 1 else []))]
    documents = [json.loads(line) for line in cpprof.run(
        "-q", "-F", "json", *(word for line in settings + lines
                              for word in ("-e", line)), *paths,
        timeout=300).stdout.splitlines()]
    views = [document for document in documents
             if document.get("rows") and "path" in document["rows"][0]]
    claims.check("cpprof answers each question once", len(views) == len(asked),
                 [document.get("schema") for document in documents])
    for (about, _, _), view, answer in zip(asked, views, answers):
        ours = [row for row in sum_of(view["rows"]) if row[1] > 0]
        claims.check(f"{about}: {len(ours)} rows are the same",
                     ours and ours == rows_of(answer),
                     (ours[:5], rows_of(answer)[:5]))


def check_resources(folder, paths, tables):
    answer, routes, members = engine(folder, tables, [
        'select resource, sum("count" * "interval") from hit group by all '
        'order by 1',
        'select "value", sum("count") from hit join label using (labels) '
        "where resource = 'cpu' and \"key\" = 'route' group by all",
        f"select count(*), count(distinct member) from '{tables}/member/*.parquet'"])
    labels = cpprof.table(paths, "resource cpu", "labels route", timeout=300)
    claims.check("each route has its hits",
                 sorted((row["value"], row["hits"]) for row in labels["rows"]
                        if row["value"] != "[none]") ==
                 sorted((value, int(hits)) for value, hits in routes), routes)
    claims.check("both resources are there", [row[0] for row in answer] ==
                 ["alloc", "cpu"], answer)
    claims.check("each profile is a member", [int(n) for n in members[0]] ==
                 [PROFILES] * 2, members)


def check_appending(folder, paths, tables):
    """Two merges into one directory, one of them by partition, are one."""
    more = os.path.join(folder, "more")
    half = PROFILES // 2
    cpprof.run("merge", "-f", "parquet", "--paths", "all", "-o", more,
               *paths[:half], timeout=300)
    before = {path: os.stat(path).st_mtime_ns for path in
              glob.glob(more + "/**/*.parquet", recursive=True)}
    cpprof.run("merge", "-f", "parquet", "--paths", "all", "-o", more,
               *paths[half:], timeout=300)
    claims.check("a second merge rewrites no file", before and all(
        os.stat(path).st_mtime_ns == time for path, time in before.items()))
    cpprof.run("merge", "-f", "parquet", "--paths", "all", "-o", more,
               *paths[half:], timeout=300)
    query = VALUES.format("true", "true")
    claims.check("two merges are the same as one, also if one is repeated",
                 rows_of(engine(folder, more, [query])[0]) ==
                 rows_of(engine(folder, tables, [query])[0]))
    parts = os.path.join(folder, "parts")
    cpprof.run("merge", "-f", "parquet", "--by", "route", "-o", parts,
               *paths, timeout=300)
    answer = engine(folder, parts, [
        'select route, sum("count") from read_parquet('
        f"'{parts}/hit/*/*.parquet', hive_partitioning = true) "
        "where resource = 'cpu' group by all"])[0]
    labels = cpprof.table(paths, "resource cpu", "labels route", timeout=300)
    claims.check("partitions are the values of the key",
                 {value: int(hits) for value, hits in answer} ==
                 {None if row["value"] == "[none]" else row["value"]:
                  row["hits"] for row in labels["rows"]}, answer)


def check_times(folder):
    """Hits of slices of time."""
    file = os.path.join(HERE, "data", "perf", "rec.script")
    tables = os.path.join(folder, "times")
    cpprof.run("merge", "-f", "parquet", "-o", tables, file)
    table = cpprof.table(file, "resource cpu-clock:u", "timeline")
    answer = engine(folder, tables, [
        'select time_ns - (select min(time_ns) from hit), sum("count") '
        "from hit where resource = 'cpu-clock:u' group by all order by 1"])[0]
    ours = [(row["begin_ns"], row["hits"]) for row in table["rows"]
            if row["hits"] > 0]
    claims.check(f"{len(ours)} slices of time have their hits",
                 len(ours) > 5 and [(begin - ours[0][0], hits)
                                    for begin, hits in ours] ==
                 [(int(begin) - int(answer[0][0]), int(hits))
                  for begin, hits in answer],
                 (ours, answer))


def check_large_values(folder):
    """Numbers that no dictionary holds, long runs, and names that are no
    UTF-8."""
    draw = random.Random(9)
    path = os.path.join(folder, "large.folded")
    # 300,000 rows are more than a row group has.
    stacks = {f"main;f{i % 1000};g{i // 1000}":
              draw.randrange(1, 1 << 40) if i % 3 else 7
              for i in range(300000)}
    with open(path, "wb") as file:
        file.writelines(f"{stack} {hits}\n".encode()
                        for stack, hits in stacks.items())
        file.write(b"main;\xff\xc3 5\n")
    tables = os.path.join(folder, "large")
    cpprof.run("merge", "-f", "parquet", "--paths", "2", "-o", tables, path)
    bodies, names, groups = engine(folder, tables, [
        'select array_to_string(names, \';\'), "count" from hit join stack '
        "using (stack)", "select leaf from stack where leaf[1] not in "
        "('f', 'g', 'm')", "select count(distinct row_group_id) from "
        f"parquet_metadata('{tables}/hit/*.parquet')"])
    got = {stack: int(hits) for stack, hits in bodies}
    claims.check("300,000 different numbers are all there",
                 sum(got.get(stack) == hits for stack, hits in stacks.items())
                 == len(stacks), len(got))
    claims.check("a name that is no UTF-8 is made so",
                 [row[0] for row in names] == ["\ufffd\ufffd"], names)
    claims.check("in several row groups", int(groups[0][0]) == 2, groups)
    bounds = engine(folder, tables, [
        "select min(stats_min_value::bigint), max(stats_max_value::bigint) "
        f"from parquet_metadata('{tables}/hit/*.parquet') where "
        "path_in_schema = 'count'", 'select min("count"), max("count") from '
        "hit", f'select count(*) from hit where "count" = '
        f"{max(stacks.values())}"])
    claims.check("with the least and the greatest value of each",
                 bounds[0] == bounds[1] and
                 [int(n) for n in bounds[1][0]] == [5, max(stacks.values())]
                 and int(bounds[2][0][0]) >= 1, bounds)


# ---- another reader ----

def read_tables(folder, tables):
    """{table: rows}, as hyparquet reads them."""
    paths = glob.glob(tables + "/**/*.parquet", recursive=True)
    rows = {}
    for path, found in run_node(folder, "reader.mjs", READER,
                                *paths).items():
        name = os.path.relpath(path, tables).split(os.sep)[0]
        rows.setdefault(name, []).extend(found)
    return rows


def read_own(_folder, tables):
    """{table: rows}, as parquet_reader reads them."""
    rows = {}
    for path in sorted(glob.glob(tables + "/**/*.parquet", recursive=True)):
        name = os.path.relpath(path, tables).split(os.sep)[0]
        rows.setdefault(name, []).extend(parquet_reader.read(path))
    return rows


def check_reader(folder, read_rows):
    """Names, values and depths that are not usual, row for row."""
    draw = random.Random(11)
    names = ["main", "a\tb\nc", "\x01\x1b[31m\x7f", "\U0001f600\u2028\u00e9",
             "\"'`\\;", "n" * 10000, "std::map<int, char>::at", "p q", "r"]
    stacks = {tuple(draw.choices(names, k=draw.randrange(1, 9))):
              draw.choice((1, 2 ** 53 + 1, 2 ** 55 + draw.randrange(99)))
              for _ in range(100)}
    stacks[("r",) * 100000] = 7
    stacks[tuple(f"f{i}" for i in range(20000))] = 2 ** 62 + 3
    number = {name: i + 1 for i, name in enumerate(sorted(
        {name for stack in stacks for name in stack}))}
    path = os.path.join(folder, "odd.pb.gz")
    pprof_writer.write(path, [
        ([number[name] for name in reversed(stack)], hits,
         [("k\u00e9y", "v\n\u00e4", None)] if len(stack) % 2 else [])
        for stack, hits in stacks.items()],
        {i: name for name, i in number.items()})
    tables = os.path.join(folder, "odd")
    cpprof.run("merge", "-f", "parquet", "--paths", "3", "-o", tables, path)
    rows = read_rows(folder, tables)
    # By numbers: to hash 20,000 names for each of their paths takes long.
    stack_of = {row["stack"]: tuple(row["names"]) for row in rows["stack"]}
    claims.check("another reader finds each stack with its hits",
                 {stack_of[row["stack"]]: int(row["count"])
                  for row in rows["hit"]} == stacks and
                 len(rows["hit"]) == len(rows["stack"]) == len(stacks) and
                 all(row["leaf"] == row["names"][-1]
                     for row in rows["stack"]))
    path_of = {row["path"]: tuple(row["names"]) for row in rows["path"]}
    found = {stack: set() for stack in stack_of}
    for row in rows["stack_path"]:
        found[row["stack"]].add(path_of[row["path"]])
    differ = []
    for number, stack in stack_of.items():
        expected = {part for name in set(stack) for part in
                    oracle.canonical_paths(stack, name) if len(part) <= 3} \
            if len(stack) < 100 else found[number]
        if found[number] != expected:
            differ.append((stack, found[number] ^ expected))
    claims.make("and the canonical paths of each", differ)
    claims.check("those of recursion in 100,000 frames and of a chain of "
                 "20,000", {len(stack): len(found[number]) for number, stack in
                            stack_of.items() if len(stack) > 100} ==
                 {100000: 2, 20000: 3 * 20000 - 3})
    claims.check("each path has the one before it, or null", all(
        row["parent"] is None if len(row["names"]) == 1 else
        path_of[row["parent"]] == tuple(row["names"][:-1])
        for row in rows["path"]))
    claims.check("labels of any characters, and hits without any",
                 {(row["key"], row["value"]) for row in rows["label"]} ==
                 {("k\u00e9y", "v\n\u00e4")} and all(
                     (int(row["labels"]) != 0) ==
                     (len(stack_of[row["stack"]]) % 2 == 1)
                     for row in rows["hit"]), (rows["label"], [
                         (row["labels"], len(stack_of[row["stack"]]))
                         for row in rows["hit"]]))
    claims.check("what is not known is null", all(
        row["time_ns"] is None for row in rows["hit"]) and
        [(row["start_ns"], row["end_ns"]) for row in rows["member"]] ==
        [(None, None)], rows["member"])
    plain = os.path.join(folder, "plain.folded")
    with open(plain, "w", encoding="ascii") as file:
        file.write("main 1\n")
    cpprof.run("merge", "-f", "parquet", "-o", plain + ".tables", plain)
    rows = read_rows(folder, plain + ".tables")
    claims.check("a table without rows is one", rows["label"] == [] and
                 len(rows["hit"]) == 1, rows)


# ---- tables of any shape ----

def cell_of(text, kind):
    """A cell of parquet-tables, as a reader has it; bytes that are no UTF-8 are
    replaced one by one."""
    if kind == "number":
        return None if text == "null" else int(text)
    if kind == "text":
        return bytes.fromhex(text[1:]).decode(errors="replace")
    return [cell_of(part, "text") for part in text.split(",")[:-1]]


def check_drawn(folder):
    """parquet.c by itself: columns, nulls, lists and repetitions of all kinds."""
    wrong, shapes = [], set()
    n = rounds(40)
    subprocess.run([os.path.join(os.environ.get("builddir", "."), "tests",
                                 "parquet-tables"), folder, str(n)],
                   timeout=300, check=True)
    for i in range(n):
        path = os.path.join(folder, str(i))
        try:
            names, columns = parquet_reader.read_columns(path + ".parquet")
        except ValueError as error:
            wrong.append((i, error))
            continue
        with open(path + ".cells", encoding="ascii") as file:
            head, *rows = file.read().split("\n")[:-1]
        kinds = head.split()[1::2]
        cells = [row.split(" ") for row in rows]
        for k, (column, kind) in enumerate(zip(columns, kinds)):
            if column != [cell_of(row[k], kind) for row in cells]:
                wrong.append((i, names[k], kind))
        if names != head.split()[::2] or len(columns) != len(kinds):
            wrong.append((i, names))
        shapes |= {(kind, len(rows) > 0, None in column or [] in column)
                   for column, kind in zip(columns, kinds)}
    claims.make(f"{n} tables that are drawn at random have their cells", wrong)
    claims.check("with all kinds of columns", len(shapes) == 8, shapes)


# ---- a merge is there as a whole or not, and a content once ----

def merge_words(tables, *paths):
    return ("merge", "-f", "parquet", "-o", tables, *paths)


def hits_of(tables):
    """The hits of each member and stack, as an engine sums them up."""
    rows, hits = read_own(None, tables), {}
    stacks = {row["stack"]: tuple(row["names"])
              for row in rows.get("stack", [])}
    for row in rows.get("hit", []):
        key = row["member"], stacks[row["stack"]]
        hits[key] = hits.get(key, 0) + row["count"]
    return hits


def members_of(tables):
    return sorted(row["member"] for row in read_own(None, tables)["member"])


def some_files(folder, n, n_stacks=3, first=0):
    paths = [os.path.join(folder, f"in-{i}.folded")
             for i in range(first, first + n)]
    for i, path in enumerate(paths, first):
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"main;f{i};g{k} {i + k + 1}\n"
                            for k in range(n_stacks))
    return paths


def check_contents(folder):
    paths = some_files(folder, 4)
    tables = os.path.join(folder, "tables")
    cpprof.run(*merge_words(tables, *paths))
    hits, files = hits_of(tables), sorted(glob.glob(tables + "/*/*"))
    claims.check("all is there", sum(hits.values()) ==
                 sum(i + k + 1 for i in range(4) for k in range(3)), hits)
    done = cpprof.run(*merge_words(tables, *reversed(paths)))
    claims.check("the same files in another order change nothing, and are "
                 "named", hits_of(tables) == hits and
                 sorted(glob.glob(tables + "/*/*")) == files and
                 all(f"{path} is in {tables} already" in done.stderr
                     for path in paths), done.stderr)
    copy = shutil.copy(paths[1], os.path.join(folder, "copy.folded"))
    done = cpprof.run(*merge_words(tables, copy, *paths[:2]))
    claims.check("nor does a copy of another name", hits_of(tables) == hits,
                 done.stderr)
    packed = [os.path.join(folder, name) for name in ("p.gz", "q.gz")]
    with open(paths[1], "rb") as plain:
        content = plain.read()
    for path, level in zip(packed, (1, 9)):
        with gzip.open(path, "wb", compresslevel=level) as file:
            file.write(content)
    if shutil.which("zstd"):
        packed.append(os.path.join(folder, "r.zst"))
        subprocess.run(["zstd", "-q", paths[1], "-o", packed[2]], check=True)
    done = cpprof.run(*merge_words(tables, *packed, *paths[:2]))
    claims.check("nor do packed copies", hits_of(tables) == hits, done.stderr)
    other = os.path.join(folder, "other")
    done = cpprof.run(*merge_words(other, paths[1], copy, *paths[2:],
                                   paths[0]))
    claims.check("copies in one merge are named, and count once",
                 f"{copy} and {paths[1]} have the same content" in done.stderr
                 and hits_of(other) == hits, done.stderr)
    more = some_files(folder, 2, first=4)
    cpprof.run(*merge_words(tables, paths[3], *more, paths[0]))
    parts = os.path.join(folder, "parts")
    cpprof.run(*merge_words(parts, *more, *paths))
    claims.check("merges that overlap have each content once",
                 hits_of(tables) == hits_of(parts) and
                 members_of(tables) == members_of(parts), members_of(tables))
    keyed = os.path.join(folder, "keyed")
    for some in (paths[:3], paths[2:], paths):
        cpprof.run("merge", "-f", "parquet", "--by", "id", "-o", keyed, *some)
    claims.check("also in directories of a key", hits_of(keyed) == hits)
    named = os.path.join(folder, "named")
    for name in ("a", "b", "a"):
        cpprof.run("merge", "-f", "parquet", "--id", name, "-o", named,
                   paths[0])
    claims.check("with --id, a content counts once for each name",
                 sorted({member for member, _ in hits_of(named)}) ==
                 ["a", "b"] and sum(hits_of(named).values()) == 12,
                 hits_of(named))


def why_no_strace(folder):
    """Why strace traces nothing here; empty: it does."""
    if shutil.which("strace") is None:
        return "no strace"
    done = subprocess.run(["strace", "-f", "-o", os.path.join(folder, "trace"),
                           "true"], text=True, capture_output=True,
                          timeout=60, check=False)
    return "" if done.returncode == 0 else \
        f"strace may not trace: {done.stderr[:200]}"


def check_killed(folder):
    """A merge that is killed anywhere leaves the hits of before."""
    draw = random.Random(3)
    old, new = some_files(folder, 3), some_files(folder, 8, 4, first=3)
    tables = os.path.join(folder, "tables")
    cpprof.run(*merge_words(tables, *old))
    before, n_killed, wrong = hits_of(tables), 0, []
    whole = os.path.join(folder, "whole")
    cpprof.run(*merge_words(whole, *old))
    cpprof.run(*merge_words(whole, *new))
    after = hits_of(whole)
    # Killed at its n-th change of the directory, whatever the machine's speed.
    inject = os.path.join(folder, "strace")
    calls = {"openat": 230, "mkdirat": 7, "linkat": 1, "renameat": 12,
             "renameat2": 1, "unlinkat": 9, "write": 7}
    why = why_no_strace(folder)
    for i in range(24):
        copy = os.path.join(folder, f"tables-{i}")
        shutil.copytree(tables, copy)
        words = [cpprof.CPPROF, *merge_words(copy, *new)]
        if not why:
            call = draw.choice(list(calls))
            words = ["strace", "-f", "-o", inject, "-e", f"trace={call}",
                     "-e", f"inject={call}:signal=KILL:when="
                     f"{draw.randrange(1, calls[call] + 1)}", *words]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        if why:
            try:
                process.wait(draw.uniform(0, 0.3))
            except subprocess.TimeoutExpired:
                process.kill()
        # strace ends as what it traces; a shell in between says 137.
        n_killed += process.wait(timeout=60) in (-signal.SIGKILL, 137)
        if hits_of(copy) not in (before, after):
            wrong.append((i, "killed"))
        cpprof.run(*merge_words(copy, *new))
        if hits_of(copy) != after or members_of(copy) != members_of(whole) \
                or os.path.exists(os.path.join(copy, ".cpprof-merge")):
            wrong.append((i, "repeated"))
        shutil.rmtree(copy)
    if n_killed == 0 and not wrong:
        claims.skip("merges that are killed are there or not",
                    why or "no merge was killed")
    else:
        claims.make(f"{n_killed} of 24 merges were killed: each is there or "
                    "not, and once if repeated", wrong)


def contents_below(folder):
    """{path: bytes} of all files, links not followed."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                found[os.path.join(place, name)] = file.read()
    return found


def check_links(folder):
    """Links in a directory of tables, as an archive may bring them."""
    old, new = some_files(folder, 2), some_files(folder, 2, first=2)
    victim, wrong = os.path.join(folder, "victim"), []
    cpprof.run(*merge_words(victim, *new))
    for name in ("a.txt", "hit/b.txt",
                 "part-0123456789abcdef-0001.parquet"):
        with open(os.path.join(victim, name), "w", encoding="ascii") as file:
            file.write(name)
    before = contents_below(victim)
    for is_new in (True, False):
        for name in (".cpprof-merge", "hit", "stack", "path", "stack_path",
                     "label", "member", "hit/.cpprof-members"):
            tables = os.path.join(folder, "tables")
            place = os.path.join(tables, name)
            os.mkdir(tables)
            if not is_new:
                cpprof.run(*merge_words(tables, *old))
            shutil.rmtree(place, ignore_errors=True)
            if os.path.exists(place):
                os.unlink(place)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(victim, place)
            done = cpprof.run(*merge_words(tables, *old), status=1)
            if contents_below(victim) != before or \
                    "is a link, which cpprof does not follow" not in \
                    done.stderr or not os.path.islink(place):
                wrong.append((is_new, name, done.stderr))
            shutil.rmtree(tables)
    claims.make("no merge follows links in the directory", wrong)


def check_foreign(folder):
    """Files of other programs stay, and what these have rewritten too."""
    paths = some_files(folder, 3)
    tables = os.path.join(folder, "tables")
    cpprof.run(*merge_words(tables, paths[0]))
    others = [os.path.join(tables, table, name) for table in
              ("hit", "stack", "label") for name in
              ("part-00000-spark.parquet", "part-0.parquet",
               "part-00000-0123456789abcdef-c000.snappy.parquet",
               "part-0123456789abcdef-001.parquet",
               "part-0123456789ABCDEF-0001.parquet",
               "part-0123456789abcdef0-0001.parquet",
               "part-0123456789abcdef-0001.c000.parquet")]
    left = os.path.join(tables, "hit", "part-0123456789abcdef-0001.parquet")
    for path in [*others, left]:
        with open(path, "w", encoding="ascii") as file:
            file.write("of another")
    cpprof.run(*merge_words(tables, paths[1]))
    claims.make("files of other programs stay", [
        path for path in others if not os.path.exists(path)])
    claims.check("what a merge that was killed has left does not",
                 not os.path.exists(left))
    for path in others:
        os.unlink(path)
    wrong = []
    for path in glob.glob(tables + "/*/part-*"):
        os.rename(path, path + ".kept")
        before = contents_below(tables)
        done = cpprof.run(*merge_words(tables, paths[2]), status=1)
        if "was rewritten by another program; merge into a new directory" \
                not in done.stderr or contents_below(tables) != before:
            wrong.append((path, done.stderr))
        os.rename(path + ".kept", path)
    claims.make("where a file of the list is missing, a merge changes nothing",
                wrong)
    cpprof.run(*merge_words(tables, paths[2]))
    claims.check("where none is, it adds to it", len(members_of(tables)) == 3)


def check_locks(folder):
    """A merge that waits says so; one without locks goes on."""
    paths = some_files(folder, 2)
    tables = os.path.join(folder, "tables")
    cpprof.run(*merge_words(tables, paths[0]))
    lock = os.open(tables, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with subprocess.Popen([cpprof.CPPROF, *merge_words(tables, paths[1])],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        has_told = bool(select.select([process.stderr], [], [], 60)[0])
        first = process.stderr.readline() if has_told else ""
        waits = process.poll() is None
        os.close(lock)
        rest = process.communicate(timeout=60)[1]
    claims.check("a merge says once that it waits for another, and does",
                 f"waits for another merge into {tables}" in first and waits
                 and rest == "" and process.returncode == 0 and
                 len(members_of(tables)) == 2, (first, rest))
    why = why_no_strace(folder)
    if why:
        claims.skip("file systems without locks", why)
        return
    wrong = []
    for error in ("ENOLCK", "EOPNOTSUPP", "ENOSYS", "EIO"):
        new = os.path.join(folder, error)
        done = subprocess.run(
            ["strace", "-f", "-o", os.path.join(folder, "trace"), "-e",
             "trace=flock", "-e", f"inject=flock:error={error}",
             cpprof.CPPROF, *merge_words(new, *paths)], text=True,
            capture_output=True, timeout=60, check=False)
        if (done.returncode == 0) != (error != "EIO") or \
                done.returncode == 0 and len(members_of(new)) != 2:
            wrong.append((error, done.returncode, done.stderr))
    claims.make("where there are no locks it goes on; other errors are told",
                wrong)


def check_full_disk(folder):
    """Files that cannot be written, each of some size."""
    old, new = some_files(folder, 2), some_files(folder, 4, 1500, first=2)
    tables, wrong, n_failed = os.path.join(folder, "tables"), [], 0
    cpprof.run(*merge_words(tables, *old))
    before = hits_of(tables)
    whole = os.path.join(folder, "whole")
    cpprof.run(*merge_words(whole, *old, *new))
    after = hits_of(whole)
    for size in (0, 4, 200, 1000, 4000, 20000, 60000, 150000, 300000):
        done = subprocess.run(
            [cpprof.CPPROF, *merge_words(tables, *new)], text=True,
            capture_output=True, timeout=120, check=False,
            preexec_fn=lambda size=size: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size, size)))
        failed = done.returncode != 0
        n_failed += failed
        if hits_of(tables) != (before if failed else after):
            wrong.append((size, done.stderr))
        if not failed:
            break
    claims.make(f"{n_failed} merges into a full disk leave the hits of "
                "before", wrong if n_failed >= 4 else ["too few failed"])
    cpprof.run(*merge_words(tables, *new))
    claims.check("and repeated, they are all there",
                 hits_of(tables) == after and
                 members_of(tables) == members_of(whole))
    none = os.path.join(folder, "none")
    subprocess.run([cpprof.CPPROF, *merge_words(none, *new)],
                   capture_output=True, timeout=120, check=False,
                   preexec_fn=lambda: resource.setrlimit(
                       resource.RLIMIT_FSIZE, (100, 100)))
    claims.check("a first merge that fails leaves no directory",
                 not os.path.exists(none))


def check_two(folder):
    """Merges at once, with members in common."""
    paths, wrong = some_files(folder, 30, 4), []
    whole = os.path.join(folder, "whole")
    cpprof.run(*merge_words(whole, *paths))
    for i in range(5):
        tables = os.path.join(folder, f"tables-{i}")
        running = [subprocess.Popen(
            [cpprof.CPPROF, *merge_words(tables, *some)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for some in (paths[:20], paths[10:], paths[::-1], paths[5:25])]
        for process in running:
            error = process.communicate(timeout=120)[1]
            if process.returncode != 0:
                wrong.append((i, error))
        if hits_of(tables) != hits_of(whole) or \
                members_of(tables) != members_of(whole):
            wrong.append((i, "differs"))
    claims.make("four merges at once have each content once", wrong)


# ---- without an engine ----

def check_files(folder):
    """The files' frame, bounded memory, and refusals."""
    file = os.path.join(folder, "deep.folded")
    with open(file, "w", encoding="ascii") as out:
        out.write(";".join(["r"] * 100000) + " 3\n")
        out.write(";".join(f"f{i}" for i in range(20000)) + " 4\n")
    tables = os.path.join(folder, "deep")
    cpprof.run("merge", "-f", "parquet", "-o", tables, file, timeout=60)
    found = glob.glob(tables + "/**/*.parquet", recursive=True)
    whole = True
    for path in found:
        with open(path, "rb") as data:
            content = data.read()
        length = int.from_bytes(content[-8:-4], "little")
        whole &= content[:4] == content[-4:] == b"PAR1" and \
            length <= len(content) - 12
    claims.check("recursion of 100,000 frames and chains of 20,000 make whole "
                 "files", len(found) == 6 and whole, found)
    done = cpprof.run("-q", "--read-only", "-e",
                      f"merge -f parquet -o {folder}/none {file}", status=1)
    claims.check("--read-only refuses them", "not with --read-only" in
                 done.stderr and not os.path.exists(folder + "/none"),
                 done.stderr)
    done = cpprof.run("merge", "-f", "parquet", "-o", "-", file, status=1)
    claims.check("standard output is no directory", "directory" in done.stderr)
    done = cpprof.run("merge", "-f", "parquet", "-o", tables + "2", file,
                      "/nowhere", status=1)
    claims.check("what cannot be read is named, and the rest is written",
                 "/nowhere" in done.stderr and glob.glob(tables + "2/hit/*"),
                 done.stderr)
    with open(file, "w", encoding="ascii") as out:
        out.write("main 9223372036854775808\n")
    done = cpprof.run("merge", "-f", "parquet", "-o", tables + "4", file,
                      status=1)
    claims.check("2^63 hits are refused", "2^63" in done.stderr, done.stderr)
    file = os.path.join(folder, "long.pb.gz")
    pprof_writer.write(file, [([1], 1, [("url", "/x" * 200, None)])])
    done = cpprof.run("merge", "-f", "parquet", "--by", "url", "-o",
                      tables + "5", file, status=1)
    claims.check("so is a value too long for a directory's name",
                 "url is too long" in done.stderr and
                 len(done.stderr.splitlines()) == 1, done.stderr)
    many = [os.path.join(folder, f"many-{i}") for i in range(80)]
    for i, path in enumerate(many):
        with open(path, "w", encoding="ascii") as out:
            out.write(f"main;f{i} 1\n")
    cpprof.run("merge", "-f", "parquet", "--by", "id", "-o", tables + "3",
               *many)
    times = {table: [os.stat(path).st_mtime_ns for path in glob.glob(
        f"{tables}3/{table}/**/*.parquet", recursive=True)]
             for table in ("hit", "stack_path", "member")}
    claims.check("hits are written after what says what they are of",
                 len(times["hit"]) == 80 and all(
                     min(times[table]) <= min(times["hit"])
                     for table in times), times)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    claims.check("memory is bounded", before < 1 << 20, before)


def main():
    with tempfile.TemporaryDirectory() as folder:
        claims.attempt("files end", check_files, folder)
    with tempfile.TemporaryDirectory() as folder:
        claims.attempt("rows of the bytes end", check_reader, folder, read_own)
    for check in (check_drawn, check_contents, check_killed, check_links,
                  check_foreign, check_locks, check_full_disk, check_two):
        with tempfile.TemporaryDirectory() as folder:
            claims.attempt(f"{check.__name__} ends", check, folder)
    with tempfile.TemporaryDirectory() as folder:
        if has_package("hyparquet", "hyparquet-compressors"):
            claims.attempt("another reader's rows end", check_reader, folder,
                           read_tables)
        else:
            claims.skip("another reader's rows", "no hyparquet in NODE_PATH")
    if not has_package(os.path.join("@duckdb", "node-api")):
        claims.skip("DuckDB's answers", "no @duckdb/node-api in NODE_PATH")
        claims.end()
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = make_profiles(folder)
        tables = os.path.join(folder, "tables")
        cpprof.run("merge", "-f", "parquet", "--paths", "all", "-o", tables,
                   *paths, timeout=300)
        for check in (check_answers, check_resources, check_appending):
            claims.attempt(f"{check.__name__} ends", check, folder, paths,
                           tables)
        for check in (check_times, check_large_values):
            claims.attempt(f"{check.__name__} ends", check, folder)
    claims.end()


main()
