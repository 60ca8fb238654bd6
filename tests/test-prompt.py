#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-prompt.py -- cpprof at a terminal."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from oracle import quoted
from terminal import CPPROF, ESCAPES, PATIENCE, Terminal, has_terminals

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
FORMS = os.path.join(SOURCE, "sample-data/forms.folded")


PROMPT = "(cpprof main Real Time) "


def export_completes_formats_and_spares_the_terminal():
    path = os.path.join(HOME, "exported")
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("expo\tpp\t\n")
    terminal.expect("the output is binary")
    terminal.type(f"export cpprof-t\t{path}\n")
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0
    with open(path) as file:
        assert file.readline() == "# cpprof 1\n"


def banner_and_prompt_tell_where_one_is():
    terminal = Terminal(FORMS)
    banner = terminal.expect(PROMPT)
    banner = " ".join(banner.split())
    assert "614 samples of Real Time" in banner, banner
    assert "help" in banner
    terminal.type("root db_read_record\n")
    terminal.expect("(cpprof db_read_record Real Time) ")
    terminal.type("quit\n")
    assert terminal.status() == 0


def banner_of_bare_counts_names_no_unit():
    path = os.path.join(HOME, "bare.folded")
    with open(path, "w") as file:
        file.write("main;a 2\nmain;b 1\n")
    terminal = Terminal(path)
    banner = terminal.expect("(cpprof main samples) ")
    banner = " ".join(banner.split())
    assert "bare.folded: 3 samples %N" in banner, banner
    terminal.type("quit\n")
    assert terminal.status() == 0


def banner_names_every_resource_and_its_samples():
    path = os.path.join(HOME, "two.folded")
    with open(path, "w") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; interval="
                   "4000\n# resource: faults; gtick=fault; interval=10\n"
                   "main;f 12 7\nmain;g 3 1\n")
    terminal = Terminal(path, columns=200)
    terminal.expect(": 15 samples of cpu, one per 4 ms; "
                    "8 samples of faults, one per 10 faults\r\n")
    terminal.type("resource faults\nload " + path + "\n")
    terminal.expect(": 8 samples of faults, one per 10 faults; "
                    "15 samples of cpu, one per 4 ms\r\n")
    terminal.type("quit\n")
    assert terminal.status() == 0


def q_has_no_banner():
    terminal = Terminal("-q", FORMS)
    assert terminal.expect(PROMPT).strip() == ""
    terminal.type("\x04")
    assert terminal.status() == 0


def without_a_profile_it_waits_for_one():
    terminal = Terminal()
    assert "load FILE" in terminal.expect("(cpprof) ")
    terminal.type("functions\n")
    terminal.expect("no profile is loaded")
    terminal.expect("(cpprof) ")
    terminal.type(f"load {quoted(FORMS)}\n")
    terminal.expect("614 samples")
    terminal.expect(PROMPT)
    terminal.type("q\n")
    assert terminal.status() == 0


def errors_do_not_end_it():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("nonsense\n")
    terminal.expect("there is no command")
    terminal.expect(PROMPT)
    terminal.type("root db_*\n")
    terminal.expect("db_update_record")
    terminal.expect("the root is still main")
    terminal.expect(PROMPT)
    terminal.type("\n")
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0


def tab_completes_commands_functions_and_quotes():
    path = os.path.join(HOME, "odd.folded")
    with open(path, "w") as file:
        file.write("main;operator new(unsigned long) 1\nmain;a|b 1\n")
    terminal = Terminal("-q", path)
    terminal.expect("(cpprof main samples) ")
    terminal.type("roo\toper\t\n")
    terminal.expect("|operator new|")
    terminal.expect("(cpprof operator new samples) ")
    terminal.type("root |a\t\n")
    terminal.expect("|a\\|b|")
    terminal.expect("(cpprof a|b samples) ")
    terminal.type("format j\t\n")
    terminal.expect("format json")
    terminal.type("quit\n")
    assert terminal.status() == 0


def tab_completes_columns():
    path = os.path.join(HOME, "two.folded")
    with open(path, "w") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=ms\n"
                   "# resource: page-faults; gtick=fault\nmain 1 2\n")
    terminal = Terminal("-q", path)
    terminal.expect("(cpprof main cpu) ")
    terminal.type("column faults/ms = pa\t/ c\t\n")
    terminal.expect("column faults/ms = page-faults / cpu")
    terminal.expect("(cpprof main cpu) ")
    terminal.type("columns pa\tfau\t\n")
    terminal.expect("columns page-faults faults/ms")
    terminal.expect("(cpprof main page-faults) ")
    terminal.type("functions\n")
    terminal.expect("2  100.00      2.000  main")
    terminal.expect("(cpprof main page-faults) ")
    terminal.type("path %1\n")
    terminal.expect("Call Path for resource: page-faults")
    terminal.expect("(cpprof main page-faults) ")
    terminal.type("column fau\to\t\n")
    terminal.expect("column faults/ms off")
    terminal.type("quit\n")
    assert terminal.status() == 0


def tab_completes_files_behind_redirections_and_for_the_shell():
    folder = os.path.join(HOME, "files")
    os.mkdir(folder)
    for name in ("a file", "target"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("inside\n")
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    for typed, shown in ((f"root > {folder}/t", "/target "),
                         (f"root >{folder}/t", "/target "),
                         (f"root >> {folder}/a", "/a file|"),
                         (f"!cat {folder}/a", "/a\\ file "),
                         (f"shell cat {folder}/t", "/target ")):
        terminal.type(typed + "\t")
        terminal.expect(typed.split("/")[0])
        terminal.expect(shown)
        terminal.type("\x15")
    terminal.type(f"!cat {folder}/a\t\n")
    terminal.expect("inside")
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0


def many_candidates_are_asked_about():
    path = os.path.join(HOME, "many.folded")
    with open(path, "w") as file:
        file.writelines(f"main;function_{i} 1\n" for i in range(3000))
    terminal = Terminal("-q", path)
    terminal.expect("(cpprof main samples) ")
    terminal.type("root function_\t\t")
    terminal.expect("Display all 3000 possibilities? (y or n)")
    terminal.type("n")
    assert "function_1" not in terminal.expect("root function_")
    terminal.type("\t")
    terminal.expect("Display all 3000 possibilities? (y or n)")
    terminal.type("y")
    terminal.expect("--More--")
    terminal.type("\x03")
    terminal.expect("(cpprof main samples) ")
    terminal.type("root\n")
    terminal.expect("root  main")
    terminal.type("quit\n")
    assert terminal.status() == 0


def control_c_clears_the_line():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("nonsense")
    terminal.expect("nonsense")
    terminal.type("\x03")
    terminal.expect(PROMPT)
    terminal.type("root\n")
    terminal.expect("root  main")
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0


def control_c_stops_a_long_print():
    path = os.path.join(HOME, "long.folded")
    with open(path, "w") as file:
        file.writelines(f"main;function_number_{i} 1\n"
                        for i in range(200000))
    terminal = Terminal("-q", path, "-i", "-e", "pager off",
                        "-e", "threshold 0")
    terminal.expect("(cpprof main samples) ")
    terminal.type("functions\n")
    terminal.expect("function_number_")
    terminal.type("\x03")       # the terminal is full and the program waits
    until = time.monotonic() + PATIENCE
    while "interrupted" not in terminal.seen:
        assert time.monotonic() < until and terminal.read(5)
    assert "function_number_99999 " not in terminal.seen
    terminal.at = ESCAPES.sub("", terminal.seen).find("interrupted")
    terminal.expect("(cpprof main samples) ")
    terminal.type("quit\n")
    assert terminal.status() == 0


def control_c_ends_all_that_was_pasted():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("\x1b[200~!sleep 60\nthreshold\nroot\x1b[201~\n")
    terminal.expect("\rroot\r\n")
    time.sleep(0.3)
    terminal.type("\x03")
    assert "threshold  0.01" not in terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0


def control_backslash_ends_what_is_run_alone():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("!echo be''gun; exec sleep 60\n")
    terminal.expect("begun\r\n")
    terminal.type("\x1c")
    terminal.expect("ended by signal 3")
    terminal.expect(PROMPT)
    terminal.type("\x1c")
    time.sleep(0.1)
    terminal.type("root\n")
    terminal.expect("root  main")
    terminal.type("quit\n")
    assert terminal.status() == 0


def a_new_profile_is_explained():
    """The first screen says what dominates and how to go on."""
    for columns, rows in (80, 24), (120, 40):
        terminal = Terminal(FORMS, columns=columns, rows=rows)
        screen = terminal.expect("lists all commands")
        terminal.expect(PROMPT)
        assert "614 samples" in screen, screen
        assert "No hot path" in screen and "type next: " in screen, screen
        # No heading again, and room for the prompt.
        assert "Explanation" not in screen, screen
        assert screen.count("\n") < rows - 2, screen
        terminal.type(f"load {quoted(FORMS)}\n")
        again = terminal.expect(PROMPT)
        assert "No hot path" in again and "type next: " in again, again
        terminal.type("quit\n")
        assert terminal.status() == 0
    terminal = Terminal("-q", FORMS)
    assert "hot path" not in terminal.expect(PROMPT)
    terminal.type(f"load {quoted(FORMS)}\nquit\n")
    assert terminal.status() == 0
    assert "hot path" not in terminal.seen, terminal.seen
    done = subprocess.run([CPPROF, FORMS], input=b"top 1\n",
                          stdout=subprocess.PIPE, check=True)
    assert b"hot path" not in done.stdout, done.stdout


def the_first_screen_fills_the_terminal():
    """Where there is enough to tell, and without lines that scroll away."""
    path = os.path.join(HOME, "broad.folded")
    with open(path, "w") as file:
        for i in range(20):
            file.write(f"main;run;step_{i:02};leaf_{i:02} {100 + i}\n"
                       f"main;run;step_{i:02};leaf_{(i + 1) % 20:02};deep {i}"
                       "\n")
    prompt = "(cpprof main samples) "
    for columns, rows in (80, 24), (120, 40), (80, 32), (100, 20):
        terminal = Terminal(path, columns=columns, rows=rows)
        screen = terminal.expect(prompt)
        assert screen.count("\n") == rows - 1, (rows, screen)
        assert max(map(len, screen.split("\r\n"))) <= columns, screen
        # After load, the line that was typed stays on it.
        terminal.type(f"load {quoted(path)}\n")
        screen = terminal.expect(prompt)
        assert rows - 3 <= screen.count("\n") < rows, (rows, screen)
        # explain alone has as much room, but for its own line.
        terminal.type("explain\n")
        screen = terminal.expect(prompt)
        assert rows - 3 <= screen.count("\n") <= rows, (rows, screen)
        assert "Explanation for" in screen, screen
        terminal.type("quit\n")
        assert terminal.status() == 0
    # In a pipe it is the same whatever the terminal.
    plain = subprocess.run([CPPROF, path, "-e", "explain"],
                           stdout=subprocess.PIPE, check=True).stdout
    assert 10 < plain.count(b"\n") < 24, plain
    assert b"with what they call" not in plain, plain
    # The rows are those of the views.
    terminal = Terminal(path, columns=120, rows=60)
    screen = terminal.expect(prompt).split("with what they call")[1]
    functions = json.loads(subprocess.run(
        [CPPROF, path, "-e", "format json", "-e", "functions 12"],
        stdout=subprocess.PIPE, check=True).stdout)
    wanted = [[str(row["hits"]), row["path"][0]] for row in functions["rows"]
              if row["path"] != ["deep"]]
    found = [[words[1], words[3]] for words in
             (re.sub("[\u2580-\u259f]", " ", line).split()
              for line in screen.split("\r\n")) if len(words) == 4]
    assert len(wanted) > 5 and found[:len(wanted)] == wanted, (found, wanted)


def the_first_screen_tells_the_kernels_share():
    path = os.path.join(HOME, "kernel.perf")
    with open(path, "w") as file:
        for i in range(40):
            file.write(f"prog 1 {i}.000000: 1 cycles:\n")
            if i % 8 == 0:
                file.write("\tffffffff81000020 ksys_write "
                           "([kernel.kallsyms])\n"
                           "\tffffffff81000010 do_syscall_64 "
                           "([kernel.kallsyms])\n")
            elif i % 8 == 1:
                file.write("\tffffffffc0000020 ext4_write ([ext4])\n")
            file.write("\t1000 work (/bin/prog)\n"
                       "\t2000 main (/bin/prog)\n\n")
    banner = "40 samples of cycles, one per cycle, 25% in the kernel"
    terminal = Terminal(path, columns=120)
    terminal.expect(banner)
    # Whatever is shown of it.
    for choice in "show", "hide":
        terminal.type(f"kernel {choice}\nload {quoted(path)}\n")
        terminal.expect(banner)
    assert "in the kernel" not in Terminal(FORMS).expect(PROMPT)


def the_first_screen_tells_what_each_run_used():
    runs = os.path.join(HOME, "runs")
    subprocess.run([CPPROF, "record", "--repeat", "3", "-o", runs, "sh", "-c",
                    "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done"],
                   check=True, stderr=subprocess.PIPE)
    used = []
    for number in 1, 2, 3:
        top = subprocess.run(
            [CPPROF, f"{runs}/run-{number}", "-e", "format json",
             "-e", "explain"], stdout=subprocess.PIPE, check=True).stdout
        table = json.loads(top)
        used.append(table["total"] * table["resource"]["interval"])
    terminal = Terminal(runs, columns=200)
    screen = terminal.expect("lists all commands")
    values = re.search(r"; 3 runs: ([\d.]+ m?s), ([\d.]+ m?s), ([\d.]+ m?s)",
                       screen)
    assert values, screen
    shown = [float(value.split()[0]) *
             (1000 if value.endswith(" ms") else 1000000)
             for value in values.groups()]
    for a, b in zip(shown, used):
        assert abs(a - b) <= b / 200, (shown, used)
    # One of them is no several runs.
    terminal = Terminal(runs + "/run-2", columns=200)
    assert " runs" not in terminal.expect("lists all commands")


def recordings_have_one_unit():
    """Also where each hit has a sample of its own."""
    path = os.path.join(HOME, "few")
    subprocess.run([CPPROF, "record", "-r", "cpu:20ms", "-o", path, "sh",
                    "-c", "i=0; while [ $i -lt 900000 ]; do i=$((i + 1)); "
                    "done"], check=True, stderr=subprocess.PIPE)
    screen = Terminal(path, columns=150).expect("lists all commands")
    assert re.search(r" samples? of cpu, [\d.]+ m?s", screen), screen
    assert " used " in screen and "#hits" not in screen, screen
    listed = subprocess.run([CPPROF, path, "-e", "functions 1"], text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    assert re.search(r"\[[\d.]+ m?s\]", listed), listed


def the_first_screen_tells_the_amount():
    """Samples, what they stand for, and what was counted instead."""
    weights = os.path.join(HOME, "weights.folded")
    with open(weights, "w") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; "
                   "interval=4000\nmain;f 150\nmain;g 14\n")
    script = os.path.join(HOME, "perf.txt")
    with open(script, "w") as file:
        for i in range(164):
            file.write(f"prog 1/1 {i / 250:.6f}: {4000000:10} cpu-clock: \n"
                       f"\t{0x1000:16x} main+0x4 (/bin/prog)\n\n")
    counts = os.path.join(HOME, "callgrind.out.1")
    with open(counts, "w") as file:
        file.write("events: Ir Dr\nfl=a.c\nfn=main\n1 16384 7\n")
    kinds = os.path.join(HOME, "kinds.txt")
    with open(kinds, "w") as file:
        for i in range(20):
            kind = "core" if i % 4 else "atom"
            file.write(f"prog 1/1 {i / 250:.6f}: {1000:10} "
                       f"cpu_{kind}/cycles/P: \n"
                       f"\t{0x1000:16x} main+0x4 (/bin/prog)\n\n")
    for path, want in ((weights, "164 samples of cpu, one per 4 ms"),
                       (kinds, "5 samples of cpu_atom/cycles/P, 5000 cycles; "
                        "15 samples of cpu_core/cycles/P, 15000 cycles "
                        "(75% of all kinds of cores)"),
                       (script, "164 samples of cpu-clock, 656 ms"),
                       (counts, "16384 instructions of Ir; "
                        "7 data reads of Dr")):
        terminal = Terminal(path, columns=160)
        screen = terminal.expect("lists all commands")
        assert f": {want}\r\n" in screen, (want, screen)
        terminal.type("quit\n")
        assert terminal.status() == 0


def interrupt_a_load(*arguments, type_first=""):
    """The terminal, after Ctrl-C while a pipe is read."""
    path = os.path.join(HOME, "pipe")
    if not os.path.exists(path):
        os.mkfifo(path)
    terminal = Terminal("-q", *arguments, *([] if type_first else [path]))
    if type_first:
        terminal.expect(PROMPT)
        terminal.type(f"{type_first} {path}\n")
    with open(path, "w") as profile:
        for i in range(200000):
            profile.write(f"main;f{i} 1\n")
        time.sleep(0.2)
        terminal.type("\x03")
        try:
            for i in range(200000):
                profile.write(f"main;g{i} 1\n")
            profile.flush()
        except BrokenPipeError:
            pass
        terminal.expect("interrupted")
        try:
            profile.close()
        except BrokenPipeError:
            pass
    return terminal


def control_c_stops_a_load():
    for command in "load", "base":
        terminal = interrupt_a_load(FORMS, type_first=command)
        terminal.expect(PROMPT)
        terminal.type("functions\n")
        terminal.expect("1.0000 db_read_record [614]")
        terminal.type("quit\n")
        assert terminal.status() == 0


def control_c_ends_what_was_not_loaded():
    """No prompt without the profile that was asked for: shells see 130."""
    for arguments in [], [FORMS, "--base"]:
        terminal = interrupt_a_load(*arguments)
        assert terminal.status() == -signal.SIGINT
        assert "(cpprof" not in terminal.seen, terminal.seen


def control_z_stops_and_goes_on():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("roo")
    terminal.expect("roo")
    terminal.type("\x1a")
    done, status = os.waitpid(terminal.process, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    os.kill(terminal.process, signal.SIGCONT)
    terminal.expect("roo")
    terminal.type("t\n")
    terminal.expect("root  main")
    terminal.type("quit\n")
    assert terminal.status() == 0


def history_lasts():
    state = os.path.join(HOME, "history-test")
    terminal = Terminal("-q", FORMS, XDG_STATE_HOME=state)
    terminal.expect(PROMPT)
    terminal.type("threshold 0.125\n")
    terminal.expect(PROMPT)
    terminal.type("\n  \n")     # not worth keeping
    terminal.expect(PROMPT)
    terminal.expect(PROMPT)
    terminal.type("\x1b[200~" + "x" * 20000 + "\x1b[201~\n")
    terminal.expect("there is no command")
    terminal.expect(PROMPT)
    os.kill(terminal.process, signal.SIGTERM)
    terminal.status()
    name = os.path.join(state, "cpprof/history")
    with open(name) as file:
        assert file.read() == "threshold 0.125\n"
    assert os.stat(os.path.dirname(name)).st_mode & 0o77 == 0
    assert os.stat(name).st_mode & 0o777 == 0o600
    os.chmod(name, 0o644)   # an older version's
    terminal = Terminal("-q", FORMS, XDG_STATE_HOME=state)
    terminal.expect(PROMPT)
    terminal.type("\x1b[A")     # arrow up
    terminal.expect("threshold 0.125")
    terminal.type("\n")
    terminal.expect(PROMPT)
    terminal.type("history\n")
    terminal.expect("1  threshold 0.125")
    terminal.expect(PROMPT)
    terminal.type("\x04")
    assert terminal.status() == 0
    assert os.stat(name).st_mode & 0o777 == 0o600


def a_home_that_takes_no_history_is_told_once():
    for state, why in (("/proc/none", "No such file or directory"),
                       (FORMS, "Not a directory"),
                       ("/proc/self/task", "No such file or directory")):
        # The checkout's path can be of any length.
        terminal = Terminal("-q", FORMS, columns=1000, XDG_STATE_HOME=state)
        terminal.expect(PROMPT)
        terminal.type("root\nquit\n")
        terminal.expect(f"{state}/cpprof/history: {why}\r\n")
        assert terminal.status() == 0
    terminal = Terminal("-q", FORMS, XDG_STATE_HOME="", HOME="")
    terminal.expect(PROMPT)
    terminal.type("root\nquit\n")
    terminal.expect("root  main\r\n" + PROMPT + "quit\r\n")
    assert terminal.status() == 0
    assert "istory" not in terminal.seen


def long_paths_fit_the_width():
    path = os.path.join(HOME, "deep.folded")
    with open(path, "w") as file:
        file.write(";".join(["main"] + [f"function_{i}" for i in range(99)])
                   + " 1\n")
    terminal = Terminal("-q", path, "-i", "-e", "pager off",
                        "-e", "chains show", columns=52)
    terminal.expect("samples) ")
    terminal.type("down\n")
    shown = terminal.expect("(cpprof main samples) ")
    rows = [row for row in shown.split("\r\n") if "  1.0" in row]
    assert len(rows) == 100, len(rows)
    assert all(len(row) <= 52 for row in rows)
    assert len(rows[-1]) > 52 - len("function_0 "), rows[-1]
    assert re.fullmatch(r"100  1\.0000 \(main .*… .*function_98\) \[1\]",
                        rows[-1]), rows[-1]
    terminal.type("\x04")
    assert terminal.status() == 0


def long_paths_keep_the_users_own_functions():
    """Those of libraries are left out first, of whatever kind they are."""
    stack = [("main", "/opt/shop/prog"), ("serve_orders", "/opt/shop/prog"),
             ("archive_write_header", "/usr/lib/libarchive.so.13"),
             ("archive_write_close", "/usr/lib/libarchive.so.13"),
             ("price_of_basket", "/opt/shop/prog"),
             ("BrotliEncoderCompress", "/usr/lib/libbrotlienc.so.1"),
             ("BrotliEncoderStream", "/usr/lib/libbrotlienc.so.1"),
             ("__libc_write", "/usr/lib/libc.so.6"),
             ("ksys_write", "[kernel.kallsyms]")]
    path = os.path.join(HOME, "own.perf")
    with open(path, "w") as file:
        for i in range(9):
            file.write(f"prog 1 {i}.000000: 1 cycles:\n")
            for number, (name, module) in enumerate(reversed(stack)):
                file.write(f"\t{1000 + number:x} {name} ({module})\n")
            file.write("\n")
    terminal = Terminal("-q", path, columns=80)
    terminal.expect(") ")
    terminal.type("kernel show\ndown\n")
    terminal.expect("1.0000 (")
    kept = terminal.expect(") [")
    assert re.fullmatch("main serve_orders … price_of_basket … (\\S+ )*"
                        "ksys_write", kept), kept
    # Where there is room for all, nothing is left out.
    terminal = Terminal("-q", path, columns=200)
    terminal.expect(") ")
    terminal.type("kernel show\ndown\n")
    terminal.expect("1.0000 (" + " ".join(name for name, _ in stack) + ") [")
    # By where their sources are, and by their names alone.
    with open(path, "w") as file:
        file.write("main;serve_orders;std::__detail::_Executor::_M_dfs;"
                   "std::_Function_handler::_M_invoke;price_of_basket;"
                   "std::__cxx11::basic_string::_M_append;"
                   "std::__copy_move_backward 9\n")
    terminal = Terminal("-q", path, columns=80)
    terminal.expect(") ")
    terminal.type("down\n")
    terminal.expect("1.0000 (main serve_orders … price_of_basket … ")


def messages_break_at_blanks():
    """Each line fits, and the words are those that a pipe gets in one line."""
    command = "functions main main"
    plain = subprocess.run([CPPROF, "-n", "-q", "-e", command, FORMS],
                           capture_output=True, text=True, check=False).stderr
    assert plain.count("\n") == 1 and len(plain) > 60, plain
    for columns in 24, 40, 79:
        terminal = Terminal("-n", "-q", "-e", command, FORMS, columns=columns)
        assert terminal.status() == 1
        lines = terminal.seen.replace("\r", "").rstrip("\n").split("\n")
        assert " ".join(lines) == plain.rstrip("\n"), lines
        assert max(map(len, lines)) <= columns, lines
        for line, after in zip(lines, lines[1:]):
            assert len(line) + 1 + len(after.split()[0]) > columns, lines


def chains_are_folded_on_a_terminal():
    terminal = Terminal("-q", FORMS, columns=99, rows=60)
    terminal.expect(PROMPT)
    folded = "10 shorter paths with the same stacks hidden"
    out = os.path.join(HOME, "rows")
    for setting, is_folded, is_folded_in_file in [
            (None, True, False), ("fold", True, True), ("show", False, False)]:
        if setting is not None:
            terminal.type(f"chains {setting}\n")
            terminal.expect(PROMPT)
        terminal.type("up db_get_property\n")
        shown = ESCAPES.sub("", terminal.expect(PROMPT))
        assert (folded in shown) == is_folded, shown
        assert ("(main envelope address_information db_get_property) [85]"
                in shown), shown
        assert ("\n 3  0.1384 (envelope address_information" in shown) != \
            is_folded, shown
        for where in f"> {out}", f"| cat > {out}":
            terminal.type(f"up db_get_property {where}\n")
            terminal.expect(PROMPT)
            with open(out) as file:
                assert (folded in file.read()) == is_folded_in_file, where
        # Formats for programs have all rows.
        terminal.type("format csv\n")
        terminal.expect(PROMPT)
        terminal.type("up db_get_property\n")
        rows = terminal.expect(PROMPT)
        assert rows.count("db_get_property\r\n") == 22 + 1, rows
        terminal.type("format text\n")
        terminal.expect(PROMPT)
    terminal.type("\x04")
    assert terminal.status() == 0


def steps_of_time_tell_their_slices():
    profile = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "data/perf/rec.script")
    width = json.loads(subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "timeline", profile],
        capture_output=True, check=True).stdout)["width_ns"]
    terminal = Terminal("-q", profile)
    terminal.expect(":u) ")
    terminal.type("resource cpu-clock:u\n")
    terminal.expect("cpu-clock:u) ")
    for typed, verb, begin, end in (
            (f"drop time {width // 2}ns..{width + 1}ns", "dropped", 0, 2),
            (f"narrow time {6 * width}ns..{10 * width}ns", "kept", 6, 10)):
        terminal.type(typed + "\n")
        said = re.search(r"(\w+) whole slices: ([\d.]+) s to ([\d.]+) s",
                         terminal.expect(") "))
        assert said and said[1] == verb, terminal.seen
        for number, slices in (said[2], begin), (said[3], end):
            assert abs(float(number) * 1e9 - slices * width) < 1, said[0]
    terminal.type("\x04")
    assert terminal.status() == 0


def rows_have_numbers_that_commands_take():
    terminal = Terminal("-q", FORMS, columns=99, rows=60)
    terminal.expect(PROMPT)
    terminal.type("chains show\n")
    terminal.expect(PROMPT)
    terminal.type("callers %1\n")
    terminal.expect("%1: no view with row numbers has been shown yet")
    terminal.expect(PROMPT)
    terminal.type("up db_get_property\n")
    shown = ESCAPES.sub("", terminal.expect(PROMPT))
    rows = shown.split("\r\n")
    assert "format: %N  usage_fraction (call path) [#hits]" in rows, rows
    assert " 1  0.8632 (db_get_property) [530]" in rows, rows
    assert ("10  0.1368 (main form_NJ_1040 address_information "
            "db_get_property) [84]") in rows, rows
    # No numbers in a file or a pipe, which leave the last view as it was.
    out = os.path.join(HOME, "rows")
    for where in f"> {out}", f"| cat > {out}":
        terminal.type(f"functions {where}\n")
        terminal.expect(PROMPT)
        with open(out) as file:
            assert "\n1.0000 db_read_record [614]\n" in file.read()
    # Nor have the boxes of a picture.
    terminal.type("flame\n")
    assert " 1  " not in terminal.expect(PROMPT)
    terminal.type("path %10\n")
    terminal.expect("0.1368 (main form_NJ_1040 address_information")
    terminal.expect(PROMPT)
    terminal.type("granularity module\ncallers %1\n")
    terminal.expect("(cpprof")
    terminal.type("granularity function\ntop 2\n")
    shown = ESCAPES.sub("", terminal.expect(" (limit 2)"))
    assert "%N  self       %" in shown, shown
    assert "\n 2     0    0.00               614  100.00  main" in shown, shown
    terminal.type("root %1\n")
    terminal.expect("(cpprof db_read_record Real Time) ")
    # A list to choose from is numbered, too.
    terminal.type("root db_*\n")
    terminal.expect("3  db_update_record")
    terminal.type("root %3\n")
    terminal.expect("(cpprof db_update_record Real Time) ")
    terminal.type("format tsv\ndown main\n")
    shown = terminal.expect("main;db_update_record")
    assert "%N" not in shown, shown
    terminal.type("path %4\n")
    terminal.expect("%4: the last view has 3 rows")
    terminal.type("format text\nreload\nup %1\n")
    terminal.expect("%1: a profile has been loaded since; show a view again")
    terminal.type("quit\n")
    assert terminal.status() == 0


class Startup:
    """A home with start-up files, and a folder to begin in."""

    def __init__(self, init=None, local=None):
        self.home = tempfile.mkdtemp(dir=HOME)
        self.init = os.path.join(self.home, ".config/cpprof/init")
        self.local = os.path.join(self.home, "work/.cpprofrc")
        for path, text in (self.init, init), (self.local, local):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text is not None:
                with open(path, "w") as file:
                    file.write(text)

    def start(self, *arguments, **environment):
        """What is seen up to the prompt, and at the end of `show`."""
        before = os.getcwd()
        os.chdir(os.path.dirname(self.local))
        try:
            terminal = Terminal(*arguments, FORMS, HOME=self.home, rows=60,
                                columns=200, **environment)
        finally:
            os.chdir(before)
        banner = terminal.expect(") ")
        terminal.type("show\n")
        shown = terminal.expect("autoload") + "autoload" \
            + terminal.expect("\r\n")
        terminal.expect(") ")
        terminal.type("autoload on\n")
        terminal.expect("autoload on")
        answer = terminal.expect(") ")
        terminal.type("quit\n")
        assert terminal.status() == 0
        return banner, shown, answer


ALLOWED = 'the line "autoload on" in '
REFUSED = "is still off: only ~/.config/cpprof/init can change it"


def start_up_files_run_before_the_prompt():
    files = Startup("threshold 0.125\ndigits 3\n",
                    "digits 5\nroot db_read_record\n")
    banner, shown, answer = files.start()
    assert ".cpprofrc was not read; " + ALLOWED + files.init in banner, banner
    assert "threshold    0.125" in shown and "digits       3" in shown, shown
    assert "root         main" in shown, shown
    assert REFUSED in answer, answer
    # The user's own file allows the other one, which runs with the profile.
    files = Startup("autoload on\ndigits 3\n",
                    "digits 5\nroot db_read_record\n")
    banner, shown, answer = files.start()
    assert "not read" not in banner, banner
    assert "digits       5" in shown, shown
    assert "root         db_read_record" in shown, shown
    assert REFUSED not in answer, answer
    # -n reads neither, and without files there is nothing to say.
    for start in (files.start("-n"), Startup().start()):
        banner, shown, answer = start
        assert "cpprofrc" not in banner, banner
        assert "digits       4" in shown, shown
    banner, shown, answer = Startup("", "digits 5\n").start("-q")
    assert "cpprofrc" not in banner, banner
    # The place of the first file.
    other = Startup("digits 7\n")
    shown = files.start(XDG_CONFIG_HOME=other.home + "/.config")[1]
    assert "digits       7" in shown, shown


def a_start_up_file_that_fails_is_named():
    files = Startup("digits 3\nnonsense\ndigits 5\n")
    banner, shown, answer = files.start()
    assert "/init:2: there is no command" in banner, banner
    assert "digits       3" in shown, shown
    # Of two, the second cannot allow itself, nor can what it sources.
    files = Startup("", "autoload on\n")
    assert REFUSED in files.start()[2]
    files = Startup("autoload on\n", "autoload off\ndigits 5\n")
    banner, shown, answer = files.start()
    assert "autoload is still on: only" in banner, banner
    assert "autoload     on" in shown, shown
    assert "digits       5" in shown, shown


def a_local_start_up_file_of_others_is_not_run():
    files = Startup("autoload on\n", "digits 5\n")
    os.chmod(files.local, 0o666)
    banner, shown, answer = files.start()
    assert ".cpprofrc was not read: everyone can write it" in banner, banner
    assert "digits       4" in shown, shown
    os.rename(files.local, files.local + "-other")
    os.chmod(files.local + "-other", 0o644)
    os.symlink(".cpprofrc-other", files.local)
    banner, shown, answer = files.start()
    assert ".cpprofrc was not read: it is a symbolic link" in banner, banner
    assert "digits       4" in shown, shown
    os.unlink(files.local)
    os.mkdir(files.local)
    banner, shown, answer = files.start()
    assert "not read: it is not a plain file" in banner, banner
    os.rmdir(files.local)
    os.mkfifo(files.local)
    banner, shown, answer = files.start()
    assert "not read: it is not a plain file" in banner, banner
    if os.geteuid() != 0:
        return
    os.unlink(files.local)
    os.rename(files.local + "-other", files.local)
    os.chown(files.local, 12345, -1)
    banner, shown, answer = files.start()
    assert "not read: it belongs to another user" in banner, banner
    assert "digits       4" in shown, shown


def scripts_read_no_start_up_files():
    files = Startup("autoload on\ndigits 3\n", "digits 5\n")
    environment = {**os.environ, "HOME": files.home}
    environment.pop("XDG_CONFIG_HOME", None)
    shown = subprocess.run([CPPROF, "-e", "show digits", FORMS],
                           env=environment, stdin=subprocess.DEVNULL,
                           cwd=os.path.dirname(files.local),
                           stdout=subprocess.PIPE, check=True).stdout
    assert shown == b"digits  4\n", shown


def pager_gets_what_is_longer_than_the_screen():
    terminal = Terminal("-q", FORMS, PAGER="sed s/^/paged:/")
    terminal.expect(PROMPT)
    terminal.type("root\n")
    assert "paged:" not in terminal.expect(PROMPT)
    terminal.type("help\n")
    terminal.expect("paged:functions")
    terminal.expect("paged:quit")
    terminal.expect(PROMPT)
    terminal.type("pager off\nhelp\n")
    terminal.expect("quit ")
    terminal.expect("\r\n" + PROMPT)
    terminal.type("history | sed s/^/piped:/\n")
    terminal.expect("piped:")
    terminal.type("quit\n")
    assert terminal.status() == 0


def lines_that_wrap_count_as_several():
    def is_paged(columns):
        terminal = Terminal("-q", FORMS, PAGER="sed s/^/paged:/",
                            columns=columns)
        terminal.expect(PROMPT)
        terminal.type("help threshold\n")
        paged = "paged:" in terminal.expect(PROMPT)
        terminal.type("quit\n")
        assert terminal.status() == 0
        return paged

    assert not is_paged(80)
    assert is_paged(20)


def a_pager_that_is_missing_hides_nothing():
    terminal = Terminal("-q", FORMS, PAGER="no-such-pager -x")
    terminal.expect(PROMPT)
    terminal.type("help\n")
    terminal.expect("PAGER: no-such-pager: no such program in PATH")
    terminal.expect("quit ")
    terminal.expect(PROMPT)
    terminal.type("root\n")
    assert "PAGER" not in terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0


def without_less_more_will_do():
    folder = os.path.join(HOME, "bin")
    os.mkdir(folder)
    with open(os.path.join(folder, "more"), "w") as file:
        file.write("#!/bin/sh\necho more is here\n")
    os.chmod(file.name, 0o755)
    for name in ("more", None):
        terminal = Terminal("-q", FORMS, PATH=folder)
        terminal.expect(PROMPT)
        terminal.type("help\n")
        terminal.expect("more is here" if name else "quit ")
        terminal.expect(PROMPT)
        terminal.type("quit\n")
        assert terminal.status() == 0
        if name:
            os.unlink(file.name)


def a_dumb_terminal_gets_plain_text():
    terminal = Terminal("-q", FORMS, TERM="dumb")
    terminal.expect(PROMPT)
    terminal.type("help\n")
    terminal.expect("quit ")
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    assert terminal.status() == 0
    assert "\x1b" not in terminal.seen, terminal.seen


def a_pager_that_quits_early_is_quiet():
    terminal = Terminal("-q", FORMS, PAGER="head -n 2")
    terminal.expect(PROMPT)
    terminal.type("help\n")
    shown = terminal.expect(PROMPT)
    assert shown.count("\n") == 3, shown
    terminal.type("quit\n")
    assert terminal.status() == 0


def color_is_for_terminals_that_want_it():
    def escapes(**environment):
        terminal = Terminal("-q", FORMS, "-e", "functions", **environment)
        assert terminal.status() == 0
        assert "db_read_record" in terminal.seen
        return "\x1b" in terminal.seen

    assert escapes()
    assert not escapes(NO_COLOR="1")
    assert not escapes(TERM="dumb")


def bars_are_for_wide_color_terminals():
    def has_bars(*commands, columns=100, **environment):
        terminal = Terminal("-q", FORMS, columns=columns, rows=60,
                            **environment)
        terminal.expect(PROMPT)
        for command in (*commands, "functions"):
            terminal.type(command + "\n")
            shown = terminal.expect(PROMPT)
        terminal.type("quit\n")
        assert terminal.status() == 0
        return "█" in shown or "##" in shown

    assert has_bars()
    assert not has_bars(columns=99)
    assert has_bars("bars on", columns=60)
    assert not has_bars("bars off")
    assert not has_bars(NO_COLOR="1")
    assert not has_bars("functions > /dev/null", "bars on", "format csv")
    terminal = Terminal("-q", FORMS, columns=100, LC_ALL="C")
    terminal.expect(PROMPT)
    terminal.type("top 2\n")
    shown = terminal.expect(PROMPT)
    assert " 1  ##########   614" in shown, shown
    assert " 2  ----------     0" in shown, shown
    out = os.path.join(HOME, "bars")
    terminal.type(f"bars on\ntop > {out}\n")
    terminal.expect(out)
    terminal.expect(PROMPT)
    with open(out) as file:
        assert "##" not in file.read()
    terminal.type("quit\n")
    assert terminal.status() == 0


def pasted_lines_run_one_by_one():
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    terminal.type("\x1b[200~root\nthreshold\x1b[201~\n")
    terminal.expect("root  main")
    terminal.expect("threshold  0.01")
    terminal.type("quit\n")
    assert terminal.status() == 0


def a_profile_on_standard_input_leaves_the_terminal_for_commands():
    terminal = Terminal("-q", "-", stdin=FORMS)
    terminal.expect(PROMPT)
    terminal.type("root\n")
    terminal.expect("root  main")
    terminal.type("quit\n")
    assert terminal.status() == 0


class Skip(Exception):
    pass


def need_collector():
    folder = os.path.dirname(os.path.realpath(CPPROF))
    if not os.path.exists(os.path.join(folder, ".libs", "libcpprof.so.0")):
        raise Skip("no collector on this machine")


def tab_completes_what_record_takes():
    folder = os.path.join(HOME, "program")
    os.mkdir(folder)
    for name in ("cpu", "alloc-file"):
        open(os.path.join(folder, name), "w").close()
    terminal = Terminal("-q", FORMS)
    terminal.expect(PROMPT)
    for typed, shown in (("record -r page-f", "aults "),
                         ("record -F 100 -r cpu:1ms -r fp", "-exceptions "),
                         ("record --rand", "om "),
                         ("record -o cpu -r alloc-b", "ytes "),
                         (f"record -r cpu {folder}/c", "pu "),
                         (f"record sort -r {folder}/al", "loc-file ")):
        terminal.type(typed + "\t")
        terminal.expect(typed.split("/")[-1])
        terminal.expect(shown)
        terminal.type("\x15")
    terminal.type("quit\n")
    assert terminal.status() == 0


SILENT = "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done;"


def ends_in_the_shell(*options, program, said, status=3, **environment):
    output = os.path.join(HOME, "shell.cpprof")
    terminal = Terminal("record", "--force", "-o", output, *options, "sh",
                        "-c", program, **environment)
    if said:
        terminal.expect(said)
    # Long lines break, but not in what is to be typed.
    terminal.expect(" open")
    terminal.expect("cpprof " + output + "\r\n")
    assert terminal.status() == status, terminal.seen
    assert "(cpprof" not in terminal.seen


def ends_at_the_prompt(*options, program, **environment):
    output = os.path.join(HOME, "prompt.cpprof")
    terminal = Terminal("record", "--force", "-o", output, *options, "sh",
                        "-c", program, **environment)
    terminal.expect(" cpu) ")
    terminal.type("quit\n")
    assert terminal.status() == 0


def what_a_program_writes_stays_in_sight():
    """Whichever process writes it, and however short it runs."""
    need_collector()
    for writes in ("echo said", "echo said >&2", "echo said >/dev/tty",
                   "(echo said) & wait"):
        ends_in_the_shell(program=writes + "; exit 3", said="said")
    # Neither typed text nor output that goes elsewhere is written to it.
    ends_at_the_prompt(program=SILENT + "echo unseen >/dev/null; exit 3")
    output = os.path.join(HOME, "typed.cpprof")
    terminal = Terminal("record", "--force", "-o", output, "sh", "-c",
                        "read line;" + SILENT)
    until = time.monotonic() + PATIENCE
    while not glob.glob(output + "/cpprofdata.*"):
        assert time.monotonic() < until and not terminal.ended()
        time.sleep(0.05)
    terminal.type("typed\n")
    terminal.expect(" cpu) ")
    terminal.type("quit\n")
    assert terminal.status() == 0


def the_prompt_can_be_chosen():
    need_collector()
    ends_in_the_shell("--no-prompt", program=SILENT + "exit 3", said="")
    ends_at_the_prompt("--prompt", program=SILENT + "echo said; exit 3")
    config = os.path.join(HOME, "config", "cpprof")
    os.makedirs(config)
    with open(os.path.join(config, "settings"), "w") as file:
        file.write("# mine\nprompt never\nshell touch pwned\nprompt often\n"
                   "threshold 2%\ndebuginfod off\n")
    mine = {"XDG_CONFIG_HOME": os.path.dirname(config)}
    ends_in_the_shell(program=SILENT + "exit 3",
                      said="settings:4: often: expected one of", **mine)
    assert not os.path.exists("pwned")
    ends_at_the_prompt("--prompt", program=SILENT, **mine)
    # Other prompts read the settings, too; scripts never do.
    terminal = Terminal("-q", FORMS, **mine)
    terminal.expect("settings:3: shell is not a setting")
    terminal.expect("Time) ")
    terminal.type("threshold\n")
    terminal.expect("0.02\r\n")
    terminal.type("quit\n")
    assert terminal.status() == 0
    terminal = Terminal("-e", "threshold", FORMS, **mine)
    terminal.expect("0.01\r\n")
    assert terminal.status() == 0


def record_ends_at_the_prompt():
    need_collector()
    output = os.path.join(HOME, "one.cpprof")
    terminal = Terminal("record", "-o", output, "sh", "-c", SILENT + "exit 3")
    terminal.expect("exit status 3; ")
    terminal.expect(" cpu) ")
    terminal.type("resource\n")
    terminal.expect("microsecond      1000  cpu")
    terminal.type("quit\n")
    assert terminal.status() == 0


def control_c_ends_a_recording_and_keeps_it():
    need_collector()
    output = os.path.join(HOME, "two.cpprof")
    terminal = Terminal("record", "--prompt", "-o", output, "sh", "-c",
                        "echo begun; while :; do :; done")
    terminal.expect("begun")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("exit status 130; ")
    terminal.expect(" cpu) ")
    terminal.type("resource\n")
    terminal.expect("microsecond      1000  cpu")
    terminal.type("quit\n")
    assert terminal.status() == 0


TESTS = [
    export_completes_formats_and_spares_the_terminal,
    banner_and_prompt_tell_where_one_is,
    banner_of_bare_counts_names_no_unit,
    banner_names_every_resource_and_its_samples,
    q_has_no_banner,
    without_a_profile_it_waits_for_one,
    errors_do_not_end_it,
    tab_completes_commands_functions_and_quotes,
    tab_completes_columns,
    tab_completes_files_behind_redirections_and_for_the_shell,
    many_candidates_are_asked_about,
    control_c_clears_the_line,
    control_c_stops_a_long_print,
    control_c_ends_all_that_was_pasted,
    control_backslash_ends_what_is_run_alone,
    a_new_profile_is_explained,
    the_first_screen_fills_the_terminal,
    the_first_screen_tells_the_kernels_share,
    the_first_screen_tells_what_each_run_used,
    recordings_have_one_unit,
    the_first_screen_tells_the_amount,
    control_c_stops_a_load,
    control_c_ends_what_was_not_loaded,
    control_z_stops_and_goes_on,
    history_lasts,
    a_home_that_takes_no_history_is_told_once,
    long_paths_fit_the_width,
    long_paths_keep_the_users_own_functions,
    messages_break_at_blanks,
    chains_are_folded_on_a_terminal,
    steps_of_time_tell_their_slices,
    rows_have_numbers_that_commands_take,
    start_up_files_run_before_the_prompt,
    a_start_up_file_that_fails_is_named,
    a_local_start_up_file_of_others_is_not_run,
    scripts_read_no_start_up_files,
    pager_gets_what_is_longer_than_the_screen,
    lines_that_wrap_count_as_several,
    a_pager_that_is_missing_hides_nothing,
    without_less_more_will_do,
    a_dumb_terminal_gets_plain_text,
    a_pager_that_quits_early_is_quiet,
    color_is_for_terminals_that_want_it,
    bars_are_for_wide_color_terminals,
    pasted_lines_run_one_by_one,
    a_profile_on_standard_input_leaves_the_terminal_for_commands,
    tab_completes_what_record_takes,
    record_ends_at_the_prompt,
    what_a_program_writes_stays_in_sight,
    the_prompt_can_be_chosen,
    control_c_ends_a_recording_and_keeps_it,
]


if __name__ == "__main__":
    if not has_terminals():
        print("1..0 # SKIP no pseudo-terminals here")
        sys.exit()
    failed = 0
    with tempfile.TemporaryDirectory() as HOME:
        Terminal.home = HOME
        for number, test in enumerate(TESTS, 1):
            name = test.__name__.replace("_", " ")
            try:
                test()
                print(f"ok {number} - {name}")
            except Skip as why:
                print(f"ok {number} - {name} # SKIP {why}")
            except AssertionError as error:
                failed += 1
                print(f"not ok {number} - {name}")
                print(f"# line {error.__traceback__.tb_next.tb_lineno}: "
                      f"{str(error)[:2000]!r}")
            sys.stdout.flush()
    print(f"1..{len(TESTS)}")
    sys.exit(failed > 0)
