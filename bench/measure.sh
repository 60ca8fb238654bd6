#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# measure.sh -- what the benchmarks in shell have in common; to be sourced.

# The median of numbers, one a line.
median() {
	sort -g | awk '{ v[NR] = $1 }
	    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# measure COMMAND...: wall seconds, processor seconds and peak KiB, its output
# thrown away.
measure() {
	local times
	times=$(mktemp)
	/usr/bin/time -o "$times" -f '%e %U %S %M' "$@" >/dev/null 2>&1
	awk '{ print $1, $2 + $3, $4 }' "$times"
	rm -f "$times"
}

# The directory of inputs: BENCH_DIR, or one that goes with the script.
make_directory() {
	if [ -n "${BENCH_DIR:-}" ]; then
		directory=$BENCH_DIR
		mkdir -p "$directory"
	else
		directory=$(mktemp -d)
		trap 'rm -rf "$directory"' EXIT
	fi
}
