/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foreign.c -- formats that are recognised but not read.
 *
 * Signatures are those that the tools' own readers look for: file(1)'s magic,
 * FlameGraph's stackcollapse-*.pl, inferno's collapsers (each has a test of
 * what it applies to), and where there is none the writers' sources.
 */
#include "src/formats/format.h"

#include <string.h>
#include <strings.h>

enum { TEXT_SOUGHT = 8 << 10 };	/* bytes in which a text must show itself */

struct foreign_text {
	const char *at;
	size_t size;
};

/*
 * All conditions that are not NULL must hold of a file.  A format may have more
 * than one row; the first row that fits wins.
 */
struct signature {
	struct foreign_format format;
	const char *magic;	/* the first bytes, magic_size of them */
	size_t magic_size;
	const char *begins;	/* the text after blanks and empty lines */
	const char *line;	/* a line of the first ones begins so */
	const char *has;	/* the text holds it, near its beginning */
	const char *json[3];	/* the text is JSON and holds all of these */
	bool (*fits)(struct foreign_text text);
	bool is_vague;
};

/* ---- parts of signatures ---- */

static struct foreign_text
without_blanks(struct foreign_text text)
{
	while (text.size > 0 && memchr(" \t\r\n", *text.at, 4) != NULL) {
		text.at++;
		text.size--;
	}
	return text;
}

static bool
begins_with(struct foreign_text text, const char *with)
{
	size_t length = strlen(with);

	return text.size >= length && memcmp(text.at, with, length) == 0;
}

static bool
begins_with_any_case(struct foreign_text text, const char *with)
{
	size_t length = strlen(with);

	return text.size >= length && strncasecmp(text.at, with, length) == 0;
}

static bool
has(struct foreign_text text, const char *what)
{
	return memmem(text.at, text.size, what, strlen(what)) != NULL;
}

/* The first line; *text becomes what follows it.  false: there is none. */
static bool
foreign_take_line(struct foreign_text *text, struct foreign_text *line)
{
	const char *end = text->size == 0 ? NULL :
	                  memchr(text->at, '\n', text->size);

	*line = *text;
	if (text->size == 0)
		return false;
	if (end != NULL)
		line->size = (size_t)(end - text->at);
	text->at += line->size + (end != NULL);
	text->size -= line->size + (end != NULL);
	if (line->size > 0 && line->at[line->size - 1] == '\r')
		line->size--;
	return true;
}

static bool
has_line(struct foreign_text text, const char *begin)
{
	struct foreign_text line;

	while (foreign_take_line(&text, &line))
		if (begins_with(line, begin))
			return true;
	return false;
}

/* ---- signatures that take more than a look ---- */

/* Stacks as DTrace prints them: "   module`function+0x1f", indented. */
static bool
is_dtrace(struct foreign_text text)
{
	struct foreign_text line;

	while (foreign_take_line(&text, &line)) {
		struct foreign_text words = without_blanks(line);
		const char *tick = memchr(words.at, '`', words.size);

		if (words.size < line.size && tick != NULL && tick > words.at &&
		    memchr(words.at, ' ', words.size) == NULL &&
		    has(words, "+0x"))
			return true;
	}
	return false;
}

/* Maps of stacks as bpftrace prints them: "@[" or "@name[", frames below. */
static bool
is_bpftrace(struct foreign_text text)
{
	struct foreign_text line;

	while (foreign_take_line(&text, &line))
		if (begins_with(line, "@") && line.size >= 2 &&
		    line.at[line.size - 1] == '[')
			return true;
	return false;
}

/* Stacks as gdb prints them, "#0  0x... in f ()" and then "#1  ". */
static bool
is_gdb(struct foreign_text text)
{
	return has_line(text, "#0  ") && has_line(text, "#1  ");
}

/* A dictionary whose first key is (file, line, function), marshalled. */
static bool
is_pstats(struct foreign_text text)
{
	return text.size >= 3 && (text.at[0] & 0x7f) == '{' &&
	       ((text.at[1] & 0x7f) == ')' ? text.at[2] == 3 :
	        begins_with((struct foreign_text){ text.at + 1, text.size - 1 },
	                    "(\3"));
}

static bool
is_tar(struct foreign_text text)
{
	return text.size >= 262 && memcmp(text.at + 257, "ustar", 5) == 0;
}

static bool
is_heaptrack(struct foreign_text text)
{
	return begins_with(text, "v ") && has_line(text, "X ") &&
	       has_line(text, "I ");
}

static bool
is_html(struct foreign_text text)
{
	text = without_blanks(text);
	return begins_with_any_case(text, "<!doctype html") ||
	       begins_with_any_case(text, "<html");
}

static bool
foreign_is_json(struct foreign_text text)
{
	struct foreign_text rest = text = without_blanks(text);

	if (text.size == 0 || memchr("{[", *text.at, 2) == NULL)
		return false;
	rest.at++;
	rest.size--;
	rest = without_blanks(rest);
	return rest.size > 0 && memchr(*text.at == '{' ? "\"}" :
	                               "{[]\"", *rest.at,
	                               *text.at == '{' ? 2 : 4) != NULL;
}

/* Words of 4 or 8 bytes, in either order: 0, 3, 1 (gperftools has 0, 3, 0). */
static bool
is_java_cpu(struct foreign_text text)
{
	static const unsigned char expected[] = { 0, 3, 1 };

	for (size_t size = 4; size <= 8; size += 4) {
		bool is_little = true, is_big = true;

		if (text.size < 3 * size)
			return false;
		for (size_t i = 0; i < 3 * size; i++) {
			unsigned char byte = (unsigned char)text.at[i];

			is_little &= byte == (i % size == 0 ?
			                      expected[i / size] : 0);
			is_big &= byte == (i % size == size - 1 ?
			                   expected[i / size] : 0);
		}
		if (is_little || is_big)
			return true;
	}
	return false;
}

/* "main:184019:0" and " 4: 534": samples of a function and of its lines. */
static bool
is_autofdo(struct foreign_text text)
{
	struct foreign_text line, words;
	size_t n;

	if (!foreign_take_line(&text, &line) || line.size == 0 ||
	    *line.at == ' ')
		return false;
	for (int i = 0; i < 2; i++) {
		const char *colon = memrchr(line.at, ':', line.size);

		if (colon == NULL || colon + 1 == line.at + line.size)
			return false;
		for (const char *at = colon + 1; at < line.at + line.size; at++)
			if (*at < '0' || *at > '9')
				return false;
		line.size = (size_t)(colon - line.at);
	}
	if (line.size == 0 || !foreign_take_line(&text, &line))
		return false;
	words = without_blanks(line);
	for (n = 0; n < words.size && strchr("0123456789.", words.at[n]); n++)
		;
	return words.size < line.size && n > 0 && n + 1 < words.size &&
	       words.at[n] == ':' && words.at[n + 1] == ' ';
}

/*
 * A PerfDataProto: the first field is a file_attrs, whose first is an attr,
 * whose first two are a type of event and the size of struct perf_event_attr.
 */
static bool
is_quipper(struct foreign_text text)
{
	const unsigned char *at = (const unsigned char *)text.at;
	const unsigned char *end = at + text.size;

	for (int i = 0; i < 2; i++) {
		if (end - at < 4 || *at != 0x0a)
			return false;
		at += at[1] < 0x80 ? 2 : 3;
	}
	return end - at >= 4 && at[0] == 0x08 && at[1] < 0x20 &&
	       at[2] == 0x10 && at[3] >= 64 && at[3] % 8 == 0;
}

/* A table that xperf or WPA has exported: commas, and these columns. */
static bool
is_xperf_table(struct foreign_text text)
{
	struct foreign_text line;

	return foreign_take_line(&text, &line) && has(line, ",") &&
	       has(line, "Module") && has(line, "Function") &&
	       has(line, "Weight");
}

/* perf script with few fields: nothing tells these, but each ends in a blank. */
static bool
is_perf_fields(struct foreign_text text)
{
	struct foreign_text line;
	size_t n = 0;

	while (foreign_take_line(&text, &line)) {
		bool is_ended = line.size > 0 &&
		                line.at[line.size - 1] == ' ';

		if (!is_ended && text.size > 0)
			return false;
		n += is_ended;	/* the last line may be cut short */
	}
	return n >= 2;
}

/* ---- the table ---- */

#define MAGIC(bytes) .magic = bytes, .magic_size = sizeof bytes - 1
#define GIVE_STACKS "open the stacks or the profile that it was made of"
#define BY_SPEEDSCOPE "open it at www.speedscope.app and export it there, as " \
	"speedscope JSON"
#define BY_PPROF "convert it: go tool pprof -proto -output OUT.pb.gz FILE"
#define VTUNE_STACKS "export its stacks: vtune -report top-down " \
	"-call-stack-mode all -column=\"CPU Time:Self\",Module -filter " \
	"\"Function Stack\" -format csv -csv-delimiter comma -r DIR > OUT.csv; " \
	"inferno-collapse-vtune OUT.csv"
#define XPERF_STACKS "convert the .etl file that it was made of: " \
	"xperf_to_collapsedstacks.py (of UIforETW)"
#define UNPACK(command) "unpack it: " command " FILE | cpprof -"

static const struct signature signatures[] = {
	/* Java */
	{ { "a JFR recording", "convert it: jfrconv -o collapsed IN.jfr "
	    "OUT.collapsed (of async-profiler)" }, MAGIC("FLR\0") },
	{ { "a heap dump of Java", "it has no call paths of a profile" },
	  MAGIC("JAVA PROFILE 1.0.1\0") },
	{ { "a heap dump of Java", "it has no call paths of a profile" },
	  MAGIC("JAVA PROFILE 1.0.2\0") },
	{ { "hprof's text of Java", "convert it: stackcollapse-hprof (of "
	    "hprof2flamegraph)" }, MAGIC("JAVA PROFILE 1.0") },
	{ { "a method trace of Android's runtime (ART)", "open it at "
	    "profiler.firefox.com and save it there" },
	  .begins = "*version", .line = "clock=" },
	{ { "a method trace of Android's runtime (ART)", "open it at "
	    "profiler.firefox.com and save it there" }, MAGIC("SLOW"),
	  .is_vague = true },
	{ { "a thread dump of Java", "convert it: stackcollapse-jstack.pl (of "
	    "FlameGraph)" }, .line = "Full thread dump " },
	{ { "a heap profile of Java", BY_PPROF }, .begins = "--- heapz ",
	  .line = "format = java" },
	{ { "a CPU profile of Java", BY_PPROF }, .fits = is_java_cpu },
	/* macOS */
	{ { "the output of macOS's sample", "convert it: inferno-collapse-"
	    "sample, or stackcollapse-sample.awk (of FlameGraph)" },
	  .line = "Analysis of sampling " },
	{ { "an export of Instruments (xctrace)", "convert it: "
	    "inferno-collapse-xctrace" }, .begins = "<?xml",
	  .has = "<trace-query-result" },
	{ { "the table of contents of an Instruments trace", "export the "
	    "samples instead: xctrace export --input X.trace --xpath '"
	    "/trace-toc/*/data/table[@schema=\"time-profile\"]' | "
	    "inferno-collapse-xctrace" }, .begins = "<?xml",
	  .has = "<trace-toc" },
	{ { "a table copied from Instruments", "convert it: "
	    "stackcollapse-instruments.pl (of FlameGraph)" },
	  .begins = "Running Time\t" },
	{ { "a table copied from Instruments", BY_SPEEDSCOPE },
	  .begins = "Weight\tSelf Weight\t" },
	{ { "a table copied from Instruments", BY_SPEEDSCOPE },
	  .begins = "Bytes Used\tCount\t" },
	/* DTrace, bpftrace and other debuggers' stacks */
	{ { "DTrace output", "convert it: stackcollapse.pl (of FlameGraph), or "
	    "inferno-collapse-dtrace" }, .fits = is_dtrace },
	{ { "bpftrace output", "convert it: stackcollapse-bpftrace.pl (of "
	    "FlameGraph)" }, .fits = is_bpftrace },
	{ { "the output of bcc's profile", "run it with -f, for collapsed "
	    "stacks" }, .line = "Sampling at ", .has = " Hertz of " },
	{ { "a backtrace of gdb", "convert it: stackcollapse-gdb.pl (of "
	    "FlameGraph)" }, .fits = is_gdb },
	/* perf */
	{ { "the output of perf report", "open the perf.data file itself, or "
	    "the output of perf script" }, .line = "# Overhead  " },
	{ { "the output of perf report", "open the perf.data file itself, or "
	    "the output of perf script" },
	  .line = "# To display the perf.data header info" },
	{ { "the output of perf annotate", "open the perf.data file itself, "
	    "or the output of perf script" },
	  .line = " Percent |\tSource code" },
	{ { "the output of perf stat", "it has counts, no stacks; perf record "
	    "-g takes those" }, .line = " Performance counter stats for " },
	{ { "the output of perf report -D", "open the perf.data file itself, "
	    "or the output of perf script" }, .has = ": PERF_RECORD_",
	  .line = "0x" },
	{ { "a protobuf report of simpleperf", "open what report_sample.py (of "
	    "simpleperf) prints of the perf.data file that it was made of" },
	  MAGIC("SIMPLEPERF") },
	{ { "a perf.data file as a protobuf (quipper)", "open the perf.data "
	    "file that it was made of, or convert that: perf_to_profile -i "
	    "perf.data -o OUT.pb" }, .fits = is_quipper },
	{ { "a profile for AutoFDO", "it has samples of lines, no call paths; "
	    "open the perf.data file that it was made of" },
	  .fits = is_autofdo },
	{ { "a profile for the Go compiler (PREPROFILE)", "it has weights of "
	    "calls, no stacks; open the CPU profile that it was made of" },
	  MAGIC("GO PREPROFILE") },
	{ { "a recording of trace-cmd", "it has a trace, no profile; perf "
	    "record takes one" }, MAGIC("\x17\x08\x44tracing") },
	/* valgrind and heap profilers */
	{ { "the output of callgrind_annotate", "open the callgrind.out file "
	    "itself" }, .line = "Profile data file '" },
	{ { "the output of cg_annotate", "open the cachegrind.out file "
	    "itself" }, .line = "-- Metadata", .has = "cachegrind" },
	{ { "the output of cg_annotate", "open the cachegrind.out file "
	    "itself" }, .line = "Data file:  " },
	{ { "a profile of massif", "ms_print shows it; for call paths, use "
	    "valgrind --tool=callgrind or cpprof record -r alloc-bytes" },
	  .begins = "desc: ", .line = "time_unit: " },
	{ { "the output of ms_print", "it has no stacks that could be read; "
	    "use cpprof record -r alloc-bytes" },
	  .line = "Massif arguments: " },
	{ { "a profile of DHAT", "dh_view.html shows it; for call paths, use "
	    "cpprof record -r alloc-bytes" },
	  .json = { "\"dhatFileVersion\"" } },
	{ { "a recording of heaptrack", "convert it: heaptrack_print -F "
	    "OUT.collapsed FILE" }, .fits = is_heaptrack },
	/* gprof, oprofile, pprof */
	{ { "a listing of gprof", "open what it was made of: cpprof PROGRAM "
	    "gmon.out" }, .line = "Flat profile:" },
	{ { "a listing of gprof", "open what it was made of: cpprof PROGRAM "
	    "gmon.out" }, .has = "granularity: each sample hit covers " },
	{ { "a listing of gprof", "open what it was made of: cpprof PROGRAM "
	    "gmon.out" }, .line = "index % time " },
	{ { "a listing of gprof", "open what it was made of: cpprof PROGRAM "
	    "gmon.out" }, .line = "index  % time " },
	{ { "a listing of IBM's gprof", "it has functions and their callers, "
	    "no stacks; record with a profiler that takes stacks" },
	  .has = "granularity: Each sample hit covers " },
	{ { "a listing of IBM's gprof", "it has functions and their callers, "
	    "no stacks; record with a profiler that takes stacks" },
	  .line = "index  %time " },
	{ { "a capture of Sysprof", "sysprof shows it; record with perf record "
	    "-g or cpprof record instead" }, MAGIC("\x5e\x97\xca\xfd") },
	{ { "a profile of Sysprof in XML", "sysprof shows it; record with perf "
	    "record -g or cpprof record instead" }, .begins = "<profile",
	  .has = "<object" },
	{ { "a profile of Sysprof in XML", "sysprof shows it; record with perf "
	    "record -g or cpprof record instead" }, .begins = "<?xml",
	  .has = "<profile" },
	{ { "the output of opreport", "use perf record -g, or cpprof record" },
	  .line = "Counted ", .has = " events (" },
	{ { "the output of go tool pprof", "open the profile itself, or the "
	    "output of go tool pprof -raw" },
	  .line = "Showing nodes accounting for " },
	{ { "the output of go tool pprof", "open the profile itself, or the "
	    "output of go tool pprof -raw" }, .begins = "File: ",
	  .line = "-----------+------" },
	{ { "a listing of pprof", "open the profile itself" },
	  .begins = "Total: ", .has = "%", .is_vague = true },
	{ { "stacks of all goroutines (debug=2)", "take them with debug=1, or "
	    "without debug: /debug/pprof/goroutine" },
	  .begins = "goroutine ", .has = "]:\n" },
	{ { "an execution trace of Go", "convert it: go tool trace "
	    "-pprof=sched FILE > OUT.pprof (or net, sync, syscall)" },
	  MAGIC("go 1."), .has = " trace\0" },
	/* interpreters and virtual machines */
	{ { "a profile of Python's cProfile", "convert it: pyprof2calltree -i "
	    "FILE -o callgrind.out" }, .fits = is_pstats },
	{ { "the listing of a cProfile profile", "save the profile (-o FILE) "
	    "and convert it: pyprof2calltree -i FILE -o callgrind.out" },
	  .has = " function calls", .line = "   ncalls  tottime" },
	{ { "a recording of Austin in binary form", "convert it: mojo2austin "
	    "FILE OUT.collapsed" }, MAGIC("MOJ"), .is_vague = true },
	{ { "a recording of rbspy", "convert it: rbspy report -f collapsed -i "
	    "FILE -o OUT.collapsed" }, MAGIC("rbspy0"), .is_vague = true },
	{ { "a log of V8 (node --prof)", "record with node --cpu-prof "
	    "instead: its .cpuprofile can be read; node --prof-process shows "
	    "this one" }, MAGIC("v8-version,") },
	{ { "the output of node --prof-process", "record with node --cpu-prof "
	    "instead: its .cpuprofile can be read" },
	  .begins = "Statistical profiling result from " },
	{ { "a trace of Xdebug", "convert it: stackcollapse-xdebug.php (of "
	    "FlameGraph); profiles of Xdebug (mode profile) can be read" },
	  .line = "TRACE START [" },
	{ { "a profile of GHC", "convert it: inferno-collapse-ghcprof" },
	  .has = "Profiling Report  (Final)" },
	{ { "a profile of GHC in JSON", BY_SPEEDSCOPE },
	  .json = { "\"rts_arguments\"", "\"cost_centres\"" } },
	{ { "a profile of pyinstrument", "convert it: pyinstrument --load FILE "
	    "-r speedscope -o OUT.json; if it is not a session, run "
	    "pyinstrument -r speedscope -o OUT.json PROGRAM.py" },
	  .json = { "\"sample_count\"", "\"target_description\"" } },
	{ { "a profile of pyinstrument", "convert it: pyinstrument --load FILE "
	    "-r speedscope -o OUT.json" },
	  .json = { "\"frame_records\"", "\"start_time\"" } },
	{ { "an envelope of Sentry", "the line in it that has \"stacks\" can be "
	    "read as a file of its own" },
	  .json = { "\"stack_id\"", "\"thread_id\"" } },
	{ { "a profile of Scalene", "scalene shows it; it has lines, no call "
	    "paths: py-spy record -f raw gives stacks that can be read" },
	  .json = { "\"elapsed_time_sec\"", "\"n_cpu_percent_python\"" } },
	{ { "a profile of Scalene", "scalene shows it; it has lines, no call "
	    "paths: py-spy record -f raw gives stacks that can be read" },
	  .json = { "\"alloc_samples\"", "\"elapsed_time_sec\"" } },
	{ { "a recording of memray", "memray flamegraph FILE and memray tree "
	    "FILE show it; py-spy record -f raw gives stacks that can be read" },
	  MAGIC("memray") },
	{ { "a profile of Caliper in JSON", "convert it with Python's hatchet: "
	    "GraphFrame.from_caliper('FILE').to_flamegraph() gives collapsed "
	    "stacks" },
	  .json = { "\"columns\"", "\"column_metadata\"", "\"nodes\"" } },
	{ { "a recording of Caliper", "convert it with Python's hatchet: "
	    "GraphFrame.from_caliperreader('FILE').to_flamegraph() gives "
	    "collapsed stacks" }, .begins = "__rec=" },
	{ { "a dump of Ruby's Marshal, as stackprof writes", "convert it: "
	    "stackprof --stackcollapse FILE > OUT.collapsed (it must have been "
	    "taken with raw: true)" }, MAGIC("\4\10{") },
	{ { "a profile of stackprof in JSON", "convert it: stackprof "
	    "--stackcollapse FILE (it must have been taken with raw: true)" },
	  .json = { "\"gc_samples\"", "\"missed_samples\"" } },
	{ { "a trace of .NET", "convert it: dotnet-trace convert --format "
	    "Speedscope FILE" }, MAGIC("Nettrace") },
	/* VTune and Visual Studio */
	{ { "a table of VTune", "convert it: inferno-collapse-vtune" },
	  .begins = "Function Stack," },
	{ { "a report of VTune", VTUNE_STACKS }, .begins = "Index ",
	  .has = "CPU Time:Self" },
	{ { "a report of VTune", VTUNE_STACKS }, .begins = "Function",
	  .has = "CPU Time:Self" },
	{ { "a report of VTune", VTUNE_STACKS }, .begins = "Function\tCPU "
	  "Time" },
	{ { "a report of VTune", VTUNE_STACKS }, .begins = "Function,CPU "
	  "Time" },
	{ { "a report of VTune", VTUNE_STACKS },
	  .begins = "Function Stack\t" },
	/* Windows */
	{ { "a table of xperf", XPERF_STACKS }, .fits = is_xperf_table },
	{ { "a trace that xperf has printed", XPERF_STACKS },
	  .begins = "BeginHeader", .line = "EndHeader" },
	{ { "a table of Visual Studio's profiler", "convert it: "
	    "inferno-collapse-vsprof" }, .begins = "Level,Function Name," },
	/* browsers; a heap profile is a tree like that of an old .cpuprofile */
	{ { "a heap snapshot of V8", "it has objects, no call paths" },
	  .json = { "\"snapshot\"", "\"node_fields\"" } },
	{ { "a sampled heap profile of V8", BY_SPEEDSCOPE },
	  .json = { "\"head\"", "\"callFrame\"", "\"selfSize\"" } },
	{ { "a profile of Firefox's old DevTools", BY_SPEEDSCOPE },
	  .json = { "\"label\"", "\"duration\"", "\"markers\"" } },
	{ { "a profile of Cleopatra, Firefox's old profiler", "open it at "
	    "profiler.firefox.com and save it there" },
	  .json = { "\"profileJSONWithSymbolicationTable," } },
	{ { "a recording of Safari", BY_SPEEDSCOPE },
	  .json = { "\"recording\"", "\"instrumentTypes\"" } },
	/* pictures, packings and the rest */
	{ { "a picture in SVG, such as a flame graph", GIVE_STACKS },
	  .begins = "<svg", .is_vague = true },
	{ { "a picture in SVG, such as a flame graph", GIVE_STACKS },
	  .begins = "<?xml", .has = "<svg" },
	{ { "a graph for Graphviz", GIVE_STACKS }, .begins = "digraph ",
	  .has = "{", .is_vague = true },
	{ { "a picture in PNG", GIVE_STACKS }, MAGIC("\x89PNG\r\n") },
	{ { "a PDF document", GIVE_STACKS }, MAGIC("%PDF-") },
	{ { "a zip archive", "unpack it first" }, MAGIC("PK\3\4") },
	{ { "a tar archive", "unpack it first" }, .fits = is_tar },
	{ { "packed twice", UNPACK("gzip -dc") }, MAGIC("\x1f\x8b\x08") },
	{ { "packed twice", UNPACK("zstd -dc") }, MAGIC("\x28\xb5\x2f\xfd") },
	{ { "packed with xz", UNPACK("xz -dc") }, MAGIC("\xfd" "7zXZ") },
	{ { "packed with bzip2", UNPACK("bzip2 -dc") }, MAGIC("BZh"),
	  .is_vague = true },
	{ { "packed with lz4", UNPACK("lz4 -dc") }, MAGIC("\x04\"M\x18") },
	{ { "an SQLite database", "export its samples with the tool that "
	    "wrote it" }, MAGIC("SQLite format 3\0") },
	{ { "what looks like perf script's with too few fields", "print more: "
	    "perf script -F comm,tid,time,event,ip,sym,dso" },
	  .fits = is_perf_fields, .is_vague = true },
	{ { "an HTML page", GIVE_STACKS }, .fits = is_html,
	  .is_vague = true },
	{ { "XML", GIVE_STACKS }, .begins = "<?xml", .is_vague = true },
	{ { "JSON", "of JSON, cpprof reads only profiles in a few formats" },
	  .fits = foreign_is_json, .is_vague = true },
};

static bool
fits_json(const struct signature *signature, struct foreign_text text)
{
	const size_t n = sizeof signature->json / sizeof *signature->json;

	for (size_t i = 0; i < n && signature->json[i] != NULL; i++)
		if (!has(text, signature->json[i]))
			return false;
	return signature->json[0] == NULL || foreign_is_json(text);
}

static bool
fits(const struct signature *signature, struct foreign_text text)
{
	if (signature->magic != NULL &&
	    (text.size < signature->magic_size ||
	     memcmp(text.at, signature->magic, signature->magic_size) != 0))
		return false;
	if (text.size > TEXT_SOUGHT && signature->magic == NULL)
		text.size = TEXT_SOUGHT;
	if (signature->begins != NULL &&
	    !begins_with(without_blanks(text), signature->begins))
		return false;
	return (signature->line == NULL || has_line(text, signature->line)) &&
	       (signature->has == NULL || has(text, signature->has)) &&
	       fits_json(signature, text) &&
	       (signature->fits == NULL || signature->fits(text));
}

const struct foreign_format *
foreign_format_find(const char *head, size_t size, bool with_vague)
{
	const struct foreign_text text = { head, size };

	for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
		if ((with_vague || !signatures[i].is_vague) &&
		    fits(&signatures[i], text))
			return &signatures[i].format;
	return NULL;
}
