# SPDX-License-Identifier: GPL-3.0-or-later
"""round-trips.py -- profiles of every format, exported to every format and
read back.

For profiles of every format that is read, and every format that is written (in
check a third of the pairs), each view of what is read back must equal that of the
profile, except for what the writer reports as left out.  `export` reports that
in one line; PARDONS says what each of its words excuses.  Speaks TAP.
"""
import functools
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from claims import rounds

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
SAMPLES = os.path.join(HERE, "../sample-data")
FORMATS_SOURCE = os.path.join(HERE, "../src/formats")
CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
WRITERS = ("collapsed", "cpprof-text", "pprof", "callgrind", "speedscope",
           "cpprofdata")
N_RANDOM = rounds(2)
SETUP = ["startup show", "threshold 0", "depth 100000"]
INLINES = ["auto", "on", "off"]
PATHS = ["down", "up", "tree"]
VIEWS = ["top", "functions", "flat", "body", *PATHS]
GRANULARITIES = ["function", "module", "file", "line", "callsite"]

# What each word of the line about what is left out excuses.
PARDONS = {
    "other resources": {"resources"},
    "the resource's name": {"resources"},
    "gticks and intervals": {"units"},
    "call paths of more than two functions": set(PATHS),
    "addresses": {"module", "callsite"},
    "files and lines": {"file", "line", "callsite"},
    "call sites without lines": {"callsite"},
}


inlines = INLINES[0]


def run(profile, *commands, options=(), check=True):
    """profile: one file, or the words of several, blanks between them."""
    words = [CPPROF, "-q", "-F", "json", *options]
    for command in (*SETUP, f"inlines {inlines}", *commands):
        words += ["-e", command]
    return subprocess.run([*words, *profile.split()], stdin=subprocess.DEVNULL,
                          check=check, capture_output=True, text=True,
                          timeout=120)


def answers(profile, *commands):
    """The documents that commands print."""
    return [json.loads(line)
            for line in run(profile, *commands).stdout.splitlines()]


def once(ask):
    """Asks a profile only once, with each setting for inlined calls, although
    it is exported to all formats.  Not for what is read back."""
    @functools.cache
    def keep(inlines, *question):
        return ask(*question)
    return lambda *question: keep(inlines, *question)


def resources(profile):
    rows = answers(profile, "resource")[0]["rows"]
    return {row["name"]: row for row in rows}


resources_once = once(resources)


def export(profile, form, path):
    """Exports a profile; returns what the writer reports as left out."""
    note = run(profile, f"export {form} {path}").stderr
    found = re.search(r"cannot represent: (.*)", note)
    words = found[1].split(", ") if found else []
    return {pardon for word in words for pardon in PARDONS.get(word, ())}


def what_is_to_come_back(profile, pardons, *setup):
    """The views, by granularity; `up` where it has a root."""
    has_stacks = has(profile, "tree")
    wanted = []
    for granularity, root in roots(profile, *setup):
        assert root is not None or granularity != "function"
        for view in VIEWS:
            if view == "up" and root is None:
                continue
            # Calls between functions show neither the descendants of files nor
            # on which lines a calling function used something itself.
            is_told = ("down" not in pardons or granularity == "function" or
                       (view == "body" and granularity != "callsite"))
            if (granularity not in pardons and view not in pardons and
                    is_told and (has_stacks or view != "tree")):
                wanted.append((granularity, view))
    return tuple(wanted)


@once
def roots(profile, *setup):
    """The granularities that a profile has, each with its root or None."""
    commands = [command for granularity in GRANULARITIES for command in
                (f"granularity {granularity}", "granularity", "root")]
    values = [json.loads(line)["rows"][0]["value"] for line in
              run(profile, *setup, *commands, options=("--keep-going",),
                  check=False).stdout.splitlines()]
    assert len(values) == 2 * len(GRANULARITIES)
    return [(granularity, root) for granularity, has_it, root in
            zip(GRANULARITIES, values[::2], values[1::2])
            if has_it == granularity]


@once
def has(profile, command):
    try:
        run(profile, command)
    except subprocess.CalledProcessError:
        return False
    return True


def tables(profile, resource, root, wanted):
    """For each view {path: [inclusive, own]}, of rows that are not zero."""
    commands = [f"resource |{resource}|", f"root |{root}|"]
    for granularity, view in wanted:
        commands += [f"granularity {granularity}", view]
    return [{json.dumps(row["path"]): [row["hits"], row.get("inclusive", 0)]
             for row in document["rows"]
             if row["hits"] or row.get("inclusive", 0)}
            for document in answers(profile, *commands) if document["rows"] ==
            [] or "path" in document["rows"][0]]


tables_once = once(tables)


@once
def largest(profile, resource):
    rows = answers(profile, f"resource |{resource}|", "functions")[0]["rows"]
    return rows[0]["path"][0] if rows and rows[0]["hits"] else None


def check_units(one, other, pardons):
    """The factor of hits in what was read back."""
    if "units" in pardons and one["hits"]:
        return other["hits"] / one["hits"]
    def unit(resource):
        return resource["gtick"].replace("sample", ""), resource["interval"]
    assert unit(one) == unit(other) and one["name"] == other["name"], (one,
                                                                       other)
    return 1


def check_resource(profile, back, one, other, pardons):
    factor = check_units(one, other, pardons)
    root = largest(profile, one["name"])
    if root is None:
        return
    setup = f"resource |{one['name']}|", f"root |{root}|"
    wanted = what_is_to_come_back(profile, pardons, *setup)
    everything = what_is_to_come_back(profile, frozenset(), *setup)
    shown = dict(zip(everything, tables_once(profile, one["name"], root,
                                             everything), strict=True))
    for name, theirs in zip(wanted, tables(back, other["name"], root, wanted),
                            strict=True):
        ours = shown[name]
        ours = {path: [hits * factor for hits in pair]
                for path, pair in ours.items()}
        differing = [(path, ours.get(path), theirs.get(path))
                     for path in sorted({*ours, *theirs})
                     if ours.get(path) != theirs.get(path)]
        assert not differing, (one["name"], *name, differing[:3])


@once
def bodies(profile):
    return run(profile, "functions", "body").stdout


def comes_back(profile, form):
    """Checks each setting for inlined calls that shows something different."""
    global inlines
    seen = []
    for inlines in INLINES:
        shown = bodies(profile)
        if shown not in seen:
            comes_back_so(profile, form)
        seen.append(shown)
    inlines = INLINES[0]


def comes_back_so(profile, form):
    """Or the export is refused in one line."""
    back = os.path.join(WORK, "back." + form)
    try:
        pardons = export(profile, form, back)
    except subprocess.CalledProcessError as refused:
        told = [line for line in refused.stderr.splitlines()
                if form + " holds" in line or "what " + form in line]
        assert len(told) == 1, refused.stderr
        return
    ours, theirs = resources_once(profile), resources(back)
    for name, one in ours.items():
        if "resources" not in pardons:
            check_resource(profile, back, one, theirs[name], pardons)
        elif one["current"]:
            check_resource(profile, back, one, *theirs.values(), pardons)


# ---- a profile of each format ----

def random_stacks():
    paths = []
    for seed in range(N_RANDOM):
        paths.append(os.path.join(WORK, f"random{seed}.folded"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            subprocess.run([sys.executable,
                            os.path.join(HERE, "random-stacks.py"),
                            str(seed), "20", "5", "12"],
                           stdout=file, check=True, timeout=120)
    with open(os.path.join(SAMPLES, "forms.folded"), encoding="utf-8") as file:
        text = file.read()
    paths.append(os.path.join(WORK, "centiseconds.folded"))
    with open(paths[-1], "w", encoding="utf-8") as file:
        file.write(text.replace("interval=20", "interval=1"))
    return paths


def exported(form, profile):
    path = os.path.join(WORK, "of." + form)
    export(profile, form, path)
    return path


def chrome_trace(cpuprofile):
    path = os.path.join(WORK, "trace.json")
    with gzip.open(cpuprofile, "rt") as file:
        profile = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": [
            {"name": "CpuProfile", "ph": "I", "pid": 1, "tid": 1, "ts": 0,
             "cat": "v8", "args": {"data": {"cpuProfile": profile}}}]}, file)
    return path


def firefox():
    """Two threads; f calls itself on another line."""
    path = os.path.join(WORK, "firefox.json")
    def thread(name, tid, stacks):
        return {"name": name, "pid": "1", "tid": tid,
                "stringArray": ["main", "f", "f.c"],
                "samples": {"stack": stacks, "time": [0, 1, 2],
                            "weightType": "samples", "weight": None,
                            "threadCPUDelta": [None, 900, 1000], "length": 3},
                "stackTable": {"frame": [0, 1, 2], "prefix": [None, 0, 1],
                               "length": 3},
                "frameTable": {"func": [0, 1, 1], "line": [1, 5, 7],
                               "address": [-1] * 3, "length": 3},
                "funcTable": {"name": [0, 1], "isJS": [False] * 2,
                              "resource": [-1] * 2, "fileName": [2, 2],
                              "lineNumber": [None] * 2, "length": 2}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"meta": {"interval": 1, "preprocessedProfileVersion": 47,
                            "sampleUnits": {"time": "ms",
                                            "threadCPUDelta": "us"}},
                   "libs": [], "threads": [thread("one", 1, [0, 1, 2]),
                                           thread("two", 2, [1, 1, 0])]}, file)
    return path


def shared_addresses():
    """Locations that share addresses, or have none, and differ in names."""
    path = os.path.join(WORK, "shared.raw")
    with open(path, "w", encoding="utf-8") as file:
        file.write("""PeriodType: cpu nanoseconds
Period: 1
Samples:
samples/count cpu/nanoseconds
          1         10: 2 1
          2         20: 3 1
          3         30: 4 5 1
          4         40: 6 7 1
          5         50: 8 9 2
Locations
     1: 0x1000 M=1 main m.go:7:0 s=1
     2: 0x0 M=2 one a.js:1:0 s=1
     3: 0x0 M=2 two a.js:2:0 s=2
     4: 0x2000 M=2 leaf b.js:3:0 s=3
             middle b.js:4:0 s=4
             outer b.js:5:0 s=5
     5: 0x2000 M=2 outer b.js:5:0 s=5
     6: 0x7000 inner c.js:3:0 s=3
             around c.js:4:0 s=4
     7: 0x7000 around c.js:9:0 s=3
     8: 0x0 bare :0:0 s=0
     9: 0x0 [unknown] d.js:9:0 s=0
Mappings
1: 0x1000/0x2000/0x0 /nowhere/program  [FN]
2: 0x0/0x4000/0x0 jit  [FN]
""")
    return path


def gmon():
    """Histogram and calls, with the program; [] without a compiler."""
    if shutil.which("gcc") is None:
        return []
    folder = os.path.join(WORK, "gmon")
    os.mkdir(folder)
    subprocess.run(["gcc", "-pg", "-O0", "-o", "a.out",
                    os.path.join(os.path.abspath(SAMPLES), "rdparse.c")],
                   cwd=folder, check=True, timeout=120)
    subprocess.run(["./a.out"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, timeout=120)
    return [f"{folder}/a.out {folder}/gmon.out"]


def merged(paths):
    path = os.path.join(WORK, "sum.merged")
    subprocess.run([CPPROF, "merge", "-o", path, *paths], check=True,
                   capture_output=True, timeout=120)
    return path


def profiles():
    """A profile of each format, by cpprof's name of the format."""
    def data(*names):
        return [os.path.join(DATA, name) for name in names]
    go = data("go/cpu.pb.gz", "go/heap.pb.gz")
    node = data("node/busy.cpuprofile.gz")
    return {
        "collapsed stacks": random_stacks() +
        [os.path.join(SAMPLES, "forms.folded")],
        "pprof": go + [os.path.join(SAMPLES, "sites.pb.gz")],
        "callgrind": data("callgrind/recs.out.gz", "callgrind/cachegrind.out.gz",
                          "callgrind/instr.out.gz"),
        "gperftools": data("gperftools/rec.prof"),
        "gperftools and Go text": data("legacy/go-heap.txt",
                                       "legacy/growth.heap"),
        "perf.data": data("perf/rec.data", "perf/rec-group.data"),
        "perf script": data("perf/rec.script"),
        "gmon.out": gmon(),
        "cpprofdata": [exported("cpprofdata", go[0])],
        "merged profile": [merged([go[0], os.path.join(SAMPLES,
                                                       "sites.pb.gz")])],
        "pprof -raw": data("raw/cpu.raw.gz", "raw/labels.raw.gz") +
        [shared_addresses()],
        "Firefox profile": [firefox()],
        "speedscope": [exported("speedscope", go[1])],
        "cpuprofile": node,
        "Chrome trace": [chrome_trace(node[0])],
        "OTLP profiles": [written("otlp.json", OTLP)],
    }


def profiles_of_tests(known):
    """Of each other format, the first profile that its unit test reads."""
    found = {}
    with open(os.path.join(FORMATS_SOURCE, "list.def"),
              encoding="utf-8") as file:
        rows = re.findall(r"^FORMAT\((\w+)\)", file.read(), re.M)
    for row in rows:
        source, = glob.glob(os.path.join(FORMATS_SOURCE, "*", row + ".c"))
        with open(source, encoding="utf-8") as file:
            name = re.search(r'\bformat_%s = \{\s*\.name = "([^"]+)"' % row,
                             file.read())[1]
        test = os.path.join(os.path.dirname(CPPROF), "tests",
                            "test-" + row.replace("_", "-"))
        if name in known or not os.path.exists(test):
            continue
        folder = os.path.join(WORK, row)
        os.mkdir(folder)
        subprocess.run([test], env={**os.environ, "CPPROF_SEEDS": folder},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False, timeout=120)
        found[name] = [os.path.join(folder, "seed-0")]
    return found


OTLP = """{"resourceProfiles":[{"scopeProfiles":[{"profiles":[
{"sampleType":{"typeStrindex":1,"unitStrindex":2},"samples":[
{"stackIndex":1,"values":["300"]},{"stackIndex":2,"values":[5]}]}]}]}],
"dictionary":{"stringTable":["","cpu","nanoseconds","main","f","g"],
"functionTable":[{},{"nameStrindex":3},{"nameStrindex":4},{"nameStrindex":5}],
"locationTable":[{},{"lines":[{"functionIndex":1}]},
{"lines":[{"functionIndex":2}]},{"lines":[{"functionIndex":3}]}],
"stackTable":[{},{"locationIndices":[2,1]},{"locationIndices":[3,2,1]}]}}"""


def written(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def all_formats():
    unknown = os.path.join(WORK, "unknown")
    with open(unknown, "wb") as file:
        file.write(b"\0\1\2\3")
    said = subprocess.run([CPPROF, unknown], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120).stderr
    return set(re.search(r"\(known: (.*)\)", said)[1].split(", "))


def writers_of(n):
    """Each third writer for the n-th profile, so that each writer has a third of
    them; all in make check-rounds."""
    return WRITERS if rounds(1) > 1 else WRITERS[n % 3::3]


def main():
    number = 0
    samples = profiles()
    samples.update(profiles_of_tests(samples))
    for n, (name, path) in enumerate(
            (name, path) for name, paths in sorted(samples.items())
            for path in paths):
        FORMATS.discard(name)
        for form in writers_of(n):
            number += 1
            claim = f"{name} ({os.path.basename(path)}) as {form}"
            try:
                comes_back(path, form)
                print(f"ok {number} - {claim}")
            except (AssertionError, KeyError,
                    subprocess.CalledProcessError) as wrong:
                print(f"not ok {number} - {claim}")
                print("#", "\n# ".join(str(wrong).splitlines()[:20]))
    number += 1
    print(f"{'not ' if FORMATS else ''}ok {number} - no format is left out")
    print("".join(f"# {name}\n" for name in sorted(FORMATS)), end="")
    with open(os.path.join(HERE, "../doc/formats.md"), encoding="utf-8") as file:
        table = file.read()
    missing = [name for name in all_formats() if f"| [{name}](" not in table]
    missing += [name for name in WRITERS if f"`{name}`" not in table]
    number += 1
    print(f"{'not ' if missing else ''}ok {number} - formats.md has all")
    print("".join(f"# {name}\n" for name in missing), end="")
    print(f"1..{number}")


with tempfile.TemporaryDirectory() as WORK:
    FORMATS = all_formats()
    main()
