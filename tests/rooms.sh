#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# rooms.sh -- the collector's rooms call downwards only.
#
# Looks at the compiled files of the library, in the build directory: what a
# room leaves undefined must not be defined by a higher one.  What programs see
# of the library is left out: a lower room that uses such a name means the C
# library's function, in front of which ours stands.
set -u

rooms='dwarf base signals unwind store sources run wrap'
objects=$(find dwarf lib -name 'libcpprof_la-*.o' -path '*/.libs/*' | sort)
if ! readelf --version >/dev/null 2>&1; then
	echo '1..0 # SKIP no readelf'
	exit 0
fi
printf '1..2\n'

# Every room has code, so that none is passed over by a wrong name.
empty=$(for room in $rooms; do
	printf '%s\n' "$objects" | grep -qE "^(lib/)?$room/" || echo "$room"
done)
if [ -z "$empty" ]; then
	echo 'ok 1 - each room has code'
else
	echo 'not ok 1 - each room has code'
	printf '%s\n' "$empty" | sed 's/^/# no code in /'
fi

# shellcheck disable=SC2086 # a list of files
upwards=$(readelf -sW $objects | awk -v rooms="$rooms" '
function room_of(path) {
	sub(/\.libs\/libcpprof_la-/, "", path)
	if (path ~ /^lib\/[^\/]*$/)
		return "top"
	sub(/^lib\//, "", path)
	return substr(path, 1, index(path, "/") - 1)
}
BEGIN {
	n = split(rooms " top", names, " ")
	for (i = 1; i <= n; i++)
		level[names[i]] = i
}
$1 == "File:" {
	file = $2
	next
}
$5 != "GLOBAL" && $5 != "WEAK" {
	next
}
$7 == "UND" {
	used[++n_used] = $8
	user[n_used] = file
	next
}
$6 == "HIDDEN" {
	definer[$8] = file
}
END {
	for (i = 1; i <= n_used; i++) {
		if (!(used[i] in definer))
			continue
		from = room_of(user[i])
		to = room_of(definer[used[i]])
		if (level[from] < level[to])
			print user[i] " uses " used[i] " of " definer[used[i]]
	}
	if (n_used == 0)
		print "no file uses anything"
}')
if [ -z "$upwards" ]; then
	echo 'ok 2 - no room uses what a higher one defines'
else
	echo 'not ok 2 - no room uses what a higher one defines'
	printf '%s\n' "$upwards" | sed -e 's/libcpprof_la-//g' -e 's/^/# /'
fi
