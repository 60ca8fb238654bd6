#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# recordings.sh -- no recording is overwritten without being asked to, whatever
# goes wrong, and none while it is being written.
set -u
cpprof=${CPPROF:-./cpprof} build=${builddir:-build}
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# let_go: lets a waiting program end.
let_go() {
	timeout 30 sh -c 'echo >go'
}

# until_there FILE-PATTERN: waits until such a file exists, 30 s at most.
until_there() {
	waited=0
	# shellcheck disable=SC2086 # a pattern
	while ! ls $1 >/dev/null 2>&1 && [ $waited -lt 300 ]; do
		sleep 0.1
		waited=$((waited + 1))
	done
}

# state: names of the recordings, and which directory and files these are.
state() {
	ls -id ./*.cpprof ./*.cpprof/* 2>/dev/null | sed 's/^ *//'
}

if [ ! -e "$build/.libs/libcpprof.so.0" ]; then
	echo '1..0 # SKIP no collector on this machine'
	exit 0
fi

# Programs that take long enough to be sampled.
cat >calc <<'END'
#!/bin/sh
i=0
while [ $i -lt 60000 ]; do i=$((i + 1)); done
END
(cat calc && echo 'read line <go') >wait
chmod +x calc wait

# The newest has the name, the one before it number 1, and so on.
"$cpprof" record ./calc 2>err
first=$(ls calc.cpprof)
is 'a first recording moves none' '' "$(grep earlier err)"
"$cpprof" record ./calc 2>err
second=$(ls calc.cpprof)
is 'a second leaves the first whole' "$first" "$(ls calc.1.cpprof)"
like 'and says where it is' 'earlier recording is now calc\.1\.cpprof$' \
	"$(cat err)"
"$cpprof" record ./calc 2>err
is 'a third moves the second to 1' "$second" "$(ls calc.1.cpprof)"
is 'and the first to 2' "$first" "$(ls calc.2.cpprof)"
like 'and says that' '2 earlier .* calc\.1\.cpprof .* calc\.2\.cpprof$' \
	"$(cat err)"
is 'the newest is a recording of its own' 3 \
	"$(ls calc.cpprof calc.1.cpprof calc.2.cpprof | grep -c cpprofdata)"

# A file in the way stays, and a free number is used.
rm -r calc.1.cpprof
"$cpprof" record ./calc 2>/dev/null
is 'a number that is free again is used, and none beyond moves' "$first" \
	"$(ls calc.2.cpprof)"
mkdir other.cpprof && touch other.cpprof/precious
cp calc other
"$cpprof" record ./other 2>err
is 'a directory of something else is refused' 1 $?
is 'and stays' precious "$(ls other.cpprof)"
rm -r other.cpprof
mkdir other.cpprof
"$cpprof" record ./other 2>err
is 'an empty directory is used' '0 1' "$? $(ls other.cpprof | grep -c cpprofdata)"
is 'and no other made' other.cpprof "$(ls -d other*.cpprof)"

# Nothing is moved if the program does not start.
printf '#!/missing/interpreter\n' >bad
chmod +x bad
mkdir bad.cpprof && touch bad.cpprof/cpprofdata.1
before=$(state)
"$cpprof" record ./missing 2>/dev/null
"$cpprof" record ./bad 2>/dev/null
is 'a program that is not found leaves all as it was' "$before" "$(state)"
word=$(head -c 200000 /dev/zero | tr '\0' x)
echo "record ./calc $word" >long.cmd
"$cpprof" -x long.cmd >out 2>&1
like 'one that cannot be executed fails' 'calc: Argument list too long' \
	"$(tail -n 1 out)"
is 'and leaves all as it was' "$before" "$(state)"
echo "record --force -o calc.cpprof ./calc $word" >long.cmd
"$cpprof" -x long.cmd >/dev/null 2>&1
is 'also where it was to be replaced' "$before" "$(state)"
echo "record -o new.cpprof ./calc $word" >long.cmd
"$cpprof" -x long.cmd >/dev/null 2>&1
is 'and where there was none' "$before" "$(state)"

# -o
"$cpprof" record -o named ./calc 2>/dev/null
named=$(ls named | grep cpprofdata)
"$cpprof" record -o named ./calc 2>err
is '-o of a recording is a usage error' 2 $?
like 'that says how to replace it' '^cpprof: named .*--force' "$(cat err)"
is 'on one line' 1 "$(wc -l <err)"
is 'and leaves it' "$named" "$(ls named | grep cpprofdata)"
is 'and its neighbours' named "$(ls -d named*)"
"$cpprof" record --force -o named ./calc 2>/dev/null
is '--force replaces it' "0 1" "$? $(ls named | grep -c cpprofdata)"
is 'leaving nothing of the one before' '' "$(ls named | grep "^$named\$")"
is 'nor beside it' named "$(ls -d named*)"
"$cpprof" record --force ./calc 2>/dev/null
is '--force replaces one of the usual name' "$first" "$(ls calc.2.cpprof)"
mkdir empty
"$cpprof" record -o empty ./calc 2>/dev/null
is '-o takes an empty directory' '0 1' "$? $(ls empty | grep -c cpprofdata)"
"$cpprof" record -o named ./missing 2>err
is 'also with a program that is not found' 2 $?

# Two at once.  The first program ends when told to.
mkfifo go
for options in '' '-o wait.cpprof' '--force' '--force -o wait.cpprof'; do
	rm -rf wait*.cpprof
	"$cpprof" record ./wait 2>/dev/null &
	until_there 'wait.cpprof/cpprofdata.*'
	before=$(state)
	# shellcheck disable=SC2086 # words
	timeout 30 "$cpprof" record $options ./wait 2>err </dev/null
	is "a second recording at once is refused ($options)" 1 $?
	like 'since there is one' \
		'^cpprof: wait\.cpprof: another recording is being written' \
		"$(cat err)"
	is 'on one line' 1 "$(wc -l <err)"
	is 'and touches nothing' "$before" "$(state)"
	let_go
	wait $!
done
"$cpprof" record ./wait 2>/dev/null &
until_there 'wait.cpprof/cpprofdata.*'
until_there wait.1.cpprof
"$cpprof" record -o elsewhere ./calc 2>/dev/null
is 'a recording elsewhere is not' 0 $?
kill -KILL $!
wait $! 2>/dev/null
before=$(state)
timeout 30 "$cpprof" record ./wait 2>err
is 'what a killed cpprof left running is not disturbed' 1 $?
like 'and named' 'wait\.cpprof: process [0-9]+ is still being recorded' \
	"$(cat err)"
is 'nor moved' "$before" "$(state)"
left=$(sed 's/.*process \([0-9]*\).*/\1/' err)
let_go
waited=0
while kill -0 "$left" 2>/dev/null && [ $waited -lt 300 ]; do
	sleep 0.1
	waited=$((waited + 1))
done
(sleep 0.2; let_go) &
"$cpprof" record ./wait 2>err
is 'a killed cpprof leaves no lock' 0 $?

# Many that begin at the same instant: each is kept or refused.
cp calc race
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$cpprof" record ./race 2>"race.$i" &
	racers="${racers-} $!"
done
kept=0
for i in $racers; do
	wait "$i" && kept=$((kept + 1))
done
is 'of many at once, all that ran are there' "$kept" \
	"$(ls -d race*.cpprof | wc -l)"
is 'each with its own file' "$kept" "$(ls race*.cpprof | grep -c cpprofdata)"
is 'and nothing else happened' 10 "$(cat race.[1-9]* | grep -cE \
	'samples? of|another recording is being written|still being recorded')"
echo "1..$n"
