# SPDX-License-Identifier: GPL-3.0-or-later
"""packaging.py -- the packages have what make install installs, make uninstall
removes it, and all places have the same version.

What is installed is seen in a directory of its own.  tests/packages.sh builds the
packages themselves.
"""
import fnmatch
import glob
import os
import re
import subprocess
import tempfile

from claims import Claims
from cpprof import run

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
BUILD = os.path.abspath(os.environ.get("builddir", "."))
LIBRARIES = "usr/lib/x86_64-linux-gnu"
claims = Claims()


def source(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def lines(*path):
    return [line for line in source(*path).splitlines()
            if line and not line.startswith("#")]


def make(target, *variables, root):
    words = {name: value for name, value in os.environ.items()
             if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "-s", "-C", BUILD, target, "DESTDIR=" + root, "prefix=/usr",
         "sysconfdir=/etc", "libdir=/" + LIBRARIES, *variables], env=words,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
        check=True)


def files_below(root):
    return {os.path.relpath(os.path.join(folder, name), root)
            for folder, _, names in os.walk(root) for name in names}


def covered(name, patterns):
    """Whether dh_install or rpm takes the file by one of the patterns: itself,
    or a directory that it is in."""
    parts = name.split("/")
    return any(fnmatch.fnmatch("/".join(parts[:n]), pattern)
               for n in range(1, len(parts) + 1) for pattern in patterns)


def debian_patterns():
    """The patterns of each package."""
    packages = {}
    for path in glob.glob(os.path.join(SOURCE, "debian", "*")):
        package, _, kind = os.path.basename(path).rpartition(".")
        if kind in ("install", "manpages"):
            packages.setdefault(package, []).extend(lines("debian",
                                                    os.path.basename(path)))
    # debian/rules adds what is built on some architectures only.
    packages["cpprof"] += re.findall(r"dh_install -pcpprof '(\S+)'",
                                     source("debian", "rules"))
    return packages


MACROS = {"_bindir": "usr/bin", "_mandir": "usr/share/man",
          "_datadir": "usr/share",
          "_libdir": LIBRARIES, "_includedir": "usr/include"}


def rpm_patterns():
    spec = source("packaging", "cpprof.spec")
    found = re.findall(r"^%\{(_[a-z]+)\}(\S*)$", spec, re.M)
    return [MACROS[name] + rest for name, rest in found]


def check_files(claim, files, packages, left_out):
    """That each file is in one package or left out, and no pattern is idle."""
    wrong = []
    for name in sorted(files):
        n = sum(covered(name, patterns) for patterns in packages)
        if n + covered(name, left_out) != 1:
            wrong.append(f"{name}: in {n} packages")
    claims.make(claim, wrong)
    return [pattern for patterns in packages for pattern in patterns
            if not any(covered(name, [pattern]) for name in files)]


def check_install():
    with tempfile.TemporaryDirectory() as root:
        make("install",
             "zshcompletiondir=/usr/share/zsh/vendor-completions", root=root)
        files = files_below(root)
        idle = check_files("each installed file is in one Debian package",
                           files, debian_patterns().values(),
                           lines("debian", "not-installed"))
        # This build may have no MPI, JDK or collector.
        may_lack = re.compile(r"mpi|java|libcpprof|cpprof\.h")
        claims.make("and debian/*.install names nothing else",
                    [name for name in idle if not may_lack.search(name)])
        make("uninstall",
             "zshcompletiondir=/usr/share/zsh/vendor-completions", root=root)
        claims.make("make uninstall leaves no file", sorted(files_below(root)))
        claims.make("and no directory of cpprof", [
            folder for folder, _, _ in os.walk(root) if "cpprof" in
            os.path.relpath(folder, root)])
    with tempfile.TemporaryDirectory() as root:
        make("install", root=root)
        idle = check_files("each installed file is in the RPM packages",
                           {name for name in files_below(root)
                            if not name.endswith(".la")}, [rpm_patterns()], [])
        claims.make("and the spec names nothing else",
                    [name for name in idle if not may_lack.search(name)])


def check_versions():
    version = run("--version").stdout.split()[1]
    found = {
        "configure.ac": re.search(r"AC_INIT\(\[cpprof\], \[(.+?)\]\)",
                                  source("configure.ac"))[1],
        "packaging/cpprof.spec": re.search(
            r"^Version: +(\S+)", source("packaging", "cpprof.spec"), re.M)[1],
        "its changelog": re.search(r"^%changelog\n\* .* - (\S+)-\d+$", source(
            "packaging", "cpprof.spec"), re.M)[1],
        "debian/changelog": re.match(r"cpprof \(([^)]+)\)",
                                     source("debian", "changelog"))[1],
    }
    claims.make("all places have the same version",
                [f"{place}: {text}, not {version}"
                 for place, text in found.items() if text != version])
    news = re.search(r"^(Unreleased|\d\S*)", source("NEWS"), re.M)[1]
    released = re.findall(r"^(\d+\.\d+\.\d+), \d{4}-\d\d-\d\d$",
                          source("NEWS"), re.M)
    claims.check("NEWS begins with it, or with what is not released",
                 news == "Unreleased" or released[:1] == [version],
                 (news, released, version))


def check_library():
    """The soname in the places that spell it out."""
    current, _, age = map(int, re.search(
        r"^libcpprof_version = (\d+):(\d+):(\d+)$", source("lib", "local.mk"),
        re.M).groups())
    number = current - age
    header = source("lib", "cpprof-environment.h")
    claims.check("all places have the same soname",
                 f'"libcpprof.so.{number}"' in header and
                 f"libcpprof.so.{number}*" in
                 source("debian", f"libcpprof{number}.install") and
                 f"libcpprof.so.{number} libcpprof{number} " in
                 source("debian", f"libcpprof{number}.symbols") and
                 f"Package: libcpprof{number}\n" in source("debian", "control")
                 and f"%package -n libcpprof{number}\n" in
                 source("packaging", "cpprof.spec"))
    declared = set(re.findall(r"^\w+ \**?(cpprof_\w+)\(", source(
        "lib", "cpprof.h"), re.M))
    listed = set(re.findall(r"^ (cpprof_\w+)@", source(
        "debian", f"libcpprof{number}.symbols"), re.M))
    claims.check("debian's symbols are those of cpprof.h",
                 declared == listed and len(declared) > 4,
                 declared ^ listed)
    library = os.path.join(BUILD, ".libs", f"libcpprof.so.{number}")
    if not os.path.exists(library):
        claims.skip("the library exports them", "no collector")
        return
    symbols = subprocess.run(["nm", "-D", "--defined-only", library],
                             capture_output=True, text=True, timeout=60,
                             check=True).stdout
    missing = [name for name in declared
               if not re.search(rf" T {name}$", symbols, re.M)]
    claims.make("the library exports them", missing)
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True,
                             text=True, timeout=60, check=True).stdout
    claims.check("and has that soname",
                 f"soname: [libcpprof.so.{number}]" in dynamic, dynamic)


def main():
    check_versions()
    check_library()
    check_install()
    claims.end()


if __name__ == "__main__":
    main()
