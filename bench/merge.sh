#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# merge.sh -- merging many pprof files, beside gzip -dc of the same files.
#
#	merge.sh [PROGRAM-DIRECTORY]	where generate is
#
# CPPROF        the program (./cpprof)
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_FILES   how many files of about 1 MB (100)
# BENCH_MODE    what stacks: sorted are deep, dense are shallow (sorted)
# BENCH_SIZE    bytes of the text whose stacks they have (200000000); a file has
#               a fifth of them, so that files have stacks in common
#
# Prints processor seconds and peak memory of both, of merging in two halves at
# the same time, and of merging the halves.
set -euo pipefail

programs=${1:-bench}
cpprof=${CPPROF:-./cpprof}
files=${BENCH_FILES:-100}
size=${BENCH_SIZE:-200000000}
. "$(dirname "$0")/measure.sh"
make_directory

"$programs/generate" "${BENCH_MODE:-sorted}" "$size" >"$directory/all.folded"
inputs=()
for ((i = 1; i <= files; i++)); do
	input=$directory/member-$i.pb.gz
	inputs+=("$input")
	[ -s "$input" ] || awk -v seed="$i" \
		'BEGIN { srand(seed) } rand() < 0.2' "$directory/all.folded" |
		"$cpprof" -q -e "export pprof $input" -
done
halves=$((files / 2))

# show WHAT SECONDS PROCESSOR-SECONDS KIB
show() {
	printf '%-28s %7.2f s %7.2f processor s %6d MiB\n' "$1" "$2" "$3" \
		$(($4 / 1024))
}

printf '%d files, %s\n' "$files" \
	"$(du -ch "${inputs[@]}" | awk 'END { print $1 }')"
# shellcheck disable=SC2046 # three numbers
{
	show 'gzip -dc' $(measure gzip -dc "${inputs[@]}")
	show 'merge' $(measure "$cpprof" merge -o "$directory/sum" \
		"${inputs[@]}")
	show 'merge, two halves at once' $(measure bash -c '
		half=$1 cpprof=$2 out=$3
		shift 3
		"$cpprof" merge -o "$out.1" "${@:1:half}" &
		"$cpprof" merge -o "$out.2" "${@:half + 1}"
		wait' - "$halves" "$cpprof" "$directory/half" "${inputs[@]}")
	show 'merge, the halves' $(measure "$cpprof" merge -o \
		"$directory/again" "$directory/half.1" "$directory/half.2")
	show 'open' $(measure "$cpprof" -q -e top "$directory/sum")
}
cmp "$directory/sum" "$directory/again" && echo 'the same bytes'
ls -l "$directory/sum" | awk '{ print $5, "bytes" }'
