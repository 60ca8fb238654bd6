#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# first.sh -- how long the first answer takes: a command with one view.
#
#	first.sh [PROGRAM-DIRECTORY]	where generate and the scans are
#
# CPPROF        the program (./cpprof)
# OTHER         another build, which is run as often, before and after it in turn
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_SIZE    bytes of collapsed stacks (1000000000); the pprof file is made
#               of as many
# BENCH_RUNS    runs (5); each runs yardstick and programs one after the other
#
# The yardsticks: gzip -dc for pprof, scan hash for collapsed stacks.  The floor
# of pprof is scan-pprof: what any answer needs.  Seconds by the clock, and
# processor seconds, which other work on the machine changes less; medians, and of
# the processor's also the least.  The targets: 1.5 times gzip -dc, twice the
# hash.
set -euo pipefail

programs=${1:-bench}
size=${BENCH_SIZE:-1000000000}
runs=${BENCH_RUNS:-5}
cpprof=${CPPROF:-./cpprof}
. "$(dirname "$0")/measure.sh"
make_directory

# make FILE COMMAND...: FILE is what the command writes to standard output.
make() {
	local file=$directory/$1
	shift
	[ -s "$file" ] && return
	"$@" >"$file.new"
	mv "$file.new" "$file"
}

# report NAME "WALL CPU KIB"...
report() {
	local name=$1 wall cpu least
	shift
	wall=$(printf '%s\n' "$@" | awk '{ print $1 }' | median)
	cpu=$(printf '%s\n' "$@" | awk '{ print $2 }' | median)
	least=$(printf '%s\n' "$@" | awk '{ print $2 }' | sort -g | head -n 1)
	printf '  %-12s %6.2f s, %6.2f CPU s, least %.2f\n' "$name" "$wall" \
	    "$cpu" "$least"
}

# compare FILE YARDSTICK VIEW [FLOOR]: yardstick and floor are commands; the file
# follows them.
compare() {
	local file=$directory/$1 yards=() floors=() ours=() others=() i

	echo "$1, $3"
	# A virtual machine may have to get memory from its host first.
	measure "$cpprof" -q -e "$3" "$file" >/dev/null
	for ((i = 0; i < runs; i++)); do
		yards+=("$(measure $2 "$file")")
		[ -z "${4:-}" ] || floors+=("$(measure $4 "$file")")
		# The first of two is the one that touches fresh memory.
		[ -z "${OTHER:-}" ] || ((i % 2)) ||
			others+=("$(measure "$OTHER" -q -e "$3" "$file")")
		ours+=("$(measure "$cpprof" -q -e "$3" "$file")")
		[ -z "${OTHER:-}" ] || ! ((i % 2)) ||
			others+=("$(measure "$OTHER" -q -e "$3" "$file")")
	done
	report "${2%% *}" "${yards[@]}"
	[ -z "${4:-}" ] || report "${4##*/}" "${floors[@]}"
	report cpprof "${ours[@]}"
	[ -z "${OTHER:-}" ] || report other "${others[@]}"
}

for mode in sorted dense shuffled; do
	make "$mode.$size.folded" "$programs/generate" "$mode" "$size"
done
packed=sorted.$size.pb.gz
[ -s "$directory/$packed" ] || "$cpprof" -q -e \
    "export pprof $directory/$packed" "$directory/sorted.$size.folded"
for view in top functions 'down main'; do
	compare "$packed" "gzip -dc" "$view" "$programs/scan-pprof"
done
for mode in sorted dense shuffled; do
	compare "$mode.$size.folded" "$programs/scan hash" top
done
