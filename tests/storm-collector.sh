#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# storm-collector.sh [SECONDS] -- storms of everything that disturbs a sampler,
# with and without return counts.  The output must be the same as without the
# collector, and every profile must open.
#
# Samples are taken 10,000 times a second of CPU time and at every seventh
# allocation; then from many sources at once.  Each storm has a fifth of its
# rounds.  With SECONDS, it has all of them, with a sample at every allocation:
# the seconds are divided evenly, each storm is repeated until its share is used
# up, and the collector's own tests follow.  At the end the script prints the
# result of each storm.
seconds=${1:-0}
here=${srcdir:-$(dirname "$0")/..}
build=${builddir:-.}
library=${CPPROF_LIBRARY:-$build/.libs/libcpprof.so.0}
storm=${CPPROF_STORM:-$build/tests/programs/storm}
events=cpu:100,alloc-bytes:1000,syscalls:1,page-faults:1,fp-exceptions:1,real:100
# Including everything at once, with and without return counts: 26, each twice.
storms='throws loads starts forks switches jumps interrupts traces ends spawns
dives allocates'
n=0
tally=$(mktemp)
answers=$(mktemp -d)	# of each storm without the collector
trap 'rm -rf "$tally" "$answers"' EXIT

if [ ! -e "$library" ]; then
	echo '1..0 # SKIP no collector on this machine'
	exit 0
fi
if [ ! -x "$storm" ]; then
	echo "Bail out! $storm is not there: make $storm"
	exit 1
fi

# claim NAME STATUS
claim() {
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

# Opens every profile in a directory; prints how many raw samples they hold.
count_samples() {
	"${PYTHON3:-python3}" -c '
import os, sys
sys.path.insert(0, sys.argv[1])
from collector_file import Profile
profiles = [Profile(os.path.join(sys.argv[2], name))
            for name in os.listdir(sys.argv[2])]
print(sum(sum(node.counts[1::2])
          for profile in profiles for node in profile.nodes.values()))
' "$here/tests" "$1"
}

# storm_once RESOURCES RETURNS [NAME]: fails if anything is wrong.
storm_once() {
	resources=$1 returns=$2
	shift 2
	output=$(mktemp -d)
	started=$(date +%s%N)
	got=$(
		if [ "$returns" = yes ]; then
			CPPROF_RETURNS=1
			export CPPROF_RETURNS
		fi
		timeout -s KILL 300 env LD_PRELOAD="$library" \
		    CPPROF_OUTPUT="$output" CPPROF_RESOURCES="$resources" \
		    "$storm" "$@"
	)
	milliseconds=$((($(date +%s%N) - started) / 1000000))
	plain=$answers/${1:-everything}
	[ -e "$plain" ] || "$storm" "$@" >"$plain"
	expected=$(cat "$plain")
	taken=$(count_samples "$output")
	status=$?
	if [ "$got" != "$expected" ]; then
		echo "# '$got', not '$expected'"
		status=1
	fi
	rm -r "$output"
	echo "${1:-everything} $milliseconds ${taken:-0} $status" >>"$tally"
	return $status
}

# run_storm RESOURCES RETURNS SECONDS [NAME]: at least once.
run_storm() {
	resources=$1 returns=$2 share=$3 worst=0
	shift 3
	end=$(($(date +%s) + share))
	while :; do
		storm_once "$resources" "$returns" "$@" || worst=1
		[ "$(date +%s)" -lt "$end" ] || break
	done
	claim "storm of ${*:-everything}, returns counted: $returns, $resources" \
		$worst
}

# The result of each storm.
summary() {
	awk '{
		runs[$1]++; ms[$1] += $2; samples[$1] += $3; bad[$1] += $4 != 0
		all += $3
	}
	END {
		for (name in runs)
			printf "# %s: %d runs, %.0f s, %d samples (%.0f a second), %d wrong\n",
			    name, runs[name], ms[name] / 1000, samples[name],
			    samples[name] / (ms[name] / 1000), bad[name]
		printf "# %d samples\n", all
	}' "$tally"
}

# run_all RESOURCES SECONDS
run_all() {
	for name in $storms ''; do
		for returns in yes no; do
			run_storm "$1" $returns "$2" ${name:+"$name"}
		done
	done
}

if [ "$seconds" = 0 ]; then
	STORM_SHARE=20
	export STORM_SHARE
	run_all cpu:100,latency:100,live:1000 0
	run_all "$events" 0
else
	run_all cpu:100,latency:100,live:1000 $((seconds / 52))
	run_all "$events" $((seconds / 52))
	others=$("${PYTHON3:-python3}" "$here/tests/test-collector.py")
	planned=$(echo "$others" | sed -n 's/^1\.\.//p')
	passed=$(echo "$others" | grep -c '^ok ')
	echo "$others" | grep -A 12 '^not ok'
	[ "$passed" -gt 0 ] && [ "$passed" = "$planned" ]
	claim 'the other tests of the collector' $?
fi
summary
echo "1..$n"
