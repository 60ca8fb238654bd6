#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pprof.sh -- loading a large pprof file, beside gzip -dc of it.
#
#	pprof.sh [PROGRAM-DIRECTORY]	where generate and bench-load are
#
# CPPROF        the program, to make the file (./cpprof)
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_SIZE    bytes of the text that the file is made of (1000000000)
# BENCH_RUNS    runs (5); each runs the yardstick and the load one after the other
#
# The target: at most 1.5 times as long as unpacking.
set -euo pipefail

programs=${1:-bench}
size=${BENCH_SIZE:-1000000000}
runs=${BENCH_RUNS:-5}
. "$(dirname "$0")/measure.sh"
make_directory

input=$directory/sorted.$size.pb.gz
if [ ! -s "$input" ]; then
	"$programs/generate" sorted "$size" |
		"${CPPROF:-./cpprof}" -q -e "export pprof $input" -
fi
"$programs/bench-load" "$input" >/dev/null
all=()
for ((i = 0; i < runs; i++)); do
	yard=$(measure gzip -dc "$input" | awk '{ print $1 }')
	load=$("$programs/bench-load" "$input" | awk '{ print $1 }')
	all+=("$yard $load")
done
printf '%s: %.3f x gzip -dc; %s s, %s\n' "$(basename "$input")" \
    "$(printf '%s\n' "${all[@]}" | awk '{ print $2 / $1 }' | median)" \
    "$(printf '%s\n' "${all[@]}" | awk '{ print $1 }' | median)" \
    "$("$programs/bench-load" "$input")"
