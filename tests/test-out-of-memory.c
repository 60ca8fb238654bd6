/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-out-of-memory.c -- commands say so when memory is short.
 *
 * Each command runs again and again, each time with another allocation that
 * fails.  It then says "out of memory", or prints what it always does.
 */
#include <fcntl.h>
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

#include "src/base/text_buffer.h"
#include "src/shell/command/interpret.h"
#include "src/shell/session/session.h"
#include "src/views/view.h"
#include "tests/failing-memory.h"
#include "tests/profile-digest.h"

/*
 * Of allocations_to_end: what some commands need that do not write to a buffer
 * which remembers that a part was lost, and those that write several names to
 * one.
 */
enum { ALLOCATIONS_OF_MESSAGES = 10, ALLOCATIONS_OF_TEXTS = 100 };

/* A command, in a session whose output goes to a file. */
struct attempt {
	struct session *session;
	const char *command;
	const char *const *files;	/* of `load`; NULL: a command */
	size_t n_files;
	int output;
};

/* A digest of what was printed since it was asked for last. */
static uint64_t
take_output(int file)
{
	uint64_t digest = DIGEST_START;
	char bytes[4096];
	ssize_t n;

	fflush(stdout);
	lseek(file, 0, SEEK_SET);
	while ((n = read(file, bytes, sizeof bytes)) > 0)
		digest = digest_bytes(digest, bytes, (size_t)n);
	assert_int_equal(ftruncate(file, 0), 0);
	lseek(file, 0, SEEK_SET);
	return digest;
}

static uint64_t
run_command(void *data, struct error *error)
{
	const struct attempt *attempt = data;
	int status = interpret_line(attempt->session, attempt->command,
	                            strlen(attempt->command), error);

	assert_true((status != 0) == error->is_set);
	return take_output(attempt->output);
}

static uint64_t
load_files(void *data, struct error *error)
{
	const struct attempt *attempt = data;
	struct session *session = attempt->session;
	int status = session_load(session, attempt->files, attempt->n_files,
	                          error);

	assert_true((status != 0) == error->is_set);
	return status == 0 ? digest_of_profile(session->loaded.profile) : 0;
}

/* Loads the files, and runs the commands, with memory short in each. */
static void
check_all(const char *const *files, const char *const *lines)
{
	char path[] = "/tmp/test-out-of-memory-XXXXXX";
	struct attempt attempt = { .files = files, .output = mkstemp(path) };
	int output = dup(STDOUT_FILENO);
	struct session session;

	assert_true(attempt.output >= 0);
	unlink(path);
	session_start(&session);
	session.is_quiet = true;
	attempt.session = &session;
	while (files[attempt.n_files] != NULL)
		attempt.n_files++;
	fflush(stdout);
	dup2(attempt.output, STDOUT_FILENO);
	sweep_memory(files[0], load_files, &attempt, 300);
	for (; *lines != NULL; lines++) {
		attempt.command = *lines;
		sweep_memory(*lines, run_command, &attempt, 300);
	}
	session_end(&session);
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(attempt.output);
}

/* A command that changes what views show, and the one that takes it back. */
struct oom_change {
	const char *command, *inverse;
};

struct change_attempt {
	struct attempt *attempt;
	const struct oom_change *change;
	uint64_t before;	/* what the views show without the change */
};

static void
run_line(struct session *session, const char *line)
{
	struct error error = { 0 };

	if (interpret_line(session, line, strlen(line), &error) != 0)
		fprintf(stderr, "# %s: %s\n", line, error.text);
	assert_false(error.is_set);
}

static uint64_t
digest_of_views(const struct attempt *attempt)
{
	static const char *const views[] = {
		"functions", "tree", "down", "steps"
	};

	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		if (attempt->session->loaded.profile->tree != NULL ||
		    strcmp(views[i], "tree") != 0)
			run_line(attempt->session, views[i]);
	return take_output(attempt->output);
}

/* Runs the command; if it fails, it must have changed nothing. */
static uint64_t
make_change(void *data, struct error *error)
{
	const struct change_attempt *made = data;
	uint64_t digest = run_command(made->attempt, error);
	long allocations = allocations_left, steps = steps_left;

	allocations_left = steps_left = LONG_MAX;
	interrupt_requested = 0;
	digest ^= digest_of_views(made->attempt);
	if (error->is_set) {
		digest = digest_of_views(made->attempt);
	} else {
		run_line(made->attempt->session, made->change->inverse);
	}
	if (digest_of_views(made->attempt) != made->before) {
		fprintf(stderr, "# %s: views differ after %s\n",
		        made->change->command,
		        error->is_set ? error->text : "it was taken back");
		fail();
	}
	allocations_left = allocations;
	steps_left = steps;
	return digest;
}

/* Makes each change after the lines of `before`, with memory short in it. */
static void
check_changes(const char *file, const char *const *before,
              const struct oom_change *changes, size_t n)
{
	char path[] = "/tmp/test-out-of-memory-XXXXXX";
	struct attempt attempt = { .output = mkstemp(path) };
	struct session session;
	struct error error = { 0 };
	int output = dup(STDOUT_FILENO);

	assert_true(attempt.output >= 0);
	unlink(path);
	session_start(&session);
	session.is_quiet = true;
	attempt.session = &session;
	assert_int_equal(session_load(&session, &file, 1, &error), 0);
	fflush(stdout);
	dup2(attempt.output, STDOUT_FILENO);
	for (size_t i = 0; i < n; i++) {
		struct change_attempt made = { &attempt, &changes[i], 0 };

		for (size_t k = 0; before[k] != NULL; k++)
			run_line(&session, before[k]);
		made.before = digest_of_views(&attempt);
		attempt.command = changes[i].command;
		sweep_memory(attempt.command, make_change, &made, 400);
		run_line(&session, "reset");
	}
	session_end(&session);
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(attempt.output);
}

static void
steps_change_nothing_when_memory_is_short(void **state)
{
	static const char *const before[] = {
		"group db = db_*", "drop envelope", NULL
	};
	static const struct oom_change changes[] = {
		{ "narrow (main ... db)", "undo" },
		{ "narrow m* ... * * d*", "undo" },
		/* 32 bytes: no room for a NUL after them. */
		{ "group forms_like_a = form_* /^a/", "undo" },
		{ "drop * in* d*", "undo" },
		{ "group forms = form_* /^a/", "undo" },
		{ "group {1} => /^([a-z]+)_/", "undo" },
		{ "undo", "redo" },
		{ "undo 2", "redo 2" },
		{ "ungroup db", "undo" },
		{ "reset", "undo" },
		{ "startup show", "startup hide" },
		{ "kernel hide", "kernel show" },
		{ "interpreter show", "interpreter hide" },
	};

	(void)state;
	check_changes("forms.folded", before, changes,
	              sizeof changes / sizeof *changes);
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* What only the base has is not reported as unknown when memory is short. */
static void
steps_of_the_base_change_nothing_when_memory_is_short(void **state)
{
	static const char now[] = "/tmp/test-out-of-memory-now";
	static const char *const before[] = {
		"base /tmp/test-out-of-memory-base", "narrow main", NULL
	};
	static const struct oom_change changes[] = {
		{ "narrow removed", "undo" }, { "group g = removed", "undo" },
	};

	(void)state;
	write_text(now, "main;f 3\nmain;g 4\n");
	write_text("/tmp/test-out-of-memory-base",
	           "main;f 3\nmain;removed;g 4\n");
	check_changes(now, before, changes, sizeof changes / sizeof *changes);
	unlink(now);
	unlink("/tmp/test-out-of-memory-base");
}

static void
columns_change_nothing_when_memory_is_short(void **state)
{
	static const char *const before[] = {
		"column faults/s = Page Faults / Real Time",
		"columns |Real Time| faults/s", "narrow uniquify_db", NULL
	};
	static const struct oom_change changes[] = {
		{ "columns faults/s |Real Time| |Page Faults|",
		  "columns |Real Time| faults/s" },
		{ "columns off", "columns |Real Time| faults/s" },
		{ "resource Page Faults", "resource Real Time" },
		{ "column faults/s = 2 * Page Faults - Real Time",
		  "column faults/s = Page Faults / Real Time" },
		{ "column other = Page Faults / Page Faults",
		  "column other off" },
		{ "narrow qsort", "undo" },
		{ "startup show", "startup hide" },
	};

	(void)state;
	check_changes("process_db.folded", before, changes,
	              sizeof changes / sizeof *changes);
}

static void
views_of_stacks_say_when_memory_is_short(void **state)
{
	static const char *const files[] = { "forms.folded", NULL };
	static const char *const lines[] = {
		"body", "functions", "functions db*", "flat", "top",
		"explain", "chains fold", "down", "up db_read_record",
		"chains show",
		"top 2 db*", "down main",
		"depth 2", "down", "depth off", "up db_read_record", "tree",
		"flame", "flame up db_read_record", "flame tree",
		"callers db_read_record", "callees main",
		"path main", "graph", "graph main",
		"specialise (main envelope address_information) (envelope "
		"db_get_property db_read_record)", "specialise main envelope",
		"graph --gprof", "info", "functions all db*", "resource", "show",
		"limit 3", "tree", "graph", "flat", "limit off",
		"percent root", "down", "unit gticks", "flat",
		"granularity module", "functions", "granularity function",
		"threshold 0", "up", "format json", "tree", "graph",
		"format csv", "down", "info", "show", NULL,
	};

	(void)state;
	allocations_to_end = ALLOCATIONS_OF_MESSAGES;
	check_all(files, lines);
	allocations_to_end = ALLOCATIONS_TO_END;
}

static void
groups_of_calls_change_nothing_when_memory_is_short(void **state)
{
	static const char *const before[] = { "group leaves = number", NULL };
	static const struct oom_change changes[] = {
		{ "group G = expr unary @libc", "undo" },
		{ "group {1} = /^(e)xpr/", "undo" },
		{ "granularity file", "granularity function" },
		{ "ungroup leaves", "undo" },
	};

	(void)state;
	allocations_to_end = ALLOCATIONS_OF_TEXTS;
	check_changes("rdparse.callgrind.gz", before, changes,
	              sizeof changes / sizeof *changes);
	allocations_to_end = ALLOCATIONS_TO_END;
}

static void
views_of_calls_say_when_memory_is_short(void **state)
{
	static const char *const files[] = { "rdparse.callgrind.gz", NULL };
	static const char *const lines[] = {
		"body", "functions", "flat", "top", "explain", "down main",
		"up expr",
		"callers expr", "callees expr",
		"path main expr", "graph expr", "graph --gprof",
		"static on", "graph", "info", "granularity file",
		"functions", "granularity line", "flat",
		"granularity function", "directories . /nowhere",
		"list expr", "list rdparse.c", "list rdparse.c:50",
		"export callgrind", NULL,
	};

	(void)state;
	check_all(files, lines);
}

static void
columns_say_when_memory_is_short(void **state)
{
	static const char *const stacks[] = { "process_db.folded", NULL };
	static const char *const calls[] = {
		"../tests/data/callgrind/cache.out.gz", NULL
	};
	static const char *const sections[] = { "server.pb.gz", NULL };
	static const char *const lines_of_sections[] = {
		"column busy = cpu / real", "columns busy cpu real", "threads",
		"processes", "labels", "labels thread", NULL,
	};
	static const char *const lines_of_stacks[] = {
		"column r = Page Faults / Real Time",
		"columns r |Real Time| |Page Faults|", "columns", "column",
		"show", "save", "top", "flat", "functions", "body", "functions all *",
		"tree", "chains fold", "down", "up qsort", "callers qsort",
		"callees main", "path main uniquify_db", "graph main",
		"percent root", "functions", "resource Page Faults", "down",
		"narrow uniquify_db", "format json", "functions", "tree",
		"format csv", "top", "columns off", "functions", NULL,
	};
	static const char *const lines_of_calls[] = {
		"column misses = DLmr / Dr", "columns Ir Dr misses", "top",
		"flat", "functions", "body", "down main", "up main",
		"callers main", "callees main", "path main",
		"granularity file", "functions", "resource Dr", NULL,
	};

	(void)state;
	check_all(sections, lines_of_sections);
	check_all(stacks, lines_of_stacks);
	check_all(calls, lines_of_calls);
}

static void
copies_under_recursion_say_when_memory_is_short(void **state)
{
	static const char *const files[] = { "rdparse.folded.gz", NULL };
	static const char *const lines[] = {
		"specialise (unary factor expr skip)",
		"specialise (unary factor expr skip) (expr term skip) "
		"(unary factor)", NULL,
	};

	(void)state;
	allocations_to_end = ALLOCATIONS_OF_MESSAGES;
	check_all(files, lines);
	allocations_to_end = ALLOCATIONS_TO_END;
}

static void
lines_say_when_memory_is_short(void **state)
{
	static const char *const files[] = { "sites.pb.gz", NULL };
	static const char *const lines[] = {
		"list mix", "directories /nowhere .", "list copy_record",
		"list sites.c", "list sites.c:28", "threshold 0", "list c*k*m",
		"narrow checksum mix", "list copy_record", "inlines off",
		"list checksum", "show", NULL,
	};

	(void)state;
	check_all(files, lines);
}

static void
exports_say_when_memory_is_short(void **state)
{
	static const char *const files[] = { "sites.pb.gz", NULL };
	static const char *const lines[] = {
		"export collapsed", "export cpprof-text", "export pprof",
		"export callgrind", "export speedscope", "export cpprofdata",
		"granularity line", "flat", "granularity callsite", "tree",
		"granularity address", "flat", "inlines off", "flat", NULL,
	};

	(void)state;
	allocations_to_end = ALLOCATIONS_OF_TEXTS;
	check_all(files, lines);
	allocations_to_end = ALLOCATIONS_TO_END;
}

static void
times_say_when_memory_is_short(void **state)
{
	static const char *const files[] = {
		"../tests/data/perf/rec.script", NULL
	};
	static const char *const lines[] = {
		"timeline", "timeline main odd",
		"timeline /tmp/test-out-of-memory.svg",
		"timeline main odd /tmp/test-out-of-memory.html",
		"when on", "top", "flat", "body", "functions", "tree",
		"resource cpu-clock:u", "down main", "up odd",
		"resource page-faults:u", "callers odd",
		"callees main", "path main", "export cpprofdata", "when off",
		"noise on", "top", "down", "tree", "callers odd", "path main",
		"assert functions * below 5%", "assert path main odd above 1",
		"budget write /tmp/test-out-of-memory.budget",
		"budget check /tmp/test-out-of-memory.budget",
		"narrow time 0s..50ms", "timeline", "top", NULL,
	};
	static const char *const clocked[] = {
		"process_db-recorded.folded", NULL
	};
	static const char *const budgets[] = { "budget write /dev/null", NULL };

	(void)state;
	write_text("/tmp/test-out-of-memory.budget",
	           "functions main below 5%\nbody no below 1\n");
	check_all(files, lines);
	check_all(clocked, budgets);
	unlink("/tmp/test-out-of-memory.svg");
	unlink("/tmp/test-out-of-memory.html");
	unlink("/tmp/test-out-of-memory.budget");
}

/* Makes the comparison anew. */
static uint64_t
compare_again(void *data, struct error *error)
{
	const struct attempt *attempt = data;

	comparison_forget_profile(&attempt->session->comparison);
	comparison_forget_profile(&attempt->session->loaded_runs);
	return run_command(data, error);
}

static void
comparisons_say_when_memory_is_short(void **state)
{
	static const char *const files[][2] = {
		{ "words-0.folded.gz", "words-1.folded.gz" },
		{ "process_db.folded", "" },
		{ "rdparse.callgrind.gz", "" },
		{ "../tests/data/raw/labels.pb.gz", "label" },
	};
	static const char *const lines[] = {
		"diff functions", "diff tree", "diff down", "diff up",
		"diff callers main", "diff path main", "diff flame",
		"scale by main", "diff", "scale robust", "diff",
		"scale work 2", "diff flat", "diff callees main",
		"assert down main below 5%", "assert callers main below 5%",
		"assert functions ma* below 5%", "budget write /dev/null",
		"assert change up main below -5%",
		"assert change functions ma* below 5%", "save",
		"narrow main", "diff body", NULL,
	};
	char path[] = "/tmp/test-out-of-memory-XXXXXX";
	struct attempt attempt = { .output = mkstemp(path) };
	int output = dup(STDOUT_FILENO);

	(void)state;
	assert_true(attempt.output >= 0);
	unlink(path);
	fflush(stdout);
	dup2(attempt.output, STDOUT_FILENO);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct error error = { 0 };
		struct session session;
		char base[200];

		bool are_parts = strcmp(files[i][1], "label") == 0;

		snprintf(base, sizeof base, "base %s %s",
		         are_parts ? "label" : files[i][0], are_parts ?
		         "thread=second against thread=[none]" : files[i][1]);
		session_start(&session);
		session.is_quiet = true;
		attempt.session = &session;
		assert_int_equal(session_load(&session, &files[i][0], i == 0 ?
		                              2 : 1, &error), 0);
		attempt.command = base;
		sweep_memory(base, run_command, &attempt, 100);
		for (size_t k = 0; lines[k] != NULL; k++) {
			attempt.command = lines[k];
			if (i == 2 && (strstr(lines[k], "tree") != NULL ||
			               strstr(lines[k], "narrow") != NULL))
				continue;
			if (are_parts && strstr(lines[k], " ma") != NULL)
				continue;	/* it has no main */
			sweep_memory(lines[k], compare_again, &attempt, 200);
		}
		session_end(&session);
	}
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(attempt.output);
}

static void
merging_says_when_memory_is_short(void **state)
{
	static const char *const files[][3] = {
		{ "forms.folded", "process_db.folded" },
		{ "../tests/data/raw/labels.pb.gz",
		  "../tests/data/go/cpu.pb.gz" },
		{ "sites.pb.gz", "server.pb.gz" },
		{ "rdparse.callgrind.gz",
		  "../tests/data/callgrind/cache.out.gz" },
		{ "../tests/data/go/cpu.pb.gz", "../tests/data/go/heap.pb.gz" },
	};
	static const char *const lines[] = { "flat", NULL };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		check_all(files[i], lines);
}

/* "a;b 1", "a;c 2" in UTF-16, packed by gzip. */
static const unsigned char packed_utf16[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xfb, 0xff,
	0x2f, 0x91, 0xc1, 0x9a, 0x21, 0x89, 0x41, 0x81, 0xc1, 0x90, 0x81, 0x8b,
	0x01, 0xc4, 0x4e, 0x06, 0xb2, 0x8d, 0x80, 0x6c, 0x00, 0xa8, 0xb1, 0x26,
	0x3f, 0x1a, 0x00, 0x00, 0x00
};

/*
 * Short memory is no reason to call the input bad, to skip its lines, or to
 * leave out a file of a recording.
 */
static void
loading_says_when_memory_is_short(void **state)
{
	static const char *const files[] = {
		"../tests/data/node/busy.cpuprofile.gz",
		"../tests/data/gperftools/rec.prof",
		"../tests/data/legacy/go-heap.txt",
		"../tests/data/legacy/jemalloc.heap",
		"../tests/data/perf/rec.data", "../tests/data/raw/cpu.raw.gz",
	};
	static const char *const none[] = { NULL };
	char folder[] = "/tmp/test-out-of-memory-XXXXXX", path[2][100];

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		check_all((const char *[]){ files[i], NULL }, none);
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		FILE *file;

		snprintf(path[i], sizeof path[i], "%s/cpprofdata.%d", folder,
		         i);
		file = fopen(path[i], "w");
		assert_non_null(file);
		fwrite(packed_utf16, 1, sizeof packed_utf16, file);
		fclose(file);
	}
	check_all((const char *[]){ folder, NULL }, none);
	unlink(path[0]);
	unlink(path[1]);
	rmdir(folder);
}

/* ---- merged profiles ---- */

enum { N_MEMBERS = 9 };

/* A folder with members/0 and so on, and what merge makes of them. */
struct fleet_files {
	char folder[50];
	int home;		/* the directory that was current before */
};

static void
write_member(int number)
{
	char path[20];
	FILE *file;

	snprintf(path, sizeof path, "members/%d", number);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "# cpprof 1\n# resource: cpu; gtick=microsecond; "
	        "interval=1000\nmain;a %d\nmain;b %d\nmain;b;a;b %d\n",
	        10 + number, number == 4 ? 500 : 20, number);
	fclose(file);
}

/* Makes the folder the current directory. */
static void
write_fleet(struct fleet_files *files)
{
	struct session session;

	strcpy(files->folder, "/tmp/test-out-of-memory-XXXXXX");
	assert_non_null(mkdtemp(files->folder));
	files->home = open(".", O_RDONLY | O_DIRECTORY);
	assert_true(files->home >= 0);
	assert_int_equal(chdir(files->folder), 0);
	assert_int_equal(mkdir("members", 0700), 0);
	for (int i = 0; i < N_MEMBERS; i++)
		write_member(i);
	session_start(&session);
	session.is_quiet = true;
	run_line(&session, "merge --by id -o by-id members");
	run_line(&session, "merge -o plain members");
	session_end(&session);
}

static void
remove_fleet(const struct fleet_files *files)
{
	char path[20];

	for (int i = 0; i < N_MEMBERS; i++) {
		snprintf(path, sizeof path, "members/%d", i);
		unlink(path);
	}
	rmdir("members");
	unlink("by-id");
	unlink("plain");
	unlink("out");
	assert_int_equal(fchdir(files->home), 0);
	close(files->home);
	assert_int_equal(rmdir(files->folder), 0);
}

static void
members_say_when_memory_is_short(void **state)
{
	static const char *const by_id[] = { "by-id", NULL };
	static const char *const plain[] = { "plain", NULL };
	static const char *const lines[] = {
		"members b", "explain", "specialise (main b)",
		"specialise (main b) (b a)", "noise on", "functions", "down",
		"tree", "noise off", "info", "format json", "members main",
		"labels id", "narrow label id=*", "members a", "functions",
		"explain", NULL,
	};
	static const char *const lines_of_plain[] = {
		"explain", "specialise (main b)", "noise on", "functions",
		"tree", "info", NULL,
	};
	struct fleet_files files;

	(void)state;
	write_fleet(&files);
	allocations_to_end = ALLOCATIONS_OF_MESSAGES;
	check_all(by_id, lines);
	check_all(plain, lines_of_plain);
	allocations_to_end = ALLOCATIONS_TO_END;
	remove_fleet(&files);
}

struct merging_attempt {
	struct session session;
	const char *line;
};

/* Runs merge; what it wrote is there if it did not fail. */
static uint64_t
merge_again(void *data, struct error *error)
{
	struct merging_attempt *attempt = data;
	uint64_t digest = DIGEST_START;
	char bytes[4096], beside[40];
	FILE *file;
	size_t n;
	int status;

	unlink("out");
	status = interpret_line(&attempt->session, attempt->line,
	                        strlen(attempt->line), error);
	assert_true((status != 0) == error->is_set);
	snprintf(beside, sizeof beside, NEW_FILE_UNFINISHED "%ld-0",
	         (long)getpid());
	assert_int_not_equal(access(beside, F_OK), 0);
	file = fopen("out", "r");
	assert_true((file == NULL) == error->is_set);
	if (file == NULL)
		return 0;
	while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
		digest = digest_bytes(digest, bytes, n);
	fclose(file);
	return digest;
}

/* A member that memory is short for is not skipped: the sum would lack it. */
static void
merge_says_when_memory_is_short(void **state)
{
	static const char *const lines[] = {
		"merge -o out members", "merge --by id -o out members",
		"merge -f pprof -o out members",
		"merge --by id -o out by-id members/1",
		"merge -o out plain members/2 by-id",
	};
	struct merging_attempt attempt;
	struct fleet_files files;

	(void)state;
	write_fleet(&files);
	allocations_to_end = ALLOCATIONS_OF_MESSAGES;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		attempt.line = lines[i];
		session_start(&attempt.session);
		attempt.session.is_quiet = true;
		sweep_memory(lines[i], merge_again, &attempt, 400);
		session_end(&attempt.session);
	}
	allocations_to_end = ALLOCATIONS_TO_END;
	remove_fleet(&files);
}

/* Keeps the rows of a view, as the prompt does for %2. */
static void
keep_rows(struct session *session)
{
	struct view_request request = session_request(session);
	struct table table = { .view = "test" };
	struct error error = { 0 };

	request.threshold = 0;
	assert_int_equal(view_down(&request, &table, &error), 0);
	assert_int_equal(last_rows_keep(&session->last_rows, &table, &error),
	                 0);
	table_free(&table);
}

struct opening {
	struct attempt attempt;
	const char *merged;
};

/*
 * Opens the member of row 2.  If that fails, there is still a profile: the
 * merged one, or the member, if what was opened could not be shown.
 */
static uint64_t
open_again(void *data, struct error *error)
{
	struct opening *opening = data;
	struct session *session = opening->attempt.session;
	long allocations = allocations_left, steps = steps_left;
	struct error none = { 0 };
	uint64_t digest;

	allocations_left = steps_left = LONG_MAX;
	assert_int_equal(session_load(session, &opening->merged, 1, &none), 0);
	keep_rows(session);
	allocations_left = allocations;
	steps_left = steps;
	digest = run_command(&opening->attempt, error);
	allocations = allocations_left;
	steps = steps_left;
	allocations_left = steps_left = LONG_MAX;
	interrupt_requested = 0;
	if (error->is_set)
		run_line(session, "functions");
	else
		digest ^= digest_of_profile(session->loaded.profile);
	take_output(opening->attempt.output);
	allocations_left = allocations;
	steps_left = steps;
	return digest;
}

static void
open_says_when_memory_is_short(void **state)
{
	static const char *const merged[] = { "by-id", "plain" };
	char path[] = "/tmp/test-out-of-memory-XXXXXX";
	struct opening opening = { .attempt.output = mkstemp(path) };
	int output = dup(STDOUT_FILENO);
	struct fleet_files files;
	struct session session;

	(void)state;
	assert_true(opening.attempt.output >= 0);
	unlink(path);
	write_fleet(&files);
	fflush(stdout);
	dup2(opening.attempt.output, STDOUT_FILENO);
	session_start(&session);
	session.is_quiet = true;
	opening.attempt.session = &session;
	opening.attempt.command = "open member of %2";
	allocations_to_end = ALLOCATIONS_OF_MESSAGES;
	for (int i = 0; i < 2; i++) {
		opening.merged = merged[i];
		sweep_memory(merged[i], open_again, &opening, 400);
	}
	allocations_to_end = ALLOCATIONS_TO_END;
	session_end(&session);
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(opening.attempt.output);
	remove_fleet(&files);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_of_stacks_say_when_memory_is_short),
		cmocka_unit_test(steps_change_nothing_when_memory_is_short),
		cmocka_unit_test(
		    steps_of_the_base_change_nothing_when_memory_is_short),
		cmocka_unit_test(
		    groups_of_calls_change_nothing_when_memory_is_short),
		cmocka_unit_test(views_of_calls_say_when_memory_is_short),
		cmocka_unit_test(columns_say_when_memory_is_short),
		cmocka_unit_test(columns_change_nothing_when_memory_is_short),
		cmocka_unit_test(
		    copies_under_recursion_say_when_memory_is_short),
		cmocka_unit_test(lines_say_when_memory_is_short),
		cmocka_unit_test(exports_say_when_memory_is_short),
		cmocka_unit_test(times_say_when_memory_is_short),
		cmocka_unit_test(comparisons_say_when_memory_is_short),
		cmocka_unit_test(loading_says_when_memory_is_short),
		cmocka_unit_test(merging_says_when_memory_is_short),
		cmocka_unit_test(members_say_when_memory_is_short),
		cmocka_unit_test(merge_says_when_memory_is_short),
		cmocka_unit_test(open_says_when_memory_is_short),
	};
	const char *source = getenv("srcdir");

	if ((source != NULL && chdir(source) != 0) ||
	    chdir("sample-data") != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
