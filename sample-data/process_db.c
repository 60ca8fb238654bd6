/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_db.c -- sorts employees by name, drops doubles, shows the salaries.
 *
 *	process_db [SCALE]
 *
 * Section 3 of Hall & Goldberg 1993: a database larger than memory is sorted
 * through pointers, so that no record moves.  Still each comparison touches
 * two records, each on a page of its own: nearly all page faults, and so the
 * time, are under (uniquify_db quick_sort), and hardly any under the other
 * sort, that of the salaries, which were first copied into an array.  To copy
 * the names likewise would mend it.
 *
 * The machine of 1993 had little memory.  To be like it, the program plays
 * the kernel's page replacement over its mapped file: N_RESIDENT clusters of
 * 64 KiB (what Linux maps at one fault) stay, and coming to another one
 * unmaps the oldest.  So each is a real page fault, though it costs
 * microseconds: the page cache has the data.
 *
 * quick_sort is our own, since libc's qsort merges copies of what it sorts,
 * in functions of its own.  It keeps a stack of ranges, so it is one frame.
 *
 * With -DSTEP=1, uniquify_db has a sort of its own, which gathers the names
 * first, as `specialise (uniquify_db quick_sort)` proposes.
 *
 * SCALE 1, the default, takes about two seconds and a file of 96 MiB.  The
 * same SCALE prints the same text.  The database is a temporary file in
 * $TMPDIR, unlinked at once.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef STEP
#define STEP 0
#endif

/* A frame of its own on the stack: not inlined, not cloned. */
#ifdef __clang__
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME __attribute__((noipa))
#endif

enum {
	CLUSTER_SIZE = 65536,
	CLUSTERS_AT_SCALE_1 = 1536,
	N_RESIDENT = 32,	/* 2 MiB of memory for the database */
};

/* One page, most of which nobody asks for. */
struct record {
	char name[64];
	int salary;
	char curriculum_vitae[4028];
};

typedef int less_than(const void *a, const void *b);

static struct record *db;	/* mapped */
static size_t n_records, n_clusters;
static unsigned char *is_resident;	/* [n_clusters] */
static size_t oldest_first[N_RESIDENT];	/* ring of clusters */
static size_t n_replaced;

static void OWN_FRAME
replace_cluster(size_t cluster)
{
	size_t *oldest = &oldest_first[n_replaced % N_RESIDENT];

	if (n_replaced >= N_RESIDENT) {
		is_resident[*oldest] = 0;
		if (madvise((char *)db + *oldest * CLUSTER_SIZE, CLUSTER_SIZE,
		            MADV_DONTNEED) != 0)
			err(1, "madvise");
	}
	*oldest = cluster;
	is_resident[cluster] = 1;
	n_replaced++;
}

/* The record, which the caller is about to touch. */
static inline const struct record *
touch(const struct record *record)
{
	size_t cluster = (record - db) * sizeof *record / CLUSTER_SIZE;

	if (!is_resident[cluster])
		replace_cluster(cluster);
	return record;
}

#if STEP == 0
static int OWN_FRAME
name_field_lt(const void *a, const void *b)
{
	const struct record *const *left = a, *const *right = b;

	return strcmp(touch(*left)->name, touch(*right)->name) < 0;
}
#endif

static int OWN_FRAME
integer_lt(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b;
}

static inline void
swap(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char other = a[i];

		a[i] = b[i];
		b[i] = other;
	}
}

/* Brings the middle element to its place, and returns that. */
static inline size_t
partition(char *items, size_t n, size_t size, less_than *lt)
{
	size_t place = 0;

	swap(items, items + n / 2 * size, size);
	for (size_t i = 1; i < n; i++)
		if (lt(items + i * size, items))
			swap(items + ++place * size, items + i * size, size);
	swap(items, items + place * size, size);
	return place;
}

/* The smaller part goes first, so that never more than 64 ranges wait. */
static void OWN_FRAME
quick_sort(void *base, size_t n, size_t size, less_than *lt)
{
	struct range {
		char *items;
		size_t n;
	} waiting[64], range = { base, n };
	int n_waiting = 0;

	for (;;) {
		struct range left = range, right;

		if (range.n < 2) {
			if (n_waiting == 0)
				return;
			range = waiting[--n_waiting];
			continue;
		}
		left.n = partition(range.items, range.n, size, lt);
		right.items = range.items + (left.n + 1) * size;
		right.n = range.n - left.n - 1;
		range = left.n < right.n ? left : right;
		waiting[n_waiting++] = left.n < right.n ? right : left;
	}
}

#if STEP == 1
struct key {
	char name[64];
	const struct record *record;
};

static int OWN_FRAME
key_lt(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->name,
	              ((const struct key *)b)->name) < 0;
}

/* A copy of quick_sort for uniquify_db alone: touches each record once. */
static void OWN_FRAME
quick_sort_1(const struct record **pointers, size_t n)
{
	struct key *keys = calloc(n, sizeof *keys);

	if (keys == NULL)
		err(1, "keys");
	for (size_t i = 0; i < n; i++) {
		memcpy(keys[i].name, touch(pointers[i])->name,
		       sizeof keys[i].name);
		keys[i].record = pointers[i];
	}
	quick_sort(keys, n, sizeof *keys, key_lt);
	for (size_t i = 0; i < n; i++)
		pointers[i] = keys[i].record;
	free(keys);
}
#endif

/* Makes the file, with 2% of the names twice, and maps it. */
static void OWN_FRAME
read_db(void)
{
	static struct record record;
	const char *folder = getenv("TMPDIR");
	uint64_t random = 1;
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/process_dbXXXXXX",
	         folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || unlink(path) != 0)
		err(1, "%s", path);
	memset(record.curriculum_vitae, '.', sizeof record.curriculum_vitae);
	for (size_t i = 0; i < n_records; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		snprintf(record.name, sizeof record.name, "Employee %08d",
		         (int)((random >> 33) % (25 * n_records)));
		record.salary = 20000 + (random >> 40) % 100000;
		if (write(fd, &record, sizeof record) != sizeof record)
			err(1, "%s", path);
	}
	db = mmap(NULL, n_clusters * CLUSTER_SIZE, PROT_READ, MAP_PRIVATE, fd,
	          0);
	is_resident = calloc(n_clusters, 1);
	if (db == MAP_FAILED || is_resident == NULL)
		err(1, "cannot map %s", path);
	close(fd);
}

static const struct record **OWN_FRAME
build_db_ptrs(void)
{
	const struct record **pointers = calloc(n_records, sizeof *pointers);

	if (pointers == NULL)
		err(1, "pointers");
	for (size_t i = 0; i < n_records; i++)
		pointers[i] = &db[i];
	return pointers;
}

/* Of equal names, which are neighbours, the first stays; how many do. */
static size_t OWN_FRAME
merge_adjacent_records(const struct record **pointers)
{
	size_t n = 1;

	for (size_t i = 1; i < n_records; i++)
		if (strcmp(touch(pointers[n - 1])->name,
		           touch(pointers[i])->name) != 0)
			pointers[n++] = pointers[i];
	return n;
}

static const struct record **OWN_FRAME
uniquify_db(size_t *n)
{
	const struct record **pointers = build_db_ptrs();

#if STEP == 1
	quick_sort_1(pointers, n_records);
#else
	quick_sort(pointers, n_records, sizeof *pointers, name_field_lt);
#endif
	*n = merge_adjacent_records(pointers);
	return pointers;
}

static int *OWN_FRAME
extract_salary_fields(const struct record **pointers, size_t n)
{
	int *salaries = calloc(n, sizeof *salaries);

	if (salaries == NULL)
		err(1, "salaries");
	for (size_t i = 0; i < n; i++)
		salaries[i] = touch(pointers[i])->salary;
	return salaries;
}

static void OWN_FRAME
stat_summary(const int *salaries, size_t n)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += salaries[i];
	printf("%zu employees earn %d to %d, median %d, mean %ld\n", n,
	       salaries[0], salaries[n - 1], salaries[n / 2], sum / (long)n);
}

static void OWN_FRAME
print_salary_list(const struct record **pointers, size_t n)
{
	int *salaries = extract_salary_fields(pointers, n);

	quick_sort(salaries, n, sizeof *salaries, integer_lt);
	stat_summary(salaries, n);
	free(salaries);
}

int
main(int argc, char **argv)
{
	double scale = argc > 1 ? strtod(argv[1], NULL) : 1;
	const struct record **pointers;
	size_t n;

	if (argc > 2 || !(scale >= 0.001 && scale <= 100)) {
		fprintf(stderr, "usage: process_db [SCALE]\n");
		return 2;
	}
	n_clusters = (size_t)(scale * CLUSTERS_AT_SCALE_1);
	n_records = n_clusters * (CLUSTER_SIZE / sizeof *db);
	read_db();
	pointers = uniquify_db(&n);
	print_salary_list(pointers, n);
	free(pointers);
	return 0;
}
