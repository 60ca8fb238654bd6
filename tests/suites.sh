#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# suites.sh -- other projects' own tests give the same results under cpprof.
#
# Part of check-long.  Each suite is run without the collector and with it, and
# what failed and passed is compared, test by test:
#
#	python	the standard library's tests that came with python3 (those about
#		signals, threads, processes, I/O and what else can be disturbed)
#	bash	the tests in $SUITES/bash-VERSION/tests, as `apt-get source
#		bash` unpacks it there, with the machine's bash
#
# A suite that is not installed is skipped.  If the results differ, both runs
# are repeated up to three times: some tests depend on how busy the machine is.
#	suites.sh [python|bash]...	(all)
set -u
: "${builddir:=build}" "${SUITES:=/nonexistent}"
cpprof=$(realpath "${CPPROF:-$builddir/cpprof}") || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

python_tests='test_asyncio test_asyncore test_builtin test_codecs
test_contextlib test_coroutines test_ctypes test_dbm test_eintr test_embed
test_epoll test_exceptions test_faulthandler test_fcntl test_float test_fork1
test_gc test_generators test_hashlib test_interpreters test_io test_json
test_math test_mmap test_multiprocessing_fork test_os test_pickle test_poll
test_popen test_posix test_pty test_queue test_resource test_select
test_selectors test_shutil test_signal test_sqlite3 test_subprocess test_sys
test_tempfile test_thread test_threading test_threadsignals test_time
test_wait3 test_wait4 test_xml_etree test_zlib'

# Those of python_tests that came with this python3.
tests_that_are_there() {
	# shellcheck disable=SC2086 # a list of tests
	python3 -c '
import importlib.util, sys
print(*(name for name in sys.argv[1:]
        if importlib.util.find_spec("test." + name)))' $python_tests
}

# python RESULTS [PREFIX...]: a line for each test module, with its result.
python() {
	results=$1
	shift
	# shellcheck disable=SC2046 # a list of tests
	(cd "$work" && timeout 1800 "$@" "$(python3 -c \
		'import sys; print(sys.executable)')" -m test -j2 -u none \
		$(tests_that_are_there)) >"$work/log" 2>&1 </dev/null
	sed -n 's/^[0-9:]* .*\] \(test_[a-z0-9_.]*\) \([a-z]*\).*/\1 \2/p' \
		"$work/log" | sort >"$results"
	# Not how many were skipped: that changes by itself.
	sed -n 's/^Total tests: \(.*\) skipped.*/\1/p' "$work/log" >>"$results"
	# The least that there is in any version.
	[ "$(grep -c passed "$results")" -gt 20 ]
}

has_python() {
	python3 -c 'import test.test_signal' 2>/dev/null
}

# bash_suite RESULTS [PREFIX...]: each test's name, and its differences.
bash_suite() {
	results=$1
	shift
	folder=$(echo "$SUITES"/bash-*/tests)
	cp -r "$folder" "$work/bash"
	for helper in recho zecho printenv xcase; do
		cc -o "$work/bash/$helper" "$folder/../support/$helper.c" \
			-I"$folder/.." 2>/dev/null
	done
	: >"$results"
	for test in "$work"/bash/run-*; do
		name=$(basename "$test")
		case $name in
		run-all | run-minimal | run-gprof | *.orig | *~) continue ;;
		esac
		echo "$name" >>"$results"
		(cd "$work/bash" && THIS_SH=$(command -v bash) \
			BASH_TSTOUT=$work/tstout PATH=.:$PATH TMPDIR=$work \
			timeout 300 "$@" sh "./$name") </dev/null \
			2>/dev/null | grep -av '^warning:' | sed \
			-e 's/[0-9][0-9][0-9][0-9]*/N/g' >>"$results"
		# The next one would replace it.
		[ ! -e "$work/profile" ] ||
			mv "$work/profile" "$work/profiles/$name"
	done
	rm -rf "$work/bash"
	[ "$(wc -l <"$results")" -gt 60 ]
}

has_bash_suite() {
	[ -e "$(echo "$SUITES"/bash-*/tests/run-all)" ] &&
		command -v cc >/dev/null
}

# compare NAME RUNNER
compare() {
	n=$((n + 1))
	for _ in 1 2 3; do
		if ! "$2" "$work/plain"; then
			echo "ok $n - $1 # SKIP its tests do not run here"
			return
		fi
		rm -rf "$work/profile" "$work/profiles"
		mkdir "$work/profiles"
		"$2" "$work/sampled" "$cpprof" record --force -o "$work/profile" --
		cmp -s "$work/plain" "$work/sampled" && break
	done
	samples=$(for profile in "$work"/profile "$work"/profiles/*; do
		[ ! -e "$profile" ] || "$cpprof" -q -F json -e info "$profile"
	done | sed 's/.*"samples":\([0-9]*\),"dropped.*/\1/' |
		awk '{ sum += $1 } END { print sum + 0 }')
	echo "# $1: $(wc -l <"$work/plain") results, $samples samples" \
		"of $(find "$work"/profile* -name 'cpprofdata.[0-9]*' |
			wc -l) processes"
	if cmp -s "$work/plain" "$work/sampled"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		diff "$work/plain" "$work/sampled" | sed 's/^/# /' | head -40
	fi
}

[ $# -gt 0 ] || set -- python bash
for suite; do
	case $suite in
	python) if has_python; then compare python python; fi ;;
	bash) if has_bash_suite; then compare bash bash_suite; fi ;;
	esac
done
echo "1..$n"
