#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# perf.sh -- loading large perf.data files, beside perf report.
#
#	perf.sh [CPPROF]
#
# BENCH_DIR        where inputs are kept (a temporary directory, removed)
# BENCH_MEGABYTES  of each recording (300), unless BENCH_SECONDS (600) end it
# BENCH_RUNS       runs; each runs the one after the other (3)
#
# A mix of programs on two processors: the compiler, an interpreter, a
# database, sort, and a program that has frame pointers.  Once with call chains
# (by frame pointers), once with copied stacks (--call-graph dwarf).  perf
# report takes many times the file's size in memory, some GiB.  The target: 10
# times as fast.
set -euo pipefail

cpprof=${1:-./cpprof}
megabytes=${BENCH_MEGABYTES:-300}
seconds=${BENCH_SECONDS:-600}
runs=${BENCH_RUNS:-3}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/measure.sh"

if ! command -v perf >/dev/null; then
	echo "perf is not there: perf.data is left out"
	exit 0
fi
make_directory

# The recorded load: each program again and again, two at a time, until perf
# ends this shell.
mix='
repeat() { while kill -0 $$; do "$@" >/dev/null; done; }
compile() { gcc -O2 -w -c work.c -o work.o; }
interpret() {
	/usr/bin/python3 -c "
import json
rows = [{str(i): [j * j for j in range(20)]} for i in range(20000)]
sorted(json.dumps(json.loads(json.dumps(rows))).split())"
}
ask() {
	sqlite3 :memory: "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL
	    SELECT i + 1 FROM c WHERE i < 300000)
	    SELECT i % 7, count(*), max(i) FROM c GROUP BY 1 ORDER BY 2"
}
order() { seq 300000 | sort -R | sort | uniq -c | gzip -1; }
seek() { find /usr/share -name "*.so"; }
one() { compile; ask; order; }
other() { interpret; seek; ./sort 3000000; }
repeat one &
repeat other
wait'

# record FILE OPTION...
record() {
	local file=$1
	shift
	[ -s "$directory/$file" ] && return
	awk -v n=200 -f "$here/make-source.awk" >"$directory/work.c"
	g++ -O1 -fno-omit-frame-pointer -o "$directory/sort" \
	    "$here/programs/sort.cc"
	# It is ended by a signal, which the shell would report.
	{ (cd "$directory" && timeout -s INT "$seconds" perf record -q -N \
	    --max-size="${megabytes}M" "$@" -o "$file.new" -- sh -c "$mix" \
	    >/dev/null) || true; } 2>/dev/null
	mv "$directory/$file.new" "$directory/$file"
}

# compare FILE INLINES OPTION-OF-PERF-REPORT...: INLINES as cpprof is set.
compare() {
	local file=$directory/$1 inlines=$2 all=() i ours theirs
	shift 2
	cat "$file" >/dev/null
	printf '%s: %d MB\n' "$(basename "$file")" \
	    $(($(stat -c %s "$file") / 1000000))
	for ((i = 0; i < runs; i++)); do
		theirs=$(measure perf report --stdio "$@" -i "$file")
		ours=$(measure "$cpprof" -q -n -e "inlines $inlines" \
		    -e "load $file" -e info)
		all+=("$theirs $ours")
		echo "$theirs $ours" | awk '{ printf "perf report %.2f s, " \
		    "%.2f CPU s, %.0f MiB; cpprof %.2f s, %.2f CPU s, " \
		    "%.0f MiB; %.1f times, %.1f of CPU\n", $1, $2, $3 / 1024, \
		    $4, $5, $6 / 1024, $1 / $4, $2 / $5 }'
	done
	printf 'median %.1f times, ' \
	    "$(printf '%s\n' "${all[@]}" | awk '{ print $1 / $4 }' | median)"
	printf '%.1f of CPU (target 10)\n' \
	    "$(printf '%s\n' "${all[@]}" | awk '{ print $2 / $5 }' | median)"
}

record chains.perf.data -F 20000 -g
compare chains.perf.data auto
# Looking up inlined calls takes perf minutes here, so neither does it.
record stacks.perf.data -F 2500 --call-graph dwarf
compare stacks.perf.data off --no-inline
