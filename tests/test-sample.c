/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-sample.c -- the sampler outside the program, on fixed streams of records.
 *
 * The records are made here as the kernel makes them, so that this needs no
 * rights.  Stacks are those of threads of this process, which it may read.
 * After each step the recording is opened by the reader, as at a kill of the
 * recorder.
 */
#include "tests/reader-fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/base/task.h"
#include "src/profile/sample_tree.h"
#include "src/sample/sample.h"

enum { COPY_MAX = 4096 };

#define SECOND UINT64_C(1000000000)

struct fixture {
	char directory[64];
	struct sample_recording recording;
	struct sampler_options options;
	struct sampler *sampler;
	struct buffer buffer;
	uint64_t event;		/* the id of the next samples */
};

static int
begin_with(void **state, const char *resource)
{
	static struct fixture fixture;
	struct error error = { 0 };
	const struct sample_kind *kind = sample_kind_find(resource);

	memset(&fixture, 0, sizeof fixture);
	strcpy(fixture.directory, "/tmp/cpprof-test-XXXXXX");
	if (mkdtemp(fixture.directory) == NULL)
		return -1;
	fixture.recording = (struct sample_recording){
		.directory = open(fixture.directory, O_RDONLY | O_DIRECTORY),
		.n_resources = 1,
		.resources = { { resource, "microsecond", "a test", 4000 } },
		.origin_ns = 1700000000 * SECOND,
		.origin_mono_ns = SECOND,
	};
	fixture.options = (struct sampler_options){
		.recording = &fixture.recording,
		.events = { .n_kinds = 1, .kinds = { { kind, 4000, 0 } } },
	};
	if (strcmp(resource, "real") == 0) {
		fixture.options.events.n_kinds = 2;
		fixture.options.events.kinds[1].kind = &sample_kind_wait;
		fixture.options.events.kinds[1].interval = 1;
	}
	fixture.sampler = sampler_new(&fixture.options, &error);
	*state = &fixture;
	return fixture.sampler != NULL ? 0 : -1;
}

static int
begin(void **state)
{
	return begin_with(state, "cpu");
}

static int
end(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *directory = opendir(fixture->directory);

	sampler_free(fixture->sampler);
	close(fixture->recording.directory);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", fixture->directory,
		         entry->d_name);
		unlink(path);
	}
	if (directory != NULL)
		closedir(directory);
	return rmdir(fixture->directory);
}

/* ---- records ---- */

static void
begin_record(struct fixture *fixture, uint32_t type, uint16_t misc)
{
	fixture->buffer.n = 0;
	buffer_number(&fixture->buffer, type, 4);
	buffer_number(&fixture->buffer, misc, 2);
	buffer_number(&fixture->buffer, 0, 2);
}

/* Hands the record in the buffer to the sampler. */
static void
take(struct fixture *fixture)
{
	struct error error = { 0 };
	const uint16_t size = (uint16_t)fixture->buffer.n;
	struct perf_record record;

	memcpy(fixture->buffer.bytes + 6, &size, sizeof size);
	record = perf_record_at(fixture->buffer.bytes, 0);
	assert_int_equal(sampler_take(fixture->sampler, &record, &error), 0);
	assert_false(error.is_set);
}

/* What other records than samples end with. */
static void
end_record(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t time)
{
	buffer_number(&fixture->buffer, pid, 4);
	buffer_number(&fixture->buffer, tid, 4);
	buffer_number(&fixture->buffer, time, 8);
	buffer_number(&fixture->buffer, 0, 8);
	take(fixture);
}

static void
task(struct fixture *fixture, uint32_t type, uint32_t pid, uint32_t parent,
     uint32_t tid, uint32_t parent_tid, uint64_t time)
{
	begin_record(fixture, type, 0);
	buffer_number(&fixture->buffer, pid, 4);
	buffer_number(&fixture->buffer, parent, 4);
	buffer_number(&fixture->buffer, tid, 4);
	buffer_number(&fixture->buffer, parent_tid, 4);
	buffer_number(&fixture->buffer, time, 8);
	end_record(fixture, pid, tid, time);
}

static void
named(struct fixture *fixture, uint32_t pid, uint32_t tid, const char *name,
      bool is_exec, uint64_t time)
{
	char padded[16] = "";

	snprintf(padded, sizeof padded, "%s", name);
	begin_record(fixture, PERF_COMM, is_exec ? PERF_MISC_COMM_EXEC : 0);
	buffer_number(&fixture->buffer, pid, 4);
	buffer_number(&fixture->buffer, tid, 4);
	buffer_add(&fixture->buffer, padded, sizeof padded);
	end_record(fixture, pid, tid, time);
}

/* registers: by DWARF's numbers.  chain[n]: the kernel's frames. */
static void
sample_in_kernel(struct fixture *fixture, uint32_t pid, uint32_t tid,
                 uint64_t time, const uint64_t *chain, size_t n,
                 const uint64_t registers[DWARF_REGISTERS], const void *stack,
                 size_t size)
{
	const struct dwarf_arch *arch = DWARF_OWN_ARCH;
	struct buffer *buffer = &fixture->buffer;

	assert_int_equal(__builtin_popcountll(arch->perf_registers),
	                 arch->n_registers);
	assert_int_equal(sampler_events(fixture->sampler)->attrs[0]
	                     .user_registers, arch->perf_registers);
	begin_record(fixture, PERF_SAMPLE, PERF_MODE_USER);
	buffer_number(buffer, fixture->event, 8);
	buffer_number(buffer, pid, 4);
	buffer_number(buffer, tid, 4);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, n, 8);
	for (size_t i = 0; i < n; i++)
		buffer_number(buffer, chain[i], 8);
	buffer_number(buffer, 2, 8);
	for (unsigned i = 0; i < sizeof arch->perf_columns; i++)
		if ((arch->perf_registers >> i & 1) != 0)
			buffer_number(buffer,
			              registers[arch->perf_columns[i]], 8);
	buffer_number(buffer, size, 8);
	buffer_add(buffer, stack, size);
	buffer_number(buffer, size, 8);
	take(fixture);
}

static void
sample(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t time,
       const uint64_t registers[DWARF_REGISTERS], const void *stack,
       size_t size)
{
	sample_in_kernel(fixture, pid, tid, time, NULL, 0, registers, stack,
	                 size);
}

/* A sample of one frame at an address in no module: the outermost one. */
static void
plain(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t address,
      uint64_t time)
{
	uint64_t registers[DWARF_REGISTERS] = { 0 };
	const uint64_t stack[2] = { 0 };

	registers[DWARF_OWN_ARCH->pc] = address;
	registers[DWARF_OWN_ARCH->sp] = 0x7000;
	sample(fixture, pid, tid, time, registers, stack, sizeof stack);
}

/* ---- what is in the recording ---- */

static struct profile *
load(const struct fixture *fixture)
{
	const char *path = fixture->directory;
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct profile *profile = load_profiles(&path, 1, &options, &error);

	assert_string_equal(error.text, "");
	assert_non_null(profile);
	/* The kernel may hide its symbols. */
	for (uint32_t i = 0; i < profile->n_warnings; i++)
		assert_non_null(strstr(profile->warnings[i], "[kernel]"));
	return profile;
}

static uint64_t
recorded_hits(const struct fixture *fixture)
{
	struct profile *profile = load(fixture);
	uint64_t samples, hits = profile_hits(profile, 0, &samples);

	profile_free(profile);
	return hits;
}

/* The tally's count; 0: there is none. */
static uint64_t
tally(const struct profile *profile, const char *what)
{
	for (uint32_t i = 0; i < profile->n_tallies; i++)
		if (strcmp(profile->tallies[i].what, what) == 0)
			return profile->tallies[i].count;
	return 0;
}

/* How many frames of a function are on the stack of the only sample. */
static size_t
count_frames(const struct profile *profile, const char *function)
{
	const struct sample_tree *tree = profile->tree;
	size_t n = 0;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct frame *frame = &profile->frames[tree->label[i]];

		n += strcmp(names_text(profile->names, profile->locations[
		    frame->first_location].function), function) == 0;
	}
	return n;
}

/*
 * That many samples of cpu, by so many threads, have more hits by a 48th, as their
 * periods are longer; each thread's begin anywhere in an interval.
 */
static void
assert_hits_of(uint64_t hits, uint64_t n_samples, uint64_t n_threads)
{
	const uint64_t more = n_samples / 48;

	assert_in_range(hits, n_samples + (more > n_threads ?
	                more - n_threads : 0), n_samples + more + n_threads);
}

/* ---- processes and threads ---- */

enum { PID = 4100001, CHILD = 4100101 };

static void
recording_is_whole_after_each_record(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 1; i <= 40; i++) {
		plain(fixture, PID, PID + (uint32_t)(i % 3), 0x1000 + i % 7,
		      i * SECOND);
		assert_hits_of(recorded_hits(fixture), i, 3);
	}
}

static void
threads_have_their_names_and_end(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	named(fixture, PID, PID, "ignored", false, 2 * SECOND);
	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	named(fixture, PID, PID, "first", false, 2 * SECOND);
	for (uint32_t i = 1; i <= 100; i++) {
		task(fixture, PERF_FORK, PID, PID, PID + i, PID, 3 * SECOND);
		named(fixture, PID, PID + i, "worker", false, 3 * SECOND);
		plain(fixture, PID, PID + i, 0x2000, 3 * SECOND);
		task(fixture, PERF_EXIT, PID, PID, PID + i, PID, 4 * SECOND);
	}
	profile = load(fixture);
	/* All workers, one after the other, share a record. */
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->threads[0].name, "first");
	assert_string_equal(profile->threads[1].name, "worker");
	assert_int_equal(profile->threads[1].n_earlier, 99);
	assert_true(profile->processes[0].is_running);
	profile_free(profile);
	/* The first thread may end before the others. */
	task(fixture, PERF_FORK, PID, PID, PID + 500, PID, 4 * SECOND);
	task(fixture, PERF_EXIT, PID, PID, PID, 1, 5 * SECOND);
	plain(fixture, PID, PID + 500, 0x3000, 6 * SECOND);
	/* Of 102 threads, two have two hits on average. */
	assert_hits_of(recorded_hits(fixture), 102, 8);
	assert_true(recorded_hits(fixture) > 102);
}

static void
exec_begins_another_file(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	task(fixture, PERF_FORK, CHILD, PID, CHILD, PID, 3 * SECOND);
	plain(fixture, CHILD, CHILD, 0x1000, 3 * SECOND);
	named(fixture, CHILD, CHILD, "other", true, 4 * SECOND);
	plain(fixture, CHILD, CHILD, 0x1000, 4 * SECOND);
	task(fixture, PERF_EXIT, CHILD, PID, CHILD, PID, 5 * SECOND);
	/* Its number is taken by another process. */
	task(fixture, PERF_FORK, CHILD, PID, CHILD, PID, 6 * SECOND);
	plain(fixture, CHILD, CHILD, 0x1000, 6 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->n_processes, 4);
	assert_int_equal(profile->processes[1].pid, CHILD);
	assert_int_equal(profile->processes[1].parent_pid, PID);
	assert_false(profile->processes[1].continues);
	assert_true(profile->processes[2].continues);
	assert_false(profile->processes[3].continues);
	profile_free(profile);
}

/*
 * When a program gets other rights, the kernel ends its events, and reports that
 * as the end of the process.
 */
static void
loss_of_events_is_no_end(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;
	const pid_t child = fork();
	const uint32_t pid = (uint32_t)child;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	plain(fixture, pid, pid, 0x1000, 2 * SECOND);
	named(fixture, pid, pid, "rights", true, 3 * SECOND);
	plain(fixture, pid, pid, 0x1000, 3 * SECOND);
	task(fixture, PERF_EXIT, pid, PID, pid, PID, 3 * SECOND + 1000);
	plain(fixture, pid, pid, 0x1000, 4 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->n_processes, 2);
	profile_free(profile);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* A process that has ended has ended. */
	named(fixture, pid, pid, "again", true, 5 * SECOND);
	plain(fixture, pid, pid, 0x1000, 5 * SECOND);
	task(fixture, PERF_EXIT, pid, PID, pid, PID, 5 * SECOND + 1000);
	plain(fixture, pid, pid, 0x1000, 6 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->n_processes, 4);
	profile_free(profile);
}

/* The file of a process, counted from 0. */
static const struct process *
file_of(const struct profile *profile, uint32_t pid, uint32_t number)
{
	for (uint32_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].pid == pid && number-- == 0)
			return &profile->processes[i];
	fail();
	return NULL;
}

/* When its records come, it may run another program already. */
static void
forked_process_has_its_parents_program(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t own = (uint32_t)getpid();
	const pid_t child = fork();
	struct profile *profile;
	const struct process *before, *after;
	char name[64], words[64];

	if (child == 0) {
		execlp("sleep", "sleep", "60", NULL);
		_exit(127);
	}
	/* exec sets these words last. */
	snprintf(name, sizeof name, "/proc/%ld/cmdline", (long)child);
	do {
		FILE *file = fopen(name, "re");

		assert_non_null(file);
		words[fread(words, 1, sizeof words - 1, file)] = '\0';
		fclose(file);
	} while (strcmp(words, "sleep") != 0);
	plain(fixture, own, own, 0x1000, 2 * SECOND);
	task(fixture, PERF_FORK, (uint32_t)child, own, (uint32_t)child, own,
	     3 * SECOND);
	plain(fixture, (uint32_t)child, (uint32_t)child, 0x1000, 3 * SECOND);
	named(fixture, (uint32_t)child, (uint32_t)child, "sleep", true,
	      4 * SECOND);
	plain(fixture, (uint32_t)child, (uint32_t)child, 0x1000, 4 * SECOND);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	profile = load(fixture);
	assert_int_equal(profile->n_processes, 3);
	before = file_of(profile, (uint32_t)child, 0);
	after = file_of(profile, (uint32_t)child, 1);
	assert_string_equal(before->program, file_of(profile, own, 0)->program);
	assert_string_not_equal(after->program, before->program);
	/* The words are only known of the program that runs now. */
	assert_true(before->command == NULL || before->command[0] == '\0');
	assert_non_null(after->command);
	assert_string_equal(after->command, "sleep 60");
	profile_free(profile);
}

static void
children_can_be_left_out(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.events.is_alone = true;
	task(fixture, PERF_FORK, PID, PID, PID, 1, SECOND);
	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	task(fixture, PERF_FORK, CHILD, PID, CHILD, PID, 3 * SECOND);
	plain(fixture, CHILD, CHILD, 0x1000, 3 * SECOND);
	assert_int_equal(recorded_hits(fixture), 1);
}

static void
lost_samples_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	begin_record(fixture, PERF_LOST, 0);
	buffer_number(&fixture->buffer, 1, 8);
	buffer_number(&fixture->buffer, 17, 8);
	end_record(fixture, 0, 0, 3 * SECOND);
	plain(fixture, PID, PID, 0x1000, 4 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->resources[0].lost[LOSS_NO_ROOM], 17);
	profile_free(profile);
}

/* As many as of the records that were not lost. */
static void
lost_records_are_not_all_samples(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	for (int i = 0; i < 2; i++)
		task(fixture, PERF_FORK, CHILD + i, PID, CHILD + i, PID,
		     2 * SECOND);
	begin_record(fixture, PERF_LOST, 0);
	buffer_number(&fixture->buffer, 1, 8);
	buffer_number(&fixture->buffer, 30, 8);
	end_record(fixture, 0, 0, 3 * SECOND);
	plain(fixture, PID, PID, 0x1000, 4 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->resources[0].lost[LOSS_NO_ROOM], 15);
	profile_free(profile);
}

/* What was lost of a processor's time is no more than there was of it. */
static void
lost_samples_are_no_more_than_fit(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	for (int i = 1; i <= 3; i++) {
		begin_record(fixture, PERF_LOST, 0);
		buffer_number(&fixture->buffer, 1, 8);
		buffer_number(&fixture->buffer, 100000, 8);
		end_record(fixture, 0, 0, 2 * SECOND + SECOND / 2);
		plain(fixture, PID, PID, 0x1000, 2 * SECOND + i * SECOND / 3);
	}
	profile = load(fixture);
	/* A second has 250 intervals; three have samples. */
	assert_int_equal(profile->resources[0].lost[LOSS_NO_ROOM], 247);
	profile_free(profile);
}

/*
 * Of the whole machine, no event that samples reports what processes do: starting
 * programs leaves the room for samples as it is.
 */
static void
samples_of_the_machine_have_rings_of_their_own(void **state)
{
	enum { MMAP = 1 << 8, COMM = 1 << 9, TASK = 1 << 13, MMAP2 = 1 << 23 };
	struct fixture *fixture = *state;
	const struct perf_events *events;
	struct error error = { 0 };
	uint64_t reported = 0;

	sampler_free(fixture->sampler);
	fixture->options.events.is_system = true;
	fixture->sampler = sampler_new(&fixture->options, &error);
	assert_non_null(fixture->sampler);
	events = sampler_events(fixture->sampler);
	for (uint32_t i = 0; i < events->n; i++) {
		const uint64_t reports = events->attrs[i].flags &
		    (MMAP | COMM | TASK | MMAP2);

		if (i < fixture->options.events.n_kinds)
			assert_int_equal(reports, 0);
		reported |= reports;
	}
	assert_int_equal(reported, MMAP | COMM | TASK | MMAP2);
}

/* There, lost records are all samples. */
static void
lost_samples_of_the_machine_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct error error = { 0 };
	struct profile *profile;

	sampler_free(fixture->sampler);
	fixture->options.events.is_system = true;
	fixture->sampler = sampler_new(&fixture->options, &error);
	assert_non_null(fixture->sampler);
	plain(fixture, PID, PID, 0x1000, 2 * SECOND);
	for (int i = 0; i < 20; i++)
		task(fixture, PERF_FORK, CHILD + i, PID, CHILD + i, PID,
		     2 * SECOND);
	begin_record(fixture, PERF_LOST, 0);
	buffer_number(&fixture->buffer, 1, 8);
	buffer_number(&fixture->buffer, 17, 8);
	end_record(fixture, 0, 0, 3 * SECOND);
	plain(fixture, PID, PID, 0x1000, 4 * SECOND);
	profile = load(fixture);
	assert_int_equal(profile->resources[0].lost[LOSS_NO_ROOM], 17);
	profile_free(profile);
}

/* All hits are in slices, however long the run, and whatever was folded. */
static void
slices_add_up_while_they_widen(void **state)
{
	struct fixture *fixture = *state;
	uint64_t time = SECOND, n = 0;

	for (int i = 0; i < 200; i++) {
		struct profile *profile;
		const struct timeline *timeline;
		uint64_t sum = 0, samples;

		time += SECOND / 64 << i / 10;
		plain(fixture, PID, PID, 0x1000 + (uint64_t)(i % 5), time);
		n++;
		if (i % 20 != 19)
			continue;
		profile = load(fixture);
		timeline = profile->tree->timeline;
		assert_non_null(timeline);
		for (size_t k = 0; k < timeline->first[timeline->n_rows]; k++)
			sum += timeline->hits[0][k];
		assert_int_equal(profile_hits(profile, 0, &samples), sum);
		assert_int_equal(samples, n);
		assert_hits_of(sum, n, 1);
		profile_free(profile);
	}
}

static void
file_stays_below_its_limit(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	char path[PATH_MAX];
	struct profile *profile;
	uint64_t hits, samples;

	fixture->recording.max_size = 64 << 10;
	for (uint64_t i = 0; i < 5000; i++)
		plain(fixture, PID, PID, 0x1000 + i, 2 * SECOND);
	snprintf(path, sizeof path, "%s/cpprofdata.%d", fixture->directory,
	         PID);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size <= 64 << 10);
	profile = load(fixture);
	hits = profile_hits(profile, 0, &samples);
	assert_true(hits > 100 && hits < 5000);
	assert_hits_of(hits + profile->resources[0].lost[LOSS_NO_ROOM], 5000,
	               1);
	profile_free(profile);
}

/* ---- waits ---- */

enum { RUNS = 1, WAITS = 2 };	/* ids of the events */

static int
begin_real(void **state)
{
	struct error error = { 0 };
	struct perf_events *events;

	if (begin_with(state, "real") != 0)
		return -1;
	events = (struct perf_events *)(uintptr_t)sampler_events(
	    ((struct fixture *)*state)->sampler);
	return perf_events_add_id(events, RUNS, 0, &error) != 0 ||
	    perf_events_add_id(events, WAITS, 1, &error) != 0 ? -1 : 0;
}

/* A thread runs, or has left its processor. */
static void
switches(struct fixture *fixture, bool is_out, uint32_t tid, uint64_t time)
{
	begin_record(fixture, PERF_SWITCH, is_out ? PERF_MISC_SWITCH_OUT : 0);
	end_record(fixture, PID, tid, time);
}

static void
waits_at(struct fixture *fixture, uint64_t address, uint64_t from,
         uint64_t until)
{
	fixture->event = WAITS;
	plain(fixture, PID, PID, address, from);
	switches(fixture, true, PID, from);
	if (until > from)
		switches(fixture, false, PID, until);
	fixture->event = RUNS;
}

/* Hits of the frame of an address, or of CPPROFDATA_PARTIAL. */
static uint64_t
hits_at(const struct fixture *fixture, uint64_t address)
{
	struct profile *profile = load(fixture);
	const struct sample_tree *tree = profile->tree;
	uint64_t hits = 0;

	for (uint32_t i = 0; i < tree->n_nodes; i++)
		if (profile->frames[tree->label[i]].address == address)
			hits += sample_tree_hits(tree, 0, i);
	profile_free(profile);
	return hits;
}

#define assert_about(hits, wanted) \
	assert_in_range((hits), (wanted), (wanted) + 1)

static void
waits_count_where_they_begin(void **state)
{
	struct fixture *fixture = *state;

	waits_at(fixture, 0x1000, 2 * SECOND, 5 * SECOND);
	assert_about(hits_at(fixture, 0x1000), 750);
	fixture->event = RUNS;
	plain(fixture, PID, PID, 0x2000, 5 * SECOND + 4000000);
	assert_int_equal(hits_at(fixture, 0x2000), 1);
	/* Its end was lost, and it runs again: it waited, but how long there? */
	waits_at(fixture, 0x3000, 6 * SECOND, 0);
	plain(fixture, PID, PID, 0x2000, 7 * SECOND);
	assert_int_equal(hits_at(fixture, 0x3000), 0);
	assert_int_equal(hits_at(fixture, 0x2000), 2);
	assert_about(recorded_hits(fixture), 1002);
	/* It counts once, although an end is reported later. */
	switches(fixture, false, PID, 8 * SECOND);
	assert_about(recorded_hits(fixture), 1002);
	/* Until it leaves, it runs. */
	fixture->event = WAITS;
	plain(fixture, PID, PID, 0x4000, 9 * SECOND);
	switches(fixture, true, PID, 10 * SECOND);
	switches(fixture, false, PID, 11 * SECOND);
	assert_about(hits_at(fixture, 0x4000), 250);
}

static void
wait_without_its_sample_has_no_stack(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile;

	plain(fixture, PID, PID, 0x2000, 2 * SECOND);
	switches(fixture, true, PID, 3 * SECOND);
	switches(fixture, false, PID, 4 * SECOND);
	profile = load(fixture);
	assert_about(tally(profile, "hits without a stack: in the kernel, "
	                   "unseen, or in short threads"), 250);
	assert_int_equal(count_frames(profile, "[partial]"), 1);
	profile_free(profile);
	/* The next one has. */
	waits_at(fixture, 0x1000, 5 * SECOND, 6 * SECOND);
	assert_about(hits_at(fixture, 0x1000), 250);
}

/* As many as there is time for, on average: not none, and not one each. */
static void
short_waits_have_their_share(void **state)
{
	struct fixture *fixture = *state;
	uint64_t time = 2 * SECOND;

	for (int i = 0; i < 4000; i++) {
		waits_at(fixture, 0x1000, time, time + 1000000);
		waits_at(fixture, 0x2000, time + 2000000, time + 5000000);
		time += 6000000;
	}
	/* Five standard errors. */
	assert_in_range(hits_at(fixture, 0x1000), 1000 - 137, 1000 + 137);
	assert_in_range(hits_at(fixture, 0x2000), 3000 - 137, 3000 + 137);
}

/*
 * By the records a thread runs for 40 us of 100, and its events count 60, with
 * the switches, which are in its waits, too.
 */
static void
switches_count_once(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t period = sample_kind_period(
	    fixture->options.events.kinds[0].kind, 4000);
	uint64_t time = 2 * SECOND, counted = 0;

	switches(fixture, false, PID, time);
	plain(fixture, PID, PID, 0x2000, time);
	for (int i = 0; i < 40000; i++) {
		time += 40000;
		counted += 60000;
		if (counted >= period) {
			counted -= period;
			plain(fixture, PID, PID, 0x2000, time);
		}
		waits_at(fixture, 0x1000, time, time + 60000);
		time += 60000;
	}
	assert_in_range(hits_at(fixture, 0x2000), 600, 602);
	/* Five standard errors; 600 if they counted twice. */
	assert_in_range(hits_at(fixture, 0x1000), 400 - 100, 400 + 100);
}

/* Hits are up to two intervals ahead of the time that their thread ran. */
static void
hits_by_chance_take_nothing_from_waits(void **state)
{
	struct fixture *fixture = *state;
	uint64_t time = 2 * SECOND;

	for (uint32_t pid = PID; pid < PID + 20; pid++) {
		task(fixture, PERF_FORK, pid, 1, pid, 1, time);
		switches(fixture, false, pid, time);
		plain(fixture, pid, pid, 0x2000, time + 100000);
		fixture->event = WAITS;
		plain(fixture, pid, pid, 0x1000, time + 100000);
		switches(fixture, true, pid, time + 100000);
		switches(fixture, false, pid, time + 40100000);
		fixture->event = RUNS;
		time += 50000000;
	}
	assert_hits_of(hits_at(fixture, 0x2000), 20, 4);
	assert_int_equal(hits_at(fixture, 0x1000), 20 * 10);
}

/* Where a thread left is lost: it ran for longer than is known. */
static void
hits_of_unknown_runs_take_nothing_from_waits(void **state)
{
	struct fixture *fixture = *state;

	switches(fixture, false, PID, 2 * SECOND);
	for (uint64_t i = 1; i <= 20; i++)
		plain(fixture, PID, PID, 0x2000, 2 * SECOND + i * 4000000);
	switches(fixture, false, PID, 3 * SECOND);
	waits_at(fixture, 0x1000, 3 * SECOND + 1000, 3 * SECOND + 40001000);
	assert_int_equal(hits_at(fixture, 0x1000), 10);
	/* Now it is known since when it runs. */
	for (uint64_t i = 1; i <= 20; i++)
		plain(fixture, PID, PID, 0x2000, 4 * SECOND + i * 4000000);
	switches(fixture, false, PID, 5 * SECOND);
	waits_at(fixture, 0x3000, 5 * SECOND + 1000, 5 * SECOND + 40001000);
	assert_int_equal(hits_at(fixture, 0x3000), 10);
}

static void
wait_ends_with_its_thread(void **state)
{
	struct fixture *fixture = *state;

	waits_at(fixture, 0x1000, 2 * SECOND, 0);
	task(fixture, PERF_FORK, PID, PID, PID + 1, PID, 3 * SECOND);
	task(fixture, PERF_EXIT, PID, PID, PID, 1, 4 * SECOND);
	assert_about(hits_at(fixture, 0x1000), 500);
	/* A thread waits from its start until it first runs. */
	switches(fixture, false, PID + 1, 5 * SECOND);
	named(fixture, PID, PID + 1, "other", true, 6 * SECOND);
	assert_about(recorded_hits(fixture), 1000);
}

/* ---- the kernel ---- */

/*
 * Where the kernel was loaded is this machine's, if it shows that.  Otherwise
 * its frames are one.
 */
static void
kernel_frames_are_below_the_process(void **state)
{
	struct fixture *fixture = *state;
	uint64_t registers[DWARF_REGISTERS] = { 0 };
	const uint64_t stack[2] = { 0 };
	const uint64_t base = kernel_base();
	const uint64_t text = base != 0 ? base : UINT64_C(0xffffffff81000000);
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, text + 0x30,
		text + 0x21, text + 0x11 };
	const uint64_t offsets[] = { 0x10, 0x20, 0x30 };
	struct profile *profile;
	const struct sample_tree *tree;

	registers[DWARF_OWN_ARCH->pc] = 0x1000;
	registers[DWARF_OWN_ARCH->sp] = 0x7000;
	sample_in_kernel(fixture, PID, PID, 2 * SECOND, chain, 4, registers,
	                 stack, sizeof stack);
	profile = load(fixture);
	tree = profile->tree;
	assert_int_equal(tree->n_nodes, base != 0 ? 4 : 2);
	assert_int_equal(profile->frames[tree->label[0]].module, NO_MODULE);
	for (uint32_t node = 1; node < tree->n_nodes; node++) {
		const struct frame *frame =
		    &profile->frames[tree->label[node]];

		assert_int_equal(sample_tree_parent(tree, node), node - 1);
		assert_string_equal(profile->modules[frame->module].path,
		                    "[kernel]");
		assert_int_equal(frame->address, base == 0 ? 0 :
		                 offsets[node - 1]);
		assert_int_equal(sample_tree_hits(tree, 0, node),
		                 node + 1 == tree->n_nodes);
	}
	profile_free(profile);
}

/* ---- stacks ---- */

enum { DEPTH = 3000 };

static struct snapshot {
	uint64_t registers[DWARF_REGISTERS];
	unsigned char stack[COPY_MAX];
	pid_t tid;
} snapshot;
static sem_t is_there, may_return;
static volatile int sink;

/* Copies byte by byte, across the red zones of sanitizers. */
__attribute__((no_sanitize("address"), noinline)) static void
copy_stack(unsigned char *to, const volatile unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* By the numbers of unwind tables. */
static void
take_registers(uint64_t *registers, const mcontext_t *context)
{
#ifdef __x86_64__
	static const int from[X86_64_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX,
		REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP };

	for (int i = 0; i < X86_64_REGISTERS; i++)
		registers[i] = (uint64_t)context->gregs[from[i]];
#else
	memcpy(registers, context->regs, sizeof context->regs);
	registers[AARCH64_SP] = context->sp;
	registers[AARCH64_PC] = context->pc;
#endif
}

__attribute__((noinline, noclone)) static void
stand(void)
{
	ucontext_t context;

	getcontext(&context);
	take_registers(snapshot.registers, &context.uc_mcontext);
	copy_stack(snapshot.stack, (const volatile unsigned char *)(uintptr_t)
	           snapshot.registers[DWARF_OWN_ARCH->sp],
	           sizeof snapshot.stack);
	sem_post(&is_there);
	sem_wait(&may_return);
	sink++;
}

__attribute__((noinline, noclone)) static void
climb(int depth)
{
	if (depth > 0)
		climb(depth - 1);
	else
		stand();
	sink++;
}

/* The same stack in other words: other return addresses. */
__attribute__((noinline, noclone)) static void
climb_otherwise(int depth)
{
	volatile int here[8] = { depth };

	if (depth > 0)
		climb_otherwise(here[0] - 1);
	else
		stand();
	sink++;
}

static void *
run(void *unused)
{
	snapshot.tid = (pid_t)syscall(SYS_gettid);
	climb(DEPTH);
	climb_otherwise(DEPTH);
	return unused;
}

/* The process's mappings, as the kernel reports them. */
static void
map_self(struct fixture *fixture)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, limit, offset;
	char line[PATH_MAX + 200], rights[8], path[PATH_MAX + 200];

	assert_non_null(maps);
	while (fgets(line, sizeof line, maps) != NULL) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %[^\n]", &start,
		           &limit, rights, &offset, path) != 5 || rights[2] != 'x')
			continue;
		begin_record(fixture, PERF_MMAP, PERF_MODE_USER);
		buffer_number(&fixture->buffer, (uint32_t)getpid(), 4);
		buffer_number(&fixture->buffer, (uint32_t)getpid(), 4);
		buffer_number(&fixture->buffer, start, 8);
		buffer_number(&fixture->buffer, limit - start, 8);
		buffer_number(&fixture->buffer, offset, 8);
		memset(path + strlen(path), 0, 8);
		buffer_add(&fixture->buffer, path, (strlen(path) + 8) / 8 * 8);
		end_record(fixture, (uint32_t)getpid(), (uint32_t)getpid(),
		           SECOND);
	}
	fclose(maps);
}

static void
take_snapshot(struct fixture *fixture, const struct snapshot *from)
{
	sample(fixture, (uint32_t)getpid(), (uint32_t)from->tid, 2 * SECOND,
	       from->registers, from->stack, sizeof from->stack);
}

/* Starts a thread that posts is_there when its stack can be read. */
static void
start_thread(pthread_t *thread, void *(*function)(void *))
{
	char from = 0, to;

	if (process_vm_readv(getpid(), &(struct iovec){ &to, 1 }, 1,
	                     &(struct iovec){ &from, 1 }, 1, 0) != 1) {
		print_message("process_vm_readv: %s\n", strerror(errno));
		skip();		/* qemu-user has none */
	}
	sem_init(&is_there, 0, 0);
	sem_init(&may_return, 0, 0);
	assert_int_equal(pthread_create(thread, NULL, function, NULL), 0);
	sem_wait(&is_there);
}

static void
stack_comes_whole_beyond_its_copy(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot first;
	struct profile *profile;
	pthread_t thread;

	start_thread(&thread, run);
	first = snapshot;
	map_self(fixture);
	take_snapshot(fixture, &first);
	profile = load(fixture);
	assert_int_equal(count_frames(profile, "climb"), DEPTH + 1);
	assert_int_equal(count_frames(profile, "run"), 1);
	assert_int_equal(count_frames(profile, "[partial]"), 0);
	profile_free(profile);
	/* The thread has left these frames and stands in others. */
	sem_post(&may_return);
	sem_wait(&is_there);
	take_snapshot(fixture, &first);
	profile = load(fixture);
	assert_int_equal(count_frames(profile, "[partial]"), 1);
	assert_int_equal(tally(profile, "stacks incomplete: changed before "
	                       "all was read"), 1);
	assert_int_equal(count_frames(profile, "climb_otherwise"), 0);
	profile_free(profile);
	sem_post(&may_return);
	pthread_join(thread, NULL);
}

enum { ALTERNATE = 65536 };

/* A copy of the stack from any place in the first part is in the array. */
static unsigned char alternate[ALTERNATE + COPY_MAX]
    __attribute__((aligned(16)));

static void
stand_in_handler(int number)
{
	stand();
	sink += number;
}

/* Fills the stack with words that are no addresses of code. */
__attribute__((no_sanitize("address"), noinline)) static void
overwrite_stack(void)
{
	volatile uint64_t words[8192];

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = 1 << 20;
	sink += (int)words[1];
}

__attribute__((noinline, noclone)) static void
climb_to_signal(int depth)
{
	volatile int here[8] = { depth };

	if (depth > 0)
		climb_to_signal(here[0] - 1);
	else
		raise(SIGUSR1);
	sink++;
}

static void *
run_with_signal(void *unused)
{
	const stack_t stack = { .ss_sp = alternate, .ss_size = ALTERNATE };
	struct sigaction action = { .sa_handler = stand_in_handler,
		.sa_flags = SA_ONSTACK };

	snapshot.tid = (pid_t)syscall(SYS_gettid);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	climb_to_signal(10);
	overwrite_stack();
	sem_post(&is_there);
	sem_wait(&may_return);
	return unused;
}

/* The copy has the stack of the handler, where everything stays as it was. */
static void
interrupted_stack_may_have_changed(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot first;
	struct profile *profile;
	pthread_t thread;

	start_thread(&thread, run_with_signal);
	first = snapshot;
	map_self(fixture);
	take_snapshot(fixture, &first);
	profile = load(fixture);
	assert_int_equal(count_frames(profile, "climb_to_signal"), 11);
	assert_int_equal(count_frames(profile, "[partial]"), 0);
	profile_free(profile);
	sem_post(&may_return);
	sem_wait(&is_there);
	take_snapshot(fixture, &first);
	profile = load(fixture);
	assert_int_equal(count_frames(profile, "stand_in_handler"), 2);
	assert_int_equal(count_frames(profile, "climb_to_signal"), 11);
	assert_int_equal(count_frames(profile, "[jit]"), 0);
	assert_int_equal(tally(profile, "stacks incomplete: changed before "
	                       "all was read"), 1);
	profile_free(profile);
	sem_post(&may_return);
	pthread_join(thread, NULL);
}

/* Go's entry point has rules as if it were called: the word on top of the stack
 * is the number of arguments. */
static void
number_of_arguments_is_no_caller(void **state)
{
	struct fixture *fixture = *state;
	uint64_t registers[DWARF_REGISTERS] = { 0 };
	const uint64_t stack[2] = { 3, 0x7fff1000 };
	struct profile *profile;

	registers[DWARF_OWN_ARCH->return_address] = 3;
	registers[DWARF_OWN_ARCH->pc] = (uintptr_t)climb;
	registers[DWARF_OWN_ARCH->sp] = 0x7fff0000;
	map_self(fixture);
	sample(fixture, (uint32_t)getpid(), (uint32_t)getpid(), 2 * SECOND,
	       registers, (const unsigned char *)stack, sizeof stack);
	profile = load(fixture);
	assert_int_equal(count_frames(profile, "climb"), 1);
	assert_int_equal(count_frames(profile, "[partial]"), 1);
	assert_int_equal(count_frames(profile, "[jit]"), 0);
	assert_int_equal(profile->tree->n_nodes, 2);
	profile_free(profile);
}

/* ---- refusals ---- */

static void
refusals_name_what_to_do(void **state)
{
	struct error none = { 0 }, self = { 0 }, zombie = { 0 };
	pid_t child = fork();
	siginfo_t how;

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT),
	                 0);
	assert_int_equal(sample_target_check(child, &zombie), -1);
	assert_non_null(strstr(zombie.text, "has ended"));
	waitid(P_PID, (id_t)child, &how, WEXITED);
	assert_int_equal(sample_target_check(child, &none), -1);
	assert_non_null(strstr(none.text, "no process"));
	assert_int_equal(sample_target_check(getpid(), &self), -1);
	assert_non_null(strstr(self.text, "name another"));
}

static void *
wait_for_end(void *context)
{
	(void)context;
	for (;;)
		pause();
	return NULL;
}

/* A process goes on after its first thread. */
static void
process_without_its_first_thread_is_sampled(void **state)
{
	struct task task = { 0 };
	struct error error = { 0 };
	pthread_t thread;
	const pid_t child = fork();

	(void)state;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, wait_for_end, NULL);
		syscall(SYS_exit, 0);
	}
	while (task_read(child, &task) && task.state != 'Z')
		sched_yield();
	assert_int_equal(task.state, 'Z');
	assert_int_not_equal(task_of_process(child), 0);
	assert_int_not_equal(task_of_process(child), child);
	assert_int_equal(sample_target_check(child, &error), 0);
	assert_string_equal(error.text, "");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(task_of_process(child), 0);
}

/* Where no file can be opened, that is what is said. */
static void
want_of_files_is_not_want_of_events(void **state)
{
	static const int numbers[] = { EMFILE, ENFILE, EACCES, EPERM };
	struct rlimit before, none;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct text_buffer text = { 0 };

		setrlimit(RLIMIT_NOFILE, &none);
		sample_events_explain(numbers[i], &text);
		setrlimit(RLIMIT_NOFILE, &before);
		assert_null(strstr(text_string(&text), "no perf events"));
		if (i < 2)
			assert_non_null(strstr(text_string(&text),
			                       "ulimit -n"));
		text_free(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
		CASE(recording_is_whole_after_each_record),
		CASE(threads_have_their_names_and_end),
		CASE(exec_begins_another_file),
		CASE(loss_of_events_is_no_end),
		CASE(forked_process_has_its_parents_program),
		CASE(children_can_be_left_out),
		CASE(lost_samples_are_counted),
		CASE(lost_records_are_not_all_samples),
		CASE(lost_samples_are_no_more_than_fit),
		CASE(samples_of_the_machine_have_rings_of_their_own),
		CASE(lost_samples_of_the_machine_are_counted),
		CASE(slices_add_up_while_they_widen),
		CASE(file_stays_below_its_limit),
#define REAL(name) cmocka_unit_test_setup_teardown(name, begin_real, end)
		REAL(waits_count_where_they_begin),
		REAL(wait_without_its_sample_has_no_stack),
		REAL(short_waits_have_their_share),
		REAL(switches_count_once),
		REAL(hits_by_chance_take_nothing_from_waits),
		REAL(hits_of_unknown_runs_take_nothing_from_waits),
		REAL(wait_ends_with_its_thread),
		CASE(kernel_frames_are_below_the_process),
		CASE(stack_comes_whole_beyond_its_copy),
		CASE(interrupted_stack_may_have_changed),
		CASE(number_of_arguments_is_no_caller),
		cmocka_unit_test(refusals_name_what_to_do),
		cmocka_unit_test(process_without_its_first_thread_is_sampled),
		cmocka_unit_test(want_of_files_is_not_want_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
