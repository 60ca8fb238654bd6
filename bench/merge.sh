#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# merge.sh -- merging many pprof files, beside gzip -dc of the same files.
#
#	merge.sh [PROGRAM-DIRECTORY]	where generate and make-members are
#
# CPPROF        the program (./cpprof)
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_FILES   how many files of 1 to 5 MB (1000)
# BENCH_SIZE    bytes of the text whose stacks they have (100000000)
# BENCH_ROUNDS  rounds (3); each unpacks, merges, merges in two halves at the same
#               time, and merges the halves
#
# Prints medians of processor seconds, wall seconds and peak memory, and that of
# the rounds' ratios.
set -euo pipefail

programs=${1:-bench}
cpprof=${CPPROF:-./cpprof}
files=${BENCH_FILES:-1000}
. "$(dirname "$0")/measure.sh"
make_directory

mapfile -t inputs < <(seq -f "$directory/member-%05.0f.pb.gz" "$files")
if [ ! -s "${inputs[-1]}" ]; then
	"$programs/generate" walk "${BENCH_SIZE:-100000000}" |
		"$programs/make-members" "$directory" "$files"
fi

# halves NAME...: two merges at the same time.
halves() {
	local half=$(($# / 2)) first
	"$cpprof" merge -o "$directory/half.1" "${@:1:half}" &
	first=$!
	"$cpprof" merge -o "$directory/half.2" "${@:half + 1}"
	wait "$first"
}
export -f halves
export cpprof directory

for ((round = 0; round < ${BENCH_ROUNDS:-3}; round++)); do
	echo "gzip $(measure gzip -dc "${inputs[@]}")"
	echo "merge $(measure "$cpprof" merge -o "$directory/sum" \
		"${inputs[@]}")"
	echo "halves $(measure bash -c 'halves "$@"' - "${inputs[@]}")"
	echo "again $(measure "$cpprof" merge -o "$directory/again" \
		"$directory/half.1" "$directory/half.2")"
	cmp "$directory/sum" "$directory/again"
done >"$directory/times"

# show NAME WHAT
show() {
	local column line=()
	for column in 2 3 4; do
		line+=("$(awk -v name="$1" -v column=$column \
			'$1 == name { print $column }' "$directory/times" |
			median)")
	done
	awk -v what="$2" -v wall="${line[0]}" -v processor="${line[1]}" \
		-v kib="${line[2]}" 'BEGIN { printf \
		"%-26s %7.2f s %7.2f processor s %6d MiB\n", what, wall,
		processor, kib / 1024 }'
}
printf '%d files, %s\n' "$files" \
	"$(du -ch "${inputs[@]}" | awk 'END { print $1 }')"
show gzip 'gzip -dc'
show merge 'merge'
show halves 'merge, two halves at once'
show again 'merge, the halves'
awk '$1 == "gzip" { gzip = $3 } $1 == "merge" { print $3 / gzip }' \
	"$directory/times" | median |
	awk '{ printf "merge: %.2f x gzip -dc in processor time\n", $1 }'
stat -c '%s bytes of the sum' "$directory/sum"
