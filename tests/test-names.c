/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-names.c -- names kept with a recording, and names that processes give
 * to their code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprofdata.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/symbols/names/address_frames.h"

/* ---- the file ---- */

static int
take_bytes(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

/*
 * Two builds of one path, of the first two addresses, one of which has an
 * inlined call; a process with one address.
 */
static struct profile *
named_profile(void)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	uint32_t outer = names_add(profile->names, "outer", 5, &error);
	uint32_t inner = names_add(profile->names, "inner", 5, &error);
	uint32_t file = names_add(profile->names, "a.c", 3, &error);
	const struct location chain[] = {
		{ outer, file, 7, outer, 5, 0 },
		{ inner, file, 9, file, 8, 2 },
	};
	const struct location other = { inner, NO_NAME, 0, NO_NAME, 0, 0 };

	profile_add_module(profile, "/bin/p", "one", 3, &error);
	profile_add_module(profile, "/bin/p", "two", 3, &error);
	profile_add_frame(profile, 0, 0x20, chain, 1, &error);
	profile_set_debug_lines(profile, 0, chain, 2, &error);
	profile->frames[0].function_offset = 4;
	profile_add_frame(profile, 0, 0x10, &other, 1, &error);
	profile->frames[1].is_made_up = true;
	profile_add_frame(profile, 1, 0x10, chain, 1, &error);
	assert_false(error.is_set);
	return profile;
}

static struct text_buffer
named_file(void)
{
	struct error error = { 0 };
	struct profile *profile = named_profile();
	struct address_lines *lines = address_lines_new(NULL, &error);
	const struct named_process process = { 7, 99, 0, 1 };
	const struct location location = { NO_NAME, 2, 5, NO_NAME, 0, 0 };
	const struct named_code code = { 0xabc, 0, 12, 0, 1 };
	const struct names_file names = {
		.profile = profile,
		.lines = lines,
		.processes = &process,
		.n_processes = 1,
		.codes = &code,
		.code_locations = &location,
	};
	struct text_buffer bytes = { 0 };
	struct writer *writer = malloc(sizeof *writer);

	writer_start(writer, take_bytes, &bytes);
	assert_int_equal(names_file_write(&names, writer, &error), 0);
	assert_int_equal(writer_flush(writer), 0);
	free(writer);
	address_lines_free(lines);
	profile_free(profile);
	assert_int_equal(bytes.length % CPPROFDATA_PAGE, 0);
	return bytes;
}

/* Reads them in memory of exactly their size. */
static struct kept_names *
read_bytes(const char *bytes, size_t n, struct error *damage,
           struct error *error)
{
	char *exact = malloc(n > 0 ? n : 1);
	struct kept_names *kept;
	struct source *source;

	memcpy(exact, bytes, n);
	source = source_of_memory("names", exact, n, error);
	kept = names_file_read(source, damage, error);
	source_close(source);
	free(exact);
	return kept;
}

static const struct kept_address *
find(const struct kept_names *kept, const char *build, uint64_t address)
{
	struct module module = { .path = "/bin/p", .build_id_size = 3 };

	memcpy(module.build_id, build, 3);
	return kept_names_find(kept, kept_names_module(kept, &module),
	                       address);
}

static const char *
text(const struct kept_names *kept, uint32_t name)
{
	return name == NO_NAME ? "" :
	    names_text(kept_names_texts(kept), name);
}

static void
names_come_back_as_they_were_kept(void **state)
{
	struct error error = { 0 }, damage = { 0 };
	struct text_buffer bytes = named_file();
	struct kept_names *kept = read_bytes(bytes.bytes, bytes.length,
	                                     &damage, &error);
	const struct kept_address *found;
	const struct location *chain;

	(void)state;
	assert_non_null(kept);
	assert_false(damage.is_set);
	found = find(kept, "one", 0x20);
	assert_non_null(found);
	assert_string_equal(text(kept, found->function), "outer");
	assert_int_equal(found->offset, 4);
	assert_true(found->is_symbol && found->has_lines);
	assert_int_equal(found->n, 2);
	chain = kept_names_locations(kept, found);
	assert_int_equal(chain[0].line, 7);
	assert_string_equal(text(kept, chain[0].linkage), "outer");
	assert_int_equal(chain[0].start_line, 5);
	assert_int_equal(chain[0].discriminator, 0);
	assert_string_equal(text(kept, chain[1].function), "inner");
	assert_string_equal(text(kept, chain[1].file), "a.c");
	assert_string_equal(text(kept, chain[1].linkage), "a.c");
	assert_int_equal(chain[1].start_line, 8);
	assert_int_equal(chain[1].discriminator, 2);
	found = find(kept, "one", 0x10);
	assert_string_equal(text(kept, found->function), "inner");
	assert_false(found->is_symbol || found->has_lines);
	assert_int_equal(found->offset, NO_OFFSET);
	assert_null(find(kept, "one", 0x11));
	assert_string_equal(text(kept, find(kept, "two", 0x10)->function),
	                    "outer");
	assert_null(find(kept, "two", 0x20));
	assert_null(find(kept, "six", 0x10));
	found = kept_names_find(kept, kept_names_process(kept, 7, 99), 0xabc);
	assert_non_null(found);
	assert_int_equal(kept_names_locations(kept, found)->line, 5);
	assert_null(kept_names_process(kept, 7, 98));
	kept_names_free(kept);
	text_free(&bytes);
}

static void
names_are_read_as_far_as_the_file_goes(void **state)
{
	struct text_buffer bytes = named_file();

	(void)state;
	for (size_t n = 0; n < bytes.length; n += n % 4096 < 400 ? 1 : 173) {
		struct error error = { 0 }, damage = { 0 };
		struct kept_names *kept = read_bytes(bytes.bytes, n, &damage,
		                                     &error);

		assert_int_equal(kept == NULL, error.is_set);
		assert_int_equal(kept == NULL, n < 4096);
		assert_true(kept == NULL || damage.is_set);
		kept_names_free(kept);
	}
	text_free(&bytes);
}

static void
names_survive_damage_at_every_byte(void **state)
{
	struct text_buffer bytes = named_file();

	(void)state;
	for (size_t at = 0; at < bytes.length; at += at % 4096 < 400 ? 1 : 997)
		for (int how = 0; how < 3; how++) {
			struct error error = { 0 }, damage = { 0 };
			char was = bytes.bytes[at];

			bytes.bytes[at] = how == 0 ? (char)~was :
			    (char)(was + how);
			kept_names_free(read_bytes(bytes.bytes, bytes.length,
			                           &damage, &error));
			bytes.bytes[at] = was;
		}
	text_free(&bytes);
}

/* The records of a type, which has one chunk of a page. */
static void *
records(const struct text_buffer *bytes, enum cpprofdata_chunk_type type)
{
	for (size_t at = CPPROFDATA_HEADER_SIZE; at < bytes->length;
	     at += CPPROFDATA_PAGE) {
		struct cpprofdata_chunk *chunk = (void *)(bytes->bytes + at);

		if (chunk->type == type)
			return chunk + 1;
	}
	fail();
	return NULL;
}

/*
 * Many modules that each claim all addresses would take far more memory than
 * the file.
 */
static void
names_of_a_small_file_are_few(void **state)
{
	struct text_buffer bytes = named_file();
	struct cpprofdata_named_module *modules = records(&bytes,
	    CPPROFDATA_NAMED_MODULES);
	struct cpprofdata_named_process *processes = records(&bytes,
	    CPPROFDATA_NAMED_PROCESSES);
	struct error error = { 0 }, damage = { 0 };
	struct kept_names *kept;

	(void)state;
	/* Five addresses of four: the process's last is one too many. */
	modules[1].first_address = 0;
	modules[1].n_addresses = 1;
	processes[0].first_address = 2;
	processes[0].n_addresses = 2;
	kept = read_bytes(bytes.bytes, bytes.length, &damage, &error);
	assert_non_null(kept);
	assert_true(damage.is_set);
	assert_non_null(find(kept, "two", 0x10));
	assert_non_null(kept_names_find(kept,
	    kept_names_process(kept, 7, 99), 0x10));
	assert_null(kept_names_find(kept, kept_names_process(kept, 7, 99),
	                            0xabc));
	kept_names_free(kept);
	text_free(&bytes);
}

/* A module that occurs twice is used once. */
static void
names_of_a_module_are_those_that_come_first(void **state)
{
	struct text_buffer bytes = named_file();
	struct cpprofdata_named_module *modules = records(&bytes,
	    CPPROFDATA_NAMED_MODULES);
	struct error error = { 0 }, damage = { 0 };
	struct kept_names *kept;

	(void)state;
	memcpy(modules[1].build_id, "one", 3);
	kept = read_bytes(bytes.bytes, bytes.length, &damage, &error);
	assert_non_null(kept);
	assert_string_equal(text(kept, find(kept, "one", 0x10)->function),
	                    "inner");
	assert_non_null(find(kept, "one", 0x20));
	kept_names_free(kept);
	text_free(&bytes);
}

/*
 * Reads a file whose second address was changed, and finds what the first
 * module has there; *is_damage: whether the change was noticed.
 */
static const struct kept_address *
read_changed(const struct text_buffer *bytes, bool *is_damage,
             struct kept_names **kept)
{
	struct error error = { 0 }, damage = { 0 };

	*kept = read_bytes(bytes->bytes, bytes->length, &damage, &error);
	assert_non_null(*kept);
	assert_non_null(find(*kept, "one", 0x10));
	*is_damage = damage.is_set;
	return find(*kept, "one", 0x20);
}

static void
names_do_not_share_locations(void **state)
{
	struct text_buffer bytes = named_file();
	struct cpprofdata_named_address *addresses = records(&bytes,
	    CPPROFDATA_NAMED_ADDRESSES);
	struct kept_names *kept;
	bool is_damage;

	(void)state;
	/* The second address has two of the file's three. */
	addresses[0].n_locations = 1;
	assert_non_null(read_changed(&bytes, &is_damage, &kept));
	kept_names_free(kept);
	addresses[0].n_locations = 2;
	assert_null(read_changed(&bytes, &is_damage, &kept));
	assert_true(is_damage);
	kept_names_free(kept);
	text_free(&bytes);
}

static void
names_stop_where_addresses_do_not_ascend(void **state)
{
	struct text_buffer bytes = named_file();
	struct cpprofdata_named_address *addresses = records(&bytes,
	    CPPROFDATA_NAMED_ADDRESSES);
	struct kept_names *kept;
	bool is_damage;

	(void)state;
	addresses[0].offset = 0x10;
	addresses[1].offset = 0x10;
	read_changed(&bytes, &is_damage, &kept);
	assert_true(is_damage);
	kept_names_free(kept);
	text_free(&bytes);
}

/* The file has as many as it claims, but no reader has room for them. */
static void
names_have_no_longer_chains_than_there_may_be(void **state)
{
	struct text_buffer bytes = named_file();
	struct cpprofdata_named_address *addresses = records(&bytes,
	    CPPROFDATA_NAMED_ADDRESSES);
	void *locations = records(&bytes, CPPROFDATA_NAMED_LOCATIONS);
	struct cpprofdata_chunk *chunk = (struct cpprofdata_chunk *)locations -
	    1;
	struct kept_names *kept;
	bool is_damage;

	(void)state;
	chunk->size += 2 * CPPROFDATA_PAGE;	/* over what follows it */
	chunk->count = KEPT_CHAIN_MAX + 1;
	addresses[1].first_location = 0;
	addresses[1].n_locations = KEPT_CHAIN_MAX + 1;
	assert_null(read_changed(&bytes, &is_damage, &kept));
	assert_true(is_damage);
	kept_names_free(kept);
	text_free(&bytes);
}

/* Strings that are ends of each other would, too. */
static void
names_do_not_begin_within_others(void **state)
{
	struct text_buffer bytes = named_file();
	struct error error = { 0 }, damage = { 0 };
	struct cpprofdata_named_address *addresses = records(&bytes,
	    CPPROFDATA_NAMED_ADDRESSES);
	struct kept_names *kept;

	(void)state;
	addresses[1].function++;
	kept = read_bytes(bytes.bytes, bytes.length, &damage, &error);
	assert_non_null(kept);
	assert_true(damage.is_set);
	assert_non_null(find(kept, "one", 0x10));
	assert_null(find(kept, "one", 0x20));
	kept_names_free(kept);
	text_free(&bytes);
}

/* ---- code made at run time ---- */

static char directory[] = "/tmp/cpprof-names-XXXXXX";

static void
write_file(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct jit_process
this_process(void)
{
	return (struct jit_process){ (uint32_t)getpid(), geteuid(),
		now_ns() - 5000000000, now_ns(), directory, NULL };
}

static const char *
map_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "/tmp/perf-%u.map", (unsigned)getpid());
	return path;
}

/* The name at an address, or "". */
static const char *
name_at(const struct jit_map *map, uint64_t address)
{
	const char *name = jit_map_find(map, address);

	return name != NULL ? name : "";
}

static void
jit_code_that_came_last_counts(void **state)
{
	static const char lines[] =
	    "1000 100 old\n1080 20 inside\n1000 40 new at the start\n"
	    "bad line\n2000 0 nothing\n1180 10 behind\nfff0 20 far\n"
	    "ffffffffffffff00 1000 wraps\n";
	const struct jit_process process = this_process();
	struct error error = { 0 };
	struct jit_map *map;

	(void)state;
	write_file(map_path(), lines, sizeof lines - 1);
	map = jit_map_of_process(&process, &error);
	unlink(map_path());
	assert_non_null(map);
	assert_string_equal(name_at(map, 0xfff), "");
	assert_string_equal(name_at(map, 0x1000), "new at the start");
	assert_string_equal(name_at(map, 0x103f), "new at the start");
	assert_string_equal(name_at(map, 0x1040), "old");
	assert_string_equal(name_at(map, 0x1080), "inside");
	assert_string_equal(name_at(map, 0x109f), "inside");
	assert_string_equal(name_at(map, 0x10a0), "old");
	assert_string_equal(name_at(map, 0x10ff), "old");
	assert_string_equal(name_at(map, 0x1100), "");
	assert_string_equal(name_at(map, 0x118f), "behind");
	assert_string_equal(name_at(map, 0x1190), "");
	assert_string_equal(name_at(map, 0x2000), "");
	assert_string_equal(name_at(map, 0x1000f), "far");
	assert_string_equal(name_at(map, UINT64_MAX - 5), "wraps");
	jit_map_free(map);
}

/* One name for a JavaScript function, however it is compiled. */
static void
jit_names_of_v8_are_those_of_the_source(void **state)
{
	static const char *const rows[][3] = {
		{ "JS:~round /srv/app.js:13:15", "round (app.js:13)",
		  "/srv/app.js" },
		{ "JS:^round /srv/app.js:13:15", "round (app.js:13)",
		  "/srv/app.js" },
		{ "JS:*round /srv/app.js:13:15", "round (app.js:13)",
		  "/srv/app.js" },
		{ "LazyCompile:*round /srv/app.js:13:15", "round (app.js:13)",
		  "/srv/app.js" },
		{ "JS:+get size /srv/my app/x.js:7:9", "get size (x.js:7)",
		  "/srv/my app/x.js" },
		{ "JS:~ /srv/app.js:1:1", "(anonymous) (app.js:1:1)",
		  "/srv/app.js" },
		{ "JS:*e /srv/app.min.js:1:70123", "e (app.min.js:1:70123)",
		  "/srv/app.min.js" },
		{ "JS:*e file:///srv/app.mjs:4:9", "e (app.mjs:4)",
		  "/srv/app.mjs" },
		{ "JS:~Module._load node:internal/modules/cjs/loader:1003:24",
		  "Module._load (node:internal/modules/cjs/loader:1003)",
		  "node:internal/modules/cjs/loader" },
		{ "JS:*next /a/node_modules/b/node_modules/express/lib/index.js"
		  ":2:3", "next (express/lib/index.js:2)",
		  "/a/node_modules/b/node_modules/express/lib/index.js" },
		{ "JS:*next /a/router/index.js:2:3", "next (router/index.js:2)",
		  "/a/router/index.js" },
		{ "Eval:~ evalmachine.<anonymous>:1:1",
		  "(anonymous) (evalmachine.<anonymous>:1:1)",
		  "evalmachine.<anonymous>" },
		{ "JS:*", "JS:*", NULL },
		{ "JS:*f", "JS:*f", NULL },
		{ "JS:*f :1:2", "JS:*f :1:2", NULL },
		{ "JS:*f a.js:1", "JS:*f a.js:1", NULL },
		{ "JS::1:2", "JS::1:2", NULL },
		{ "RegExp:a b.js:1:2", "RegExp:a b.js:1:2", NULL },
		{ "made::f /a.js:1:2", "made::f /a.js:1:2", NULL },
	};
	const struct jit_process process = this_process();
	struct error error = { 0 };
	struct jit_map *map;
	char lines[4096];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		n += (size_t)snprintf(lines + n, sizeof lines - n,
		                      "%zx 10 %s\n", 0x1000 + i * 16,
		                      rows[i][0]);
	write_file(map_path(), lines, n);
	map = jit_map_of_process(&process, &error);
	unlink(map_path());
	assert_non_null(map);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct jit_code code;

		assert_true(jit_map_at(map, 0x1000 + i * 16, &code));
		assert_string_equal(code.name, rows[i][1]);
		if (rows[i][2] == NULL)
			assert_null(code.file);
		else
			assert_string_equal(code.file, rows[i][2]);
	}
	jit_map_free(map);
}

/* Nothing is known, and the reader does not wait, even for a pipe. */
static void
expect_refused(const struct jit_process *process)
{
	struct error error = { 0 };
	struct jit_map *map = jit_map_of_process(process, &error);

	assert_non_null(map);
	assert_string_equal(name_at(map, 0x1000), "");
	jit_map_free(map);
}

static void
jit_maps_of_others_are_not_read(void **state)
{
	static const char line[] = "1000 100 code\n";
	struct jit_process process = this_process();
	char target[64];

	(void)state;
	snprintf(target, sizeof target, "%s/target", directory);
	write_file(target, line, sizeof line - 1);
	assert_int_equal(symlink(target, map_path()), 0);
	expect_refused(&process);
	unlink(map_path());
	assert_int_equal(mkfifo(map_path(), 0600), 0);
	expect_refused(&process);
	unlink(map_path());
	write_file(map_path(), line, sizeof line - 1);
	process.begin_ns = now_ns() + 100000000000;
	process.end_ns = process.begin_ns;
	expect_refused(&process);	/* written before it began */
	process.begin_ns = 1;
	process.end_ns = 2;
	expect_refused(&process);	/* long after it ended */
	if (geteuid() == 0) {
		process = this_process();
		assert_int_equal(chown(map_path(), 65534, 65534), 0);
		expect_refused(&process);	/* somebody else's */
	}
	unlink(map_path());
	unlink(target);
}

/* For perf.data, which does not record the process's owner. */
static void
jit_maps_of_other_users_are_not_read(void **state)
{
	static const char line[] = "1000 100 code\n";
	struct error error = { 0 };
	struct jit_map *map;

	(void)state;
	write_file(map_path(), line, sizeof line - 1);
	map = jit_map_new(NULL, (uint32_t)getpid(), &error);
	assert_string_equal(name_at(map, 0x1000), "code");
	jit_map_free(map);
	if (geteuid() == 0) {
		assert_int_equal(chown(map_path(), 65534, 65534), 0);
		map = jit_map_new(NULL, (uint32_t)getpid(), &error);
		assert_non_null(map);
		assert_string_equal(name_at(map, 0x1000), "");
		assert_non_null(jit_map_problem(map));
		assert_non_null(strstr(jit_map_problem(map),
		                       ".map belongs to another user"));
		jit_map_free(map);
	}
	unlink(map_path());
}

static void
jit_maps_that_are_not_read_are_told(void **state)
{
	struct jit_process process = this_process();
	struct error error = { 0 };
	struct jit_map *map;

	(void)state;
	unlink(map_path());
	map = jit_map_new(NULL, (uint32_t)getpid(), &error);
	assert_null(jit_map_problem(map));
	jit_map_free(map);

	assert_int_equal(mkfifo(map_path(), 0600), 0);
	map = jit_map_new(NULL, (uint32_t)getpid(), &error);
	assert_non_null(strstr(jit_map_problem(map), "is not a plain file"));
	jit_map_free(map);
	map = jit_map_of_process(&process, &error);
	assert_non_null(strstr(jit_map_problem(map), "is not a plain file"));
	jit_map_free(map);
	/* A process of another machine. */
	process.owner = (uid_t)-1;
	map = jit_map_of_process(&process, &error);
	assert_null(jit_map_problem(map));
	jit_map_free(map);
	unlink(map_path());

	assert_int_equal(symlink("/dev/null", map_path()), 0);
	map = jit_map_new(NULL, (uint32_t)getpid(), &error);
	assert_non_null(strstr(jit_map_problem(map), "is a symbolic link"));
	jit_map_free(map);
	unlink(map_path());
	if (geteuid() != 0)
		return;

	write_file(map_path(), "1000 100 code\n", 14);
	assert_int_equal(chown(map_path(), 65534, 65534), 0);
	process = this_process();
	map = jit_map_of_process(&process, &error);
	assert_non_null(strstr(jit_map_problem(map), "another user"));
	jit_map_free(map);
	/* A file of an earlier process with the same pid does not count. */
	process.begin_ns += 100000000000;
	process.end_ns += 100000000000;
	map = jit_map_of_process(&process, &error);
	assert_null(jit_map_problem(map));
	jit_map_free(map);
	unlink(map_path());
}

/* A hole is one line of gigabytes; lines before it are complete. */
static void
jit_maps_end_at_a_hole(void **state)
{
	static char lines[200000] = "1000 100 code\n2000 100 ";
	struct error error = { 0 };
	struct rusage before, after;
	struct jit_map *map;

	(void)state;
	memset(lines + strlen(lines), 'n', 100000);
	strcat(lines, "\n3000 100 behind\n4000 100 not whole");
	write_file(map_path(), lines, strlen(lines));
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(truncate(map_path(), (off_t)1 << 33), 0);
	map = jit_map_new(NULL, (uint32_t)getpid(), &error);
	getrusage(RUSAGE_SELF, &after);
	unlink(map_path());
	assert_non_null(map);
	assert_string_equal(name_at(map, 0x1000), "code");
	assert_int_equal(strlen(name_at(map, 0x2000)), 65536);
	assert_string_equal(name_at(map, 0x3000), "behind");
	assert_string_equal(name_at(map, 0x4000), "");
	assert_non_null(strstr(jit_map_problem(map), "has a NUL byte"));
	assert_true(after.ru_maxrss - before.ru_maxrss < 20000);
	jit_map_free(map);
}

static void
jit_maps_are_read_until_interrupted(void **state)
{
	static const char line[] = "1000 100 code\n";
	struct error error = { 0 };

	(void)state;
	write_file(map_path(), line, sizeof line - 1);
	interrupt_requested = 1;
	assert_null(jit_map_new(NULL, (uint32_t)getpid(), &error));
	interrupt_requested = 0;
	assert_string_equal(error.text, "interrupted");
	unlink(map_path());
}

/* ---- jitdump ---- */

struct dump {
	char bytes[4096];
	size_t n;
};

static void
put(struct dump *dump, const void *bytes, size_t n)
{
	assert_true(n <= sizeof dump->bytes - dump->n);
	memcpy(dump->bytes + dump->n, bytes, n);
	dump->n += n;
}

static void
put_header(struct dump *dump, uint32_t pid)
{
	const uint32_t words[10] = { 0x4a695444, 1, 40, 62, 0, pid };

	put(dump, words, sizeof words);
}

/* A record's head; what follows has that size. */
static void
put_head(struct dump *dump, uint32_t kind, size_t size)
{
	const uint32_t words[4] = { kind, (uint32_t)size + 16 };

	put(dump, words, sizeof words);
}

static void
put_load(struct dump *dump, uint64_t address, uint64_t size, const char *name)
{
	const uint64_t numbers[5] = { 0, address, address, size, 1 };

	put_head(dump, 0, sizeof numbers + strlen(name) + 1 + 16);
	put(dump, numbers, sizeof numbers);
	put(dump, name, strlen(name) + 1);
	put(dump, "0123456789abcdef", 16);
}

static void
put_lines(struct dump *dump, uint64_t address)
{
	const uint64_t head[2] = { address, 3 };
	const struct {
		uint64_t address;
		uint32_t line, discriminator;
	} entries[3] = { { address, 10, 0 }, { address + 8, 12, 0 },
		         { address + 16, 11, 0 } };

	put_head(dump, 2, sizeof head + sizeof entries + 5 + 2 + 4);
	put(dump, head, sizeof head);
	put(dump, &entries[0], sizeof *entries);
	put(dump, "f.js", 5);
	put(dump, &entries[1], sizeof *entries);
	put(dump, "\377", 2);
	put(dump, &entries[2], sizeof *entries);
	put(dump, "g.h", 4);
}

static void
put_move(struct dump *dump, uint64_t old, uint64_t new, uint64_t size)
{
	const uint64_t numbers[6] = { 0, new, old, new, size, 1 };

	put_head(dump, 1, sizeof numbers);
	put(dump, numbers, sizeof numbers);
}

/* At 0x20 on, f has put g into itself, and g has put in something unnamed. */
static void
put_calls(struct dump *dump, uint64_t address)
{
	static const char texts[] = "F.f()\0F.java\0G.g(int)\0G.java";
	const int32_t head[2] = { 4, 2 }, first[5] = { 0, 1, 0, 1, 7 };
	const int32_t second[11] = { 0x20, 3, 0, 1, 8, 2, 3, 90, -1, -1, 0 };

	put_head(dump, 0x43505243, sizeof address + sizeof head +
	         sizeof texts + sizeof first + sizeof second);
	put(dump, &address, sizeof address);
	put(dump, head, sizeof head);
	put(dump, texts, sizeof texts);
	put(dump, first, sizeof first);
	put(dump, second, sizeof second);
}

static struct dump
whole_dump(void)
{
	struct dump dump = { .n = 0 };

	put_header(&dump, (uint32_t)getpid());
	put_head(&dump, 99, 8);			/* not known */
	put(&dump, "whatever", 8);
	put_lines(&dump, 0x5000);
	put_load(&dump, 0x5000, 0x40, "compiled");
	put_lines(&dump, 0x9000);		/* of another piece */
	put_load(&dump, 0x6000, 0x40, "moved");
	put_move(&dump, 0x6000, 0x7000, 0x40);
	put_load(&dump, 0x6000, 0x20, "reused");
	put_calls(&dump, 0xa000);
	put_load(&dump, 0xa000, 0x40, "F.f()");
	return dump;
}

static void
jitdump_gives_names_and_lines(void **state)
{
	const struct jit_process process = this_process();
	struct error error = { 0 };
	struct dump dump = whole_dump();
	struct jit_code code;
	struct jit_map *map;
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/jit-%u.dump", directory,
	         (unsigned)getpid());
	write_file(path, dump.bytes, dump.n);
	map = jit_map_of_process(&process, &error);
	unlink(path);
	assert_non_null(map);
	assert_true(jit_map_at(map, 0x5009, &code));
	assert_string_equal(code.name, "compiled");
	assert_int_equal(code.start, 0x5000);
	assert_string_equal(code.file, "f.js");
	assert_int_equal(code.line, 12);
	assert_true(jit_map_at(map, 0x503f, &code));
	assert_string_equal(code.file, "g.h");
	assert_true(jit_map_at(map, 0x7010, &code));
	assert_string_equal(code.name, "moved");
	assert_null(code.file);
	assert_string_equal(name_at(map, 0x6010), "reused");
	assert_true(jit_map_at(map, 0x6010, &code));
	assert_null(code.file);
	assert_int_equal(code.n_calls, 0);
	assert_true(jit_map_at(map, 0xa01f, &code));
	assert_string_equal(code.file, "F.java");
	assert_int_equal(code.line, 7);
	assert_int_equal(code.n_calls, 0);
	assert_true(jit_map_at(map, 0xa020, &code));
	assert_string_equal(code.name, "F.f()");
	assert_int_equal(code.line, 8);
	assert_int_equal(code.n_calls, 2);
	assert_string_equal(code.calls[0].name, "G.g(int)");
	assert_string_equal(code.calls[0].file, "G.java");
	assert_int_equal(code.calls[0].line, 90);
	assert_string_equal(code.calls[1].name, "[inlined]");
	assert_null(code.calls[1].file);
	jit_map_free(map);
}

static void
jitdump_may_end_or_lie_anywhere(void **state)
{
	struct dump whole = whole_dump();

	(void)state;
	for (size_t at = 0; at < whole.n; at++)
		for (int how = 0; how < 3; how++) {
			struct jit_entries entries = { 0 };
			struct error error = { 0 };
			struct dump dump = whole;
			FILE *file;

			if (how == 0)
				dump.n = at + 1;
			else
				dump.bytes[at] = (char)(how == 1 ? 0xff :
				    dump.bytes[at] + 1);
			file = fmemopen(dump.bytes, dump.n, "r");
			assert_non_null(file);
			assert_int_equal(jit_dump_read(&entries, file,
			    (uint32_t)getpid(), &error), 0);
			jit_entries_free(&entries);
			fclose(file);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_back_as_they_were_kept),
		cmocka_unit_test(names_are_read_as_far_as_the_file_goes),
		cmocka_unit_test(names_survive_damage_at_every_byte),
		cmocka_unit_test(names_of_a_small_file_are_few),
		cmocka_unit_test(names_of_a_module_are_those_that_come_first),
		cmocka_unit_test(names_do_not_share_locations),
		cmocka_unit_test(names_stop_where_addresses_do_not_ascend),
		cmocka_unit_test(
		    names_have_no_longer_chains_than_there_may_be),
		cmocka_unit_test(names_do_not_begin_within_others),
		cmocka_unit_test(jit_code_that_came_last_counts),
		cmocka_unit_test(jit_names_of_v8_are_those_of_the_source),
		cmocka_unit_test(jit_maps_of_others_are_not_read),
		cmocka_unit_test(jit_maps_of_other_users_are_not_read),
		cmocka_unit_test(jit_maps_that_are_not_read_are_told),
		cmocka_unit_test(jit_maps_end_at_a_hole),
		cmocka_unit_test(jit_maps_are_read_until_interrupted),
		cmocka_unit_test(jitdump_gives_names_and_lines),
		cmocka_unit_test(jitdump_may_end_or_lie_anywhere),
	};
	int result;

	if (mkdtemp(directory) == NULL)
		return 1;
	result = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return result;
}
