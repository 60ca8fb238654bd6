#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# layers.sh -- includes run one way only, and each library has one user.
set -u
cd "${srcdir:-.}" || exit 1
n=0

# claim TEXT FOUND: holds if nothing was found that breaks it.
claim() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		printf 'ok %d - %s\n' "$n" "$1"
	else
		printf 'not ok %d - %s\n' "$n" "$1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# sources PLACE...: the source files in folders, or files; for a place without
# any, the name of a file that does not exist.
sources() {
	for place; do
		find "$place" -type f \( -name '*.[chS]' -o -name '*.cc' -o \
			-name '*.def' \) 2>/dev/null | sort | grep . ||
			echo "$place/no-code-here"
	done
}

# search PATTERN: the lines that match in the files on standard input; also a
# line for each file that does not exist.
search() {
	xargs grep -nHE "$1" 2>&1
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*'

# includes CLAIM 'PLACE...' ALLOWED [FORBIDDEN]: all files of the project that
# the places include match the first pattern and not the second.
includes() {
	# shellcheck disable=SC2086 # a list of places
	claim "$1" "$(sources $2 | search "$include\"" |
		awk -F '"' -v allowed="^($3)\$" -v forbidden="^(${4-none})\$" \
			'$2 !~ allowed || $2 ~ forbidden')"
}

# one_user CLAIM HEADERS USER: only the user, a file or a folder, includes
# these headers of a library, and it does.
one_user() {
	claim "$1" "$(sources src commands lib dwarf cpython | search "${include}[<\"]($2)" |
		grep -v "^$3[:/]"
		sources "$3" | search "$include<($2)" | grep -q "^$3[:/]" ||
			echo "$3 does not include it")"
}

# circles WHAT FILE...: the files that include themselves through others; if
# WHAT is units instead of files, the units that do.
circles() {
	what=$1
	shift
	grep -HE "$include\"" "$@" | awk -F '"' -v what="$what" '
	function name(path) {
		if (what == "units")
			sub(/\.[^.\/]*$/, "", path)
		return path
	}
	{
		from = $1
		sub(/:.*/, "", from)
		from = name(from)
		to = name($2)
		if (from != to || what == "files")
			print from, to
	}' | awk -f tests/circles.awk | sort
}

claim 'each folder has its layer' "$(find src -mindepth 1 -maxdepth 1 -type d ! -name '.*' |
	grep -vE '^src/(base|formats|inject|noise|output|profile|refine|sample|shell|symbols|views)$'
	find src/symbols -mindepth 1 -type d ! -name '.*' |
	grep -vE '^src/symbols/(code|elf|lines|names|unwind)$'
	find src/views -mindepth 1 -type d ! -name '.*' | grep -vE \
	'^src/views/(hits|rows|comparison|lists|paths|pictures|code|advice)$'
	find lib -mindepth 1 -type d ! -name '.*' |
	grep -vE '^lib/(base|signals|unwind|python|store|sources|run|wrap|java)$')"
includes 'base includes only base' src/base 'src/base/.*'
includes 'profile includes only base, without tables, and profile' \
	src/profile 'src/(base|profile)/.*|lib/counts\.def' 'src/base/table\.h'
includes 'refine includes only base, profile and refine, and no tables' \
	src/refine 'src/(base|profile|refine)/.*' 'src/base/table\.h'
includes 'noise includes only base and noise, and no tables' src/noise \
	'src/(base|noise)/.*' 'src/base/table\.h'
includes 'views include only base, profile, noise and views' src/views \
	'src/(base|profile|noise|views)/.*'
views='src/(base|profile|noise)/.*|src/views/(view\.h'
includes 'of views, hits include no other room' src/views/hits \
	"$views|hits/.*)"
includes 'of views, rows include only hits' src/views/rows \
	"$views|(hits|rows)/.*)"
includes 'of views, comparison includes only hits and rows' \
	src/views/comparison "$views|(hits|rows|comparison)/.*)"
includes 'of views, lists include only hits, rows and comparison' \
	src/views/lists "$views|(hits|rows|comparison|lists)/.*)"
includes 'of views, code includes only hits and rows' src/views/code \
	"$views|(hits|rows|code)/.*)"
includes 'of views, paths include only what lists do, and lists' \
	src/views/paths "$views|(hits|rows|comparison|lists|paths)/.*)"
includes 'of views, pictures include only what paths do, and paths' \
	src/views/pictures \
	"$views|(hits|rows|comparison|lists|paths|pictures)/.*)"
includes 'of views, advice includes neither code nor pictures' \
	src/views/advice "$views|(hits|rows|comparison|lists|paths|advice)/.*)"
includes 'symbols include only base, profile, symbols and dwarf' src/symbols \
	'src/(base|profile|symbols)/.*|dwarf/.*|lib/(jitdump|cpprof-code)\.h'
includes 'of symbols, elf includes no other room' src/symbols/elf \
	'src/(base|profile|symbols/elf)/.*'
includes 'of symbols, unwind includes only elf and unwind' \
	src/symbols/unwind \
	'src/(base|profile|symbols/(elf|unwind))/.*|dwarf/.*|lib/cpprof-code\.h'
includes 'of symbols, names include only elf, unwind and names' \
	src/symbols/names \
	'src/(base|profile|symbols/(elf|unwind|names))/.*|lib/jitdump\.h'
includes 'of symbols, lines include only elf, names and lines' \
	src/symbols/lines 'src/(base|profile|symbols/(elf|names|lines))/.*'
includes 'of symbols, code include only elf, names and code' \
	src/symbols/code 'src/(base|profile|symbols/(elf|names|code))/.*'
includes 'formats include no view, output, shell or command' src/formats \
	'src/(base|profile|symbols|formats)/.*|lib/cpprofdata\.h'
includes 'the sampler includes no view, output, shell or command' src/sample \
	'src/(base|profile|symbols|formats|sample)/.*|lib/(cpprofdata\.h|counts\.def)|(dwarf|cpython)/.*'
includes 'inject includes only base, profile, symbols and dwarf' src/inject \
	'src/(base|profile|symbols|inject)/.*|lib/(cpprofdata|cpprof-(environment|inside))\.h|dwarf/.*'
includes 'output includes only base and output' src/output \
	'src/(base|output)/.*'
shared='lib/(cpprofdata|cpprof-(environment|inside|shared))\.h'
includes 'of commands the shell includes lists, of lib what both share' \
	'src/shell src/main.c' \
	"src/.*|commands/settings\.def|$shared"
below='src/(base|profile|refine|noise|views|formats|symbols|sample|inject|output)/.*'
room='src/shell/('
settings='commands/settings\.def'
claim 'each folder of the shell has its layer' "$(find src/shell -mindepth 1 \
	! -path 'src/shell/*/*' ! -name local.mk ! -name '.*' | grep -vE \
	'^src/shell/(terminal|line|record|session|command|help|input|mcp)$')"
includes 'terminal includes only base and terminal' src/shell/terminal \
	"src/base/.*|${room}terminal)/.*"
includes 'line includes only base, output and line' src/shell/line \
	"src/(base|output)/.*|${room}line)/.*"
includes 'record knows no session' src/shell/record \
	"$below|${room}terminal|line|record)/.*|$shared"
includes 'session knows no command and no line' src/shell/session \
	"$below|${room}terminal|record|session)/.*|$settings"
includes 'command includes no recording, help or input' src/shell/command \
	"$below|${room}terminal|line|session|command)/.*|$settings"
includes 'mcp includes only base and formats' src/shell/mcp \
	"src/(base|formats)/.*|${room}mcp)/.*"
includes 'help includes neither session nor input' src/shell/help \
	"$below|${room}terminal|line|record|command|help)/.*"
includes 'input includes nothing of recordings' src/shell/input \
	"$below|${room}terminal|line|session|command|help|input)/.*"
includes 'no command includes another' commands \
	"src/.*|commands/names\.def|$settings|$shared"
room_headers="$shared|lib/counts\.def|lib/jitdump\.h|lib/cpprof\.h|dwarf/.*|cpython/.*"
for room in base signals unwind python java store sources run wrap; do
	room_headers="$room_headers|lib/$room/.*"
	includes "of the collector lib/$room includes only the rooms below it" \
		"lib/$room" "$room_headers"
done
includes 'the collector includes nothing of the program' lib \
	'lib/.*|dwarf/.*|cpython/.*'
includes 'dwarf includes only dwarf' dwarf 'dwarf/.*'
includes 'cpython includes only dwarf and cpython' cpython \
	'(dwarf|cpython)/.*'
# types FOLDER...: the structures, unions and enumerations of the headers there.
types() {
	find "$@" -name '*.h' -exec grep -hE \
		'^(struct|union|enum) [a-z_0-9]+ \{' {} + | cut -d ' ' -f 2 | sort -u
}

# (A thread is the same there, in a profile, and here, where it runs.)
claim 'no type of the collector has the name of one of the program' "$(
	{ types src; types lib dwarf cpython; } | sort | uniq -d | grep -vx thread)"
claim 'names are in one place, so that grep finds what it looks for' "$(
	found=$(python3 bench/structure.py --names) || printf '%s\n' "$found")"
claim 'the page of measures is that of the code' "$(
	found=$(python3 bench/structure.py --compare) || printf '%s\n' "$found")"
claim 'dwarf includes nothing of libc that allocates, prints or waits' \
	"$(sources dwarf | search "${include}<" |
		grep -vE '<(endian|stdbool|stddef|stdint|string)\.h>')"

one_user 'readline has one user, the shell' readline/ src/shell
one_user 'libelf, libdw, capstone and the demangler have one user, symbols' \
	'(libelf|gelf|elfutils|libiberty|demangle|capstone)[./]|dwarf\.' \
	src/symbols
one_user 'libmd has one user, source lines' 'md5\.h' src/symbols/lines
one_user 'PCRE2 has one user, expressions' pcre2 src/base/expression.c
one_user 'libgit2 has one user, the commits of kept profiles' 'git2\.h' \
	src/shell/session/kept_git.c
one_user 'yajl has one user, the reader of JSON' yajl/ \
	src/formats/json/json_reader.c

word='(^|[^A-Za-z0-9_])'
end='([^A-Za-z0-9_]|$)'
# (debug_lines_child.c and debuginfod.c have child processes, which end by _exit.)
claim 'only main and the shell print or exit' "$(sources src/base src/profile \
	src/refine src/noise src/views src/formats src/symbols src/sample src/output commands | search \
	"$word(printf|vprintf|puts|putchar|perror|psignal|errx?|warnx|error) ?\(|$(
	)$word(exit|_exit|_Exit|quick_exit|abort) ?\(|$(
	)$word(stdout|stderr)$end|$(
	)$word(dprintf|write) ?\((1|2|STDOUT_FILENO|STDERR_FILENO)," |
	grep -vE '^src/symbols/(lines/debug_lines_child|elf/debuginfod)\.c:[0-9]*:.*_exit\(')"

# Dates with seconds and their parts, as files have them, are no such times.
claim 'one file reads the clock (src/base/clock.h)' "$(sources src commands |
	search "${word}clock_gettime ?\(" | grep -v '^src/base/clock\.h:' |
	grep -v 'CLOCK_REALTIME, ')"
claim 'one file loads libraries (src/base/shared_library.h)' \
	"$(sources src commands | search "${word}dlopen ?\(" |
	grep -v '^src/base/shared_library\.c:')"
claim 'one file reads the state of tasks (src/base/task.h)' \
	"$(sources src commands | search '/proc/.*/stat"' |
	grep -v '^src/base/task\.c:')"
resources=$(sed -nE 's/^(COUNT\([A-Z_]+, |MADE\()"([a-z-]+)".*/\2/p' \
	lib/counts.def | paste -sd '|' -)
claim 'a table tells resources apart (lib/counts.def), not code by their names' \
	"$([ -n "$resources" ] || echo 'no resources'
	sources src/profile src/refine src/noise src/views src/sample \
	src/formats/cpprofdata | search "strn?cmp ?\([^\"]*\"($resources)\"")"

# A row of the manual's table may be of several, each with its gtick or all with
# one.
claim 'the manual has each resource with its gtick (5.1)' "$(
	sed -nE 's/^COUNT\([A-Z_]+, "([a-z-]+)", "([a-z]+)".*/\1 \2/p' \
		lib/counts.def | awk -F '|' '
		NR == FNR && /^### 5\.1 / { is_there = 1 }
		NR == FNR && /^### 5\.2 / { is_there = 0 }
		NR == FNR && is_there && /^\| `/ { rows[++n] = $0 }
		NR == FNR { next }
		{
			split($0, wanted, " ")
			found = 0
			for (i = 1; i <= n; i++) {
				split(rows[i], cells, "|")
				n_names = split(cells[2], names, ",")
				n_units = split(cells[3], units, ",")
				for (k = 1; k <= n_names; k++) {
					gsub(/[` ]/, "", names[k])
					unit = units[n_units == n_names ? k : 1]
					gsub(/ /, "", unit)
					found += names[k] == wanted[1] &&
						unit == wanted[2]
				}
			}
			if (found != 1)
				print wanted[1], wanted[2] ": " found + 0
		}' doc/manual.md -)"

# A thread sanitizer's functions of these names wait for locks that the
# interrupted thread may hold.
claim 'handlers make these calls directly (lib/base/files.h, process.h)' \
	"$(sources lib/base lib/signals lib/unwind lib/store lib/sources | search \
	"$word(ioctl|fcntl|getrusage|unlink|ftruncate|uname|prctl|open|openat|read|$(
	)pread|write|pwrite|close|lseek|mmap|mremap|fstat|stat|nanosleep) ?\(" |
	grep -v 'next\.')"

# shellcheck disable=SC2046 # lists of files
{
	claim 'no file includes itself by others' \
		"$(circles files $(sources src commands lib dwarf))"
	claim 'no unit (a .c file and its header) includes itself by others' \
		"$(circles units $(sources src commands lib dwarf))"
}
echo "1..$n"
