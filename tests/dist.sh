#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# dist.sh -- every file of the repository is named in a makefile, so that `make
# dist` packs it.  (Files that automake packs by itself are in other folders.)
set -u
cd "${srcdir:-.}" || exit 1
if ! files=$(git ls-files bench commands completion cpython debian doc dwarf lib \
	packaging sample-data src tests 2>/dev/null) || [ -z "$files" ]; then
	echo '1..0 # SKIP no repository'
	exit 0
fi
missing=$(
	for file in $files; do
		case $file in *.mk | *.in) continue ;; esac
		echo "$file"
	done | awk '
	NR == FNR { for (i = 1; i <= NF; i++) {
		named[$i] = 1
		if ($i ~ /^\$\([a-z_]+\)\//) {
			sub(/.*\//, "", $i)
			named[$i] = 1
		}
	} next }
	{ name = $0; sub(/.*\//, "", name) }
	!($0 in named) && !(name in named)' /dev/fd/3 - 3<<-EOF
	$(cat Makefile.am ./*/local.mk src/*/local.mk 2>/dev/null)
	EOF
)
if [ -z "$missing" ]; then
	echo 'ok 1 - all files are distributed'
else
	echo 'not ok 1 - all files are distributed'
	echo "$missing" | sed 's/^/# /'
fi
echo '1..1'
