/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy_lines.c -- lines of gperftools' and Go's older text profiles. */
#include "src/formats/legacy/legacy.h"

#include <math.h>

/* ---- headers ---- */

/* "N: BYTES [N: BYTES]", blanks anywhere between. */
static bool
legacy_lines_take_counts(struct line_text *line, uint64_t counts[4])
{
	static const char *const before[] = { "", ":", "[", ":" };

	for (int i = 0; i < 4; i++) {
		line_skip_blanks(line);
		if (!line_take(line, before[i]))
			return false;
		line_skip_blanks(line);
		if (!line_take_number(line, &counts[i]))
			return false;
	}
	line_skip_blanks(line);
	if (!line_take(line, "]"))
		return false;
	line_skip_blanks(line);
	return true;
}

/* How it was sampled: what follows "heap profile: ... @". */
static void
read_sampling(struct line_text line, const uint64_t counts[4],
              struct legacy_header *header)
{
	struct line_text name = line_word(&line);
	const char *slash = memchr(name.at, '/', line_left(&name));
	struct line_text rate = { slash != NULL ? slash + 1 : name.end,
		name.end };

	if (line_begins_with(&name, "growth") ||
	    line_begins_with(&name, "fragmentation")) {
		header->kind = LEGACY_HEAP;
		header->rate = 1;
		return;
	}
	if (slash != NULL)
		name.end = slash;
	/* Without a rate nothing is scaled; a rate past 2^63 is an error. */
	if (!line_take_number(&rate, &header->rate) && rate.at < rate.end &&
	    *rate.at >= '0' && *rate.at <= '9')
		return;
	header->kind = LEGACY_HEAP;
	header->has_allocated =
	    (counts[2] != counts[0] && counts[2] != 0) ||
	    (counts[3] != counts[1] && counts[3] != 0);
	if (line_is(&name, "heap_v2") || line_is(&name, "heapz_v2")) {
		header->is_scaled = true;
	} else if (line_is(&name, "heap")) {
		header->is_scaled = true;
		header->rate /= 2;	/* Go writes it so */
	} else if (line_is(&name, "heapprofile")) {
		header->rate = 1;
	} else {
		header->kind = LEGACY_NONE;
	}
}

/* "goroutine profile: total 7" */
static bool
read_count_header(struct line_text line, struct legacy_header *header)
{
	struct line_text name = line_word(&line);
	uint64_t total;

	line.at = name.end;
	if (name.at == name.end || !line_take(&line, " profile: total ") ||
	    !line_take_number(&line, &total) || line.at != line.end)
		return false;
	header->kind = LEGACY_COUNT;
	header->name = name;
	return true;
}

/* "--- threadz 1 ---" */
static bool
is_threads(struct line_text line)
{
	uint64_t number;

	return line_take(&line, "--- threadz ") &&
	       line_take_number(&line, &number) && line_take(&line, " ---");
}

struct legacy_header
legacy_read_header(struct line_text line)
{
	struct legacy_header header = { LEGACY_NONE, .rate = 0 };
	uint64_t counts[4];
	struct line_text rest;

	line_trim(&line);
	rest = line;
	if (line_take(&rest, "heap profile:")) {
		if (legacy_lines_take_counts(&rest, counts) &&
		    line_take(&rest, "@"))
			read_sampling(rest, counts, &header);
	} else if (line_take(&rest, "heap_v2/")) {
		if (line_take_number(&rest, &header.rate) &&
		    rest.at == rest.end)
			header.kind = LEGACY_JEMALLOC;
		header.is_scaled = true;
	} else if (line_begins_with(&line, "--- contentionz ") ||
	           line_begins_with(&line, "--- contention:") ||
	           line_begins_with(&line, "--- mutex:")) {
		header.kind = LEGACY_CONTENTION;
		header.rate = 1;
	} else if (is_threads(line) || legacy_is_thread(line, NULL)) {
		header.kind = LEGACY_THREADS;
	} else {
		read_count_header(line, &header);
	}
	return header;
}

/* "--- Thread 7f794ab90940 (name: main/14748) stack: ---" */
bool
legacy_is_thread(struct line_text line, struct line_text *name)
{
	const char *end;
	uint64_t number;

	if (!line_take(&line, "--- Thread ") ||
	    !line_take_hex(&line, &number) || !line_take(&line, " (name: "))
		return false;
	end = memmem(line.at, line_left(&line), ") stack: ---", 12);
	if (end == NULL)
		return false;
	if (name != NULL)
		*name = (struct line_text){ line.at, end };
	return true;
}

bool
legacy_is_memory_map(struct line_text line)
{
	return line_has(&line, "--- Memory map: ---") ||
	       line_has(&line, "MAPPED_LIBRARIES:");
}

/* ---- attributes ---- */

int
legacy_read_attribute(struct legacy_header *header, struct line_text line,
                      uint64_t *discarded, struct error *error)
{
	const char *sign = memchr(line.at, '=', line_left(&line));
	struct line_text key = line, value = line;
	uint64_t number, *to = NULL;

	if (sign == NULL)
		return 0;
	key.end = sign;
	value.at = sign + 1;
	line_trim(&key);
	line_trim(&value);
	if (line_is(&key, "format") || line_is(&key, "resolution"))
		return error_set(error, "a Java contention profile, which "
		                 "cpprof does not read; convert it: go tool "
		                 "pprof -proto -output OUT.pb.gz FILE");
	if (line_is(&key, "cycles/second"))
		to = &header->cycles_per_second;
	else if (line_is(&key, "sampling period"))
		to = &header->rate;
	else if (line_is(&key, "discarded samples"))
		to = discarded;
	if (to == NULL)
		return 1;
	if (!line_take_number(&value, &number) || value.at != value.end)
		return error_set(error, "expected a number below 2^63 after "
		                 "the '='");
	*to = number;
	return 1;
}

/* ---- samples ---- */

/* A number that the formats' own reader would have as 64 bits with a sign. */
static int
set_estimate(uint64_t *value, double estimate, struct error *error)
{
	if (!(estimate >= 0 && estimate < 0x1p63))
		return error_set(error, "the estimate of a value exceeds "
		                 "2^63");
	*value = (uint64_t)estimate;
	return 0;
}

/*
 * A block of S bytes is sampled with the probability 1-exp(-S/R): the estimate
 * is what was sampled divided by that.
 */
static int
legacy_lines_scale(uint64_t rate, uint64_t *count, uint64_t *size,
                   struct error *error)
{
	double mean, factor;

	if (*count == 0 || *size == 0) {
		*count = *size = 0;
		return 0;
	}
	if (rate <= 1)
		return 0;
	mean = (double)*size / (double)*count;
	factor = 1 / (1 - exp(-mean / (double)rate));
	if (set_estimate(count, (double)*count * factor, error) != 0 ||
	    set_estimate(size, (double)*size * factor, error) != 0)
		return -1;
	return 0;
}

/* Both pairs, what was allocated before what is in use, or the latter alone. */
static int
read_heap_values(const struct legacy_header *header, struct line_text *line,
                 struct legacy_values *values, struct error *error)
{
	uint64_t counts[4];

	if (!legacy_lines_take_counts(line, counts))
		return error_set(error, "expected N: BYTES [N: BYTES]");
	values->n_raw = header->has_allocated ? 1 : counts[0];
	if (header->has_allocated) {
		values->values[values->n++] = counts[2];
		values->values[values->n++] = counts[3];
	}
	values->values[values->n++] = counts[0];
	values->values[values->n++] = counts[1];
	for (int i = 0; i < values->n; i += 2) {
		if (values->values[i] == 0 && values->values[i + 1] != 0)
			return error_set(error,
			                 "0 blocks, but more than 0 bytes");
		if (values->values[i] != 0 && header->is_scaled &&
		    legacy_lines_scale(header->rate, &values->values[i],
		                       &values->values[i + 1], error) != 0)
			return -1;
	}
	return 0;
}

/* "CYCLES CONTENTIONS": contentions, and nanoseconds */
static int
read_contention(const struct legacy_header *header, struct line_text *line,
                struct legacy_values *values, struct error *error)
{
	uint64_t contentions, cycles;

	line_skip_blanks(line);
	if (!line_take_number(line, &cycles))
		return error_set(error, "expected CYCLES CONTENTIONS @ "
		                 "ADDRESSES");
	line_skip_blanks(line);
	if (!line_take_number(line, &contentions))
		return error_set(error, "expected CYCLES CONTENTIONS @ "
		                 "ADDRESSES");
	values->n = 2;
	values->n_raw = values->values[0] = contentions;
	values->values[1] = cycles;
	if (header->rate == 0)
		return 0;
	if (header->cycles_per_second > 0 &&
	    set_estimate(&values->values[1], (double)cycles *
	                 (double)header->rate /
	                 ((double)header->cycles_per_second / 1e9),
	                 error) != 0)
		return -1;
	if (__builtin_mul_overflow(contentions, header->rate,
	                           &values->values[0]) ||
	    values->values[0] > INT64_MAX)
		return error_set(error, "more than 2^63 contentions");
	return 0;
}

static int
legacy_lines_read_count(struct line_text *line, struct legacy_values *values,
                        struct error *error)
{
	line_skip_blanks(line);
	if (!line_take_number(line, &values->values[0]))
		return error_set(error, "expected N @ ADDRESSES");
	values->n = 1;
	values->n_raw = values->values[0];
	return 0;
}

int
legacy_read_values(const struct legacy_header *header,
                   struct line_text *line, struct legacy_values *values,
                   struct error *error)
{
	bool is_heap = header->kind == LEGACY_HEAP ||
	               header->kind == LEGACY_JEMALLOC;
	int result;

	values->n = 0;
	result = is_heap ? read_heap_values(header, line, values, error) :
	         header->kind == LEGACY_CONTENTION ?
	         read_contention(header, line, values, error) :
	         legacy_lines_read_count(line, values, error);
	if (result != 0 || header->kind == LEGACY_JEMALLOC)
		return result;
	line_skip_blanks(line);
	return line_take(line, "@") ? 0 :
	       error_set(error, "expected '@' and addresses after the "
	                 "values");
}

bool
legacy_read_comment(struct line_text line, struct legacy_comment *comment)
{
	const char *tab, *plus, *colon;

	*comment = (struct legacy_comment){ .file = line_nothing() };
	line_take(&line, "#");
	line_skip_blanks(&line);
	if (!line_take(&line, "0x") || !line_take_hex(&line, &comment->address))
		return false;
	line_trim(&line);
	/* A name may have blanks, unless tabs have become blanks. */
	tab = memchr(line.at, '\t', line_left(&line));
	comment->name = line_word(&line);
	if (tab != NULL)
		comment->name.end = tab;
	if (comment->name.end < line.end) {
		struct line_text *file = &comment->file;
		struct line_text number;

		*file = (struct line_text){ comment->name.end, line.end };
		line_trim(file);
		colon = memrchr(file->at, ':', line_left(file));
		number = (struct line_text){ colon != NULL ? colon + 1 :
			file->end, file->end };
		if (line_take_number(&number, &comment->line))
			file->end = colon;
	}
	line_trim(&comment->name);
	plus = memrchr(comment->name.at, '+', line_left(&comment->name));
	if (plus != NULL && plus > comment->name.at)
		comment->name.end = plus;
	return true;
}

bool
legacy_read_frame(struct line_text line, uint64_t *address,
                  struct line_text *name)
{
	line_trim(&line);
	line_take(&line, "PC:");
	line_skip_blanks(&line);
	if (!line_take(&line, "0x") || !line_take_hex(&line, address) ||
	    !line_take(&line, ": "))
		return false;
	line_trim(&line);
	*name = line;
	return line.at < line.end;
}

int
legacy_take_address(struct line_text *line, uint64_t *address,
                    struct error *error)
{
	const char *at;

	while ((at = memmem(line->at, line_left(line), "0x", 2)) != NULL) {
		line->at = at + 2;
		if (line_take_hex(line, address))
			return 1;
		if (line->at < line->end && line_is_hex_digit(*line->at))
			return error_set(error, "an address of more than 64 "
			                 "bits");
	}
	line->at = line->end;
	return 0;
}
