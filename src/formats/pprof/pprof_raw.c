/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_raw.c -- the output of `go tool pprof -raw`: a pprof profile as text.
 *
 * 	PeriodType: cpu nanoseconds
 * 	Period: 10000000
 * 	Time: 2026-11-21 11:45:55.066997309 +0000 UTC
 * 	Samples:
 * 	samples/count cpu/nanoseconds[dflt]
 * 	          1   10000000: 1 2 3
 * 	                thread:[main] label:[two values]
 * 	                bytes:[9216]
 * 	Locations
 * 	     1: 0x49ab90 M=1 strings.Fields /src/strings.go:359 s=340
 * 	             main.f /src/main.go:12:3 s=10(main.f.system)
 * 	     2: 0x4b6cee M=1
 * 	Mappings
 * 	1: 0x400000/0x4b7000/0x0 /tmp/work BUILDID [FN][FL][LN][IN]
 *
 * Each line becomes its original message (pprof.h).  Labels that look
 * like numbers are taken for numbers, except a thread's.  Only a blank
 * separates names from files, and both may contain blanks: a file begins at the
 * first " /", otherwise after the last blank. Source: google/pprof,
 * profile/profile.go, String and the functions it calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/pprof/pprof.h"
#include "src/formats/reader.h"

enum { LINE_MAX_MIB = 16, LABEL_INDENT = 16, LINE_INDENT = 13,
       INLINED_MAX = 10000 };

enum pprof_raw_part { PART_HEAD, PART_TYPES, PART_SAMPLES, PART_LOCATIONS,
            PART_MAPPINGS };

struct raw {
	struct reader reader;
	struct pprof_builder builder;
	enum pprof_raw_part part;
	uint64_t sample_line;	/* of the sample that is read; 0: none */
	uint64_t n_samples;
	bool is_location;	/* one is read: */
	uint64_t location, mapping, address;
	struct pprof_line *levels;	/* its lines */
	size_t n_levels, levels_capacity;
};

/* ---- head ---- */

/* "2026-11-21 11:45:55.066997309 +0000 UTC" */
static void
pprof_raw_read_time(struct raw *raw, struct line_text line)
{
	char text[64];
	struct tm parts = { 0 };
	uint64_t fraction = 0, place = 100000000;
	int zone = 0, at = 0;
	char *digit;
	time_t seconds;

	snprintf(text, sizeof text, "%.*s", (int)(line_left(&line) < 63 ?
	         line_left(&line) : 63), line.at);
	if (sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d%n", &parts.tm_year,
	           &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
	           &parts.tm_min, &parts.tm_sec, &at) != 6)
		return;
	digit = text + at;
	if (*digit == '.')
		for (digit++; *digit >= '0' && *digit <= '9'; digit++) {
			fraction += (uint64_t)(*digit - '0') * place;
			place /= 10;
		}
	if (sscanf(digit, " %5d", &zone) != 1)
		return;
	parts.tm_year -= 1900;
	parts.tm_mon--;
	seconds = timegm(&parts) - (zone / 100 * 3600 + zone % 100 * 60);
	if (seconds > 0 && seconds < INT32_MAX * (time_t)4)
		raw->builder.tables.time_ns =
		    (uint64_t)seconds * 1000000000 + fraction;
}

/* "samples/count cpu/nanoseconds[dflt]" */
static int
pprof_raw_read_types(struct raw *raw, struct line_text line,
                     struct error *error)
{
	line_trim(&line);
	while (line.at < line.end) {
		struct line_text name = line, unit;
		const char *slash = memchr(line.at, '/', line_left(&line));
		bool is_default;

		if (slash == NULL)
			return reader_reject(&raw->reader,
			                     "expected types of values: "
			                     "NAME/UNIT ...",
			                     error);
		name.end = slash;
		line.at = slash + 1;
		unit = line;
		unit.end = unit.at;
		while (unit.end < line.end && !line_is_blank(*unit.end))
			unit.end++;
		line.at = unit.end;
		line_skip_blanks(&line);
		is_default = line_ends_with(&unit, "[dflt]");
		if (is_default)
			unit.end -= strlen("[dflt]");
		if (pprof_builder_type(&raw->builder, name.at,
		                       line_left(&name), unit.at,
		                       line_left(&unit), error) != 0 ||
		    (is_default && pprof_builder_default_type(
		         &raw->builder, name.at, line_left(&name),
		         error) != 0))
			return -1;
	}
	raw->part = PART_SAMPLES;
	return 0;
}

/* ---- samples ---- */

static int
pprof_raw_end_sample(struct raw *raw, struct error *error)
{
	struct error why = { 0 };
	uint64_t line = raw->sample_line;

	if (line == 0)
		return 0;
	raw->sample_line = 0;
	raw->n_samples++;
	if (pprof_builder_end_sample(&raw->builder, line, &why) == 0)
		return 0;
	return reader_pass_at(&raw->reader, line, &why, error);
}

/* "          1   10000000: 1 2 3" */
static int
pprof_raw_begin_sample(struct raw *raw, struct line_text line,
                       struct error *error)
{
	uint64_t number;

	if (pprof_raw_end_sample(raw, error) != 0)
		return -1;
	if (raw->reader.is_unended)
		return reader_reject(&raw->reader, "expected an end of line",
		                     error);
	pprof_builder_sample(&raw->builder);
	do {
		bool is_negative;

		line_skip_blanks(&line);
		is_negative = line_take(&line, "-");
		if (!line_take_number(&line, &number))
			return reader_reject(&raw->reader,
			                     "expected a sample: VALUES: "
			                     "LOCATIONS",
			                     error);
		pprof_builder_value(&raw->builder,
		                    is_negative ? -number : number);
	} while (!line_take(&line, ":"));
	for (line_skip_blanks(&line); line.at < line.end;
	     line_skip_blanks(&line)) {
		if (!line_take_number(&line, &number) || number == 0)
			return reader_reject(&raw->reader,
			                     "expected numbers of locations "
			                     "after the ':'",
			                     error);
		pprof_builder_stack(&raw->builder, number);
	}
	raw->sample_line = raw->reader.place;
	return 0;
}

/* Takes a number, perhaps with a unit: "9216", "16384 bytes". */
static bool
pprof_raw_take_number(struct line_text *value, int64_t *number)
{
	bool is_negative = line_take(value, "-");
	uint64_t digits;

	if (!line_take_number(value, &digits) || digits > INT64_MAX ||
	    (value->at < value->end && *value->at != ' '))
		return false;
	*number = is_negative ? -(int64_t)digits : (int64_t)digits;
	line_skip_blanks(value);
	return true;
}

/* The ']' that ends the value: the line's last, or one that a label follows. */
static const char *
find_value_end(const struct line_text *line, const char *last_value)
{
	const char *at = line->at;

	while (at < line->end && (*at != ']' || (at + 1 != line->end &&
	       (at[1] != ' ' || at > last_value))))
		at++;
	return at < line->end ? at : NULL;
}

/* The text does not tell numbers from strings; a thread's number is a name. */
static int
pprof_raw_add_label(struct raw *raw, const struct line_text *key,
                    const struct line_text *value, struct error *error)
{
	struct line_text unit = *value;
	int64_t number;

	if ((line_begins_with(key, "thread") || line_is(key, "tid")) ||
	    !pprof_raw_take_number(&unit, &number))
		return pprof_builder_label(&raw->builder, key->at,
		                           line_left(key), value->at,
		                           line_left(value), error);
	return pprof_builder_number(&raw->builder, key->at, line_left(key),
	                            number, unit.at, line_left(&unit), error);
}

/* "thread:[main] label:[two values]" of the sample that is read */
static int
read_labels(struct raw *raw, struct line_text line, struct error *error)
{
	const char *last_value;
	const char *at;

	line_trim(&line);
	/*
	 * The beginning of the last label's value; the line's beginning if
	 * there is none.
	 */
	at = line.end;
	while (at - line.at >= 2 && memcmp(at - 2, ":[", 2) != 0)
		at--;
	last_value = at - line.at >= 2 ? at : line.at;
	while (raw->sample_line != 0 && line.at < line.end) {
		struct line_text key = line, value = line;
		const char *sign = memmem(line.at, line_left(&line), ":[", 2);

		if (sign == NULL)
			return reader_reject(&raw->reader,
			                     "expected labels: KEY:[VALUE]",
			                     error);
		key.end = sign;
		value.at = sign + 2;
		value.end = find_value_end(&value, last_value);
		if (value.end == NULL)
			return reader_reject(&raw->reader,
			                     "expected labels: KEY:[VALUE]",
			                     error);
		line.at = value.end + 1;
		line_skip_blanks(&line);
		if (pprof_raw_add_label(raw, &key, &value, error) != 0)
			return -1;
	}
	return 0;
}

static bool
is_indented(const struct line_text *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (line_left(line) <= i || line->at[i] != ' ')
			return false;
	return true;
}

/* ---- locations ---- */

static int
end_location(struct raw *raw, struct error *error)
{
	if (!raw->is_location)
		return 0;
	raw->is_location = false;
	return pprof_builder_location(&raw->builder, raw->location,
	                              raw->mapping, raw->address,
	                              raw->levels, raw->n_levels,
	                              error);
}

/* Drops " s=12" at the end, with "(system name)" if that follows. */
static void
drop_start_line(struct line_text *line)
{
	const char *at = line->at;

	while ((at = memmem(at, (size_t)(line->end - at), " s=", 3))) {
		struct line_text rest = { at + 3, line->end };
		uint64_t number;

		line_take(&rest, "-");
		if (line_take_number(&rest, &number) &&
		    (rest.at == rest.end || (*rest.at == '(' &&
		                                 rest.end[-1] == ')'))) {
			line->end = at;
			return;
		}
		at += 3;
	}
}

/* Drops ":12" at the end; false: there is none. */
static bool
drop_number(struct line_text *line, uint64_t *number)
{
	const char *at = line->end;
	struct line_text digits;

	while (at > line->at && at[-1] >= '0' && at[-1] <= '9')
		at--;
	digits = (struct line_text){ at, line->end };
	if (at == line->at || !line_take_number(&digits, number))
		return false;
	if (at - line->at >= 2 && at[-1] == '-')
		at--;
	if (at[-1] != ':')
		return false;
	line->end = at - 1;
	return true;
}

/* Divides "NAME FILE". */
static void
pprof_raw_divide(struct line_text *name, struct line_text *file)
{
	const char *at = name->at, *blank = NULL;

	while ((at = memmem(at, (size_t)(name->end - at), " /", 2)) &&
	       (at + 2 == name->end || strchr(" ()=,&*", at[2]) != NULL))
		at++;
	blank = at != NULL ? at : memrchr(name->at, ' ', line_left(name));
	*file = (struct line_text){ name->end, name->end };
	if (blank == NULL)
		return;
	file->at = blank + 1;
	name->end = blank;
}

/* "main.f /src/main.go:12:3 s=10(main.f.system)", or "??", or nothing */
static int
pprof_raw_read_level(struct raw *raw, struct line_text line,
                     struct error *error)
{
	struct pprof_line level = { 0 };
	struct line_text name, file = line_nothing();
	uint64_t column;

	while (line.end > line.at && line.end[-1] == ' ')
		line.end--;
	if (line.at == line.end)
		return 0;
	if (raw->n_levels >= INLINED_MAX)
		return reader_reject(
		    &raw->reader,
		    "an address of more than 10,000 inlined "
		    "calls",
		    error);
	name = line;
	if (line_is(&line, "??")) {
		name.end = name.at;
	} else {
		drop_start_line(&name);
		/* "file:12", or "file:12:3" with a column. */
		if (drop_number(&name, &column)) {
			if (!drop_number(&name, &level.line))
				level.line = column;
			pprof_raw_divide(&name, &file);
		}
	}
	level.function = pprof_builder_function(&raw->builder, name.at,
	    line_left(&name), file.at, line_left(&file), error);
	if (level.function == 0 ||
	    memory_grow(&raw->levels, &raw->levels_capacity,
	                raw->n_levels + 1, sizeof level, error) != 0)
		return -1;
	raw->levels[raw->n_levels++] = level;
	return 0;
}

/* "     1: 0x49ab90 M=1 [F] main.f /src/main.go:12 s=10" */
static int
begin_location(struct raw *raw, struct line_text line,
               struct error *error)
{
	if (end_location(raw, error) != 0)
		return -1;
	line_skip_blanks(&line);
	if (!line_take_number(&line, &raw->location) ||
	    raw->location == 0 || !line_take(&line, ": 0x") ||
	    !line_take_hex(&line, &raw->address))
		return reader_reject(
		    &raw->reader,
		    "expected a location: NUMBER: 0xADDRESS "
		    "M=MAPPING NAME FILE:LINE",
		    error);
	raw->mapping = 0;
	raw->n_levels = 0;
	raw->is_location = true;
	line_skip_blanks(&line);
	if (line_take(&line, "M=") &&
	    !line_take_number(&line, &raw->mapping))
		return reader_reject(&raw->reader,
		                     "expected the number of a mapping "
		                     "after M=",
		                     error);
	line_skip_blanks(&line);
	if (line_take(&line, "[F] "))
		line_skip_blanks(&line);
	return pprof_raw_read_level(raw, line, error);
}

/* ---- mappings ---- */

/* The last word, which may be empty where the text ends in a blank. */
static struct line_text
take_last_word(struct line_text *text)
{
	const char *blank = memrchr(text->at, ' ', line_left(text));
	struct line_text word = { text->end, text->end };

	if (blank == NULL)
		return word;
	word.at = blank + 1;
	text->end = blank;
	return word;
}

/* "1: 0x400000/0x4b7000/0x0 /tmp/work BUILDID [FN][FL][LN][IN]" */
static int
pprof_raw_read_mapping(struct raw *raw, struct line_text line,
                       struct error *error)
{
	struct pprof_builder_mapping mapping = { 0 };
	struct line_text flags, build_id;
	char *path, *id;
	int result = -1;

	if (!line_take_number(&line, &mapping.id) || mapping.id == 0 ||
	    !line_take(&line, ": 0x") ||
	    !line_take_hex(&line, &mapping.start) ||
	    !line_take(&line, "/0x") ||
	    !line_take_hex(&line, &mapping.limit) ||
	    !line_take(&line, "/0x") ||
	    !line_take_hex(&line, &mapping.offset))
		return reader_reject(&raw->reader,
		                     "expected a mapping: NUMBER: "
		                     "0xSTART/0xLIMIT/0xOFFSET PATH",
		                     error);
	line_take(&line, " ");
	flags = take_last_word(&line);
	build_id = take_last_word(&line);
	mapping.has_lines = line_has(&flags, "[LN]");
	path = memory_text(line.at, line_left(&line), error);
	id = memory_text(build_id.at, line_left(&build_id), error);
	if (path != NULL && id != NULL) {
		mapping.path = path;
		mapping.build_id = id;
		result = pprof_builder_mapping(&raw->builder, &mapping,
		                               error);
	}
	free(path);
	free(id);
	return result;
}

/* ---- lines ---- */

static int
pprof_raw_read_line(void *context, const char *bytes, size_t length,
                    struct error *error)
{
	struct raw *raw = context;
	struct line_text line = { bytes, bytes + length };

	if (length > 0 && bytes[length - 1] == '\r')
		line.end--;
	if (line.at == line.end && raw->part != PART_TYPES)
		return 0;
	switch (raw->part) {
	case PART_HEAD:
		if (line_is(&line, "Samples:"))
			raw->part = PART_TYPES;
		else if (line_take(&line, "Time: "))
			pprof_raw_read_time(raw, line);
		else if (line_take(&line, "PeriodType: ")) {
			struct line_text unit;

			line_trim(&line);
			unit = line;
			unit.at = line.end;
			while (unit.at > line.at && !line_is_blank(unit.at[-1]))
				unit.at--;
			line.end = unit.at;
			line_trim(&line);
			return pprof_builder_period_type(&raw->builder, line.at,
			                                 line_left(&line),
			                                 unit.at,
			                                 line_left(&unit),
			                                 error);
		} else if (line_take(&line, "Period: "))
			line_take_number(&line, &raw->builder.tables.period);
		else if (line_take(&line, "Comment: "))
			return pprof_builder_comment(&raw->builder, line.at,
			                             line_left(&line), error);
		return 0;
	case PART_TYPES:
		return pprof_raw_read_types(raw, line, error);
	case PART_SAMPLES:
		if (line_is(&line, "Locations")) {
			raw->part = PART_LOCATIONS;
			return pprof_raw_end_sample(raw, error);
		}
		return is_indented(&line, LABEL_INDENT) ?
		    read_labels(raw, line, error) :
		    pprof_raw_begin_sample(raw, line, error);
	case PART_LOCATIONS:
		if (line_is(&line, "Mappings")) {
			raw->part = PART_MAPPINGS;
			return end_location(raw, error);
		}
		if (!is_indented(&line, LINE_INDENT))
			return begin_location(raw, line, error);
		line.at += LINE_INDENT;
		return raw->is_location ?
		    pprof_raw_read_level(raw, line, error) :
		    0;
	default:
		return pprof_raw_read_mapping(raw, line, error);
	}
}

/* ---- the whole input ---- */

static int
pprof_raw_read_profile(struct raw *raw, struct error *error)
{
	struct reader *reader = &raw->reader;

	if (reader_lines(reader, LINE_MAX_MIB, pprof_raw_read_line, raw,
	                 error) != 0)
		return -1;
	/*
	 * All parts are printed, even if they are empty.  If the input is cut
	 * short, the last stack or location may be incomplete, so neither is
	 * entered.
	 */
	reader->is_cut_short |= raw->part != PART_MAPPINGS;
	if (raw->n_samples == 0)
		return reader_fail_empty(reader, error);
	return reader_warn_lines(reader, ", but names after it are lost",
	                         error) == 0 ?
	       pprof_profile_fill(&raw->builder.tables, &raw->builder.samples,
	                          reader->is_cut_short || reader->n_skipped > 0,
	                          error) : -1;
}

static struct profile *
pprof_raw_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct raw raw = { .part = PART_HEAD };
	int result = reader_begin(&raw.reader, source, options, READER_LINES,
	                          error);

	if (result == 0)
		result = pprof_builder_begin(&raw.builder, &raw.reader, error);
	if (result == 0)
		result = pprof_raw_read_profile(&raw, error);
	pprof_builder_free(&raw.builder);
	free(raw.levels);
	return reader_end(&raw.reader, result);
}

/* ---- probe ---- */

/* The lines before the samples begin like these, and there is a period. */
static int
pprof_raw_probe(const void *head, size_t size)
{
	static const char *const begins[] = { "PeriodType: ", "Period: ",
		"Comment: ", "Doc: ", NULL };
	struct line_text text = { head, (const char *)head + size };

	for (size_t i = 0; begins[i] != NULL; i++)
		if (line_begins_with(&text, begins[i]))
			return (line_has(&text, "\nSamples:\n") ||
			        line_has(&text, "\nSamples:\r\n")) &&
			       (i == 1 || line_has(&text, "\nPeriod: ")) ?
			       PROBE_SURE : PROBE_NO;
	return PROBE_NO;
}

const struct format format_pprof_raw = {
	.name = "pprof -raw",
	.summary = "what `go tool pprof -raw` prints",
	.probe = pprof_raw_probe,
	.read = pprof_raw_read,
};
