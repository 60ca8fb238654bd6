#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# golden.sh -- scripts print what they printed before.
#
# Each golden/NAME.cmd runs in sample-data/, with the arguments of its line
# "# arguments: ...", and must print golden/NAME.out: output, messages and then
# the exit status.  `golden.sh --update` rewrites the .out files.  A script
# that takes two minutes counts as hanging, with status 124.
set -u
: "${srcdir:=.}" "${CPPROF:=./cpprof}"
CPPROF=$(realpath "$CPPROF") || exit 1
golden=$(cd "$srcdir/tests/golden" && pwd) || exit 1
cd "$srcdir/sample-data" || exit 1
got=$(mktemp) || exit 1
trap 'rm -f "$got"' EXIT
n=0

for script in "$golden"/*.cmd; do
	name=$(basename "$script" .cmd)
	arguments=$(sed -n 's/^# arguments: //p' "$script")
	{
		# Several words are meant.
		# shellcheck disable=SC2086
		timeout 120 "$CPPROF" $arguments <"$script" 2>&1
		echo "status $?"
	} >"$got"
	n=$((n + 1))
	if [ "${1-}" = --update ]; then
		cp "$got" "$golden/$name.out"
	elif cmp -s "$got" "$golden/$name.out"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		diff "$golden/$name.out" "$got" | head -40 | sed 's/^/# /'
	fi
done
echo "1..$n"
