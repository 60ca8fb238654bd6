# SPDX-License-Identifier: GPL-3.0-or-later
"""mcp.py -- cpprof mcp answers as the Model Context Protocol says, and does no
more than it is allowed to.

If node finds @modelcontextprotocol/sdk, the protocol's own client asks, too,
and checks each answer against the protocol's schema.
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from claims import Claims
from mcp_server import Server
from oracle import quoted

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
FORMS = os.path.join(SOURCE, "sample-data", "forms.folded")
CLIENT = """
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
const client = new Client({ name: 'test', version: '1' });
await client.connect(new StdioClientTransport({
    command: process.argv[2], args: ['mcp'] }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: 'ask', arguments: {
    profile: process.argv[3], commands: ['functions'] } });
console.log(JSON.stringify({ tools, answer }));
await client.close();
"""
claims = Claims()
check = claims.check


def prompt(*commands):
    words = [word for command in commands for word in ("-e", command)]
    return subprocess.run([CPPROF, "-q", "-n", "--keep-going", *words, FORMS],
                          capture_output=True, text=True, timeout=60).stdout


def check_conversation():
    with Server() as server:
        for asked, given in (("2025-03-26", "2025-03-26"),
                             ("1999-01-01", "2025-06-18")):
            result = server.request("initialize", protocolVersion=asked,
                                    capabilities={})["result"]
            check(f"version {asked}", result["protocolVersion"] == given and
                  result["serverInfo"]["name"] == "cpprof" and
                  result["capabilities"] == {"tools": {}}, result)
        server.send(method="notifications/initialized")
        check("ping", server.request("ping")["result"] == {})
        tools = server.request("tools/list")["result"]["tools"]
        check("only a tool that reads is offered",
              [tool["name"] for tool in tools] == ["ask"] and
              tools[0]["annotations"]["readOnlyHint"] and
              tools[0]["inputSchema"]["required"] == ["profile"], tools)
        check("without commands, it explains",
              server.call("ask", profile=FORMS) ==
              (prompt("explain"), False))
        check("commands are those of the prompt",
              server.call("ask", profile=[FORMS],
                          commands=["limit 3", "top",
                                    "up db_read_record"]) ==
              (prompt("limit 3", "top", "up db_read_record"), False))
        text, failed = server.call("ask", profile=FORMS, base=FORMS,
                                   commands=["diff"])
        check("a base makes it a comparison", not failed and
              "base" in text, text)
        text, failed = server.call("ask", profile=FORMS, base=FORMS)
        check("and what it explains begins with that", not failed and
              text.startswith("Changes since the base") and
              "type next: diff functions" in text, text)
        text, failed = server.call("ask", profile=FORMS, max_words=20,
                                   commands=["functions"])
        check("words are counted, lines are whole", not failed and
              len(text.rsplit("[", 1)[0].split()) <= 20 and
              "more lines: raise max_words" in text and
              prompt("functions").startswith(text.rsplit("[", 1)[0]), text)
        text, failed = server.call("ask", profile=FORMS,
                                   commands=["up nothing", "limit 1", "top"])
        check("after an error it goes on, and says so", failed and
              "nothing" in text and "Top Functions" in text, text)
        text, failed = server.call("ask", profile="no/such/file")
        check("a file that is not there is named",
              failed and "no/such/file" in text, text)


def check_rights(directory):
    """Nothing is written or run without a right."""
    target = os.path.join(directory, "target")
    commands = [f"export pprof {target}", f"top > {target}",
                f"top >> {target}", f"top | tee {target}",
                f"!touch {target}", f"shell touch {target}",
                f"save {target}", f"flame {target}.html",
                f"record touch {target}", f"merge -o {target} {quoted(FORMS)}",
                f"merge -f parquet -o {target} {quoted(FORMS)}",
                f"keep --id a {quoted(FORMS)}",
                f"set budget {target}", f"budget {target}",
                f"graph > {target}", f"report {target}.html"]
    with Server(cwd=directory) as server:
        for command in commands:
            text, _ = server.call("ask", profile=FORMS, commands=[command])
            check(f"{command.split()[0]} does nothing that lasts",
                  os.listdir(directory) == [], (command, text))
        text, failed = server.call("record", program=["touch", target])
        check("record is not allowed", failed and "--allow-record" in text and
              os.listdir(directory) == [], text)
    with Server("--allow-write", cwd=directory) as server:
        server.call("ask", profile=FORMS, commands=[commands[0]])
        check("with --allow-write it writes", os.listdir(directory) ==
              ["target"], os.listdir(directory))


SECRET = "correct horse battery staple"


def check_sources(directory):
    """Commands cannot name a directory whose files are then shown."""
    private = os.path.join(directory, "private")
    here = os.path.join(directory, "here")
    os.mkdir(private)
    os.mkdir(here)
    source = os.path.join(private, "keys.py")
    profile = os.path.join(here, "callgrind.out")
    with open(source, "w") as file:
        file.write(SECRET + "\n")
    with open(profile, "w") as file:
        file.write(f"# callgrind format\nevents: Ir\nfl={source}\nfn=f\n"
                   "1 5\n")

    def listed(*options, commands=(), cwd=here):
        with Server(*options, cwd=cwd) as server:
            return server.call("ask", profile=profile, max_words=2000,
                               commands=[*commands, "list f"])

    for command in (f"directories {quoted(private)}",
                    f"directories . {quoted(private)}", "directories /",
                    f"set directories {quoted(private)}",
                    f"directory {quoted(private)}",
                    f"symfs {quoted(directory)}", "symfs /.",
                    f"set symfs {quoted(directory)}",
                    f"sy {quoted(private)}"):
        for options in (), ("--allow-record",):
            text, failed = listed(*options, commands=[command])
            check(f"{command.replace(directory, '')} {options} shows nothing",
                  SECRET not in text and failed and
                  "--read-only" in text, text)
    text, failed = listed()
    check("the answer says what the user can do, and nothing to type",
          SECRET not in text and f"--directories {private}" in text and
          '"directories' not in text, text)
    text, failed = listed(commands=["directories off", "symfs /"])
    check("fewer directories may be named",
          SECRET not in text and not failed, text)
    for name, options, more in (
            ("--directories", ("--directories", private), {}),
            ("a second --directories", ("--directories", here,
                                        "--directories", private), {}),
            ("--symfs", ("--symfs", directory), {}),
            ("the current directory", (), {"cwd": private}),
            ("--allow-write", ("--allow-write",),
             {"commands": [f"directories {quoted(private)}"]})):
        text, failed = listed(*options, **more)
        check(f"by {name} the user allows it", SECRET in text and
              not failed, text)
    # The start-up file of somebody who starts cpprof --read-only.
    settings = os.path.join(directory, "config", "cpprof")
    os.makedirs(settings)
    with open(os.path.join(settings, "init"), "w") as file:
        file.write(f"directories {quoted(private)}\n")
    ours, terminal = os.openpty()
    os.write(ours, b"quit\n")
    done = subprocess.run(
        [CPPROF, "-q", "--read-only", "--keep-going", "-i", "-e", "list f",
         "-e", f"directories {quoted(here)}", profile], text=True,
        timeout=60, stdin=terminal, cwd=here, capture_output=True,
        env=dict(os.environ, XDG_CONFIG_HOME=os.path.dirname(settings)))
    os.close(ours)
    os.close(terminal)
    check("start-up files still hold", SECRET in done.stdout and
          "--read-only" in done.stdout + done.stderr, done)


def check_record(directory):
    output = os.path.join(directory, "recording")
    temporary = os.path.join(directory, "temporary")
    os.mkdir(temporary)
    with Server("--allow-record",
                env=dict(os.environ, TMPDIR=temporary)) as server:
        tools = server.request("tools/list")["result"]["tools"]
        check("record is offered if it is allowed",
              [tool["name"] for tool in tools] == ["ask", "record"], tools)
        text, failed = server.call(
            "record", output=output, resources=["cpu"],
            program=[sys.executable, "-c", "sum(range(30_000_000))"])
        check("it records and explains", not failed and
              f"profile: {output}\n" in text and "Explanation" in text, text)
        text, failed = server.call("ask", profile=output, commands=["info"])
        check("the recording can be asked", not failed and
              "python3" in text, text)
        text, failed = server.call("record", output=output, program=["true"])
        check("an earlier recording is neither replaced nor explained",
              failed and "is there already" in text and
              "Explanation" not in text, text)
        empty = os.path.join(directory, "empty")
        os.mkdir(empty)
        text, failed = server.call("record", output=empty, program=["true"])
        check("a directory that is there stays", failed and
              os.path.isdir(empty), text)
        name = os.path.join(directory, "none")
        ended = subprocess.Popen(["true"])
        ended.wait()
        for what, wrong in (
                ("a program that is not there",
                 {"program": [os.path.join(directory, "no-program")]}),
                ("a file that is no program", {"program": [FORMS]}),
                ("a resource that is none",
                 {"program": ["true"], "resources": ["nothing"]}),
                ("a process that is not there", {"pid": ended.pid})):
            for more in {}, {"output": name}:
                text, failed = server.call("record", **wrong, **more)
                check(f"{what} leaves nothing {[*more]}", failed and
                      "nothing was recorded" in text and
                      "Explanation" not in text and "profile:" not in text and
                      not os.path.exists(name) and os.listdir(temporary) == [],
                      text)
        text, failed = server.call("record", program=["sh", "-c", "exit 3"])
        check("a program that fails is recorded, and explained",
              failed and "profile:" in text and
              "nothing was recorded" not in text, text)
        for wrong in {}, {"program": ["ls"], "pid": 1}, {"seconds": 3}:
            text, failed = server.call("record", **wrong)
            check(f"wrong arguments are refused: {wrong}", failed, text)


def check_hostile():
    with Server() as server:
        for line, code in (
                (b"{", -32700), (b"{}", -32600), (b"[]", -32600),
                (b"\xff\xfe", -32700), (b"null", -32600),
                (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
                (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
                (b'{"jsonrpc":"2.0","id":1,"method":"ping"} 3', -32700),
                (b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
                 b'"params":[]}', -32602),
                (b"[" * 1000000, -32600),
                (b'{"a":' * 500000, -32700),
                (b"x" * (5 << 20), -32600)):
            server.write(line + b"\n")
            answer = server.read()
            check(f"{line[:40]!r} is an error", "result" not in answer and
                  answer["error"]["code"] == code, answer)
        check("a method that is not there", server.request("no/such")
              ["error"]["code"] == -32601)
        for arguments in ({}, {"profile": 7}, {"profile": "-"},
                          {"profile": FORMS, "commands": "a\nb"},
                          {"profile": FORMS, "commands": ["top", 3]},
                          {"profile": FORMS, "max_words": -1},
                          {"profile": "a\0b"},
                          {"profile": ["x"] * 2000}):
            text, failed = server.call("ask", **arguments)
            check(f"arguments are refused: {str(arguments)[:50]}", failed,
                  text)
        for name in "--help", "-e", "--allow-write", "":
            text, failed = server.call("ask", profile=name)
            check(f"a profile {name!r} is a file", failed and
                  "usage" not in text, text)
        text, failed = server.call("none")
        check("a tool that is not there", failed and "none" in text, text)
        server.send(method="tools/call", params={"name": "ask"})
        server.send(method="notifications/whatever")
        check("notifications get no answer, and the server lives",
              server.request("ping")["result"] == {})


def is_running(marker):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if marker.encode() in file.read():
                    return True
        except OSError:         # has ended meanwhile
            continue
    return False


def wait_for(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


def check_cancelled():
    marker = f"marked-{os.getpid()}"
    program = [sys.executable, "-c",
               f"import time; time.sleep(987)  # {marker}"]
    with Server("--allow-record") as server:
        server.send(id="slow", method="tools/call", params={
            "name": "record", "arguments": {"program": program}})
        started = wait_for(lambda: is_running(marker))
        server.send(method="notifications/cancelled",
                    params={"requestId": "slow"})
        answer = server.request("ping")
        check("a call that is cancelled ends, without an answer", started and
              answer["result"] == {} and
              wait_for(lambda: not is_running(marker)), answer)
        server.send(id="slow", method="tools/call", params={
            "name": "record", "arguments": {"program": program}})
        started = wait_for(lambda: is_running(marker))
        server.process.send_signal(signal.SIGTERM)
        check("what it runs ends with the server", started and
              wait_for(lambda: not is_running(marker)))


# A signal comes when the server has started a process, and goes on.
SIGNALLED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{ unsetenv("LD_PRELOAD"); }
int posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
    char *const *words, char *const *variables)
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
        const posix_spawnattr_t *, char *const *, char *const *) =
        dlsym(RTLD_NEXT, "posix_spawn");
    int why = real(pid, path, actions, how, words, variables);
    kill(getpid(), SIGTERM);
    return why;
}
"""


def check_signalled(directory):
    marker = f"signalled-{os.getpid()}"
    source = os.path.join(directory, "signalled.c")
    library = os.path.join(directory, "signalled.so")
    if not shutil.which("cc"):
        claims.skip("a signal while something is started", "no cc")
        return
    with open(source, "w") as file:
        file.write(SIGNALLED)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"],
                   check=True)
    with Server("--allow-record",
                env=dict(os.environ, LD_PRELOAD=library)) as server:
        server.send(id=1, method="tools/call", params={
            "name": "record", "arguments": {"program": [
                "sh", "-c", f"sleep 60; : {marker}"]}})
        status = server.process.wait(60)
        check("what is being started ends with the server",
              status == -signal.SIGTERM and
              wait_for(lambda: not is_running(marker)), status)
    with Server("--allow-record", preexec_fn=lambda: signal.pthread_sigmask(
            signal.SIG_BLOCK, [signal.SIGUSR1])) as server:
        text, _ = server.call("record", program=[
            "grep", "^SigBlk", "/proc/self/status"])
        check("the program has the signal mask of the server",
              f"SigBlk:\t{1 << signal.SIGUSR1 - 1:016x}\n" in text, text)


def check_client(directory):
    """The client of the protocol's makers."""
    script = os.path.join(directory, "client.mjs")
    modules = os.environ.get("NODE_PATH", "")
    if not shutil.which("node") or not os.path.isdir(
            os.path.join(modules, "@modelcontextprotocol", "sdk")):
        claims.skip("the protocol's own client agrees",
                    "no @modelcontextprotocol/sdk in NODE_PATH")
        return
    os.symlink(modules, os.path.join(directory, "node_modules"))
    with open(script, "w") as file:
        file.write(CLIENT)
    done = subprocess.run(["node", script, CPPROF, FORMS], timeout=120,
                          capture_output=True, text=True)
    answer = json.loads(done.stdout) if done.returncode == 0 else {}
    check("the protocol's own client agrees",
          answer.get("answer", {}).get("content", [{}])[0].get("text") ==
          prompt("functions"), done)


def main():
    check_conversation()
    for group in (check_rights, check_sources, check_record, check_signalled,
                  check_client):
        with tempfile.TemporaryDirectory() as directory:
            group(directory)
    check_hostile()
    check_cancelled()
    claims.end()


sys.exit(main())
