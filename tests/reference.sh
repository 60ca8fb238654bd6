#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# reference.sh -- the manual's reference and the man page match the command
# table.
set -u
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

check() {
	n=$((n + 1))
	if diff "$work/$1" "$srcdir/doc/$1" >"$work/diff"; then
		echo "ok $n - doc/$1 says what the command table says"
	else
		echo "not ok $n - doc/$1 is not the table's: make reference"
		sed 's/^/# /' "$work/diff"
	fi
}

cp "$srcdir/doc/manual.md" "$work/" && chmod u+w "$work/manual.md"
"$srcdir/doc/make-reference" "${CPPROF:-./cpprof}" "$work"
check manual.md
check cpprof.1
n=$((n + 1))
if ! command -v man >/dev/null; then
	echo "ok $n - man shows cpprof.1 # SKIP no man"
elif MANWIDTH=80 man --warnings -l "$srcdir/doc/cpprof.1" 2>&1 >/dev/null |
	grep -q .; then
	echo "not ok $n - man shows cpprof.1 without a warning"
else
	echo "ok $n - man shows cpprof.1 without a warning"
fi
echo "1..$n"
