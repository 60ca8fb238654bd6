/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprof-mpi.c -- cpprof merge by all processes of an MPI job.
 *
 *	mpirun cpprof-mpi [--by KEY] -o OUT FILE...
 *
 * Each process merges its share of the files: one of as many as there are
 * processes.  Then half of them send their sums to the others, half of these to
 * the rest, and so on, until the first has the sum of all.  What is sent is the
 * file that `cpprof merge` would write, so the result has the same bytes.
 *
 * Counts by one key cannot be added to those by another.  Which key a process
 * keeps, is that of the first of its files that has counts by one; if they
 * differ, the job ends without a sum, and says which files these are.
 *
 * Exit status of the first process: 0; 1 if files were skipped or cut short, or
 * nothing could be written; 2 for a wrong command line.  That of the others is
 * 0, since mpirun would end the job for another one.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/formats/format.h"
#include "src/formats/merged/merging.h"
#include "src/shell/terminal/terminal.h"

/* MPI counts bytes by int. */
enum { PIECE = 1 << 30, TAG_SIZE = 1, TAG_BYTES = 2 };

/* What the counts of a process are by; cut if it is longer. */
struct kept_key {
	char key[128];		/* "": nothing */
	char path[384];		/* of the first file with such counts */
};

struct job {
	int rank, size;
	const char *key, *output;
	char **words;
	int n_words;
	struct run_list inputs;
	struct merging *merging;
	long long n_added;
	struct merging_lack lack;
	struct kept_key kept;
};

/* Ends all processes of the job. */
static _Noreturn void
cpprof_mpi_give_up(const char *text)
{
	message_note("%s", text);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

static void
cpprof_mpi_warn(void *context, const char *text)
{
	(void)context;
	message_note("%s", text);
}

/* Notes the first file with counts by a key. */
static void
note_key(struct job *job, const char *path)
{
	const char *key = merging_fleet(job->merging)->key;

	if (key == NULL || job->kept.key[0] != '\0')
		return;
	snprintf(job->kept.key, sizeof job->kept.key, "%s", key);
	snprintf(job->kept.path, sizeof job->kept.path, "%s", path);
}

/* From the first process to all others. */
static void
broadcast(char *bytes, unsigned long long n)
{
	for (unsigned long long at = 0; at < n; at += PIECE)
		MPI_Bcast(bytes + at, (int)(n - at < PIECE ? n - at : PIECE),
		          MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* The paths, each with its NUL, one after the other. */
static void
take_inputs(struct job *job, const char *names, size_t n)
{
	struct run_list *inputs = &job->inputs;
	struct error error = { 0 };

	inputs->paths = memory_array(n, sizeof *inputs->paths, &error);
	if (inputs->paths == NULL)
		cpprof_mpi_give_up(error.text);
	for (; inputs->n < n; names += strlen(names) + 1) {
		inputs->paths[inputs->n] = memory_string(names, &error);
		if (inputs->paths[inputs->n++] == NULL)
			cpprof_mpi_give_up(error.text);
	}
}

/*
 * The first process finds the files, and the others have its list: if each
 * looked for itself while files come and go, the shares would not fit.
 */
static void
share_inputs(struct job *job)
{
	struct text_buffer names = { 0 };
	unsigned long long sizes[2];

	for (size_t i = 0; i < job->inputs.n; i++)
		text_add(&names, job->inputs.paths[i],
		         strlen(job->inputs.paths[i]) + 1);
	sizes[0] = job->inputs.n;
	sizes[1] = names.length;
	MPI_Bcast(sizes, 2, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
	if (job->rank > 0)
		text_add_fill(&names, '\0', sizes[1]);
	if (names.failed)
		cpprof_mpi_give_up("out of memory");
	broadcast(names.bytes, sizes[1]);
	if (job->rank > 0)
		take_inputs(job, names.bytes, sizes[0]);
	text_free(&names);
}

/* Merges every size-th file. */
static void
cpprof_mpi_add_share(struct job *job)
{
	for (size_t i = (size_t)job->rank; i < job->inputs.n;
	     i += (size_t)job->size) {
		struct error error = { 0 };

		switch (merging_add(job->merging, job->inputs.paths[i], NULL,
		                    cpprof_mpi_warn, NULL, &error)) {
		case MERGED_CUT_SHORT:
			job->lack.n_cut++;
			/* fall through */
		case MERGED_ADDED:
			job->n_added++;
			note_key(job, job->inputs.paths[i]);
			break;
		case MERGED_SKIPPED:
			job->lack.n_skipped++;
			message_note("%s (skipped)", error.text);
			break;
		case MERGED_FAILED:
			cpprof_mpi_give_up(error.text);
		}
	}
}

/* Whether all processes have counts by one key; else the first says so. */
static bool
agree_on_key(const struct job *job)
{
	struct kept_key *all = calloc((size_t)job->size, sizeof *all);
	const struct kept_key *first = NULL, *other = NULL;

	if (all == NULL)
		cpprof_mpi_give_up("out of memory");
	MPI_Allgather(&job->kept, sizeof job->kept, MPI_BYTE, all,
	              sizeof job->kept, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < job->size; i++) {
		if (all[i].key[0] == '\0')
			continue;
		if (first == NULL)
			first = &all[i];
		else if (other == NULL && strcmp(first->key, all[i].key) != 0)
			other = &all[i];
	}
	if (other != NULL && job->rank == 0)
		message_note("%s has counts by %s, %s by %s, which cannot be "
		             "added up; merge the files of each key by "
		             "themselves, or name the key to keep with --by",
		             first->path, first->key, other->path, other->key);
	free(all);
	return other == NULL;
}

/* A writer_function that keeps the bytes. */
static int
cpprof_mpi_keep_bytes(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

/* Sends the sum, or that there is none. */
static void
send_sum(struct job *job, int to)
{
	struct text_buffer bytes = { 0 };
	struct error error = { 0 };
	static struct writer writer;
	unsigned long long size;

	writer_start(&writer, cpprof_mpi_keep_bytes, &bytes);
	if (job->n_added > 0 &&
	    (merging_write(job->merging, NULL, &writer, &error) != 0 ||
	     writer_flush(&writer) != 0 || bytes.failed))
		cpprof_mpi_give_up(error.is_set ? error.text : "out of memory");
	size = bytes.length;
	MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, to, TAG_SIZE,
	         MPI_COMM_WORLD);
	for (size_t at = 0; at < bytes.length; at += PIECE) {
		size_t left = bytes.length - at;

		MPI_Send(bytes.bytes + at, (int)(left < PIECE ? left : PIECE),
		         MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD);
	}
	text_free(&bytes);
}

static void
receive_sum(struct job *job, int from)
{
	struct error error = { 0 };
	unsigned long long size;
	char *bytes, name[40];

	MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, TAG_SIZE,
	         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (size == 0)
		return;
	bytes = malloc(size);
	if (bytes == NULL)
		cpprof_mpi_give_up("out of memory");
	for (size_t at = 0; at < size; at += PIECE) {
		size_t left = size - at;

		MPI_Recv(bytes + at, (int)(left < PIECE ? left : PIECE),
		         MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
		         MPI_STATUS_IGNORE);
	}
	snprintf(name, sizeof name, "the sum of process %d", from);
	if (merging_add_written(job->merging, name, bytes, size, &error) != 0)
		cpprof_mpi_give_up(error.text);
	job->n_added++;
	free(bytes);
}

/* Receives from the next 1, 2, 4, ... processes, until it is to send itself. */
static void
reduce(struct job *job)
{
	for (int step = 1; step < job->size; step *= 2) {
		if ((job->rank & step) != 0) {
			send_sum(job, job->rank - step);
			return;
		}
		if (job->rank + step < job->size)
			receive_sum(job, job->rank + step);
	}
}

/* Of the first process.  n_without_key: of all. */
static int
write_output(struct job *job, unsigned long long n_without_key,
             struct error *error)
{
	struct error lack = { 0 };
	struct new_file file;
	bool is_whole;

	if (job->n_added == 0)
		return error_set(error, "nothing to write: no input could be "
		                 "merged");
	if (merging_check_key(job->merging, n_without_key, &lack, error) != 0)
		return -1;
	if (lack.is_set)
		message_note("%s", lack.text);
	if (new_file_open(&file, job->output, error) != 0)
		return -1;
	is_whole = merging_write(job->merging,
	                         merging_exporter_of(job->output),
	                         &file.writer, error) == 0;
	/* A pipe may have lost its reader, which is no error. */
	return new_file_close(&file, is_whole, error) != 0 || error->is_set ?
	       -1 : 0;
}

static void
cpprof_mpi_finish(struct job *job, const struct read_options *read)
{
	merging_free(job->merging);
	run_list_free(&job->inputs);
	module_cache_free(read->modules);
}

static int
cpprof_mpi_run(struct job *job)
{
	const struct symbol_search search = { .root = NULL };
	struct error error = { 0 };
	struct read_options read = {
		.modules = module_cache_new(&search, &error),
	};
	unsigned long long mine, n_without_key = 0;
	struct merging_lack lack = { 0 };
	int status = 0;

	if (read.modules != NULL)
		job->merging = merging_new(&read, job->key, &error);
	if (job->merging == NULL)
		cpprof_mpi_give_up(error.text);
	job->inputs.output = job->output;
	for (int i = 0; job->rank == 0 && i < job->n_words; i++)
		if (run_list_add_members(&job->inputs, job->words[i],
		                         &error) != 0)
			cpprof_mpi_give_up(error.text);
	if (job->rank == 0 &&
	    run_list_check_distinct(&job->inputs, &error) != 0)
		cpprof_mpi_give_up(error.text);
	share_inputs(job);
	if (job->rank == 0 && job->inputs.was_output_found)
		message_note("%s is in an input directory; it was not added to "
		             "itself", job->output);
	cpprof_mpi_add_share(job);
	if (!agree_on_key(job)) {
		cpprof_mpi_finish(job, &read);
		return 1;
	}
	reduce(job);
	MPI_Reduce(&job->lack.n_skipped, &lack.n_skipped, 1, MPI_UINT64_T,
	           MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&job->lack.n_cut, &lack.n_cut, 1, MPI_UINT64_T, MPI_SUM, 0,
	           MPI_COMM_WORLD);
	mine = merging_without_key(job->merging);
	MPI_Reduce(&mine, &n_without_key, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM,
	           0, MPI_COMM_WORLD);
	if (job->rank == 0 &&
	    (write_output(job, n_without_key, &error) != 0 ||
	     merging_check_whole(&lack, job->inputs.n, job->output,
	                         &error) != 0)) {
		message_note("%s", error.text);
		status = 1;
	}
	cpprof_mpi_finish(job, &read);
	return status;
}

/* Whether the command line is right. */
static bool
cpprof_mpi_parse(struct job *job, int argc, char **argv)
{
	static const struct option names[] = {
		{ "by", required_argument, NULL, 'b' }, { 0 }
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "o:", names, NULL)) != -1)
		if (option == 'b')
			job->key = optarg;
		else if (option == 'o')
			job->output = optarg;
		else
			return false;
	job->words = argv + optind;
	job->n_words = argc - optind;
	return job->output != NULL && job->n_words > 0 &&
	       (job->key == NULL || *job->key != '\0');
}

int
main(int argc, char **argv)
{
	struct job job = { .key = NULL };
	int status = 2;

	message_name("cpprof-mpi");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job.size);
	if (cpprof_mpi_parse(&job, argc, argv))
		status = cpprof_mpi_run(&job);
	else if (job.rank == 0)
		message_note("usage: mpirun cpprof-mpi [--by KEY] -o OUT "
		             "FILE...");
	MPI_Finalize();
	return job.rank == 0 ? status : 0;
}
