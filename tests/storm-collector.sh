#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# storm-collector.sh [SECONDS] -- storms of all that disturbs a sampler, while
# it takes samples at every seventh allocation, with and without return counts:
# the output must be what it is without the collector, and every profile must
# open.  With SECONDS, at every allocation and again and again for that long,
# and then the collector's own tests too; tells at the end of each storm how
# often it ran, for how long, with how many samples, and what went wrong.
seconds=${1:-0}
here=${srcdir:-$(dirname "$0")/..}
build=${builddir:-.}
library=${CPPROF_LIBRARY:-$build/.libs/libcpprof.so}
storm=${CPPROF_STORM:-$build/tests/programs/storm}
storms='throws loads starts forks switches jumps interrupts traces ends spawns
dives allocates'
n=0
tally=$(mktemp)
trap 'rm -f "$tally"' EXIT

if [ ! -e "$library" ]; then
	echo '1..0 # SKIP no collector on this machine'
	exit 0
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

# run_storm INTERVAL RETURNS NAME...
run_storm() {
	interval=$1 returns=$2
	shift 2
	output=$(mktemp -d)
	started=$(date +%s%N)
	got=$(
		if [ "$returns" = yes ]; then
			CPPROF_RETURNS=1
			export CPPROF_RETURNS
		fi
		timeout -s KILL 300 env LD_PRELOAD="$library" \
		    CPPROF_OUTPUT="$output" \
		    CPPROF_RESOURCES="cpu:4000,allocs:$interval" "$storm" "$@"
	)
	milliseconds=$((($(date +%s%N) - started) / 1000000))
	expected=$("$storm" "$@")
	taken=$(count_samples "$output")
	status=$?
	if [ "$got" != "$expected" ]; then
		echo "# '$got', not '$expected'"
		status=1
	fi
	rm -r "$output"
	claim "storm of ${*:-everything}, returns counted: $returns" $status
	echo "${1:-everything} $milliseconds ${taken:-0} $status" >>"$tally"
}

# What each storm came to.
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

round() {
	for name in $storms; do
		run_storm "$1" yes "$name"
		run_storm "$1" no "$name"
	done
	run_storm "$1" yes
	run_storm "$1" no
}

if [ "$seconds" = 0 ]; then
	round 7
else
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt "$end" ]; do
		round 1
		"${PYTHON3:-python3}" "$here/tests/test-collector.py" |
		    grep -A 12 '^not ok'
		claim 'the other tests of the collector' $((1 - $?))
	done
fi
summary
echo "1..$n"
