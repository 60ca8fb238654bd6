#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""planted.py -- an assistant that only follows doc/agent.md finds the line.

tests/programs/planted.c makes one of twenty mistakes.  The assistant here knows
what users complain of, reads no source, and takes no decisions: it records by
cpprof mcp, reads the explanation, and lists functions of the hot path, the
innermost first, until one has lines of source; the one with most is its answer.
All that it was told must have at most 1,000 words.  Speaks TAP.
"""
import os
import re
import sys
import tempfile

from claims import Claims
from mcp_server import Server

BUILD = os.environ.get("builddir", ".")
PROGRAM = os.path.abspath(os.path.join(BUILD, "tests/programs/planted"))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs",
                      "planted.c")
WORDS = 1000
# What users complain of, and what doc/agent.md says to record then.
COMPLAINTS = {
    "cpu": ("join_words", "to_upper", "look_up", "sum_columns",
            "insert_sorted", "plan_route", "check_orders", "mix_digits",
            "copy_words", "print_numbers", "clear_buffer", "load_settings"),
    "real": ("retry_later", "wait_for_answer", "run_helper"),
    "blame": ("update_table", "write_log"),
    "live": ("begin_sessions", "serve_page", "report_failure"),
}
claims = Claims()


def hot_path(text):
    """The functions of the first path after "Hot path", outermost first."""
    found = re.search(r"^Hot path.*\n *\S+(?: \S+)? +[\d.]+ +[\d.]+ +(.*)$",
                      text, re.MULTILINE)
    return found.group(1).split() if found else []


def hottest_line(text):
    """The number of the line of source with most hits; None: there is none."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines)
                  if re.fullmatch(r" *% .* line +source", line)), None)
    if begin is None or "source not found" in text:
        return None
    end = lines[begin].index("line") + len("line")
    found = [(float(line.split()[0]), int(line[:end].split()[-1]))
             for line in lines[begin + 1:]
             if re.match(r" *\d+\.\d+ .*\d$", line[:end])]
    return max(found)[1] if found else None


def find_line(server, mistake, resource, folder):
    """What the assistant says, and of how many words it was told."""
    heard = []

    def ask(tool, **arguments):
        heard.append(server.call(tool, **arguments)[0])
        return heard[-1]
    output = os.path.join(folder, mistake)
    path = hot_path(ask("record", program=[PROGRAM, mistake],
                        resources=[resource], output=output))
    line = None
    while path and line is None:
        line = hottest_line(ask("ask", profile=output,
                                commands=[f"list {path.pop()}"]))
    return line, sum(len(text.split()) for text in heard), heard


def main():
    with open(SOURCE, encoding="ascii") as file:
        planted = {i + 1 for i, line in enumerate(file)
                   if line.endswith("/* planted */\n")}
    most = 0
    with tempfile.TemporaryDirectory() as folder, \
            Server("--allow-record", cwd=folder) as server:
        for resource, mistakes in COMPLAINTS.items():
            for mistake in mistakes:
                line, words, heard = find_line(server, mistake, resource,
                                               folder)
                most = max(most, words)
                claims.check(f"{mistake} is found at its line, with {WORDS} "
                             "words at most", line in planted and
                             words <= WORDS, "\n".join([
                                 f"line {line}, {words} words", *heard]))
    print(f"# at most {most} words")
    claims.end()


if not os.access(PROGRAM, os.X_OK):
    print("1..0 # SKIP no collector, so no recordings")
    sys.exit()
main()
