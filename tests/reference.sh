#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# reference.sh -- the manual's reference and the man page match the command
# table, and the manual describes each view.
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
		echo "not ok $n - doc/$1 is not the table's: run make reference in the build directory"
		sed 's/^/# /' "$work/diff"
	fi
}

cp "$srcdir/doc/manual.md" "$work/" && chmod u+w "$work/manual.md"
"$srcdir/doc/make-reference" "${CPPROF:-./cpprof}" "$work"
check manual.md
check cpprof.1
n=$((n + 1))
missing=$(cd "$srcdir" && grep -lE 'view_command\.h|view = view_' commands/*.c |
	xargs grep -L 'selection_step' |
	sed 's|.*/\(.*\)\.c|\1|' | while read -r view; do
		grep -q "^| .*\`$view\`.* | \`cpprof\." doc/manual.md ||
			echo "$view"
	done)
if [ -z "$missing" ]; then
	echo "ok $n - doc/manual.md describes the JSON of each view"
else
	echo "not ok $n - doc/manual.md does not describe the JSON of:" $missing
fi
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
