# SPDX-License-Identifier: GPL-3.0-or-later
"""short-names.py -- names on a terminal: shown short, never alike, and typed.

The rows of each view are also asked for as JSON, which has whole names: two
paths that differ there must differ on the terminal, however narrow it is.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
from terminal import ESCAPES, Terminal, has_terminals  # noqa: E402

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
claims = Claims()
PUSH = "std::vector<{0}, std::allocator<{0}> >::push_back({0} const&)"
FOLDED = f"""\
main;{PUSH.format("int")} 6
main;{PUSH.format("char")} 5
main;int ns::run<int>(int) const;operator new(unsigned long) 4
main;(anonymous namespace)::run(int) 3
main;ns::once(char);ns::again(char) 2
"""


def run(*commands, profile, options=()):
    words = [CPPROF, "-q", *options]
    for command in commands:
        words += ["-e", command]
    return subprocess.run([*words, profile], capture_output=True, text=True)


def shown(*commands, profile, columns=80):
    """What a terminal of that width shows."""
    words = ["-q"]
    for command in commands:
        words += ["-e", command]
    terminal = Terminal(*words, profile, columns=columns, PAGER="cat",
                        NO_COLOR="1")
    status = terminal.status()
    return status, ESCAPES.sub("", terminal.seen).replace("\r", "")


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def names_are_short_on_a_terminal(profile):
    status, text = shown("functions", profile=profile)
    assert status == 0, text
    rows = [line.split(" ", 1)[1] for line in text.splitlines()
            if re.match(r"\d\.\d{4} ", line)]
    assert rows == ["main [20]", "std::vector<int>::push_back [6]",
                    "std::vector<char>::push_back [5]", "ns::run [4]",
                    "operator new [4]", "(anonymous namespace)::run [3]",
                    "ns::again [2]", "ns::once [2]"], rows


def headings_have_short_names(profile):
    status, text = shown("percent root", "up |operator new|", profile=profile)
    assert status == 0, text
    assert "\nroot: operator new\n" in text, text
    assert "\npercentages of root operator new (4 hits)\n" in text, text
    answer = run("up |operator new|", profile=profile)
    assert "\nroot: operator new(unsigned long)\n" in answer.stdout


def footers_have_short_names(profile):
    push = PUSH.format("int")
    words = "threshold 0.5", f"down |{push}|", f"callers |{push}|"
    short = "std::vector::push_back"
    _, text = shown(*words, profile=profile)
    text = " ".join(text.split())
    assert f" {short} itself is below the threshold: " in text, text
    assert f" (main {short}) is below the threshold: " in text, text
    answer = run(*words, profile=profile)
    assert f"\n{push} itself is below " in answer.stdout, answer
    assert f"\n(main {push}) is below " in answer.stdout, answer


def names_are_whole_elsewhere(profile):
    whole = PUSH.format("int")
    answer = run("functions", profile=profile)
    assert f"0.3000 {whole} [6]\n" in answer.stdout, answer.stdout
    for form in "json", "tsv", "csv":
        answer = run("names short", f"format {form}", "functions",
                     profile=profile)
        assert whole in answer.stdout.replace('""', '"'), answer.stdout
    answer = run("names short", "export collapsed", profile=profile)
    assert f"main;{whole} 6\n" in answer.stdout, answer.stdout
    status, text = shown("names full", "functions", profile=profile,
                         columns=200)
    assert f"0.3000 {whole} [6]\n" in text, text
    answer = run("names short", "functions", profile=profile)
    assert "0.3000 std::vector<int>::push_back [6]\n" in answer.stdout


def short_names_can_be_typed(profile):
    for typed, whole in (
            ("ns::run", "int ns::run<int>(int) const"),
            ("run<int>", "int ns::run<int>(int) const"),
            ("|ns::run(int)|", "int ns::run<int>(int) const"),
            ("|…::run<int>|", "int ns::run<int>(int) const"),
            ("again", "ns::again(char)"),
            ("operator new", "operator new(unsigned long)"),
            ("|operator new|", "operator new(unsigned long)"),
            ("std::vector<char>::push_back", PUSH.format("char")),
            ("|(anonymous namespace)::run|",
             "(anonymous namespace)::run(int)")):
        answer = run("format json", f"up {typed}", profile=profile)
        assert answer.returncode == 0, answer.stderr
        assert json.loads(answer.stdout)["root"] == whole, answer.stdout
    answer = run("path (main once again)", profile=profile)
    assert "(main ns::once(char) " not in answer.stdout
    assert "[2]" in answer.stdout, answer.stderr
    answer = run("drop |ns::run|", "narrow once", "format json", "steps",
                 profile=profile)
    assert answer.returncode == 0, answer.stderr
    assert "ns::once(char)" in answer.stdout, answer.stdout
    answer = run("functions again", profile=profile)
    assert answer.stdout.count("\n0.") == 1, answer.stdout
    assert answer.stderr == "", answer.stderr


def ambiguous_short_names_are_listed(profile):
    ints, chars = PUSH.format("int"), PUSH.format("char")
    answer = run("up push_back", profile=profile)
    assert answer.returncode == 1
    assert answer.stderr == (
        "-e:1: push_back is short for 2 functions: "
        f"|{chars}|, |{ints}|\n"), answer.stderr
    answer = run("path (main push_back)", profile=profile)
    assert "push_back is short for 2 functions: " in answer.stderr, answer
    answer = run("up ru", profile=profile)
    assert "has no function ru" in answer.stderr, answer.stderr


def patterns_match_all_that_a_name_is_short_for(profile):
    """Where a command takes a pattern, as a glob would."""
    chars, ints = PUSH.format("char"), PUSH.format("int")
    for view in "functions all", "functions", "top", "body", "flat":
        got = run("format json", f"{view} push_back", profile=profile)
        assert got.returncode == 0, got
        glob = run("format json", f"{view} *::push_back", profile=profile)
        assert got.stdout == glob.stdout, (view, got.stdout, glob.stdout)
        rows = json.loads(got.stdout)["rows"]
        assert {tuple(row["path"]) for row in rows} == {(chars,), (ints,)}
    # Whole scopes before those that lack some, and one name as before.
    rows = json.loads(run("format json", "functions all |ns::run|",
                          profile=profile).stdout)["rows"]
    assert [row["path"] for row in rows] == [["int ns::run<int>(int) const"]]
    for step in "narrow {}", "drop {}", "group g = {}":
        got, glob = (run(step.format(word), "functions", profile=profile)
                     for word in ("push_back", "*::push_back"))
        assert got.returncode == 0 and got.stdout == glob.stdout, (got, glob)
    # A saved step means the same when it is read again.
    narrow = run("narrow main push_back", "steps", profile=profile)
    assert " narrow (main push_back)\n" in narrow.stdout, narrow
    answer = run("root push_back", profile=profile)
    assert answer.stdout == f"{chars}\n{ints}\n", answer
    assert "push_back matches 2 functions" in answer.stderr, answer
    answer = run("assert functions push_back below 90%", profile=profile)
    assert answer.stdout.count(" below 90% ") == 2, answer


TYPED = r"""main;loads (json/__init__.py) 9
main;JSONDecoder.decode (json/decoder.py) 8
main;dumps (json/__init__.py) 7
main;dumps (vendor/json/__init__.py) 6
main;json.exact 5
main;exact (json/__init__.py) 4
main;std::__1::vector<int>::at(int) 3
main;<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend 2
"""


def names_are_typed_by_the_rules_of_languages(directory):
    profile = write(directory, "typed.folded", TYPED)
    loads = "loads (json/__init__.py)"
    for typed, whole in (
            ("json.loads", loads),
            ("json.JSONDecoder.decode",
             "JSONDecoder.decode (json/decoder.py)"),
            ("json.exact", "json.exact"),
            ("std::vector::at", "std::__1::vector<int>::at(int)"),
            ("Vec::extend", "<alloc::vec::Vec<T> as "
             "core::iter::Extend<T>>::extend")):
        for command in "up", "down", "callers", "flame":
            answer = run("format json", f"{command} {typed}",
                         profile=profile)
            assert answer.returncode == 0, answer.stderr
            assert json.loads(answer.stdout)["root"] == whole, answer.stdout
        answer = run("format json", f"body {typed}", profile=profile)
        rows = json.loads(answer.stdout)["rows"]
        assert [row["path"][-1] for row in rows] == [whole], answer
    answer = run("narrow main json.loads", "group g = json.loads", "steps",
                 profile=profile)
    assert f" narrow (main |{loads}|)\n" in answer.stdout, answer
    assert f" group g = |{loads}|\n" in answer.stdout, answer
    for command in "list", "disasm":
        answer = run(f"{command} json.loads", profile=profile)
        assert loads in answer.stderr, answer
        assert "has no function" not in answer.stderr, answer
    answer = run("assert functions json.loads above 1%", profile=profile)
    assert f" functions |{loads}| above 1% " in answer.stdout, answer
    # Several: an error where one is needed, else all; the steps are saved so.
    both = "|dumps (json/__init__.py)|, |dumps (vendor/json/__init__.py)|"
    answer = run("up json.dumps", profile=profile)
    assert answer.returncode == 1 and answer.stdout == "", answer
    assert answer.stderr == (
        f"-e:1: json.dumps is short for 2 functions: {both}\n"), answer
    answer = run("narrow json.dumps", "steps", "functions json.dumps",
                 profile=profile)
    assert " narrow (json.dumps)\n" in answer.stdout, answer
    assert answer.stdout.count("\n1.0") + answer.stdout.count("\n0.") == 2
    # None: near ones.
    answer = run("up json.laods", profile=profile)
    assert answer.returncode == 1 and answer.stdout == "", answer
    assert answer.stderr == (
        "-e:1: the profile has no function json.laods; did you mean "
        f"|{loads}|?\n"), answer
    answer = run("narrow json.laods", profile=profile)
    assert answer.returncode == 1 and f"|{loads}|" in answer.stderr, answer


BEGUN = """main;|lex::tokenize(char)| 50
main;token_read;tok_one 9
main;token_read 5
main;token 20
main;Token 70
main;broken 90
main;a::b::token_last(int) 30
main;tik 4
""".replace("|", "")


def what_begins_as_typed_is_meant(directory):
    profile = write(directory, "begun.folded", BEGUN)
    for command in "up toke", "narrow toke", "list toke":
        answer = run(command, profile=profile)
        # The largest first; then in other case; then after scopes.
        assert answer.returncode == 1
        assert "; did you mean token, token_read, Token, " \
            "|lex::tokenize(char)| or |a::b::token_last(int)|?" in \
            answer.stderr, answer.stderr
    answer = run("up t*k*", profile=profile)
    assert "matches 4 functions: token, token_read, tok_one, tik" in \
        answer.stderr, answer.stderr
    terminal = Terminal("-q", profile, "-i", columns=100)
    terminal.expect("samples) ")
    # One that begins so is completed although others have it after scopes.
    terminal.type("up token_r\t\n")
    assert "up token_read" in terminal.expect("root: "), terminal.seen
    terminal.type("up tokeni\t\n")
    terminal.expect("root: lex::tokenize")
    terminal.expect("samples) ")
    terminal.type("up tok\t\t")
    listed = terminal.expect("samples) ")
    order = [listed.index(name) for name in (
        " tok_one", "lex::tokenize", "a::b::token_last")]
    assert order == sorted(order), listed
    terminal.type("\x03\x04")


def list_and_disasm_take_short_names(profile):
    source = write(os.path.dirname(profile), "f.cc", "one\ntwo\nthree\n")
    calls = write(os.path.dirname(profile), "lines.out", f"""events: Ir
fl={source}
fn={PUSH.format("int")}
1 5
fn={PUSH.format("char")}
2 6
fn=ns::once(char)
3 7
""")
    for typed in ("once", "ns::once", "|ns::once(char)|", "ns::o*"):
        answer = run(f"list {typed}", profile=calls)
        assert answer.stdout.startswith("Source of ns::once(char)"), answer
    answer = run("list std::vector<int>::push_back", profile=calls)
    assert answer.stdout.startswith("Source of " + PUSH.format("int")), answer
    for command in "list", "disasm":
        answer = run(f"{command} push_back", profile=profile)
        assert answer.stderr == (
            "-e:1: push_back is short for 2 functions: "
            f"|{PUSH.format('char')}|, |{PUSH.format('int')}|\n"), answer
        answer = run(f"{command} again", profile=profile)
        assert "ns::again(char)" in answer.stderr, answer
        answer = run(f"{command} agai", profile=profile)
        assert "has no function" in answer.stderr and \
            "agai" in answer.stderr, answer
    _, text = shown("list once", profile=calls)
    assert "\nSource of ns::once for resource: " in text, text
    terminal = Terminal("-q", calls, "-i", columns=100)
    terminal.expect(") ")
    terminal.type("list std::vector<i\t\n")
    seen = terminal.expect("Source of ")
    assert "|std::vector<int>::push_back|" in seen, seen
    terminal.type("\x04")


def short_names_complete(profile):
    terminal = Terminal("-q", profile, "-i", columns=100)
    terminal.expect("samples) ")
    terminal.type("up ns::r\t\n")
    seen = terminal.expect("root: ")
    assert "up ns::run" in seen and "const" not in seen, seen
    terminal.type("up std::vector<i\t\n")
    seen = terminal.expect("root: ")
    assert "|std::vector<int>::push_back|" in seen, seen
    terminal.type("\x04")


NODE = ('{"id":%d,"callFrame":{"functionName":"%s","scriptId":"1","url":"",'
        '"lineNumber":0,"columnNumber":0},"hitCount":1,"children":[%s]}')
MANGLED = {
    "a.folded": "main;_ZN2ns1fEi 3\nmain;_RNvCs1234_7mycrate3foo 2\n"
                "main;_D3foo3barFiZv 1\n",
    "callgrind.out": "# callgrind format\nevents: Ir\nfl=a.c\nfn=main\n1 5\n"
                     "cfn=_ZN2ns1fEi\ncalls=1 2\n2 3\n\nfn=_ZN2ns1fEi\n3 3\n",
    "v8.cpuprofile": '{"nodes":[' + NODE % (1, "(root)", "2") + ","
                     + NODE % (2, "_ZN2ns1fEi", "") + '],"startTime":0,'
                     '"endTime":9,"samples":[2],"timeDeltas":[1]}',
    "x.speedscope.json":
        '{"$schema":"https://www.speedscope.app/file-format-schema.json",'
        '"shared":{"frames":[{"name":"_ZN2ns1fEi"}]},"profiles":[{"type":'
        '"sampled","name":"x","unit":"none","startValue":0,"endValue":1,'
        '"samples":[[0]],"weights":[1]}]}',
    "perf.script": "prog 1 1.0: 1 cycles:\n\t    55a0 _ZN2ns1fEi+0x10 "
                   "(/bin/prog)\n\n",
    "pprof.txt": "PeriodType: cpu nanoseconds\nPeriod: 1\nSamples:\n"
                 "samples/count\n          1: 1 \nLocations\n"
                 "     1: 0x1000 M=1 _ZN2ns1fEi a.c:3:0 s=0\nMappings\n"
                 "1: 0x1000/0x3000/0x0 /bin/prog  [FN]\n",
}


def mangled_names_are_demangled(directory, name):
    answer = run("format json", "functions",
                 profile=write(directory, name, MANGLED[name]))
    assert answer.returncode == 0, answer.stderr
    names = {row["path"][0] for row in json.loads(answer.stdout)["rows"]}
    assert "ns::f(int)" in names, names
    if name == "a.folded":
        assert names == {"main", "ns::f(int)", "mycrate::foo",
                         "foo.bar(int)"}, names


def rows_of(text):
    """The path or name of each row, without the numbers around it."""
    found = []
    text = re.split(r"\n-{10,}\n", text.replace("\n\n", "\n"))
    for line in "\n".join(text[1:-1]).splitlines():
        if re.match(r" *(\d+: )?\d\.\d+ ", line):
            found.append(re.sub(r"^ *(\d+: )?\d\.\d+ ", "", line))
        elif found:
            found[-1] += line
    return [re.sub(r" \[\d+\]$", "", row) for row in found]


def paths_show_the_name_in_which_they_differ(directory):
    steps = [f"step_number_{i}" for i in range(12)]
    lines = [";".join(["main", *steps[:6], middle, *steps[6:]]) + " 5\n"
             for middle in ("through_here", "through_there")]
    profile = write(directory, "alike.folded", "".join(lines))
    status, text = shown("threshold 0", "chains show", "down",
                         profile=profile)
    assert status == 0, text
    rows = [line for line in text.splitlines() if "step_number_11)" in line]
    assert len(rows) == 2 and all(len(row) <= 80 for row in rows), rows
    assert "… through_here …" in rows[0], rows
    assert "… through_there …" in rows[1], rows


SORT = "void std::{0}<__gnu_cxx::__normal_iterator<{1}*, std::vector<{1}> > >"
TYPES = ("double", "std::shared_ptr<acme::Record>",
         "std::__cxx11::basic_string<char>", "acme::Record")


def deep_profile(directory):
    """Stacks of long names that differ in a template argument."""
    calls = ["sort", "__sort", "__introsort_loop", "__introsort_loop",
             "__unguarded_partition_pivot", "__unguarded_linear_insert"]
    lines = []
    for i, name in enumerate(TYPES):
        stack = ["main"] + ["int acme::(anonymous namespace)::"
                            f"visit_all_of_the_nodes<{name}>()"] * 9
        for call in calls:
            stack.append(SORT.format(call, name) + "(int)")
            lines.append(";".join(stack) + f" {90 + i}\n")
    return write(directory, "deep.folded", "".join(lines))


def rows_fit_the_terminal(directory):
    """Each row is one line, and two functions never look the same."""
    profile = deep_profile(directory)
    for view in ("functions", "top", "flat", "diff functions", "body", "tree", "graph", "down",
                 "callees main", "columns samples", "diff tree"):
        for columns in 80, 120:
            commands = ["threshold 0", view]
            if view.startswith("columns"):
                commands.append("top")
            if view.startswith("diff"):
                commands.insert(0, f"base {profile}")
            _, text = shown(*commands, profile=profile, columns=columns)
            rows = re.split(r"\n-{10,}\n", text)[1].splitlines()
            assert len(rows) >= 4, text
            assert max(map(len, rows)) <= columns, text


def rows_with_when_fit_the_terminal(directory):
    """The column leaves little room for names."""
    text = "".join(
        f"prog 1 {i / 10:.6f}: 1 cycles:\n\t 55a0 " +
        SORT.format("__introsort_loop", TYPES[i % 4]) + "(int)+0x10 (/b/prog)"
        "\n\t 55b0 main+0x10 (/b/prog)\n\n" for i in range(64))
    profile = write(directory, "when.script", text)
    for view in "top 5", "flat", "functions", "tree", "body":
        _, text = shown("when on", view, profile=profile)
        rows = re.split(r"\n-{10,}\n", text)[1].splitlines()
        assert len(rows) >= 4, text
        assert max(map(len, rows)) <= 80, text
        assert re.search("[0-9_]{20,32} ", rows[0]), text
    _, text = shown("timeline main", profile=profile)
    assert max(map(len, text.splitlines())) <= 80, text


def nested_profile(directory):
    """Functions of long names that call others, over 64 slices of time."""
    calls = ["__introsort_loop", "__unguarded_partition_pivot",
             "__unguarded_linear_insert"]
    lines = []
    for i in range(64):
        name = TYPES[i % 4]
        stack = ["main"] + ["int acme::(anonymous namespace)::"
                            f"visit_all_of_the_nodes<{name}>()"] * 2
        stack += [SORT.format(call, name) + "(int)"
                  for call in calls[:1 + i % 3]]
        lines.append(f"prog 1 {i * 0.249:.6f}: 1 cycles:\n" + "".join(
            f"\t 55b0 {frame}+0x10 (/b/prog)\n"
            for frame in reversed(stack)) + "\n")
    return write(directory, "nested.script", "".join(lines))


def paths_of_long_names_fit_the_terminal(directory):
    """Two cut names are shown where one alone would not tell paths apart."""
    profile = nested_profile(directory)
    for commands in (["when on", "down"], ["bars on", "down"],
                     [f"base {profile}", "diff down"]):
        _, text = shown("threshold 0", *commands, profile=profile)
        rows = re.split(r"\n-{10,}\n", text)[1].splitlines()
        assert len(rows) >= 20, text
        assert max(map(len, rows)) <= 80, text
        paths = [re.sub(r"^[0-9_]{32}|\[.*| +[\d.]+", "", row)
                 for row in rows]
        assert len(set(paths)) == len(rows), text
        assert "\u2026\u2026" not in text, text


def the_fraction_yields_to_long_paths_beside_when(directory):
    profile = nested_profile(directory)
    _, text = shown("when on", "down", profile=profile)
    assert "format: when (call path) [#hits]" in text, text
    assert 'column "usage_fraction" needs a wider terminal' in text, text
    _, text = shown("when on", "down", profile=profile, columns=120)
    assert "format: when usage_fraction (call path) [#hits]" in text, text
    # The standard error stands beside the fraction.
    _, text = shown("when on", "noise on", "down", profile=profile)
    assert re.search("format: when usage_fraction .*error", text), text
    profile = write(directory, "plain.script", re.sub(
        r"void std::(\w+)<.*|int acme::.*", r"node\1+0x10 (/b/prog)",
        open(profile).read()))
    _, text = shown("when on", "functions", profile=profile)
    assert "format: when usage_fraction function_name" in text, text


def cut_names_say_where_they_differ(directory):
    profile = deep_profile(directory)
    for commands in ["graph"], ["columns samples", "top"]:
        _, text = shown("threshold 0", *commands, profile=profile, columns=60)
        for word in "double", "shared_ptr", "__cxx11", "acme":
            assert re.search(rf"…sort<.*{word}", text), (word, text)
            assert re.search(rf"…__i.*op<.*{word}", text), (word, text)


def graph_has_short_names(profile):
    _, text = shown("graph", profile=profile)
    assert "      std::vector<int>::push_back [" in text, text
    assert "const&" not in text, text
    answer = run("graph", profile=profile)
    assert PUSH.format("int") + " [" in answer.stdout, answer.stdout
    _, text = shown("names full", "graph", profile=profile, columns=200)
    assert PUSH.format("int") + " [" in text, text


def deep_trees_leave_room_for_names(directory):
    stack = [f"step_number_{i}" for i in range(60)]
    profile = write(directory, "steps.folded", ";".join(stack) + " 9\n")
    _, text = shown("tree", profile=profile)
    rows = re.split(r"\n-{10,}\n", text)[1].splitlines()
    assert rows[7].startswith(7 * " " + "step_number_7 "), rows
    assert re.match(r" +59: step_number_59 \(", rows[59]), rows
    answer = run("tree", profile=profile)
    assert "\n" + 14 * " " + "step_number_7 " in answer.stdout
    profile = write(directory, "steps.folded", ";".join(stack[:8]) + " 9\n")
    _, text = shown("tree", profile=profile)
    assert "\n" + 14 * " " + "step_number_7 " in text, text


def recursion_does_not_look_like_one_call(directory):
    """Whatever room there is for the scope of the name that recurs."""
    for width in range(20, 70):
        loop = "ns::" + "x" * width
        profile = write(directory, "loop.folded", "".join(
            ";".join(["main", "ns::sort_the_elements", *[loop] * n]) +
            f" {hits}\n" for n, hits in ((0, 7), (1, 90000), (2, 8000))))
        status, text = shown("threshold 0", "chains show", "down",
                             profile=profile)
        assert status == 0, text
        rows = [re.sub("…::|ns::", "", row) for row in rows_of(text)]
        assert len(rows) == len(set(rows)) == 4, text


def steps_are_whole(profile):
    """Each row is a command, which can be typed."""
    push = PUSH.format("int")
    status, text = shown(f"narrow main ... |{push}|", "steps", profile=profile)
    assert status == 0, text
    assert f"narrow (main ... |{push}|)" in " ".join(text.split()), text


def random_profile(seed):
    """Deep stacks of few names, most of which differ in their arguments."""
    chance = random.Random(seed)
    types = ["int", "char", "std::string", "unsigned long", "ns::Some<int>"]
    names = []
    for _ in range(12):
        scope = chance.choice(["", "ns::", "long_scope_of_a_library::inner::",
                               "(anonymous namespace)::", "Box<int>::"])
        name = chance.choice(["process", "operator()", "run_to_the_end", "f"])
        name += chance.choice(["", "<" + chance.choice(types) + ">"])
        name += "(" + ", ".join(chance.sample(types, chance.randrange(3)))
        names.append(scope + name + ")" + chance.choice(["", " const"]))
    lines = []
    for _ in range(25):
        stack = chance.choices(names, k=chance.randrange(1, 14))
        lines.append(";".join(["main"] + stack) + " 3\n")
    return "".join(lines)


def rows_never_look_the_same(directory, seed):
    profile = write(directory, "random.folded", random_profile(seed))
    for view in "functions", "down", "up main", "body":
        answer = run("threshold 0", "format json", view, profile=profile)
        paths = [tuple(row["path"]) for row in
                 json.loads(answer.stdout)["rows"]]
        for columns in 40, 60, 80, 120:
            _, text = shown("threshold 0", "chains show", view,
                            profile=profile, columns=columns)
            rows = rows_of(text)
            assert len(rows) == len(paths), (view, columns, len(rows),
                                             len(paths), text)
            seen = {}
            for row, path in zip(rows, paths):
                assert seen.setdefault(row, path) == path, \
                    f"{seed} {view} {columns}: {row}"


def main():
    if not has_terminals():
        print("1..0 # SKIP no terminals")
        return
    with tempfile.TemporaryDirectory() as directory:
        profile = write(directory, "a.folded", FOLDED)
        for check in (names_are_short_on_a_terminal,
                      headings_have_short_names,
                      footers_have_short_names, names_are_whole_elsewhere,
                      short_names_can_be_typed,
                      ambiguous_short_names_are_listed,
                      patterns_match_all_that_a_name_is_short_for,
                      short_names_complete,
                      list_and_disasm_take_short_names, steps_are_whole,
                      graph_has_short_names):
            claims.attempt(check.__name__.replace("_", " "), check, profile)
        for name in MANGLED:
            claims.attempt(f"names in {name} are demangled",
                           mangled_names_are_demangled, directory, name)
        claims.attempt("names are typed by the rules of languages",
                       names_are_typed_by_the_rules_of_languages, directory)
        claims.attempt("what begins as typed is meant",
                       what_begins_as_typed_is_meant, directory)
        claims.attempt("paths show the name in which they differ",
                       paths_show_the_name_in_which_they_differ, directory)
        claims.attempt("recursion does not look like one call",
                       recursion_does_not_look_like_one_call, directory)
        for check in (rows_fit_the_terminal, rows_with_when_fit_the_terminal,
                      paths_of_long_names_fit_the_terminal,
                      the_fraction_yields_to_long_paths_beside_when,
                      cut_names_say_where_they_differ,
                      deep_trees_leave_room_for_names):
            claims.attempt(check.__name__.replace("_", " "), check, directory)
        for seed in range(3):
            claims.attempt(f"rows never look the same, {seed}",
                           rows_never_look_the_same, directory, seed)
    claims.end()


main()
