#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# rooms.sh -- the collector's rooms call downwards only, its files in no circle;
# nor do those of src/output.  Its tables lie apart from what each process uses.
#
# Looks at the compiled files of the library, in the build directory: what a
# room leaves undefined must not be defined by a higher one.  Names that programs
# see are left out: inside the library, too, they stand for the C library's
# functions.
set -u

rooms='dwarf cpython base signals unwind python java store sources run wrap'
# Only those whose source still is there.
objects=$(find dwarf cpython lib -name 'libcpprof_la-*.o' -path '*/.libs/*' | sort |
	while read -r object; do
		source=${srcdir:-..}/$(printf '%s\n' "$object" |
			sed -e 's/\.libs\/libcpprof_la-//' -e 's/\.o$//')
		if [ -e "$source.c" ] || [ -e "$source.S" ]; then
			printf '%s\n' "$object"
		fi
	done)
if ! readelf --version >/dev/null 2>&1; then
	echo '1..0 # SKIP no readelf'
	exit 0
fi
printf '1..6\n'

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

# links VISIBILITY OBJECTS: for each symbol that a file uses, and another defines
# with that visibility: FILE SYMBOL DEFINER.
links() {
	# shellcheck disable=SC2086 # a list of files
	readelf -sW $2 | awk -v visibility="$1" '
	$1 == "File:" {
		file = $2
		sub(/\.libs\/libcpprof_la-|libcore_a-/, "", file)
		sub(/\.o$/, "", file)
		next
	}
	$5 != "GLOBAL" && $5 != "WEAK" {
		next
	}
	$7 == "UND" {
		used[++n] = $8
		user[n] = file
	}
	$7 != "UND" && $6 == visibility {
		definer[$8] = file
	}
	END {
		for (i = 1; i <= n; i++)
			if (used[i] in definer)
				print user[i], used[i], definer[used[i]]
	}'
}

# claim NUMBER TEXT FOUND: holds if nothing was found that breaks it.
claim() {
	if [ -z "$3" ]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		printf '%s\n' "$3" | sed 's/^/# /'
	fi
}

claim 2 'no room uses what a higher one defines' "$(links HIDDEN "$objects" |
	awk -v rooms="$rooms top" '
	function level_of(path) {
		if (path ~ /^lib\/[^\/]*$/)
			return level["top"]
		sub(/^lib\//, "", path)
		return level[substr(path, 1, index(path, "/") - 1)]
	}
	BEGIN {
		n = split(rooms, names, " ")
		for (i = 1; i <= n; i++)
			level[names[i]] = i
	}
	level_of($1) < level_of($3) {
		print $1 " uses " $2 " of " $3
	}
	END {
		if (NR == 0)
			print "no file uses anything"
	}')"

# A file and its part in assembly are one.
claim 3 'no file calls itself by others' "$(links HIDDEN "$objects" | awk '
	function unit(path) {
		sub(/-(x86_64|personality)$/, "", path)
		return path
	}
	unit($1) != unit($3) {
		print unit($1), unit($3)
	}' | awk -f "${srcdir:-..}/tests/circles.awk" | sort)"

# A sanitizer replaces these functions of the C library by its own, which wait
# for locks that the interrupted code may hold.  lib/base/files.h and
# arch_system_call have what is needed in their place.
replaced='fstat|stat|lstat|open|openat|close|read|write|pread|pwrite|lseek|fcntl'
replaced="$replaced|mmap|munmap|mremap|mprotect|madvise|prctl|malloc|calloc|free"
replaced="$replaced|pthread_mutex_lock|pthread_mutex_trylock|sigaction|sigprocmask"
handlers=$(printf '%s\n' "$objects" |
	grep -E '^lib/(store|unwind|python)/|^lib/run/.*-(sample|sampler|waits)\.o$')
# shellcheck disable=SC2086 # a list of files
claim 4 'what runs in a handler calls no function that a sanitizer replaces' "$(
	readelf -sW $handlers | awk -v replaced="^($replaced)(@.*)?\$" '
	$1 == "File:" {
		file = $2
		n++
	}
	$7 == "UND" && $8 ~ replaced {
		print file " uses " $8
	}
	END {
		if (n < 10)
			print "only " n " files were looked at"
	}')"

drawing=$(find src/output -name 'libcore_a-*.o' | sort)
claim 5 'no file of src/output calls itself by others' "$(
	[ -n "$drawing" ] || echo 'no code'
	links DEFAULT "$drawing" | awk '$1 != $3 { print $1, $3 }' |
		awk -f "${srcdir:-..}/tests/circles.awk" | sort)"

# The page with the variables ends with `texts`.  Each page that a table moves out
# of it costs every process a fault.
claim 6 'tables do not lie among the variables that every process uses' "$(
	nm -n -S --defined-only .libs/libcpprof.so | awk '
	$3 !~ /^[bB]$/ || is_behind {
		next
	}
	$4 == "texts" {
		is_behind = 1
		next
	}
	length($2) == 16 && $2 !~ /^0000000000000[0-3]/ {
		print $4 " is not marked BIG_TABLE (lib/base/attributes.h)"
	}
	END {
		if (!is_behind)
			print "no such page"
	}')"
