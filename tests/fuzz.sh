#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh [SECONDS [TARGET...]] -- runs each reader's fuzz target for a while.
#
# A target is a row of src/formats/list.def, or a fuzz-TARGET.c.  The seeds of a
# format are also what its unit test reads, if that is built.
# Needs clang with libFuzzer.  Builds in ./fuzz, with ASan and UBSan; new
# inputs are kept in fuzz/corpus-TARGET, failing ones in fuzz/.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-600}
[ $# -gt 0 ] && shift
# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- demangle dwarf foreign jit lines names symbols \
	$(sed -n 's/^FORMAT(\(.*\))$/\1/p' "$source/src/formats/list.def")
mkdir -p fuzz
cd fuzz

for target; do
	mkdir -p "corpus-$target"
	main=$source/tests/fuzz-$target.c
	[ -f "$main" ] || main=$source/tests/fuzz-format.c
	# shellcheck disable=SC2046 # flags
	clang -std=gnu11 -D_GNU_SOURCE -DPACKAGE_VERSION='"fuzz"' -g -O1 \
		-fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -I"$source" \
		-DROW="$target" -o "fuzz-$target" "$main" \
		"$source"/src/base/*.c "$source"/src/profile/*.c \
		"$source"/src/formats/*.c "$source"/src/formats/*/*.c \
		"$source"/dwarf/*.c $(find "$source/src/symbols" -name '*.c') \
		$(pkg-config --cflags --libs capstone libdw libelf zlib libdeflate libzstd libxxhash libmd yajl libpcre2-8) \
		-liberty -lm
	case $target in
	chrome_trace) test=../tests/test-cpuprofile ;;
	*) test=../tests/test-$(echo "$target" | tr _ -) ;;
	esac
	if [ -x "$test" ]; then
		rm -rf seeds
		mkdir seeds
		CPPROF_SEEDS=seeds srcdir="$source" "$test" >seeds.log 2>&1 ||
			:
		find seeds -type f -size -20k -exec cp {} "corpus-$target/" \;
	fi
	case $target in
	callgrind)
		for file in "$source"/tests/data/callgrind/*.out.gz; do
			gzip -dc "$file" | head -c 6000 \
				>"corpus-$target/$(basename "$file" .gz)"
		done ;;
	collapsed) cp "$source"/sample-data/*.folded "corpus-$target/" ;;
	demangle)	# a byte that says whose, then a name without its head
		printf '\000NK2db6record4findIJiEEEvDpRKT_' >"corpus-$target/c++"
		printf '\001NvXNtC1a1bINtC4core3fmtE1c' >"corpus-$target/rust"
		printf '\0023std5stdio7writelnFAyaZv' >"corpus-$target/d"
		;;
	foreign)
		printf '\377\376a\0;\0b\0 \0001\0\n\0' >"corpus-$target/utf16"
		gzip -nc "corpus-$target/utf16" >"corpus-$target/utf16.gz"
		zstd -qc "corpus-$target/utf16" >"corpus-$target/utf16.zst"
		printf 'a;b 1\n{"a": 1}\n  x`y+0x1\n' >"corpus-$target/text"
		;;
	gmon)
		cp "$source/sample-data/rdparse.c" .
		gcc -O1 -pg -no-pie -o program rdparse.c
		./program 20
		cp gmon.out corpus-gmon/
		echo 'int main(void) { return 0; }' | gcc -o small -x c -
		{ printf '\002' && cat small; } >corpus-gmon/program
		;;
	gperftools)
		cp "$source"/tests/data/gperftools/*.prof "corpus-$target/" ;;
	jit)	# one record: kind and size, time, numbers, name
		{
			printf '\0\0\0\0\110\0\0\0\0\0\0\0\0\0\0\0'
			head -c 40 /dev/zero
			printf 'name of code\0......'
		} >"corpus-$target/load"
		;;
	pprof_raw) cp "$source"/tests/data/legacy/*.raw "corpus-$target/" ;;
	legacy) cp "$source"/tests/data/legacy/*.* "corpus-$target/" ;;
	lines)
		for form in -gdwarf-4 -gdwarf-5 '-gdwarf-5 -gz' \
			'-gdwarf-5 -fdebug-info-for-profiling'; do
			# Nothing but code, near address 0, and what is said
			# of it.
			# shellcheck disable=SC2086 # flags
			clang $form -O2 -nostdlib -static -e main \
				-fno-asynchronous-unwind-tables \
				-Wl,--build-id=none,-z,noseparate-code \
				-Wl,-Ttext=0x1000 -o "corpus-$target/form$form" \
				"$source/tests/programs/inlines.c"
		done
		;;
	names) head -c 6000 /dev/zero >"corpus-$target/whole" ;;
	perf_data)
		cp "$source"/tests/data/perf/*.data "corpus-$target/"
		gzip -dc "$source"/tests/data/perf/rec-dwarf.data.gz |
			head -c 12000 >"corpus-$target/dwarf"
		;;
	perf_script) cp "$source"/tests/data/perf/*.script "corpus-$target/" ;;
	pprof)
		for profile in "$source"/tests/data/go/*.gz; do
			gzip -dc "$profile" >"corpus-pprof/$(basename "$profile")"
		done
		;;
	symbols)	# one byte, then a module
		echo 'int main(void) { return 0; }' | clang -s -o program -x c -
		{ printf '\001' && cat program; } >"corpus-$target/program"
		# Go's table of one function: header, text, names.
		{
			printf '\361\377\377\377\0\0\001\010'
			printf '\001\0\0\0\0\0\0\0%8s' '' | tr ' ' '\0'
			printf '\0\020\0\0\0\0\0\0'	# 0x1000
			printf '\110\0\0\0\0\0\0\0%24s' '' | tr ' ' '\0'
			printf '\120\0\0\0\0\0\0\0\0main.f\0'
			printf '\0\0\0\0\014\0\0\0\020\0\0\0\0\0\0\0\001\0\0\0'
		} >table
		clang -s -nostdlib -static -e main -Wl,--build-id=none \
			-Wl,-z,noseparate-code -Wl,-Ttext=0x1000 \
			-o program -x c - <<-'END'
			int main(void) { return 0; }
		END
		objcopy --add-section .gopclntab=table program
		{ printf '\001' && cat program; } >"corpus-$target/go"
		;;
	dwarf)		# which form and where, then a section
		echo 'int main(void) { return 0; }' | gcc -g -o program -x c -
		objcopy -O binary -j .eh_frame --set-section-flags \
			.eh_frame=alloc program section
		{ printf '\0\0\1\0\0\0\0\0\0' && cat section; } \
			>"corpus-$target/eh_frame"
		echo 'int main(void) { return 0; }' |
			gcc -g -fno-asynchronous-unwind-tables -fno-exceptions \
			-c -o object -x c -
		objcopy -O binary -j .debug_frame --set-section-flags \
			.debug_frame=alloc object section
		{ printf '\1\0\1\0\0\0\0\0\0' && cat section; } \
			>"corpus-$target/debug_frame"
		;;
	esac
	"./fuzz-$target" -max_total_time="$seconds" -timeout=20 -max_len=20000 \
		-rss_limit_mb=2048 -print_final_stats=1 "corpus-$target" \
		2>&1 | tail -n 12
done
