#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# test-shell.sh -- cpprof as scripts see it: options, exit statuses,
# redirections, messages.
set -u
: "${srcdir:=.}" "${CPPROF:=./cpprof}"
forms=$srcdir/sample-data/forms.folded
process_db=$srcdir/sample-data/process_db.folded
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0

# run STATUS ARGUMENT...: runs cpprof with the file `in` as input; keeps out
# and err.
: >"$work/in"
run() {
	wanted=$1
	shift
	"$CPPROF" "$@" <"$work/in" >"$work/out" 2>"$work/err"
	status=$?
	: >"$work/in"
}

# ok CLAIM CONDITION...: all conditions hold, and the status was as expected.
ok() {
	n=$((n + 1))
	claim=$1
	shift
	if [ "$status" -eq "$wanted" ] && "$@"; then
		echo "ok $n - $claim"
	else
		echo "not ok $n - $claim"
		echo "# status $status, wanted $wanted"
		sed 's/^/# out: /' "$work/out" | head -20
		sed 's/^/# err: /' "$work/err" | head -20
	fi
}

out_is() { [ "$(cat "$work/out")" = "$1" ]; }
err_is() { [ "$(cat "$work/err")" = "$1" ]; }
err_has() { grep -qF -- "$1" "$work/err"; }
out_has() { grep -qF -- "$1" "$work/out"; }
lacks() { ! "$@"; }
both() { "$1" "$2" && "$3" "$4"; }
silent() { [ ! -s "$work/out" ] && [ ! -s "$work/err" ]; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ]; }

# Options
run 0 --version
ok '--version prints one line' out_has 'cpprof '
run 0 --help
ok '--help prints the usage' out_has 'usage: cpprof [OPTION]'
run 2 --nonsense
ok 'an unknown option is a usage error' err_has 'there is no option --nonsense'
run 2 -zq "$forms"
ok 'also one that follows others after a dash' err_has 'there is no option -z'
run 0 -h
ok '-h is --help' out_has 'usage: cpprof [OPTION]'
run 2 -F yaml "$forms"
ok 'an unknown format is a usage error' err_has 'text, tsv, csv or json'
run 2 -e
ok 'an option without its argument is a usage error' err_has '-e needs an'
run 1 "$work/none.folded"
ok 'a missing profile is an error' err_has none.folded
run 1 functions "$forms"
ok 'a command in its place is reported' err_has 'functions is a command, not a file; use -e'
run 0 "$forms"
ok 'an empty script does nothing' silent
run 0 "$forms" -e 'root' -e 'threshold'
ok '-e commands run in order, after the profile too' \
	out_is 'root  main
threshold  0.01'
printf 'threshold 2%%\nthreshold\n' >"$work/a.cmd"
echo 'root db_read_record' >"$work/in"
run 0 -e threshold -x "$work/a.cmd" -e root "$forms"
ok '-e and -x mix, and standard input is not read' \
	out_is 'threshold  0.01
threshold  0.02
root  main'
printf 'root db_read_record\nroot\n' >"$work/in"
run 0 -i -e root "$forms"
ok '-i goes on with standard input' \
	out_is 'root  main
root  db_read_record'

# Views
printf 'main;a 5\nmain;b 5\na;f 2\nb;f 2\n' >"$work/ab.folded"
printf 'main;b 5\nmain;a 5\nb;f 2\na;f 2\n' >"$work/ba.folded"
"$CPPROF" -e graph "$work/ab.folded" >"$work/ab.out"
run 0 -e graph "$work/ba.folded"
ok 'graph shows equals by their names' cmp "$work/ab.out" "$work/out"

# Scripts
printf '# a comment\n\n  \nthreshold 0.05 # another\nthreshold' >"$work/in"
run 0 "$forms"
ok 'comments, empty lines and a last line without end' \
	out_is 'threshold  0.05'
printf 'root\r\nthreshold\r\n' >"$work/in"
run 0 "$forms"
ok 'lines may end in CR LF' out_is 'root  main
threshold  0.01'
printf 'root\nnonsense\nthreshold\n' >"$work/in"
run 1 "$forms"
ok 'the first failing command ends a script' \
	both out_is 'root  main' err_has '<stdin>:2: there is no command'
printf 'nonsense\nroot\n' >"$work/in"
run 1 --keep-going "$forms"
ok '--keep-going goes on and still fails' \
	both out_is 'root  main' err_has '<stdin>:1: '
run 1 -e root -e nonsense -e threshold "$forms"
ok '-e names its number' both out_is 'root  main' err_has '-e:2: there is no'
printf 'root\n\nnonsense\n' >"$work/b.cmd"
run 1 -x "$work/b.cmd" "$forms"
ok 'a script names file and line' err_has "$work/b.cmd:3: there is no command"
run 1 -e "source $work/b.cmd" -e threshold "$forms"
ok 'a sourced script names its own line, once' lines "$work/err" 1
ok 'and ends what sourced it' lacks out_has threshold
run 1 -x "$work/none.cmd" "$forms"
ok 'a script that is not there' err_has 'No such file'
echo "source $work/c.cmd" >"$work/c.cmd"
run 1 -x "$work/c.cmd" "$forms"
ok 'a script that runs itself ends' err_has 'scripts run each other'
printf 'quit\nnonsense\n' >"$work/in"
run 0 "$forms"
ok 'quit ends a script' silent
printf 'root\n\0up\n' >"$work/in"
run 1 "$forms"
ok 'a NUL byte is refused' err_is '<stdin>:2: a command cannot contain a NUL byte'
{ printf 'root '; head -c 1000000 /dev/zero | tr '\0' x; echo; } >"$work/in"
run 1 "$forms"
ok 'a line of a million bytes is one short error' lines "$work/err" 1
head -c 1000000 /dev/zero | tr '\0' '|' >"$work/in"
run 1 "$forms"
ok 'a million bars are one short error' lines "$work/err" 1
printf '\033[31mx\n' >"$work/in"
run 1 "$forms"
ok 'messages hold no control characters' err_has '\x1b[31mx'

# No profile
run 1 -e functions
ok 'a view without a profile says how to get one' err_has 'load FILE'
run 0 -e "load |$forms|" -e root
ok 'load opens one' out_is 'root  main'
run 1 -e "load |$forms|" -e "load $work/none" "$process_db"
ok 'a failing load is an error' err_has 'none'
mkdir "$work/threads" && : >"$work/threads/data"
run 1 -e "load $work/threads"
ok 'an empty file in a directory of perf is reported' err_has 'threads/data: the file is empty'
printf 'load |%s|\nload %s/none\nroot\n' "$forms" "$work" >"$work/in"
run 1 --keep-going
ok 'and leaves the profile as it was' out_is 'root  main'
"$CPPROF" - -e root <"$forms" >"$work/out" 2>"$work/err"
status=$? wanted=0
ok 'a profile comes from standard input' out_is 'root  main'
printf 'main;b 41' | "$CPPROF" - -e root >"$work/out" 2>"$work/err"
ok 'and a missing last newline is reported there, too' \
	err_has 'standard input:1: no newline at the end of the last line'
"$CPPROF" - -e reload <"$forms" >"$work/out" 2>"$work/err"
status=$? wanted=1
ok 'and cannot be read again' err_has 'standard input'
"$CPPROF" - - -e root <"$forms" >"$work/out" 2>"$work/err"
status=$? wanted=1
ok 'nor twice at once' err_is 'cpprof: - and - are the same file; name each input once'
gzip -c "$forms" | head -c 12 >"$work/cut.gz"
run 1 "$work/cut.gz"
ok 'a packed file that is cut short at once is not called empty' \
	err_has 'cut.gz: cut short before its first line'
printf '\037\213\010\0\0\0\0\0\0\003\377\377\377\377' >"$work/cut.gz"
run 1 "$work/cut.gz"
ok 'one that is damaged at once says so' err_has ': damaged: '
{ printf 'no profile\n' | gzip -c | head -c -8; printf '00000000'; } >"$work/cut.gz"
run 1 "$work/cut.gz"
ok 'and so does one whose content is therefore unknown' \
	err_has '; what is before that is not a profile of a known format'
mkdir "$work/some" "$work/bad"
cp "$forms" "$work/some/cpprofdata.1"
: >"$work/some/cpprofdata.2"
mkfifo "$work/some/cpprofdata.3"
run 0 "$work/some" -e root
ok 'a directory is read without the files in it that are none' \
	both out_is 'root  main' err_is \
	"cpprof: $work/some/cpprofdata.2: the file is empty (left out)
cpprof: $work/some/cpprofdata.3: not a regular file (left out)"
: >"$work/bad/cpprofdata.1"
run 1 "$work/bad" -e root
ok 'unless nothing is left' err_is \
	"cpprof: $work/bad/cpprofdata.1: the file is empty"
run 1 "$work/some/cpprofdata.1" "$work/some/cpprofdata.2" -e root
ok 'a file that was named must be whole' err_has 'cpprofdata.2: the file is'

# Output
run 0 "$forms" -e "root > $work/file" -e "threshold >> $work/file"
ok 'output goes to files' silent
cp "$work/file" "$work/out"
ok 'from the start or after what is there' out_is 'root  main
threshold  0.01'
run 0 "$forms" -e "root > |$work/a file|"
ok 'a file name may hold blanks' test -s "$work/a file"
run 1 "$forms" -e "root > $work/none/file"
ok 'a file that cannot be written' err_has 'none/file: No such'
run 1 "$forms" -e 'root > /dev/full'
ok 'a full disk' err_has '/dev/full: No space left'
run 1 "$forms" -e "nonsense > $work/kept"
ok 'a command that fails writes no file' test ! -e "$work/kept"
run 0 "$forms" -e 'root | tr a-z A-Z'
ok 'output goes through a pipe' out_is 'ROOT  MAIN'
run 0 "$forms" -e 'functions | head -1' -e root
ok 'a pipe that closes early is no error' out_has 'root  main'
run 1 "$forms" -e 'root | false' -e threshold
ok 'a pipe that fails is one' err_has '-e:1: false: exit status 1'
run 1 "$forms" -e 'up > '
ok 'a redirection to nowhere' err_has 'expected a file after >'
run 1 "$forms" -e "root > $work/first > $work/second"
ok 'two redirections' both err_has 'one file or one command' test ! -e "$work/second"
run 1 "$forms" -e "root > $work/first | cat"
ok 'a file and a pipe' both err_has 'one file or one command' test ! -e "$work/first"
run 1 "$forms" -e 'up |'
ok 'a pipe to nowhere' err_has 'expected a command after |'
run 0 "$forms" -e '!echo hello | tr h H' -e 'shell echo > /dev/null'
ok 'a shell command' out_is Hello
run 1 "$forms" -e '!exit 3'
ok 'a failing shell command' err_has 'exit 3: exit status 3'
printf '!cat\nroot\n' >"$work/in"
run 0 "$forms"
ok 'a shell command does not read the script' out_is 'root  main'
"$CPPROF" "$forms" -e functions -e root >/dev/full 2>"$work/err"
status=$? wanted=1
ok 'standard output that is full ends the program' \
	err_is '-e:1: standard output: No space left on device'
mkfifo "$work/gone"
{ "$CPPROF" "$forms" -e "!cat $work/gone" -e functions -e functions \
	2>"$work/err"; echo $? >"$work/status"; } |
	{ exec <&-; : >"$work/gone"; }
status=$(cat "$work/status") wanted=1
ok 'a reader that went away is reported only by the status' test ! -s "$work/err"
run 0 "$forms" -e functions -e up -e tree -e 'help up' -e info
cp "$work/out" "$work/once"
run 0 "$forms" -e functions -e up -e tree -e 'help up' -e info
ok 'the same input gives the same bytes' cmp -s "$work/out" "$work/once"
ok 'and no escapes' lacks out_has "$(printf '\033')"

if [ -e "${builddir:-.}/.libs/libcpprof.so.0" ]; then
	run 0 -e "record -o $work/recorded echo hello | tr h H" -e 'info | wc -l'
	ok 'a redirection after record is for the program' out_has Hello
	run 0 record -o "$work/family" sh -c 'env true; exit 0'
	for order in '' -r; do
		# shellcheck disable=SC2012,SC2046 # names of our own making
		run 0 -e info $(ls $order "$work"/family/*)
		ok "info names the program that began first $order" \
			out_has "program: $(realpath "$(dirname \
				"$(command -v sh)")")/sh"
	done
	run 0 "$work/family" -e info
	# shellcheck disable=SC2012 # likewise
	ok 'info counts the files of a directory' \
		out_has "files: $(ls "$work"/family | grep -c cpprofdata)"
else
	wanted=0 status=0
	ok 'redirection after record # SKIP no collector' true
fi

# Settings
run 1 "$forms" -e 'threshold 5'
ok 'a threshold of 1 or more names both spellings' \
	err_has '5 is not below 1: write 5% or 0.05'
run 0 "$forms" -e 'set threshold 5%' -e 'set threshold' -e 'show threshold'
ok 'set and show' out_is 'threshold  0.05
threshold  0.05'
run 1 "$forms" -e 'set up 3'
ok 'set wants a setting' err_has 'up is a command'
run 0 "$process_db" -e 'resource pa' -e 'root qsort' -e 'limit 3' \
	-e 'digits 2' -e "show > $work/show.cmd"
run 0 "$process_db" -x "$work/show.cmd" -e 'show'
ok 'what show prints sets it again' cmp -s "$work/out" "$work/show.cmd"
run 1 "$forms" -e 'root db_*' -e root
ok 'a root that fits several lists them' \
	out_is 'db_get_property
db_read_record
db_update_record'
ok 'and is an error in a script' \
	err_has 'db_* matches 3 functions; the root is still main'
run 1 "$forms" -e 'root db_raed_record'
ok 'a mistyped function' err_has 'did you mean db_read_record'
run 1 "$forms" -e 'resource cpu'
ok 'an unknown resource' err_has 'the profile has |Real Time|'
run 1 "$forms" -e e
ok 'a word of which nothing is left is not near' lacks err_has 'did you mean'
run 1 "$forms" -e 'functions db_*' -e 'functions all db_raed_record'
ok 'a name that a search does not find is perhaps mistyped' err_is \
	'-e:2: the profile has no function db_raed_record; did you mean db_read_record or db_update_record?'
for view in "functions all" functions flat body top; do
	run 1 "$forms" -F csv -e "$view zz*"
	ok "what $view does not find is no table" \
		both out_is '' err_is '-e:1: no function matches zz*'
done
run 1 "$forms" -e 'functions read_recrod*'
ok 'a glob that matches nothing is perhaps mistyped' err_is \
	'-e:1: no function matches read_recrod*; did you mean db_read_record?'
run 1 "$forms" -e 'narrow /^raed_(rec|prop)/'
ok 'so is an expression' err_is \
	'-e:1: no frame is called /^raed_(rec|prop)/; did you mean db_read_record?'
run 0 "$forms" -q -e "group '{1}' = /^([a-z]+)_/" -e 'group "my lib" = form' \
	-e "group |'db'| = db" -e steps -e "ungroup 'my lib'" -e steps
ok 'the name of a group may be in quotes' out_has \
	'group {1} = /^([a-z]+)_/' "group |my lib| = form" "group |'db'| = db"
run 1 "$forms" -e 'group my lib = form_*'
ok 'a name with blanks goes between bars' err_is \
	'-e:1: lib: expected one of =, =>; a name with blanks goes between bars: group |my lib| ='
run 0 "$forms" -F csv -e 'functions all /^db_(get|read)_/'
ok 'an expression holds bars' out_is 'hits,fraction,path
614,1,db_read_record
530,0.8631921824104235,db_get_property'
run 1 "$forms" -e 'path (main invoice'
ok 'a path that is not closed' err_has 'begins with ( must end with )'
run 1 "$forms" -e 'path (main) invoice'
ok 'a path that is closed too early' err_has 'begins with ( must end with )'
run 0 "$forms" -e 'root envelope' -e "load |$process_db|" -e root
ok 'a root that the next profile lacks' \
	both out_is 'root  main' err_has 'envelope does not occur here'
run 0 "$process_db" -e 'resource page' -e reload -e 'show resource'
ok 'reload keeps the resource' out_is 'resource  |Page Faults|'
printf 'a;x 3\nb;x 3\nc 2\n' >"$work/three"
run 0 "$work/three" -e root
ok 'without main, stacks that begin differently have no root' out_is 'root  none'
printf 'a;x 3\na;b 3\n' >"$work/one"
run 0 "$work/one" -e root
ok 'the function with which all stacks begin is the root' out_is 'root  a'
printf '# resource: x; gtick=us; interval=1\n# resource: y; gtick=f; interval=1
a;b 0 5\na 0 0\n' >"$work/zero"
run 0 "$work/zero" -F csv -e down -e 'threshold 0' -e down
ok 'shares of nothing are below any threshold but 0' \
	out_is 'hits,fraction,path
hits,fraction,path
0,0,a
0,0,a;b'
printf 'm; lead;a|b;|c;y,z 1\n' >"$work/names"
run 0 "$work/names" -F csv -e 'down' -e 'path (m |\x20lead|)'
ok 'names in CSV are those of collapsed stacks' \
	out_has '1,1,"m; lead;a|b;|\|c|;y,z"'
run 0 "$work/names" -e 'functions' -F csv
ok 'also alone' both out_has '1,1,a|b' out_has '1,1,|\|c|'
run 0 "$work/names" -e 'down'
ok 'no path begins a pipe when it is pasted' \
	out_has '(m |\x20lead| |a\|b| |\|c| y,z)'

# Export
run 0 "$forms" -e "export cpprof-text $work/out.folded" -e 'format csv' \
	-e "export collapsed > $work/bare.folded"
ok 'export writes a file, named or after >' \
	cmp -s "$work/out.folded" "$forms"
ok 'and > of export leaves the format of answers alone' \
	grep -qx 'main;db_update_record;db_read_record 84' "$work/bare.folded"
run 1 "$forms" -e 'export collapsed /dev/full'
ok 'export reports a full disk' err_has '/dev/full: No space left'
echo before >"$work/kept"
chmod 640 "$work/kept"
ln -s kept "$work/link"
(ulimit -f 1 && "$CPPROF" "$srcdir/sample-data/rdparse.folded.gz" -e "export speedscope $work/link" \
	-e "export speedscope $work/fresh" --keep-going) </dev/null \
	>"$work/out" 2>"$work/err"
status=$? wanted=1
ok 'an export that fails leaves the file as it was, or none' \
	[ "$(cat "$work/kept")$(ls -A "$work" | grep -c 'fresh\|export')" \
	= before0 ]
ok 'and says why' err_has "$work/fresh: File too large"
for target in link fresh; do
	(ulimit -f 1 && "$CPPROF" "$srcdir/sample-data/rdparse.folded.gz" \
		-e 'threshold 0' -e "down > $work/$target") </dev/null \
		>"$work/out" 2>"$work/err"
	status=$? wanted=1
	ok "a view > that fails leaves the file as it was, or none ($target)" \
		[ "$(cat "$work/kept")$(ls -A "$work" | grep -c 'fresh\|export')" \
		= before0 ]
	ok 'and the message names it' err_has "$work/$target: File too large"
done
run 0 "$forms" -e "root > $work/link"
ok 'a view > replaces what a link leads to, with its mode' \
	[ "$(stat -c %a "$work/kept") $(readlink "$work/link") $(wc -l \
	<"$work/kept")" = '640 kept 1' ]
run 0 "$forms" -e "root >> $work/link" -e 'root > /dev/null'
ok 'and >> adds to it' [ "$(wc -l <"$work/kept")" = 2 ]
run 0 "$forms" -e 'root > /dev/stdout' -e functions
ok 'nor is what standard output goes to replaced' out_has 'Body'
"$CPPROF" "$forms" -e 'root > /dev/stdout' 2>"$work/err" | cat >"$work/out"
status=0 wanted=0
ok 'also where that is a pipe' out_is 'root  main'
run 1 "$forms" -e "functions /nothing/ > $work/link"
ok 'a command that fails leaves it' [ "$(wc -l <"$work/kept")" = 2 ]
echo before >"$work/kept"
run 0 "$forms" -e "export collapsed $work/link" -e "export collapsed $work/new"
ok 'export through a link replaces the file, which keeps its rights' \
	[ "$(stat -c %a "$work/kept") $(readlink "$work/link")" = '640 kept' ]
ok 'and makes a new one that the umask allows' \
	[ "$(stat -c %a "$work/new")" = "$(: >"$work/any" && \
	stat -c %a "$work/any")" ]
ln "$work/kept" "$work/second"
run 0 "$forms" -e "export cpprof-text $work/kept"
ok 'export keeps the other names of a file' cmp -s "$work/kept" "$work/second"
mkfifo "$work/fifo"
cat "$work/fifo" >"$work/piped" &
run 0 "$forms" -e "export cpprof-text $work/fifo"
wait
ok 'export writes into a pipe that has a name' \
	cmp -s "$work/kept" "$work/piped"
run 1 "$forms" -e 'export pprof > /dev/full'
ok 'and where > says' err_has '/dev/full: No space left'
run 0 "$forms" -e 'export speedscope | head -c 1'
ok 'a reader of export may stop' out_has '{'
run 1 -e 'export pprof'
ok 'export needs a profile' err_has 'no profile is loaded'
run 1 "$forms" -e 'export cpprofdata'
ok 'export of names as addresses says what would do' \
	err_has 'cpprof-text holds names'

printf 'events: Ir\nfn=f\n1 2\n' >"$work/calls.out"
run 1 "$work/calls.out" -e 'export pprof'
ok 'export of stacks where there are none is an error' err_has 'no stacks'

# Losses, summed over the files; other tallies are no losses.
printf 'p 7 1.5: 10 cycles: \n\t1100 f (/gone)\n\n%s\n' \
	'p 7 1.6: PERF_RECORD_LOST lost 12' >"$work/lost.script"
cp "$work/lost.script" "$work/again.script"
run 0 -q -F json -e info "$work/lost.script" "$work/again.script"
ok 'info says how many hits were lost' out_has '"dropped":24,'
run 0 -q -e flat "$work/lost.script"
ok 'and the heading of a view why' \
	out_has '12 of 13 samples lost: perf could not keep up'

# Words of other programs, and bars after words
run 0 -e 'functions|grep -c "^[01][.]"' "$forms"
ok 'a bar directly after a word is a pipe' out_is 10
run 0 -e 'info functions db_update_record|tail -n 2|head -n 1' "$forms"
ok 'the words info functions run functions' \
	out_is '0.1368 db_update_record [84]'
run 0 -e 'info functions db_up*' "$forms"
ok 'with its arguments' out_has '0.1368 db_update_record [84]'
run 0 -e 'h|head -n 1' "$forms"
ok 'h is help' test -s "$work/out"
run 1 -e bt "$forms"
ok 'bt says what to type' err_has 'type up FUNCTION'
run 1 -e 'help run' "$forms"
ok 'also to help' err_has 'type record PROGRAM ARGUMENTS'
run 0 -e 'apropos PEEK' "$forms"
ok 'apropos knows the words, too' out_has graph
run 0 -e 'apropos jit' "$forms"
ok 'and jit, which is in the description of record' out_has record
run 1 -e 'up %1' "$forms"
ok 'rows of scripts have no numbers' err_has 'no view with row numbers'

# JSON
if [ -n "${PYTHON3-}" ] && [ "$PYTHON3" != no ]; then
	printf 'm;e\033[31m\377;\342\200\256|x;a"b\\ 3\nm 18446744073709551600\n' \
		>"$work/odd"
	printf '%s\n' functions flat body down up tree info show help 'help up' \
		'apropos path' resource root history 'functions all *' 'callees m' \
		'threshold 0.2' 'path (m)' 'unit gticks' >"$work/in"
	run 0 -F json "$work/odd"
	cat >"$work/check.py" <<'END'
import json, sys
documents = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert len(documents) == 17, len(documents)
for document in documents:
    assert document["schema"].startswith("cpprof."), document
    assert isinstance(document["view"], str)
    assert isinstance(document["rows"], list)
functions = documents[0]
assert functions["rows"][0]["path"] == ["m"]
assert functions["total"] == 18446744073709551603
assert functions["rows"][0]["hits"] == 18446744073709551603
info = documents[6]
assert info["deepest_stack"] == 4 and info["view"] == "info"
assert not any(c < 32 and c != 10 or c == 127
               for c in open(sys.argv[1], "rb").read())
END
	ok 'JSON is one whole document for each command that shows something' \
		"$PYTHON3" "$work/check.py" "$work/out"
else
	wanted=0 status=0
	ok 'JSON documents # SKIP no python3' true
fi
printf '%s\n' 'events: Ir' fn=main cfn=f 'calls=1 1' '1 100' fn=f '1 0' \
	>"$work/costs-of-calls-alone.out"
run 0 -e 'down main' "$work/costs-of-calls-alone.out"
ok 'no threshold is named where the run has no hits' \
	lacks out_has 'to show it'
run 1 -F json "$forms" -e nonsense
ok 'errors are no JSON' test ! -s "$work/out"
run 0 -F csv "$forms" -e 'threshold 0.8' -e functions
ok 'CSV has a line of keys' out_has 'path'
run 0 -F json "$forms" -e 'threshold 0.5' -e 'root main' -e 'format json'
ok 'settings print nothing' silent
echo "1..$n"
