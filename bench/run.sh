#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh -- load times, as ratios to what the machine needs to look at the
# bytes.
#
#	run.sh [PROGRAM-DIRECTORY]	where generate, scan, bench-load are
#
# BENCH_DIR   where inputs are kept (a temporary directory, removed at the end)
# BENCH_SIZE  bytes of each input (1000000000: three files of 1 GB)
# BENCH_RUNS  runs (7); each runs the yardstick and the load one after the other
#
# A ratio is the median over the runs of load divided by yardstick.  The
# targets: sorted input 4 x lines, shuffled and dense 2 x hash, 64 bytes per
# node.
set -euo pipefail

programs=${1:-bench}
size=${BENCH_SIZE:-1000000000}
runs=${BENCH_RUNS:-7}

. "$(dirname "$0")/measure.sh"
make_directory

seconds() {
	"$@" | awk '{ print $1 }'
}

# compare MODE YARDSTICK TARGET
compare() {
	local file=$directory/$1.$size.folded ratio
	local yard load all=() loads=() i

	if [ ! -s "$file" ]; then
		"$programs/generate" "$1" "$size" >"$file.new"
		mv "$file.new" "$file"
	fi
	"$programs/scan" lines "$file" >/dev/null
	"$programs/bench-load" "$file" >/dev/null
	for ((i = 0; i < runs; i++)); do
		yard=$(seconds "$programs/scan" "$2" "$file")
		load=$(seconds "$programs/bench-load" "$file")
		all+=("$yard $load")
	done
	yard=$(printf '%s\n' "${all[@]}" | awk '{ print $1 }' | median)
	load=$(printf '%s\n' "${all[@]}" | awk '{ print $2 }' | median)
	ratio=$(printf '%s\n' "${all[@]}" | awk '{ print $2 / $1 }' | median)
	printf '%-9s %8.3f %8.3f  %5.2f x %-5s (target %s)  %s\n' "$1" "$yard" \
	    "$load" "$ratio" "$2" "$3" \
	    "$("$programs/bench-load" "$file" | cut -d, -f2-)"
}

printf '%-9s %8s %8s  ratio, medians of %d\n' input scan load "$runs"
compare sorted lines 4
compare shuffled hash 2
compare dense hash 2
