#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# callgrind.sh -- loading a large profile of callgrind, beside callgrind_annotate.
#
#	callgrind.sh [CPPROF]
#
# BENCH_DIR       where the input is kept (a temporary directory, removed)
# BENCH_FUNCTIONS functions of the program that the compiler is profiled on (25)
# BENCH_LARGE     if set, the C++ compiler on programs/templates.cc: 350 MB, which
#                 takes some minutes to make and one per run
# BENCH_RUNS      runs (3), each of one program after the other
#
# The input: gcc's compiler proper under callgrind, with ten callers to each
# function, costs by instruction.  The target: 20 times as fast.
set -euo pipefail

cpprof=${1:-./cpprof}
functions=${BENCH_FUNCTIONS:-25}
runs=${BENCH_RUNS:-3}

here=$(cd "$(dirname "$0")" && pwd)
. "$here/measure.sh"
make_directory

# profile COMPILER OPTION SOURCE: makes $input.
profile() {
	valgrind -q --tool=callgrind --separate-callers=10 --dump-instr=yes \
	    --callgrind-out-file="$input.new" "$(gcc -print-prog-name="$1")" \
	    -quiet -w "$2" "$3" -o /dev/null
	mv "$input.new" "$input"
}

if [ -n "${BENCH_LARGE:-}" ]; then
	input=$directory/cc1plus.out
	if [ ! -s "$input" ]; then
		g++ -E -P "$here/programs/templates.cc" >"$directory/work.ii"
		profile cc1plus -O1 "$directory/work.ii"
	fi
else
	input=$directory/cc1.$functions.out
	if [ ! -s "$input" ]; then
		awk -v n="$functions" -f "$here/make-source.awk" \
			>"$directory/work.c"
		profile cc1 -O2 "$directory/work.c"
	fi
fi

printf '%s: %d bytes\n' "$(basename "$input")" "$(stat -c %s "$input")"
cat "$input" >/dev/null
for ((i = 0; i < runs; i++)); do
	read -r _ ours our_peak < <(measure "$cpprof" -q -e flat "$input")
	read -r _ theirs their_peak < <(measure callgrind_annotate --auto=no \
	    "$input")
	awk -v a="$ours" -v b="$theirs" -v p="$our_peak" -v q="$their_peak" \
	    'BEGIN { printf "cpprof %.2f s, %.0f MiB; callgrind_annotate " \
	    "%.2f s, %.0f MiB; %.0f times\n", a, p / 1024, b, q / 1024, b / a }'
done
