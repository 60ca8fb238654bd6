#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# readers.sh -- load times of other tools' files, as ratios to these tools.
#
#	readers.sh [PROGRAM-DIRECTORY]	where generate and bench-load are
#
# CPPROF        the program, to make the pprof file (./cpprof)
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_SIZE    bytes of the text that the pprof file is made of (1000000000)
# BENCH_SECONDS of recording with perf, at a high rate (20)
# BENCH_RUNS    runs; each runs the yardstick and the load one after the other
#
# The bars: pprof 1.5 x gzip -dc, perf.data a tenth of perf report.
set -euo pipefail

programs=${1:-bench}
size=${BENCH_SIZE:-1000000000}
runs=${BENCH_RUNS:-5}

if [ -n "${BENCH_DIR:-}" ]; then
	directory=$BENCH_DIR
	mkdir -p "$directory"
else
	directory=$(mktemp -d)
	trap 'rm -rf "$directory"' EXIT
fi

median() {
	sort -g | awk '{ v[NR] = $1 }
	    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# seconds COMMAND...: how long it runs
seconds() {
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null 2>&1; } 2>&1
}

# measure FILE YARDSTICK...
measure() {
	local file=$1 i all=() yard load
	shift
	"$programs/bench-load" "$file" >/dev/null
	for ((i = 0; i < runs; i++)); do
		yard=$(seconds "$@" "$file")
		load=$("$programs/bench-load" "$file" | awk '{ print $1 }')
		all+=("$yard $load")
	done
	printf '%s\n' "${all[@]}" | awk '{ print $2 / $1 }' | median |
		xargs printf '%s: %.3f x %s; ' "$(basename "$file")" |
		sed "s|x ; |x $1 $2; |"
	printf '%s\n' "${all[@]}" | awk '{ print $1 }' | median |
		xargs printf '%s s, '
	"$programs/bench-load" "$file"
}

pprof=$directory/sorted.$size.pb.gz
if [ ! -s "$pprof" ]; then
	"$programs/generate" sorted "$size" |
		"${CPPROF:-./cpprof}" -q -e "export pprof $pprof" -
fi
measure "$pprof" gzip -dc

recording=$directory/mix.perf.data
if ! command -v perf >/dev/null; then
	echo "perf is not there: perf.data is left out"
	exit 0
fi
if [ ! -s "$recording" ]; then
	timeout $((2 * ${BENCH_SECONDS:-20} + 20)) \
		perf record -q -N -F 20000 -g -o "$recording" -- sh -c '
	end=$(($(date +%s) + '"${BENCH_SECONDS:-20}"'))
	while [ "$(date +%s)" -lt $end ]; do
		seq 300000 | sort -R | sort | uniq -c | gzip -1 >/dev/null
		find /usr/share -name "*.so" >/dev/null
	done' 2>/dev/null
fi
measure "$recording" perf report --stdio -i
