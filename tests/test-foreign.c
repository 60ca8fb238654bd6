/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-foreign.c -- messages for files in formats that cpprof does not read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/formats/format.h"

/* Reads the bytes as a file of the test's directory. */
static struct profile *
load_bytes(const char *directory, const char *bytes, size_t n,
           struct error *error)
{
	struct read_options options = { 0 };
	char path[300];
	const char *paths[] = { path };
	FILE *file;

	snprintf(path, sizeof path, "%s/file", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	return load_profiles(paths, 1, &options, error);
}

static void
expect_refused(const char *directory, const char *bytes, size_t n,
               const char *what)
{
	struct error error = { 0 };
	struct profile *profile = load_bytes(directory, bytes, n, &error);

	if (profile != NULL)
		fail_msg("read although it is %s", what);
	if (strstr(error.text, "file: not a profile of a known format") ==
	    NULL || strstr(error.text, what) == NULL ||
	    strchr(error.text, '\n') != NULL)
		fail_msg("\"%s\" does not say \"%s\"", error.text, what);
}

static void
foreign_formats_are_named_with_what_converts_them(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
		{ "CPU     ID                    FUNCTION:NAME\n"
		  "  0  64091                        :tick-60s\n\n\n"
		  "              genunix`kmem_cache_alloc+0xce\n"
		  "              unix`sys_syscall+0x10e\n"
		  "                3\n",
		  "DTrace output; convert it: stackcollapse.pl" },
		{ "Attaching 1 probe...\n\n@[\n    vfs_read+0\n"
		  "    ksys_read+95\n]: 12\n", "stackcollapse-bpftrace.pl" },
		{ "@stacks[\n    main+12\n, prog]: 12\n",
		  "stackcollapse-bpftrace.pl" },
		{ "Sampling at 49 Hertz of all threads by user + kernel "
		  "stack for 5 secs.\n\n    main\n    -  prog (12)\n        5\n",
		  "bcc's profile; run it with -f" },
		{ "Thread 1 (LWP 1):\n#0  0x1 in read ()\n#1  0x2 in main ()\n",
		  "stackcollapse-gdb.pl" },
		{ "index  % time    self  children called     name\n"
		  "                                             <spontaneous>\n"
		  "[1]    100.00    0.00     1.93    0      start [1]\n\f\n",
		  "a listing of gprof; open what it was made of" },
		{ "index % time    self  children    called     name\n"
		  "[1]    100.0    0.00    1.93       1         main [1]\n\f\n",
		  "a listing of gprof; open what it was made of" },
		{ "--- heapz 1 ---\nformat = java\nresolution = bytes\n"
		  "   7048   1 @ 0x00000003 0x00000004\n",
		  "a heap profile of Java; convert it: go tool pprof -proto" },
		{ "{\"start_time\": 1, \"duration\": 0.2, \"sample_count\": 5, "
		  "\"target_description\": \"x\", \"root_frame\": {}}",
		  "pyinstrument --load FILE -r speedscope" },
		{ "{\"session\":{\"start_time\":1,\"frame_records\":[]}}",
		  "pyinstrument --load FILE -r speedscope" },
		{ "{\"data\":[[1,2]],\"columns\":[\"time\",\"path\"],"
		  "\"column_metadata\":[{}],\"nodes\":[]}",
		  "Caliper in JSON; convert it with Python's hatchet" },
		{ "__rec=node,id=12,attr=10,data=64,parent=3\n",
		  "a recording of Caliper; convert it" },
		{ "main:184019:0\n 4: 534\n 4.2: 534\n",
		  "a profile for AutoFDO; it has samples of lines" },
		{ "_ZN1aEv:10:2\n 1: 5 f:5\n",
		  "a profile for AutoFDO; it has samples of lines" },
		{ "*version\n3\ndata-file-overflow=false\nclock=dual\n",
		  "(ART); open it at profiler.firefox.com" },
		{ "GO PREPROFILE V1\nmain.a\nmain.b\n12 3\n4\n",
		  "PREPROFILE); it has weights of calls" },
		{ "            bash \n              sh \n",
		  "too few fields; print more: perf script -F" },
		{ "{\"version\":1.2,\"mode\":\"wall\",\"interval\":1000,"
		  "\"samples\":3,\"gc_samples\":0,\"missed_samples\":0,"
		  "\"frames\":{}}", "stackprof --stackcollapse" },
		{ "{\"head\":{\"callFrame\":{\"functionName\":\"(root)\","
		  "\"scriptId\":\"0\",\"url\":\"\",\"lineNumber\":-1,"
		  "\"columnNumber\":-1},\"selfSize\":0,\"id\":1,"
		  "\"children\":[]}}", "a sampled heap profile of V8; open it" },
		{ "{\"label\":\"x\",\"duration\":4.5,\"markers\":[],"
		  "\"frames\":[],\"ticks\":[],\"profile\":{\"threads\":[]}}",
		  "Firefox's old DevTools; open it at www.speedscope.app" },
		{ "{\n  \"format\": \"profileJSONWithSymbolicationTable,1\",\n"
		  "  \"meta\": {\"stackwalk\": 1, \"interval\": 1},\n"
		  "  \"profileJSON\": {\"threads\": []}}",
		  "Cleopatra, Firefox's old profiler; open it at profiler" },
		{ "{\"version\":1,\"recording\":{\"displayName\":\"x\","
		  "\"instrumentTypes\":[\"timeline-record-type-cpu\"]}}",
		  "a recording of Safari; open it at" },
		{ "{\n\"program\": \"p\",\n\"rts_arguments\": [\"-pj\"],\n"
		  "\"cost_centres\": [\n]}", "a profile of GHC in JSON" },
		{ "Weight\tSelf Weight\t\tSymbol Name\n"
		  "96.08 Gc  100.0%\t-\t \tmain (40414)\n",
		  "a table copied from Instruments; open it at" },
		{ "Bytes Used\tCount\t\tSymbol Name\n"
		  " 429.93 MB     100.0%\t84671\t \tstart\n",
		  "a table copied from Instruments; open it at" },
		{ "Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
		  "  %   cumulative   self              self     total\n"
		  " 99.9   0.10     0.10        1     0.10     0.10  main\n",
		  "a listing of gprof; open what it was made of" },
		{ "\t\t     Call graph (explanation follows)\n\n\n"
		  "granularity: each sample hit covers 2 byte(s)\n",
		  "a listing of gprof" },
		{ "# To display the perf.data header info, please use\n#\n"
		  "    50.00%  prog  prog  [.] main\n",
		  "perf report; open the perf.data file itself" },
		{ "# Overhead  Command  Shared Object\n# ........\n#\n"
		  "    50.00%  prog  prog  [.] main\n", "perf report" },
		{ "\n Performance counter stats for './prog':\n\n"
		  "   1.05 msec task-clock\n", "perf stat" },
		{ "------------------------------\n"
		  "Profile data file 'callgrind.out.1' (creator: callgrind)\n",
		  "callgrind_annotate; open the callgrind.out file" },
		{ "desc: (none)\ncmd: ./a.out\ntime_unit: i\n#-----------\n"
		  "snapshot=0\n", "a profile of massif" },
		{ "{\"dhatFileVersion\":2,\"mode\":\"heap\"}\n",
		  "a profile of DHAT" },
		{ "v 10500 3\nX 6 ./prog\nI 1000 8000\nt 1 0\n+ 0\n",
		  "heaptrack_print -F" },
		{ "Analysis of sampling prog (pid 12) every 1 millisecond\n"
		  "Call graph:\n    12 Thread_1\n", "inferno-collapse-sample" },
		{ "<?xml version=\"1.0\"?>\n<trace-query-result>\n",
		  "inferno-collapse-xctrace" },
		{ "<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\">\n",
		  "xctrace export" },
		{ "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC>\n<svg>\n",
		  "a picture in SVG" },
		{ "<?xml version=\"1.0\"?>\n<project>\n", "but XML" },
		{ "<!doctype HTML>\n<title>Flame</title>\n", "an HTML page" },
		{ "{\"some\": [1, 2]}\n", "but JSON" },
		{ "v8-version,10,2,154,26,-node.26,0\nshared-library,/bin/x\n",
		  "node --cpu-prof" },
		{ "Version: 3.1.6\nFile format: 4\n"
		  "TRACE START [2022-01-01 00:00:00.0]\n",
		  "stackcollapse-xdebug.php" },
		{ "JAVA PROFILE 1.0.1, created Mon Jan  1 00:00:00 2024\n\n",
		  "stackcollapse-hprof" },
		{ "2024-01-01\nFull thread dump OpenJDK 64-Bit Server VM\n",
		  "stackcollapse-jstack.pl" },
		{ "Index  % CPU Time:Total  CPU Time:Self  CPU Time:Children  "
		  "Name  Index\n-----  ---\n", "a report of VTune" },
		{ "Function\tCPU Time\tCPU Time:Effective Time\nf\t0.1\t0.1\n",
		  "inferno-collapse-vtune" },
		{ "Process, Module, Function, Weight, % Weight, Stack\r\n"
		  "p.exe (1), ntdll.dll, f, 12, 3, a/b\r\n",
		  "xperf_to_collapsedstacks.py" },
		{ "BeginHeader\n     P-Start, TimeStamp, Process Name\n"
		  "EndHeader\n", "a trace that xperf has printed" },
		{ "ngranularity: Each sample hit covers 4 bytes. Time: 3.62 "
		  "seconds\n\n", "a listing of IBM's gprof" },
		{ "index  %time    self descendents  called/total  parents\n",
		  "a listing of IBM's gprof" },
		{ "\x5e\x97\xca\xfd\1\1xxxxxxxxxxxx", "a capture of Sysprof" },
		{ "<?xml version=\"1.0\"?>\n<profile>\n <objects>\n",
		  "a profile of Sysprof in XML" },
		{ "{\"event_id\":\"1\"}\n{\"type\":\"profile\"}\n"
		  "{\"version\":\"1\",\"profile\":{\"samples\":[{\"stack_id\":0,"
		  "\"thread_id\":\"1\",\"elapsed_since_start_ns\":\"5\"}],"
		  "\"stacks\":[[0]],\"frames\":[{\"function\":\"f\"}],"
		  "\"thread_metadata\":{}}}", "an envelope of Sentry" },
		{ "{\"alloc_samples\":0,\"args\":[],\"elapsed_time_sec\":1.2,"
		  "\"files\":{}}", "a profile of Scalene" },
		{ "Function Stack,CPU Time:Self,Module\nTotal,0,\n",
		  "inferno-collapse-vtune" },
		{ "\tMon Jan  1 00:00 2024 Time and Allocation Profiling Report "
		  " (Final)\n", "inferno-collapse-ghcprof" },
		{ "File: prog\nType: cpu\nShowing nodes accounting for 10ms\n",
		  "go tool pprof; open the profile itself" },
		{ "         5 function calls in 0.000 seconds\n\n"
		  "   Ordered by: standard name\n\n"
		  "   ncalls  tottime  percall  cumtime\n", "pyprof2calltree" },
		{ "goroutine 1 [running]:\nmain.main()\n\t/t.go:3 +0x1d\n",
		  "take them with debug=1" },
		/* no signature, and no line that could be a stack */
		{ "main;a;b\nmain;c\n", "(callgrind, " },
		{ "int\nmain(void)\n{\n\treturn 0;\n}\n", "(callgrind, " },
		{ "name, calls\nmain, 5\nread, 7\n", "(callgrind, " },
		{ "x = 5\ny: 7\n", "(callgrind, " },
		{ "main 5\nof two\nor three\n", "(callgrind, " },
		{ "1 2 3\n4 5 6\n", "(callgrind, " },
		{ "Jan 1 00:00:00 host x[1]: started\n"
		  "Jan 1 00:00:01 host x[1]: listens on port 80\n"
		  "Jan 1 00:00:01 host x[1]: ready\n", "(callgrind, " },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_refused(*state, cases[i].text, strlen(cases[i].text),
		               cases[i].what);
}

static void
foreign_binary_formats_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *what;
	} cases[] = {
		{ "FLR\0\0\2\0\1", 8, "jfrconv -o collapsed" },
		{ "JAVA PROFILE 1.0.2\0\0\0\0\4", 23, "a heap dump of Java" },
		{ "\0\0\0\0\3\0\0\0\1\0\0\0\x10\x27\0\0\0\0\0\0", 20,
		  "a CPU profile of Java; convert it: go tool pprof" },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0",
		  28, "a CPU profile of Java; convert it: go tool pprof" },
		{ "\xfb)\3\xfa\1~\xe9\0", 8, "pyprof2calltree" },
		{ "{(\3\0\0\0u", 7, "pyprof2calltree" },
		{ "go 1.21 trace\0\0\0", 16, "go tool trace" },
		{ "Nettrace\x14", 9, "dotnet-trace convert" },
		{ "\4\10{\6:\11modeI\"\10cpu\6:\6ET", 18,
		  "stackprof --stackcollapse FILE > OUT" },
		{ "SIMPLEPERF\1\0X\0\0\0*V", 18,
		  "simpleperf; open what report_sample.py" },
		{ "memray\0\x0b\0\0\0", 11, "a recording of memray; memray" },
		{ "\x0a\x10\x0a\x0c\x08\0\x10\x70\x18\0\x20\1", 12,
		  "(quipper); open the perf.data" },
		{ "\x0a\x90\1\x0a\x8d\1\x08\1\x10\x70\x18\0\x20\1", 14,
		  "(quipper); open the perf.data" },
		/* Packed again: the first bytes of such a file. */
		{ "\037\213\010\000\000\000\000\000\002\003\223\357"
		  "\346\140\000\001\000\213\300\373\246\010\000\000"
		  "\000", 25,
		  "gzip -dc FILE | cpprof -" },
		{ "\050\265\057\375\004\130\101\000\000\050\265\057"
		  "\375\044\000\001\000\062\114\145\352", 21,
		  "zstd -dc FILE | cpprof -" },
		{ "\xfd" "7zXZ\0\0", 7, "xz -dc FILE | cpprof -" },
		{ "MOJ\3\1", 5, "mojo2austin" },
		{ "PK\3\4\n\0", 6, "a zip archive" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_refused(*state, cases[i].bytes, cases[i].n,
		               cases[i].what);
}

/*
 * Neither bad lines nor names like signatures make the input another format.
 */
static void
collapsed_stacks_stay_collapsed_stacks(void **state)
{
	static const struct {
		const char *text, *error;	/* NULL: it is read */
	} cases[] = {
		{ "a;b 1\nnonsense\n", ":2: expected" },
		{ "main 1\nnonsense\n", ":2: expected" },
		{ "[main;a 5\n", NULL },
		{ "[[heap]];a 5\n", NULL },
		{ "<svg;a 5\n", NULL },
		{ "{\"a\";b 5\n", NULL },
		{ "BZhuff;a 5\nMOJito;b 5\n", NULL },
		{ "Total: a;b 5%;c 5\n", NULL },
		{ "main 5\n", NULL },
		{ "0x12 5\n", NULL },
		{ "x=;y 5\n", NULL },
		{ "# a comment alone\na;b 1\n", NULL },
		{ "a;b 1", NULL },
		{ "warning 1\nat line\nof file\nb\na;b 1\n", ":2: expected" },
		{ "# cpprof 1\nnonsense\n", ":2: expected" },
		/* Programs have lines that end in a number, too. */
		{ "int a; int b = 5\nint c; b += 7\nif (a; b) -1\n",
		  "not a profile of a known format" },
		{ "main;operator = 5\n", NULL },
		{ "main;+ 5\n", NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error error = { 0 };
		struct profile *profile = load_bytes(*state, cases[i].text,
		    strlen(cases[i].text), &error);

		if (cases[i].error == NULL && profile == NULL)
			fail_msg("%s", error.text);
		if (cases[i].error != NULL &&
		    strstr(error.text, cases[i].error) == NULL)
			fail_msg("case %zu: %s", i, error.text);
		profile_free(profile);
	}
}

/* A line longer than the part inspected is only recognised later. */
static void
a_first_line_of_any_length_may_be_a_stack(void **state)
{
	size_t n = 3 * FORMAT_HEAD_SIZE;
	char *text = malloc(n);
	struct error error = { 0 };
	struct profile *profile;

	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text + n - 3, " 5\n", 3);
	profile = load_bytes(*state, text, n, &error);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_int_equal(profile->tree->n_nodes, 1);
	profile_free(profile);
	free(text);
}

static void
a_trace_of_instruments_is_named(void **state)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	char path[300], inside[330];
	const char *paths[] = { path };

	snprintf(path, sizeof path, "%s/x.trace", (char *)*state);
	snprintf(inside, sizeof inside, "%s/corespace", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_null(load_profiles(paths, 1, &options, &error));
	assert_non_null(strstr(error.text, "inferno-collapse-xctrace"));
	rmdir(inside);
	rmdir(path);
}

static int
make_directory(void **state)
{
	char *path = strdup("/tmp/test-foreign.XXXXXX");

	if (path == NULL || mkdtemp(path) == NULL)
		return -1;
	*state = path;
	return 0;
}

static int
remove_directory(void **state)
{
	char path[300];

	snprintf(path, sizeof path, "%s/file", (char *)*state);
	unlink(path);
	rmdir(*state);
	free(*state);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    foreign_formats_are_named_with_what_converts_them),
		cmocka_unit_test(foreign_binary_formats_are_named),
		cmocka_unit_test(collapsed_stacks_stay_collapsed_stacks),
		cmocka_unit_test(a_first_line_of_any_length_may_be_a_stack),
		cmocka_unit_test(a_trace_of_instruments_is_named),
	};

	return cmocka_run_group_tests(tests, make_directory,
	                              remove_directory);
}
