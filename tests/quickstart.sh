#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# quickstart.sh -- missing packages are reported; a test that hangs fails, and
# a skipped one does not.
set -u
unset TEST_ONCE TEST_TIMES
: "${srcdir:=.}" "${PYTHON3:=python3}"
srcdir=$(cd "$srcdir" && pwd)
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Simulates a machine with little more than a shell, and a user who is not
# root.
mkdir bin
for tool in sh dirname sed cat env grep mkdir date sleep tail tr cut; do
	ln -s "$(command -v $tool)" bin/
done
printf '#!/bin/sh\necho 1000\n' >bin/id
printf '#!/bin/sh\necho "$@" >>%s/called\n' "$work" >bin/apt-get
chmod +x bin/id bin/apt-get
PATH=$work/bin "$srcdir/quickstart" check >out 2>err
is 'missing packages have exit status 1' 1 $?
is 'and are no test that failed' '' "$(cat out)"
like 'they are listed, with how to install them' \
	'^quickstart: missing packages: gcc g\+\+ .*; as root: apt-get install gcc g\+\+ ' \
	"$(cat err)"
is 'on one line' 1 "$(wc -l <err)"
is 'nothing is installed without the right to' '' "$(cat called 2>/dev/null)"
rm bin/apt-get
PATH=$work/bin "$srcdir/quickstart" >out 2>err
is 'so also where there is no apt-get' 1 $?
like 'which is no reason not to list them' 'missing packages: gcc' \
	"$(cat err)"

run_test() {
	"$PYTHON3" "$srcdir/tests/run-test.py" "$@"
}

if ! command -v "$PYTHON3" >/dev/null; then
	echo "ok $((n + 1)) - run-test.py # SKIP no python3"
	echo "1..$((n + 1))"
	exit 0
fi
start=$(date +%s)
TEST_TIME_LIMIT=5 run_test sh -c \
	'echo "ok 1 - before"; (trap "" TERM; sleep 300) & wait' >out
is 'a test that hangs is ended' yes \
	"$([ $(($(date +%s) - start)) -lt 120 ] && echo yes)"
is 'what it said is kept, and what happened is said' 'ok 1 - before
# last case: ok 1 - before
# still running: sleep 300
Bail out! still running after 5 s: sh -c' \
	"$(sed -e '/running: sh/d' -e 's/ echo .*//' out)"
start=$(date +%s)
TEST_CASE_LIMIT=5 run_test sh -c 'echo "ok 1 - before"; sleep 300' >out
is 'so is one that says nothing more' '# last case: ok 1 - before' \
	"$(grep 'last case' out)"
is 'before its time is over' yes \
	"$([ $(($(date +%s) - start)) -lt 120 ] && echo yes)"
start=$(date +%s)
run_test sh -c 'echo "ok 1 - last"; sleep 300 & echo $! >left; exit 3' >out
is 'a test that ends is over, whatever it leaves' '3 ok 1 - last' \
	"$? $(cat out)"
waited=0
while grep -q ') [^Z] ' "/proc/$(cat left)/stat" 2>/dev/null &&
	[ $waited -lt 100 ]; do
	sleep 0.1
	waited=$((waited + 1))
done
is 'that is not left running' yes "$([ $waited -lt 100 ] && echo yes)"
is 'and at once' yes "$([ $(($(date +%s) - start)) -lt 60 ] && echo yes)"
run_test printf '# skip: clang not found\nnot ok 7 # SKIP of_clang\n' >out
is 'a case that cmocka skips did not fail' \
	'ok 7 - of_clang # SKIP clang not found' "$(cat out)"
run_test sh -c 'kill -SEGV $$' 2>/dev/null
is 'a signal is 128+N' 139 $?

# measured CASE: what becomes of a measured test whose run N does what CASE says;
# count: how often it has run.
cat >measured.sh <<'END'
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n >count
echo "ok 1 - one"
case $1-$n in
first-1) echo "not ok 2 - two, $n ms"; echo "# why"; echo "ok 3 - three" ;;
often-[13]) echo "not ok 2 - two, $n ms"; echo "ok 3 - three" ;;
other-1) echo "not ok 2 - two, $n ms"; echo "ok 3 - three" ;;
other-2) echo "ok 2 - two, $n ms"; echo "not ok 3 - three" ;;
dies-1) exit 3 ;;
stops-1|raises-[12])
	echo "not ok 2 - the test runs to its end: error of run $(cut -c $n <<LETTERS
ab
LETTERS
)"
	echo 1..2; exit ;;
ends-[12]) exit 3 ;;
late-[23]) echo "not ok 2 - two, $n ms" ;;
late-1) echo "ok 2 - two, $n ms"; echo "not ok 3 - three" ;;
*) echo "ok 2 - two, $n ms"; echo "ok 3 - three" ;;
esac
echo 1..3
END
measured() {
	rm -f count
	RETRIED_TESTS=measured.sh run_test sh ./measured.sh "$1" >out
	echo "$? $(cat count) $(tr '\n' ';' <out)"
}
is 'a measured test that holds runs once' \
	'0 1 ok 1 - one;ok 2 - two, 1 ms;ok 3 - three;1..3;' "$(measured holds)"
is 'a claim that fails once of three times is unsure' \
	'0 3 ok 1 - one;ok 2 - two, 1 ms # unsure: failed once of three times: why;# why;ok 3 - three;1..3;' \
	"$(measured first)"
is 'one that fails twice has failed' \
	'0 3 ok 1 - one;not ok 2 - two, 1 ms;ok 3 - three;1..3;' "$(measured often)"
is 'claims are counted one by one' \
	'0 3 ok 1 - one;ok 2 - two, 1 ms # unsure: failed once of three times: ;ok 3 - three # unsure: failed once of three times: ;1..3;' \
	"$(measured other)"
is 'so if it held at first' \
	'0 3 ok 1 - one;ok 2 - two, 1 ms;not ok 3 - two, 2 ms;ok 4 - three # unsure: failed once of three times: ;1..4;' \
	"$(measured late)"
is 'ending early is a failure of the same kind' \
	'0 3 ok 1 - one;ok 2 - two, 2 ms;ok 3 - three;ok 4 - the test runs to its end # unsure: failed once of three times: exit status 3 ;1..4;' \
	"$(measured dies)"
is 'an exception hides no claim' \
	'0 3 ok 1 - one;ok 2 - two, 2 ms;ok 3 - three;ok 4 - the test runs to its end: error of run a # unsure: failed once of three times: ;1..4;' \
	"$(measured stops)"
is 'different exceptions are failures of one kind' \
	'0 3 ok 1 - one;ok 2 - two, 3 ms;ok 3 - three;not ok 4 - the test runs to its end: error of run a;1..4;' \
	"$(measured raises)"
is 'also twice' 3 "$(measured ends | cut -d ' ' -f 1)"
rm -f count
TEST_ONCE=1 RETRIED_TESTS=measured.sh run_test sh ./measured.sh first >out
is 'on request it runs once' '1 1' "$(cat count) $(grep -c '^not ok' out)"
is 'an exact test that fails does so at once' '1 1' "$(rm -f count
	run_test sh ./measured.sh first >out
	echo "$(cat count) $(grep -c '^not ok' out)")"

# What the end of a check says; the test suite is simulated.
cp "$srcdir/quickstart" ./checked
sed -i -e '/^# shellcheck disable=SC2086 # lists of needs/,$d' checked
cat >>checked <<'END'
make() {
	cat "$CHECK_LOG"
	sleep 0.1
	printf '%s\n' '# measured again: one' '# measured again: two' \
		'# disturbed: why' >build/tests/a.log
}
check
END
mkdir -p build/tests
printf '%s\n' 'PASS: tests/a.py 1 - one' \
	'PASS: tests/a.py 2 - two # unsure: failed once of three times: why' \
	'SKIP: tests/a.py 3 - three # SKIP no go' \
	'Testsuite summary for cpprof' '# PASS:  2' '# SKIP:  1' '# FAIL:  0' \
	'# ERROR: 0' >simulated
is 'the last line counts what is unsure, after a list' \
	"unsure: tests/a.py 2 - two: failed once of three times: why
1 passed, 0 failed, 1 skipped, 1 unsure, 2 measured again, 1 disturbed" \
	"$(CHECK_LOG=simulated sh ./checked 2>/dev/null | grep -A1 '^unsure')"
echo "1..$n"
