#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# callgrind.sh -- loading a large profile of callgrind, beside callgrind_annotate.
#
#	callgrind.sh [CPPROF]
#
# BENCH_DIR       where the input is kept (a temporary directory, removed)
# BENCH_FUNCTIONS functions of the program that the compiler is profiled on
# BENCH_RUNS      runs; each runs the one after the other
#
# The input: gcc's compiler proper under callgrind, each function told apart by
# ten callers, costs by instruction. The bar: 20 times as fast.
set -euo pipefail

cpprof=${1:-./cpprof}
functions=${BENCH_FUNCTIONS:-25}
runs=${BENCH_RUNS:-3}

if [ -n "${BENCH_DIR:-}" ]; then
	directory=$BENCH_DIR
	mkdir -p "$directory"
else
	directory=$(mktemp -d)
	trap 'rm -rf "$directory"' EXIT
fi
input=$directory/cc1.$functions.out

# A program with loops, switches and calls, the same each time.
make_source() {
	awk -v n="$functions" 'BEGIN {
		print "struct node { struct node *next; long key; double w[8]; };"
		print "extern void use(struct node *, long);"
		for (i = 0; i < n; i++) {
			printf "long work_%d(struct node *n, long a, long b)\n{\n", i
			printf "\tlong x = a * %d + b, y = %d;\n", i * 7 % 99 + 1, i
			print "\tfor (; n; n = n->next) {"
			printf "\t\tswitch (n->key %% %d) {\n", i % 6 + 3
			for (c = 0; c < 3; c++)
				printf "\t\tcase %d: x += n->key << %d; n->w[%d] *= 1.%d; break;\n",
				    c, (i + c) % 6 + 1, c, i % 9 + 1
			if (i > 0)
				printf "\t\tdefault: y ^= work_%d(n->next, x, y); use(n, y);\n",
				    i * 5 % i
			print "\t\t}\n\t\tfor (int i = 0; i < 8; i++)"
			printf "\t\t\tn->w[i] += (double)x / (y | %d);\n", i % 9 + 1
			print "\t}\n\treturn x + y;\n}"
		}
	}'
}

if [ ! -s "$input" ]; then
	make_source >"$directory/work.c"
	valgrind -q --tool=callgrind --separate-callers=10 --dump-instr=yes \
	    --callgrind-out-file="$input.new" "$(gcc -print-prog-name=cc1)" \
	    -quiet -O2 "$directory/work.c" -o /dev/null
	mv "$input.new" "$input"
fi

# measure COMMAND...: seconds of CPU and peak KiB.
measure() {
	local times
	times=$(mktemp)
	/usr/bin/time -o "$times" -f '%U %S %M' "$@" >/dev/null
	awk '{ print $1 + $2, $3 }' "$times"
	rm -f "$times"
}

printf '%s: %d bytes\n' "$(basename "$input")" "$(stat -c %s "$input")"
cat "$input" >/dev/null
for ((i = 0; i < runs; i++)); do
	read -r ours our_peak < <(measure "$cpprof" -q -e flat "$input")
	read -r theirs their_peak < <(measure callgrind_annotate --auto=no \
	    "$input")
	awk -v a="$ours" -v b="$theirs" -v p="$our_peak" -v q="$their_peak" \
	    'BEGIN { printf "cpprof %.2f s, %.0f MiB; callgrind_annotate " \
	    "%.2f s, %.0f MiB; %.0f times\n", a, p / 1024, b, q / 1024, b / a }'
done
