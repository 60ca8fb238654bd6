#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# measure.sh -- shared by the benchmarks in shell; to be sourced.

# The median of numbers, one per line.
median() {
	sort -g | awk '{ v[NR] = $1 }
	    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# measure COMMAND...: wall seconds, processor seconds and peak KiB of a
# command, whose output is discarded.  A command that fails has no figures.
measure() {
	local times status=0
	times=$(mktemp)
	/usr/bin/time -q -o "$times" -f '%e %U %S %M' "$@" >/dev/null 2>&1 ||
		status=$?
	if [ "$status" -eq 0 ]; then
		awk '{ print $1, $2 + $3, $4 }' "$times"
	else
		echo "status $status: $*" >&2
	fi
	rm -f "$times"
	return "$status"
}

# The directory of inputs: BENCH_DIR, or a temporary one that is removed when
# the script ends.
make_directory() {
	if [ -n "${BENCH_DIR:-}" ]; then
		directory=$BENCH_DIR
		mkdir -p "$directory"
	else
		directory=$(mktemp -d)
		trap 'rm -rf "$directory"' EXIT
	fi
}
