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
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/profile/sample_tree.h"
#include "src/sample/sample.h"

enum { REGISTERS = 0xff01ff, COPY_MAX = 4096 };

#define SECOND UINT64_C(1000000000)

struct fixture {
	char directory[64];
	struct sample_recording recording;
	struct sampler_options options;
	struct sampler *sampler;
	struct buffer buffer;
};

static int
begin(void **state)
{
	static struct fixture fixture;
	struct error error = { 0 };
	const struct sample_kind *cpu = sample_kind_find("cpu");

	memset(&fixture, 0, sizeof fixture);
	strcpy(fixture.directory, "/tmp/cpprof-test-XXXXXX");
	if (mkdtemp(fixture.directory) == NULL)
		return -1;
	fixture.recording = (struct sample_recording){
		.directory = open(fixture.directory, O_RDONLY | O_DIRECTORY),
		.n_resources = 1,
		.resources = { { "cpu", "microsecond", "a test", 4000 } },
		.origin_ns = 1700000000 * SECOND,
		.origin_mono_ns = SECOND,
	};
	fixture.options = (struct sampler_options){
		.recording = &fixture.recording,
		.events = { .n_kinds = 1, .kinds = { { cpu, 4000 } } },
	};
	fixture.sampler = sampler_new(&fixture.options, &error);
	*state = &fixture;
	return fixture.sampler != NULL ? 0 : -1;
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
                 const uint64_t registers[X86_64_REGISTERS], const void *stack,
                 size_t size)
{
	static const unsigned order[] = { X86_64_RAX, X86_64_RBX, X86_64_RCX,
		X86_64_RDX, X86_64_RSI, X86_64_RDI, X86_64_RBP, X86_64_RSP,
		X86_64_RIP, X86_64_R8, X86_64_R9, X86_64_R10, X86_64_R11,
		X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15 };
	struct buffer *buffer = &fixture->buffer;

	assert_int_equal(__builtin_popcount(REGISTERS),
	                 sizeof order / sizeof *order);
	assert_int_equal(sampler_events(fixture->sampler)->attrs[0]
	                     .user_registers, REGISTERS);
	begin_record(fixture, PERF_SAMPLE, PERF_MODE_USER);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, pid, 4);
	buffer_number(buffer, tid, 4);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, n, 8);
	for (size_t i = 0; i < n; i++)
		buffer_number(buffer, chain[i], 8);
	buffer_number(buffer, 2, 8);
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		buffer_number(buffer, registers[order[i]], 8);
	buffer_number(buffer, size, 8);
	buffer_add(buffer, stack, size);
	buffer_number(buffer, size, 8);
	take(fixture);
}

static void
sample(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t time,
       const uint64_t registers[X86_64_REGISTERS], const void *stack, size_t size)
{
	sample_in_kernel(fixture, pid, tid, time, NULL, 0, registers, stack,
	                 size);
}

/* A sample of one frame at an address in no module: the outermost one. */
static void
plain(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t address,
      uint64_t time)
{
	const uint64_t registers[X86_64_REGISTERS] = {
		[X86_64_RIP] = address, [X86_64_RSP] = 0x7000 };
	const uint64_t stack[2] = { 0 };

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

/* ---- processes and threads ---- */

enum { PID = 4100001, CHILD = 4100101 };

static void
recording_is_whole_after_each_record(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 1; i <= 40; i++) {
		plain(fixture, PID, PID + (uint32_t)(i % 3), 0x1000 + i % 7,
		      i * SECOND);
		assert_int_equal(recorded_hits(fixture), i);
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
	assert_int_equal(recorded_hits(fixture), 102);
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
		assert_int_equal(sum, n);
		assert_int_equal(profile_hits(profile, 0, &samples), n);
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
	assert_int_equal(hits + profile->resources[0].lost[LOSS_NO_ROOM],
	                 5000);
	profile_free(profile);
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
	const uint64_t registers[X86_64_REGISTERS] = {
		[X86_64_RIP] = 0x1000, [X86_64_RSP] = 0x7000 };
	const uint64_t stack[2] = { 0 };
	const uint64_t base = kernel_base();
	const uint64_t text = base != 0 ? base : UINT64_C(0xffffffff81000000);
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, text + 0x30,
		text + 0x21, text + 0x11 };
	const uint64_t offsets[] = { 0x10, 0x20, 0x30 };
	struct profile *profile;
	const struct sample_tree *tree;

	sample_in_kernel(fixture, PID, PID, 2 * SECOND, chain, 4, registers,
	                 stack, sizeof stack);
	profile = load(fixture);
	tree = profile->tree;
	assert_int_equal(tree->n_nodes, base != 0 ? 4 : 2);
	assert_int_equal(profile->frames[tree->label[0]].module, NO_MODULE);
	for (uint32_t node = 1; node < tree->n_nodes; node++) {
		const struct frame *frame =
		    &profile->frames[tree->label[node]];

		assert_int_equal(tree->parent[node], node - 1);
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
	uint64_t registers[X86_64_REGISTERS];
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

__attribute__((noinline, noclone)) static void
stand(void)
{
	static const int from[X86_64_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX,
		REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP };
	ucontext_t context;

	getcontext(&context);
	for (int i = 0; i < X86_64_REGISTERS; i++)
		snapshot.registers[i] =
		    (uint64_t)context.uc_mcontext.gregs[from[i]];
	copy_stack(snapshot.stack, (const volatile unsigned char *)(uintptr_t)
	           snapshot.registers[X86_64_RSP], sizeof snapshot.stack);
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
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %s", &start, &limit,
		           rights, &offset, path) != 5 || rights[2] != 'x')
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

static void
take_snapshot(struct fixture *fixture, const struct snapshot *from)
{
	sample(fixture, (uint32_t)getpid(), (uint32_t)from->tid, 2 * SECOND,
	       from->registers, from->stack, sizeof from->stack);
}

static void
stack_comes_whole_beyond_its_copy(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot first;
	struct profile *profile;
	pthread_t thread;

	sem_init(&is_there, 0, 0);
	sem_init(&may_return, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	sem_wait(&is_there);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
		CASE(recording_is_whole_after_each_record),
		CASE(threads_have_their_names_and_end),
		CASE(exec_begins_another_file),
		CASE(children_can_be_left_out),
		CASE(lost_samples_are_counted),
		CASE(slices_add_up_while_they_widen),
		CASE(file_stays_below_its_limit),
		CASE(kernel_frames_are_below_the_process),
		CASE(stack_comes_whole_beyond_its_copy),
		cmocka_unit_test(refusals_name_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
