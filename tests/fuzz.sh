#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh [SECONDS [TARGET...]] -- runs each reader's fuzz target for a while.
#
# Needs clang with libFuzzer.  Builds in ./fuzz, with ASan and UBSan; new
# inputs are kept in fuzz/corpus-TARGET, failing ones in fuzz/.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- callgrind collapsed cpprofdata cpuprofile demangle \
	dwarf firefox foreign gmon gperftools jit legacy lines merged names perfdata \
	otlp perfscript phpspy pprof pprofraw speedscope symbols xhprof
mkdir -p fuzz
cd fuzz

for target; do
	mkdir -p "corpus-$target"
	# shellcheck disable=SC2046 # flags
	clang -std=gnu11 -D_GNU_SOURCE -DPACKAGE_VERSION='"fuzz"' -g -O1 \
		-fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -I"$source" \
		-o "fuzz-$target" "$source/tests/fuzz-$target.c" \
		"$source"/src/base/*.c "$source"/src/profile/*.c \
		"$source"/src/formats/*.c "$source"/src/formats/*/*.c \
		"$source"/dwarf/*.c $(find "$source/src/symbols" -name '*.c') \
		$(pkg-config --cflags --libs capstone libdw libelf zlib libdeflate libzstd libxxhash libmd yajl libpcre2-8) \
		-liberty -lm
	case $target in
	callgrind)
		for file in "$source"/tests/data/callgrind/*.out.gz; do
			gzip -dc "$file" | head -c 6000 \
				>"corpus-$target/$(basename "$file" .gz)"
		done ;;
	collapsed) cp "$source"/sample-data/*.folded "corpus-$target/" ;;
	cpuprofile)	# one byte that says which reader's
		gzip -dc "$source/tests/data/node/busy.cpuprofile.gz" |
			head -c 4000 | sed 's/^/0/' >"corpus-$target/node"
		printf '%s' '0{"head":{"functionName":"f","children":[{"id":2' \
			'}],"hitCount":3,"id":1},"timestamps":[1,3],' \
			'"samples":[2,1],"endTime":7}' >"corpus-$target/old"
		printf '%s' '1[{"args":{"data":{"cpuProfile":{"nodes":[{"id":1' \
			'},{"id":2,"parent":1}],"samples":[2]},"timeDeltas":' \
			'[4]}},"id":"0x1","name":"ProfileChunk","pid":1}]' \
			>"corpus-$target/trace"
		;;
	demangle)	# a byte that says whose, then a name without its head
		printf '\000NK2db6record4findIJiEEEvDpRKT_' >"corpus-$target/c++"
		printf '\001NvXNtC1a1bINtC4core3fmtE1c' >"corpus-$target/rust"
		printf '\0023std5stdio7writelnFAyaZv' >"corpus-$target/d"
		;;
	firefox)
		printf '%s' '{"meta":{"interval":1,"sampleUnits":{"threadCPU' \
			'Delta":"ns"}},"threads":[{"samples":{"stack":[1,null' \
			'],"weight":[1,2.5],"weightType":"bytes","threadCPUDe' \
			'lta":[1,2]},"stackTable":{"frame":[0,1],"prefix":[nu' \
			'll,0]},"frameTable":{"func":[0,1],"address":[-1,7],"' \
			'line":[null,3]},"funcTable":{"name":[0,1],"resource"' \
			':[-1,0],"fileName":[null,0]},"resourceTable":{"lib":' \
			'[0]},"libs":[{"path":"/a","codeId":"ab"}],"stringArr' \
			'ay":["f","0x7"],"name":"t","pid":"1","tid":2}]}' \
			>"corpus-$target/own"
		printf '%s' '{"threads":[{"samples":{"stack":[1,0]}},{"sample' \
			's":{"stack":[1]}}],"shared":{"stackTable":{"frame":[' \
			'0,1],"prefixOffset":[0,1]},"frameTable":{"func":[0,0' \
			'],"lib":[-1,-1]},"funcTable":{"name":[0],"source":[0' \
			']},"sources":{"filename":[0]},"stringArray":["f"]}}' \
			>"corpus-$target/shared"
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
	pprofraw) cp "$source"/tests/data/legacy/*.raw "corpus-$target/" ;;
	legacy) cp "$source"/tests/data/legacy/*.* "corpus-$target/" ;;
	lines)
		for form in -gdwarf-4 -gdwarf-5 '-gdwarf-5 -gz'; do
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
	merged)		# what its test builds
		if [ -x ../tests/test-merged ]; then
			mkdir -p seeds-merged
			CPPROF_SEEDS=seeds-merged srcdir="$source" \
				../tests/test-merged >seeds-merged.log 2>&1 || :
			cp seeds-merged/* "corpus-$target/"
		fi
		;;
	names) head -c 6000 /dev/zero >"corpus-$target/whole" ;;
	perfdata)
		cp "$source"/tests/data/perf/*.data "corpus-$target/"
		gzip -dc "$source"/tests/data/perf/rec-dwarf.data.gz |
			head -c 12000 >"corpus-$target/dwarf"
		# What its test builds, of kinds that few machines record.
		if [ -x ../tests/test-perf-data ]; then
			mkdir -p seeds
			CPPROF_SEEDS=seeds srcdir="$source" \
				../tests/test-perf-data >seeds.log 2>&1 || :
			find seeds -type f -size -20k -exec cp {} "corpus-$target/" \;
		fi
		;;
	perfscript) cp "$source"/tests/data/perf/*.script "corpus-$target/" ;;
	pprof)
		for profile in "$source"/tests/data/go/*.gz; do
			gzip -dc "$profile" >"corpus-pprof/$(basename "$profile")"
		done
		;;
	speedscope)
		printf '%s' '{"profiles":[{"unit":"seconds","samples":[[0,1],' \
			'[]],"weights":[1,2.5e-3]},{"name":"t","endValue":9,' \
			'"events":[{"type":"O","frame":0,"at":5},{"type":"C",' \
			'"frame":0,"at":9}],"unit":"none"}],"shared":{"frames"' \
			':[{"name":"a","file":"f","line":1},{"name":"b"}]}}' \
			>"corpus-$target/small"
		;;
	otlp)
		printf '%s' '{"resourceProfiles":[{"scopeProfiles":[{"profiles":' \
			'[{"sampleType":{"typeStrindex":1},"samples":[{"stackIndex"' \
			':1,"values":["3"]}]}]}]}],"dictionary":{"stringTable":["",' \
			'"cpu","f"],"functionTable":[{},{"nameStrindex":2}],' \
			'"locationTable":[{},{"lines":[{"functionIndex":1}]}],' \
			'"stackTable":[{},{"locationIndices":[1]}]}}' \
			>"corpus-$target/small.json"
		if [ -x ../tests/test-otlp ]; then
			mkdir -p seeds
			CPPROF_SEEDS=seeds ../tests/test-otlp >seeds.log 2>&1 || :
			find seeds -type f -size -20k -exec cp {} "corpus-$target/" \;
		fi
		;;
	phpspy)
		printf '0 f <internal>:-1\n1 <main> /a.php:3\n# pid = 7\n\n' \
			>"corpus-$target/small"
		;;
	xhprof)
		printf '%s' '{"main()":{"ct":1,"wt":100,"mu":9},"main()==>f":' \
			'{"ct":3,"wt":60,"mu":-1},"f==>f@1":{"ct":1,"wt":1}}' \
			>"corpus-$target/small"
		;;
	symbols)	# one byte, then a module
		echo 'int main(void) { return 0; }' | clang -s -o program -x c -
		{ printf '\001' && cat program; } >"corpus-$target/program"
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
