#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""debuginfod: names, inlined calls and sources that only a server has; and that
no server is asked without the user's consent, or believed.

Profiles are made by hand of addresses in a program that was stripped, so that
nothing depends on what a run samples.  A server of the test's own does all that
servers may do; Debian's debuginfod is asked where it is installed.
"""
import contextlib
import ctypes
import glob
import gzip
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import cpprof
from claims import Claims
from mcp_server import Server
from pprof_writer import write
from terminal import Terminal, has_terminals

SOURCE = "/usr/src/debuginfod-test/work.c"
CODE = """\
#include <stdlib.h>
static volatile unsigned sink;
static inline __attribute__((always_inline)) void inner_step(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 3 + i;
}
static __attribute__((noinline)) void hot_loop(unsigned n)
{
	inner_step(n);
	sink++;
}
int main(int argc, char **argv)
{
	(void)argv;
	hot_loop((unsigned)argc);
	return 0;
}
"""
claims = Claims()
place = tempfile.mkdtemp(prefix="cpprof-debuginfod-")
MAXIMUM = 1 << 20       # bytes, that the hostile servers may send


def has_library():
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        return False
    return True


# ---- a program, its debug file and a profile of it ----

class Program:
    """A stripped program; its debug file is only in `debug`."""

    def __init__(self, name, code=CODE):
        root = os.path.join(place, name + "-root")
        self.source = root + SOURCE
        os.makedirs(os.path.dirname(self.source))
        with open(self.source, "w", encoding="ascii") as file:
            file.write(code)
        self.path = os.path.join(place, name)
        self.root, self.debug = root, root + "/debug/" + name + ".debug"
        os.makedirs(os.path.dirname(self.debug))
        subprocess.run(["gcc", "-g", "-O2", "-fno-ipa-cp", "-Wl,--build-id",
                        f"-fdebug-prefix-map={root}=", "-o", self.path,
                        self.source], check=True)
        symbols = subprocess.run(["nm", "-S", self.path], check=True, text=True,
                                 capture_output=True).stdout
        self.symbols = {words[3]: (int(words[0], 16), int(words[1], 16))
                        for words in map(str.split, symbols.splitlines())
                        if len(words) == 4}
        subprocess.run(["objcopy", "--only-keep-debug", self.path, self.debug],
                       check=True)
        subprocess.run(["strip", self.path], check=True)
        self.hot = self.inner()
        notes = subprocess.run(["readelf", "-n", self.path], check=True,
                               text=True, capture_output=True).stdout
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]

    def inner(self):
        """An address of hot_loop's code that is inner_step's."""
        start, size = self.symbols["hot_loop"]
        innermost = subprocess.run(
            ["addr2line", "-f", "-e", self.debug,
             *(hex(start + i) for i in range(size))],
            text=True, capture_output=True, check=True).stdout.splitlines()[::2]
        return start + innermost.index("inner_step")

    def profile(self, path, others=()):
        """90 hits in inner_step, 10 in main; others: (path, build-id, address)
        that each have a hit."""
        main = self.symbols["main"][0]
        places = {1: (self.path, self.build_id, main + 4),
                  2: (self.path, self.build_id, self.hot)}
        samples = [([2, 1], 90, []), ([1], 10, [])]
        for i, other in enumerate(others):
            places[i + 3] = other
            samples.append(([i + 3], 1, []))
        write(path, samples, inlined={i: [] for i in places}, places=places)
        return path


# ---- a server ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.server.answer(self)

    def log_message(self, *_):
        pass

    def send_whole(self, content, *headers, status=200, length=None):
        self.send_response(status)
        self.send_header("Content-Length",
                         len(content) if length is None else length)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class Web(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.asked = answer, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.is_over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.shutdown()
        self.server_close()


def absent(request):
    request.send_whole(b"no", status=404)


def files(known):
    """An answer from a dictionary of paths below /buildid/."""
    def answer(request):
        content = known.get(request.path.removeprefix("/buildid/"))
        if content is None:
            absent(request)
        else:
            request.send_whole(content)
    return answer


def contents(path):
    with open(path, "rb") as file:
        return file.read()


# ---- cpprof ----

n_homes = 0


def new_home():
    global n_homes
    n_homes += 1
    home = os.path.join(place, f"home{n_homes}")
    os.mkdir(home)
    return home


def environment(home, url=None, **more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("DEBUGINFOD_", "XDG_"))}
    return {**kept, "HOME": home, "DEBUGINFOD_MAXSIZE": str(MAXIMUM),
            **({"DEBUGINFOD_URLS": url} if url else {}), **more}


def run(profile, *commands, url=None, home=None, options=(), **more):
    """What a run prints, to both outputs."""
    home = home or new_home()
    done = cpprof.ask(profile, *commands, options=options,
                      env=environment(home, url, **more), status=(0, 1))
    return done.stdout + done.stderr


N_MODULES = 60


def has_names(text):
    return "inner_step" in text and "hot_loop" in text and "main" in text


def left_over(home):
    """What is in the cache besides whole files and word of absent ones."""
    return [name for _, _, names in os.walk(home) for name in names
            if re.search(r"\.[A-Za-z0-9]{6}$", name)]


def is_empty(home):
    return not any(names for _, _, names in os.walk(home))


# ---- the user's consent ----

def check_consent(program, profile):
    good = files({f"{program.build_id}/debuginfo": contents(program.debug)})
    with Web(good) as web:
        text = run(profile, "functions")
        claims.check("without DEBUGINFOD_URLS a script asks no server",
                     not has_names(text) and "cpprof: debuginfod" not in
                     text, text)
        script = os.path.join(place, "script")
        with open(script, "w", encoding="ascii") as file:
            print("debuginfod on", f"load {profile}", "functions", sep="\n",
                  file=file)
        home = new_home()
        done = cpprof.run("-q", "-e", "debuginfod off", "-x", script,
                          env=environment(home, web.url), status=None)
        claims.check("a script cannot turn debuginfod on, and goes on",
                     not web.asked and "script cannot" in done.stderr and
                     "main" not in done.stdout and "100" in done.stdout,
                     (web.asked, done))
        done = cpprof.run("-q", "-e", "debuginfod off", env=environment(
            home, web.url), input=f"debuginfod on\nload {profile}\nfunctions\n",
            status=None)
        claims.check("neither can standard input", not web.asked and
                     is_empty(home), (web.asked, done))
        done = cpprof.run("-q", "-e", "debuginfod off", "-e",
                          f"source {script}", env=environment(home, web.url),
                          status=None)
        claims.check("nor a script that a command runs", not web.asked,
                     (web.asked, done))
        text = run(profile, "functions", "debuginfod on", url=web.url, home=home,
                   options=("--read-only",))
        claims.check("with --read-only no server is asked, and on is refused",
                     not web.asked and is_empty(home) and
                     "not with --read-only" in text, (web.asked, text))
        with Server(env=environment(home, web.url)) as server:
            server.request("initialize", protocolVersion="2025-06-18",
                           capabilities={},
                           clientInfo={"name": "test", "version": "1"})
            text, _ = server.call("cpprof", profile=[profile],
                                  commands=["debuginfod on", "functions"])
        claims.check("cpprof mcp asks no server", not web.asked and
                     is_empty(home), (web.asked, text))
        saved = cpprof.run("-q", "-e", "save", env=environment(
            home, web.url)).stdout
        claims.check("a script that save wrote turns nothing on where "
                     "DEBUGINFOD_URLS is not set",
                     "script cannot" in cpprof.run(
                         "-q", env=environment(home), input=saved).stderr,
                     saved)
        done = cpprof.run("-q", "-e", "debuginfod off", "-e",
                          f"load {profile}", "-e", "functions", "-e",
                          "debuginfod on", "-e", "functions",
                          env=environment(new_home(), web.url))
        claims.check("debuginfod on, typed by the user, names what is loaded",
                     len(web.asked) == 1 and
                     done.stdout.count("inner_step") == 1, done)


def check_ids(program):
    """A profile is text that may name any build."""
    wrong = ["", "zz", "1234", "00" * 20, "ff" * 20, "aa" * 40, "../../etc",
             "0123456789abcdef/../../x", program.build_id[:13] + "%2e"]
    path = program.profile(os.path.join(place, "ids.pb.gz"), others=[
        (f"/opt/none/lib{i}.so", wrong_id, 4096 + i)
        for i, wrong_id in enumerate(wrong)])
    with Web(absent) as web:
        text = run(path, "functions", url=web.url)
        claims.check("servers are asked for build-ids alone",
                     web.asked == [f"/buildid/{program.build_id}/debuginfo"],
                     (web.asked, text))


# ---- what servers have ----

def check_names(program, profile):
    known = {f"{program.build_id}/debuginfo": contents(program.debug),
             f"{program.build_id}/source{SOURCE}": CODE.encode()}
    home = new_home()
    with Web(files(known)) as web:
        text = run(profile, "functions", "list hot_loop", url=web.url, home=home)
        claims.check("names and inlined calls come from the server",
                     has_names(text) and "got the debug files" in text, text)
        claims.check("list shows the source from the server",
                     "inner_step(n);" in text and
                     "from a debuginfod server" in text, text)
        n_asked = len(web.asked)
        text = run(profile, "functions", url=web.url, home=home)
        claims.check("what was fetched is not asked for again",
                     len(web.asked) == n_asked and has_names(text) and
                     "cpprof: debuginfod" not in text, (web.asked, text))
        text = run(profile, "functions", "disasm hot_loop", home=home)
        claims.check("the cache is used where no server is asked",
                     len(web.asked) == n_asked and has_names(text), text)
        moved = os.path.join(place, "cache")
        shutil.move(os.path.join(home, ".cache", "debuginfod_client"), moved)
        text = run(profile, "functions", DEBUGINFOD_CACHE_PATH=moved)
        claims.check("the cache may be elsewhere", has_names(text), text)
        with open(profile, "rb") as file:
            done = cpprof.run("-q", "-e", "functions", "-", stdin=file,
                              env=environment(home, web.url))
        claims.check("a profile on standard input is named when it is loaded "
                     "once more", "load the profile once more" in done.stderr,
                     done)
        text = run(profile, "functions", url=f"http://127.0.0.1:1 {web.url}")
        claims.check("of two servers, one may be away", has_names(text), text)
    with Web(files(known)) as web:
        os.rename(program.path, program.path + ".away")
        text = run(profile, "functions", url=web.url)
        os.rename(program.path + ".away", program.path)
        claims.check("the program itself may be missing", has_names(text),
                     text)

    def moved_away(request):
        if request.path.startswith("/else"):
            request.path = request.path.removeprefix("/else")
            return files(known)(request)
        return request.send_whole(
            b"", ("Location", "/else" + request.path), status=302)
    with Web(moved_away) as web:
        text = run(profile, "functions", url=web.url)
        claims.check("servers may redirect", has_names(text), text)

    def packed(request):
        content = known.get(request.path.removeprefix("/buildid/"))
        request.send_whole(gzip.compress(content),
                           ("Content-Encoding", "gzip"))
    with Web(packed) as web:
        text = run(profile, "functions", url=web.url)
        claims.check("servers may compress", has_names(text), text)
    with Web(files({**known, f"{program.build_id}/source{SOURCE}":
                    b"\0\1\2\033[31m"})) as web:
        text = run(profile, "list hot_loop", url=web.url)
        claims.check("a source that is none is not shown",
                     "source not shown" in text and "\033" not in text, text)


def check_shared(program):
    """dwz moves what two debug files have in common to a third."""
    if shutil.which("dwz") is None:
        claims.skip("the file that debug files share is fetched, too",
                    "dwz is not installed")
        return
    other = Program("shared-other", CODE.replace("* 3", "* 5"))
    first = Program("shared-first")
    common = os.path.join(place, "common.dwz")
    done = subprocess.run(["dwz", "-m", common, "-M", "/nowhere/common.dwz",
                           first.debug, other.debug],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 or not os.path.exists(common):
        claims.skip("the file that debug files share is fetched, too",
                    f"dwz does not share: {done.stderr}")
        return
    notes = subprocess.run(["readelf", "-n", common], check=True, text=True,
                           capture_output=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    path = first.profile(os.path.join(place, "shared.pb.gz"))
    with Web(files({f"{first.build_id}/debuginfo": contents(first.debug),
                    f"{build_id}/debuginfo": contents(common)})) as web:
        text = run(path, "functions", "list hot_loop", url=web.url)
        claims.check("the file that debug files share is fetched, too",
                     has_names(text) and f"/buildid/{build_id}/debuginfo" in
                     web.asked, (web.asked, text))


# ---- what servers do wrong ----

def check_wrong(program, profile):
    debug = contents(program.debug)
    other = Program("other", CODE.replace("* 3", "* 7"))

    def always(content):
        return lambda request: request.send_whole(content)

    def endless(request):
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        block = bytes(65536)
        while not request.server.is_over.is_set():
            request.wfile.write(b"10000\r\n" + block + b"\r\n")

    packed = gzip.compress(bytes(64 * MAXIMUM))

    def bomb(request):
        request.send_whole(packed, ("Content-Encoding", "gzip"))

    def in_circles(request):
        request.send_whole(b"", ("Location", request.path + "x"), status=302)

    answers = {
        "the debug file of another build":
            (always(contents(other.debug)), "damaged or not of that build"),
        "the first half of the debug file":
            (always(debug[:len(debug) // 2]), "damaged or not of that build"),
        "garbage": (always(os.urandom(5000)), "damaged or not of that build"),
        "text": (always(b"<html>login</html>"), "damaged or not of that build"),
        "less than it said":
            (lambda request: request.send_whole(
                debug[:1000], length=len(debug)), "as it should"),
        "nothing": (lambda request: None, "as it should"),
        "404": (absent, "no server has the debug files"),
        "503": (lambda request: request.send_whole(b"", status=503),
                "as it should"),
        "more than the limit, as it says":
            (lambda request: request.send_whole(debug, length=1 << 40),
             "too large"),
        "bytes without end": (endless, "too large"),
        "a small file that unpacks to a large one": (bomb, "too large"),
        "redirections in circles": (in_circles, "debuginfod: "),
    }
    for what, (answer, says) in answers.items():
        home = new_home()
        with Web(answer) as web:
            text = run(profile, "functions", url=web.url, home=home,
                       DEBUGINFOD_TIMEOUT="2")
        whole = [os.path.getsize(os.path.join(folder, name))
                 for folder, _, names in os.walk(home) for name in names]
        claims.check(f"a server that sends {what}: told once, no name, nothing "
                     "left", not has_names(text) and
                     text.count("debuginfod: ") == 1 and says in text and
                     "\033" not in text and not left_over(home) and
                     max(whole, default=0) < 100,
                     (text, left_over(home), whole))
    # What is in the cache may be from anybody.
    home = new_home()
    cached = os.path.join(home, ".cache", "debuginfod_client",
                          program.build_id)
    os.makedirs(cached)
    shutil.copy(other.debug, os.path.join(cached, "debuginfo"))
    claims.check("a file of another build in the cache is not used",
                 not has_names(run(profile, "functions", home=home)))
    with Web(files({f"{program.build_id}/debuginfo": debug})) as web:
        text = run(profile, "functions", url=web.url, home=home)
        claims.check("and is replaced", has_names(text), text)


def many(program):
    return program.profile(os.path.join(place, "many.pb.gz"), others=[
        (f"/opt/none/lib{i}.so", f"{i + 1:040x}", 4096)
        for i in range(N_MODULES)])


def check_down(program):
    """Many modules are not a reason to wait many times."""
    path = many(program)
    with Web(absent) as web:
        text = run(path, "functions", url=web.url)
        claims.check("a server is asked for each module once, and those that "
                     "it does not have are told in one line",
                     len(set(web.asked)) == len(web.asked) ==
                     N_MODULES + 1 and text.count("debuginfod: ") == 1 and
                     f"and {N_MODULES - 2} more" in text, (len(web.asked), text))
    with Web(lambda request: request.send_whole(b"", status=502)) as web:
        text = run(path, "functions", url=web.url)
        claims.check("a server that fails is asked three times",
                     len(web.asked) == 3 and text.count("debuginfod: ") == 1,
                     (web.asked, text))

    def silent(request):
        request.server.is_over.wait(100)
    with Web(silent) as web:
        text = run(path, "functions", url=web.url, DEBUGINFOD_TIMEOUT="1")
        claims.check("one that says nothing is asked once",
                     len(web.asked) == 1 and "in time" in text and
                     text.count("debuginfod: ") == 1, (web.asked, text))

    def trickle(request):
        request.send_response(200)
        request.send_header("Content-Length", "500000")
        request.end_headers()
        while not request.server.is_over.wait(0.1):
            request.wfile.write(b"x")
    with Web(trickle) as web:
        home = new_home()
        text = run(path, "functions", url=web.url, home=home, DEBUGINFOD_MAXTIME="2")
        claims.check("one that sends a byte now and then, too",
                     len(web.asked) == 1 and "in time" in text and
                     not left_over(home), (web.asked, text, left_over(home)))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        text = run(path, "functions", url=url)
    claims.check("where no server is, a line says so", "cannot be reached" in
                 text and text.count("debuginfod: ") == 1, text)
    folder = os.path.join(place, "empty")
    os.mkdir(folder)
    subprocess.run(["gcc", "-shared", "-o", folder + "/libdebuginfod.so.1",
                    "-x", "c", "/dev/null"], check=True)
    text = run(path, "functions", url=url, LD_LIBRARY_PATH=folder)
    claims.check("without libdebuginfod a line says what to install",
                 "libdebuginfod1" in text and text.count("debuginfod: ") == 1,
                 text)
    text = run(path, "functions", url=url, DEBUGINFOD_CACHE_PATH="/dev/null/x")
    claims.check("a cache that cannot be written is told",
                 "can be fetched" in text and
                 text.count("debuginfod: ") == 1, text)


# ---- at a terminal ----

def check_terminal(program, profile):
    if not has_terminals():
        claims.skip("at a terminal", "there are no pseudo-terminals")
        return
    good = files({f"{program.build_id}/debuginfo": contents(program.debug)})

    def terminal(home, url, *words, columns=120, **more):
        return Terminal(*words, columns=columns, rows=40, **{
            **environment(home, url, **more), "INPUTRC": "/dev/null",
            "TERM": "dumb", "LC_ALL": "C.UTF-8"})

    def asking():
        home = new_home()
        os.makedirs(home + "/.config/cpprof")
        with open(home + "/.config/cpprof/settings", "w",
                  encoding="ascii") as file:
            print("debuginfod ask", file=file)
        return home

    def answers(answer, setting, named, n_asked):
        with Web(good) as web:
            screen = terminal(asking(), web.url, profile)
            screen.expect("no debug file of")
            screen.expect("(y or n) ")
            assert not web.asked, web.asked
            screen.type(answer)
            first = screen.expect(") ")
            screen.type("debuginfod\n")
            screen.expect(f"debuginfod  {setting}")
            screen.type("quit\n")
            assert screen.status() == 0
            assert ("inner_step" in screen.seen) == named, screen.seen
            assert len(web.asked) == n_asked, web.asked
            assert "debuginfod on" not in first, first

    claims.attempt("ask: yes fetches, and becomes the setting", answers,
                   "y\n", "on", True, 1)
    claims.attempt("ask: no does not", answers, "n\n", "off", False, 0)
    claims.attempt("ask: an empty line means no", answers, "\n", "off", False,
                   0)
    claims.attempt("ask: Ctrl-C means no", answers, "\x03", "off", False, 0)

    def hints():
        with Web(good) as web:
            home = new_home()
            # Where the distribution names a server, cpprof asks instead.
            if not glob.glob("/etc/debuginfod/*.urls"):
                screen = terminal(home, None, profile)
                screen.expect("no debug file of")
                screen.expect('type "help debuginfod"')
                screen.type("quit\n")
                assert screen.status() == 0
            os.makedirs(home + "/.config/cpprof")
            with open(home + "/.config/cpprof/init", "w",
                      encoding="ascii") as file:
                print("debuginfod off", file=file)
            screen = terminal(home, web.url, profile)
            screen.expect('type "debuginfod on"')
            screen.expect(") ")
            assert not web.asked, web.asked
            screen.type("debuginfod on\n")
            screen.expect("inner_step")
            screen.expect(") ")
            screen.type("quit\n")
            assert screen.status() == 0
            assert len(web.asked) == 1, web.asked
    claims.attempt("the first screen says in a line what to type, and that "
                   "gives names", hints)

    def never():
        with Web(good) as web:
            home = asking()
            screen = terminal(home, None, "-e", "functions", profile)
            assert screen.status() == 0
            assert "(y or n)" not in screen.seen, screen.seen
            screen = terminal(home, web.url, "--read-only", profile)
            screen.expect(") ")
            screen.type("quit\n")
            assert screen.status() == 0
            assert "(y or n)" not in screen.seen, screen.seen
            assert not web.asked, web.asked
    claims.attempt("ask: -e and --read-only ask nobody", never)

    def interrupt(signals_group):
        begun = threading.Event()

        def slow(request):
            request.send_response(200)
            request.send_header("Content-Length", "500000")
            request.end_headers()
            while not request.server.is_over.wait(0.05):
                request.wfile.write(b"x" * 10)
                begun.set()
        with Web(slow) as web:
            home = new_home()
            screen = terminal(home, web.url, many(program))
            screen.expect(f"debug file 1 of {N_MODULES + 1}")
            assert begun.is_set()
            if signals_group:
                screen.type("\x03")
            else:
                os.kill(screen.process, signal.SIGINT)
            screen.expect("stopped")
            screen.expect("(cpprof")
            screen.type("top 3\n")
            screen.expect("Top Functions")
            screen.type("quit\n")
            assert screen.status() == 0
            assert len(web.asked) == 1, web.asked
            assert is_empty(home) or not left_over(home), left_over(home)
        with Web(good) as web:
            text = run(profile, "functions", url=web.url, home=home)
            assert has_names(text), text
    claims.attempt("progress is shown; Ctrl-C ends the fetching and nothing "
                   "else, and the file can be fetched later", interrupt, True)
    claims.attempt("so does SIGINT to cpprof alone", interrupt, False)


# ---- a real server ----

def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def check_real():
    claim = "Debian's debuginfod: names, inlined calls, sources"
    if shutil.which("debuginfod") is None:
        claims.skip(claim, "debuginfod is not installed")
        return
    program = Program("real")
    served = os.path.join(place, "served")
    os.mkdir(served)
    subprocess.run(["tar", "-C", program.root, "-cf", served + "/real.tar",
                    "."], check=True)
    port = free_port()
    with open(os.path.join(place, "server.log"), "wb") as log, \
            subprocess.Popen(
                ["debuginfod", "-d", ":memory:", "-Z", ".tar", "-p", str(port),
                 "-t", "0", served], stdout=log, stderr=log,
                env=environment(new_home())) as server:
        try:
            until = time.monotonic() + 60
            while b"groomed database" not in contents(log.name) and \
                    server.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            if server.poll() is not None or time.monotonic() > until:
                claims.skip(claim, "the server does not start: " +
                            contents(log.name).decode()[-300:])
                return
            path = program.profile(os.path.join(place, "real.pb.gz"))
            text = run(path, "functions", "list hot_loop",
                       url=f"http://127.0.0.1:{port}")
            claims.check(claim, has_names(text) and
                         "inner_step(n);" in text,
                         text + contents(log.name).decode()[-2000:])
        finally:
            server.terminate()


def main():
    if not has_library():
        claims.skip("debug files from servers",
                    "libdebuginfod.so.1 is not installed")
        return
    program = Program("work")
    profile = program.profile(os.path.join(place, "work.pb.gz"))
    text = cpprof.text(profile, "functions", env=environment(new_home()))
    claims.check("the program has no names of its own",
                 "work+0x" in text and "hot_loop" not in text, text)
    check_consent(program, profile)
    check_ids(program)
    check_names(program, profile)
    check_shared(program)
    check_wrong(program, profile)
    check_down(program)
    check_terminal(program, profile)
    check_real()


try:
    main()
finally:
    shutil.rmtree(place)
claims.end()
