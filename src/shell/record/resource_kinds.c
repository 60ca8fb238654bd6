/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resource_kinds.c -- reads names and intervals of resources. */
#include "src/shell/record/recording.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"

/* The longest interval; sums of intervals stay far below 64 bits. */
#define MOST ((uint64_t)1 << 40)

struct resource_unit {
	const char *suffix;
	double gticks;
};

static const struct resource_unit time_units[] = {
	{ "", 1 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { NULL, 0 }
};

/* Of how long something takes. */
static const struct resource_unit duration_units[] = {
	{ "", 1e6 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { "min", 6e7 },
	{ "h", 3.6e9 }, { NULL, 0 }
};

static const struct resource_unit byte_units[] = {
	{ "", 1 }, { "B", 1 },
	{ "K", 0x1p10 }, { "k", 0x1p10 }, { "KiB", 0x1p10 },
	{ "M", 0x1p20 }, { "MiB", 0x1p20 },
	{ "G", 0x1p30 }, { "GiB", 0x1p30 },
	{ NULL, 0 }
};

static const struct resource_unit count_units[] = {
	{ "", 1 }, { "K", 1e3 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
	{ NULL, 0 }
};

const struct count_kind *
resource_kind_find(const char *name, size_t length, struct error *error)
{
	struct text_buffer text = { 0 };
	struct near near;

	near_start(&near, name, length);
	for (const struct count_kind *kind = count_kinds;
	     kind->name != NULL; kind++) {
		if (strlen(kind->name) == length &&
		    memcmp(kind->name, name, length) == 0)
			return kind;
		near_offer(&near, kind->name, strlen(kind->name));
	}
	near_add(&near, &text);
	error_set(error, "no resource %.*s (see record --list)%s",
	          length < 64 ? (int)length : 64, name, text_string(&text));
	text_free(&text);
	return NULL;
}

/* Reads a number with one of the units; false if it is wrong or too small. */
static bool
resource_kinds_read_amount(const char *text, const struct resource_unit *units,
                           uint64_t least, uint64_t *amount)
{
	char *end;
	double number;

	/* strtod also reads hexadecimal numbers, which are refused. */
	if (strspn(text, "0123456789.") == 0)
		return false;
	number = strtod(text, &end);
	if (end != text + strspn(text, "0123456789."))
		return false;
	while (units->suffix != NULL && strcmp(end, units->suffix) != 0)
		units++;
	number *= units->gticks;
	if (units->suffix == NULL || number > (double)MOST)
		return false;
	*amount = (uint64_t)(number + 0.5);
	return *amount >= least;
}

int
resource_kind_interval(const struct count_kind *kind, const char *text,
                       uint64_t *interval, struct error *error)
{
	const struct resource_unit *units = count_units;
	const char *example = kind->least > 1000 ? "1000000 or 1M" :
	    "1000 or 1k";
	struct text_buffer gticks = { 0 };

	if (strcmp(kind->gtick, "microsecond") == 0) {
		units = time_units;
		example = "1000 or 1ms";
	} else if (strcmp(kind->gtick, "byte") == 0) {
		units = byte_units;
		example = "65536 or 64K";
	}
	if (resource_kinds_read_amount(text, units, kind->least, interval))
		return 0;
	text_add_gtick_name(&gticks, kind->gtick, kind->least);
	error_set(error, "%s:%s: expected an interval of %" PRIu64 " %s or "
	          "more, like %s", kind->name, text, kind->least,
	          text_string(&gticks), example);
	text_free(&gticks);
	return -1;
}

int
resource_kind_time(const char *text, uint64_t *us, struct error *error)
{
	if (resource_kinds_read_amount(text, duration_units, 1, us))
		return 0;
	return error_set(error, "%s: expected a time, like 10s or 500ms", text);
}

int
resource_kind_bytes(const char *text, uint64_t *bytes, struct error *error)
{
	if (resource_kinds_read_amount(text, byte_units, 1, bytes))
		return 0;
	return error_set(error, "%s: expected a number of bytes, like 64M",
	                 text);
}
