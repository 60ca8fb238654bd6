#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# storm-collector.sh [N] -- the collector's tests and a storm of everything
# that disturbs it, N times over (20).  For `make check-long`.
n=${1:-20}
here=${srcdir:-$(dirname "$0")/..}
build=${builddir:-.}
library=${CPPROF_LIBRARY:-$build/.libs/libcpprof.so}
storm=${CPPROF_STORM:-$build/tests/programs/storm}
failed=0

expected=$("$storm")
i=0
while [ $i -lt "$n" ]; do
	i=$((i + 1))
	output=$(mktemp -d)
	got=$(LD_PRELOAD=$library CPPROF_OUTPUT=$output \
	    CPPROF_RESOURCES=cpu:1000 timeout -s KILL 300 "$storm")
	[ "$got" = "$expected" ] || {
		echo "storm $i: '$got', not '$expected'"
		failed=$((failed + 1))
	}
	"${PYTHON3:-python3}" -c '
import os, sys
sys.path.insert(0, sys.argv[1])
from collector_file import Profile
for name in os.listdir(sys.argv[2]):
    Profile(os.path.join(sys.argv[2], name))
' "$here/tests" "$output" || failed=$((failed + 1))
	rm -r "$output"
	"${PYTHON3:-python3}" "$here/tests/test-collector.py" |
	    grep -A 12 '^not ok' && failed=$((failed + 1))
done
echo "$n rounds, $failed failed"
[ $failed = 0 ]
