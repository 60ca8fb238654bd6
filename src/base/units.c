/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c -- gticks in units that people read. */
#include "src/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/text_buffer.h"

__extension__ typedef unsigned __int128 wide;

/*
 * A unit of time or space; it is used for amounts of at least `fewest` of it.
 */
struct units_scale {
	long double size;	/* in nanoseconds or bytes, so that it is whole */
	int fewest;
	const char *suffix;
};

/* Largest first; the last one takes the rest. */
static const struct units_scale time_scales[] = {
	{ 86400e9L, 2, "d" }, { 3600e9L, 2, "h" }, { 60e9L, 10, "min" },
	{ 1e9L, 1, "s" }, { 1e6L, 1, "ms" }, { 1e3L, 1, "us" }, { 1, 1, "ns" },
	{ 0, 0, NULL }
};

static const struct units_scale space_scales[] = {
	{ 0x1p60L, 1, "EiB" }, { 0x1p50L, 1, "PiB" }, { 0x1p40L, 1, "TiB" },
	{ 0x1p30L, 1, "GiB" }, { 0x1p20L, 1, "MiB" }, { 0x1p10L, 1, "KiB" },
	{ 1, 1, "B" }, { 0, 0, NULL }
};

/* The names of gticks in profiles, and their size. */
static const struct known_gtick {
	const char *name;
	long double size;
	const struct units_scale *scales;
} known_gticks[] = {
	{ "second", 1e9L, time_scales },
	{ "hundredth of a second", 1e7L, time_scales },
	{ "centisecond", 1e7L, time_scales },
	{ "millisecond", 1e6L, time_scales },
	{ "microsecond", 1e3L, time_scales },
	{ "nanosecond", 1, time_scales },
	{ "s", 1e9L, time_scales },
	{ "sec", 1e9L, time_scales },
	{ "ms", 1e6L, time_scales },
	{ "msec", 1e6L, time_scales },
	{ "us", 1e3L, time_scales },
	{ "usec", 1e3L, time_scales },
	{ "\302\265s", 1e3L, time_scales },	/* micro sign */
	{ "\316\274s", 1e3L, time_scales },	/* Greek mu */
	{ "ns", 1, time_scales },
	{ "nsec", 1, time_scales },
	{ "byte", 1, space_scales },
	{ "B", 1, space_scales },
	{ "kibibyte", 0x1p10L, space_scales },
	{ "KiB", 0x1p10L, space_scales },
	{ "kilobyte", 1e3L, space_scales },
	{ "kB", 1e3L, space_scales },
	{ NULL, 0, NULL }
};

/* Whether text[n] is the name, or its plural. */
static bool
units_is_named(const char *text, size_t n, const char *name)
{
	size_t length = strlen(name);

	return (n == length || (n == length + 1 && text[length] == 's')) &&
	    memcmp(text, name, length) == 0;
}

static const struct known_gtick *
find_known(const char *text, size_t n)
{
	const struct known_gtick *known = known_gticks;

	while (known->name != NULL && !units_is_named(text, n, known->name))
		known++;
	return known->name != NULL ? known : NULL;
}

static const struct known_gtick *
find_gtick(const char *name)
{
	return find_known(name, strlen(name));
}

/* The scale with that suffix, or NULL. */
static const struct units_scale *
find_scale(const struct units_scale *scale, const char *text, size_t n)
{
	while (scale->suffix != NULL &&
	       (strlen(scale->suffix) != n ||
	        memcmp(scale->suffix, text, n) != 0))
		scale++;
	return scale->suffix != NULL ? scale : NULL;
}

enum unit_kind
unit_find(const char *text, size_t n, long double *size, const char **name)
{
	const struct known_gtick *known = find_known(text, n);
	const struct units_scale *scales[] = { time_scales, space_scales };

	if (known != NULL) {
		*size = known->size;
		if (name != NULL)
			*name = known->name;
		return known->scales == time_scales ? UNIT_IS_TIME :
		       UNIT_IS_SPACE;
	}
	for (int i = 0; i < 2; i++) {
		const struct units_scale *scale = find_scale(scales[i], text,
		                                             n);

		if (scale == NULL)
			continue;
		*size = scale->size;
		if (name != NULL)
			*name = scale->suffix;
		return i == 0 ? UNIT_IS_TIME : UNIT_IS_SPACE;
	}
	return UNIT_IS_OTHER;
}

/* An amount that would be rounded up to the larger unit is shown in that. */
static const struct units_scale *
choose_scale(const struct units_scale *scale, long double amount)
{
	while (scale[1].suffix != NULL &&
	       amount < 0.9995L * scale->size * scale->fewest)
		scale++;
	return scale;
}

/* Adds four significant digits, without zeros at the end. */
static void
units_add_total(struct text_buffer *text, long double amount,
                const struct units_scale *scale)
{
	char digits[64];
	size_t n;

	scale = choose_scale(scale, amount);
	amount /= scale->size;
	n = (size_t)snprintf(digits, sizeof digits, "%.*Lf",
	                     amount < 9.9995L ? 3 : amount < 99.995L ? 2 :
	                     amount < 999.95L ? 1 : 0, amount);
	if (n >= sizeof digits)
		n = sizeof digits - 1;
	while (memchr(digits, '.', n) != NULL &&
	       (digits[n - 1] == '0' || digits[n - 1] == '.'))
		n--;
	text_add(text, digits, n);
	text_add_format(text, " %s", scale->suffix);
}

/* For three significant digits, or as many as the integer part has. */
static int
choose_decimals(long double amount)
{
	return amount < 0.09995L ? 4 : amount < 0.9995L ? 3 :
	    amount < 9.995L ? 2 : amount < 99.95L ? 1 : 0;
}

/* What is larger, or what three digits cannot show, has an exponent. */
static const long double largest = 1e15L, smallest = 0.0001L;

void
text_add_decimal(struct text_buffer *text, long double number, int decimals)
{
	if (fabsl(number) < largest)
		text_add_format(text, "%.*Lf", decimals, number);
	else
		text_add_format(text, "%.3Lg", number);
}

/*
 * Adds three significant digits, or as many as the integer part has.  The unit
 * is that of the whole, unless that is too large.
 */
static void
add_scaled(struct text_buffer *text, long double amount, long double whole,
           const struct units_scale *scales)
{
	const struct units_scale *scale = choose_scale(scales, whole);

	if (amount == 0) {
		text_add_string(text, "0");
		return;
	}
	if (amount < 0.01L * scale->size)
		scale = choose_scale(scales, amount);
	amount /= scale->size;
	if (amount < smallest)
		text_add_format(text, "%.3Lg", amount);
	else
		text_add_decimal(text, amount, choose_decimals(amount));
	text_add_format(text, " %s", scale->suffix);
}

static void
units_add_number(struct text_buffer *text, wide number)
{
	char digits[40];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + (int)(number % 10));
		number /= 10;
	} while (number > 0);
	text_add(text, digits + at, sizeof digits - at);
}

/* The plural ending of a word of that length. */
static const char *
plural_ending(const char *word, size_t length)
{
	const char *end = word + length;

	if (length >= 2 && (memcmp(end - 2, "ss", 2) == 0 ||
	                    memcmp(end - 2, "ch", 2) == 0 ||
	                    memcmp(end - 2, "sh", 2) == 0))
		return "es";
	return length == 0 || end[-1] == 's' ? "" : "s";
}

void
text_add_gtick_name(struct text_buffer *text, const char *gtick,
                    uint64_t count)
{
	const char *of = strstr(gtick, " of ");
	size_t length = of != NULL ? (size_t)(of - gtick) : strlen(gtick);

	text_add_printable(text, gtick, length);
	if (count != 1)
		text_add_string(text, plural_ending(gtick, length));
	text_add_printable(text, gtick + length, strlen(gtick + length));
}

/* whole: the number that `number` is a part of, or number itself. */
static void
add_gticks(struct text_buffer *text, wide number, wide whole,
           const char *gtick)
{
	const struct known_gtick *known;

	if (gtick == NULL)
		gtick = "";
	known = find_gtick(gtick);
	if (known != NULL) {
		add_scaled(text, (long double)number * known->size,
		           (long double)whole * known->size, known->scales);
		return;
	}
	units_add_number(text, number);
	if (*gtick == '\0')
		return;
	text_add_char(text, ' ');
	text_add_gtick_name(text, gtick, number == 1 ? 1 : 2);
}

void
text_add_gticks(struct text_buffer *text, uint64_t hits, uint64_t interval,
                const char *gtick)
{
	wide number = (wide)hits * interval;

	add_gticks(text, number, number, gtick);
}

void
text_add_total_gticks(struct text_buffer *text, uint64_t hits,
                      uint64_t interval, const char *gtick)
{
	const struct known_gtick *known = gtick == NULL ? NULL :
	                                  find_gtick(gtick);
	long double number = (long double)hits * (long double)interval;

	if (known == NULL || hits == 0)
		text_add_gticks(text, hits, interval, gtick);
	else
		units_add_total(text, number * known->size, known->scales);
}

void
text_add_gticks_of(struct text_buffer *text, uint64_t gticks, uint64_t whole,
                   const char *gtick)
{
	add_gticks(text, gticks, whole > gticks ? whole : gticks, gtick);
}

void
text_add_amount(struct text_buffer *text, double hits, uint64_t interval,
                const char *gtick)
{
	const struct known_gtick *known = find_gtick(gtick);
	long double size = fabsl((long double)hits) * (long double)interval;

	if (hits < 0)
		text_add_char(text, '-');
	if (known != NULL)
		add_scaled(text, size * known->size, size * known->size,
		           known->scales);
	else
		text_add_decimal(text, size, size == floorl(size) ? 0 : 1);
}

void
text_add_saving(struct text_buffer *text, uint64_t after, uint64_t before,
                const char *of, const char *gtick)
{
	const struct known_gtick *known = find_gtick(gtick);
	const struct units_scale *scale;
	long double whole, part;
	int decimals;

	if (known == NULL) {
		units_add_number(text, after);
		text_add_string(text, of);
		text_add_string(text, " instead of ");
		text_add_gticks(text, before, 1, gtick);
		return;
	}
	text_add_gticks_of(text, after, before, gtick);
	text_add_string(text, of);
	text_add_string(text, " instead of ");
	/* One more decimal place if `after` has it, so that the two compare. */
	scale = choose_scale(known->scales, (long double)before * known->size);
	whole = (long double)before * known->size / scale->size;
	part = (long double)after * known->size / scale->size;
	decimals = choose_decimals(whole);
	decimals += after != 0 && choose_decimals(part) > decimals;
	text_add_format(text, "%.*Lf %s", decimals, whole, scale->suffix);
}

void
text_add_least_gticks(struct text_buffer *text, double gticks,
                      const char *gtick)
{
	const struct known_gtick *known = find_gtick(gtick);
	const struct units_scale *scale;
	long double amount;

	if (known == NULL) {
		text_add_format(text, "%.0f", ceil(gticks));
		return;
	}
	amount = (long double)gticks * known->size;
	scale = choose_scale(known->scales, amount);
	amount = amount / scale->size * 1000;
	/* What is whole but for rounding stays. */
	text_add_format(text, "%.3Lf%s", ceill(amount - 1e-6L) / 1000,
	                scale->suffix);
}

const char *
gticks_example(const char *gtick)
{
	const struct known_gtick *known = find_gtick(gtick);

	return known == NULL ? "500" :
	    known->scales == time_scales ? "120ms" : "1.5MiB";
}

const char *
text_read_gticks(const char *text, const char *gtick, double *gticks)
{
	const struct known_gtick *known = find_gtick(gtick);
	const struct units_scale *scale;
	size_t n = strspn(text, "0123456789.");
	char *end;

	/* Neither a sign nor "inf", "nan" or a hexadecimal number. */
	if (n == 0)
		return NULL;
	*gticks = strtod(text, &end);
	if (end != text + n || known == NULL)
		return end == text + n ? end : NULL;
	n = strspn(end, "abcdefghijklmnopqrstuvwxyzBEGKMPT");
	for (scale = known->scales; scale->suffix != NULL; scale++) {
		if (strlen(scale->suffix) != n ||
		    memcmp(scale->suffix, end, n) != 0)
			continue;
		*gticks *= (double)(scale->size / known->size);
		return end + n;
	}
	return NULL;
}

void
text_add_interval(struct text_buffer *text, uint64_t interval,
                  const char *gtick)
{
	const char *name = gtick == NULL || *gtick == '\0' ? "gtick" : gtick;
	const struct known_gtick *known = find_gtick(name);
	const struct units_scale *scale;
	long double amount;

	if (known != NULL) {
		amount = (long double)interval * known->size;
		scale = choose_scale(known->scales, amount);
		amount /= scale->size;
		if (amount != 1)
			text_add_format(text, "%.6Lg ", amount);
		text_add_string(text, scale->suffix);
		return;
	}
	if (interval != 1) {
		units_add_number(text, interval);
		text_add_char(text, ' ');
	}
	text_add_gtick_name(text, name, interval);
}

void
text_add_rough_percent(struct text_buffer *text, double share)
{
	const double percent = 100 * share;

	if (percent < 0.0001)
		text_add_string(text, "0%");
	else
		text_add_format(text, percent < 99.5 ? "%.2g%%" : "%.0f%%",
		                percent);
}

void
text_add_duration(struct text_buffer *text, uint64_t ns)
{
	char decimals[16];
	size_t n;

	text_add_format(text, "%" PRIu64, ns / 1000000000);
	n = (size_t)snprintf(decimals, sizeof decimals, ".%09" PRIu64,
	                     ns % 1000000000);
	while (n > 0 && decimals[n - 1] == '0')
		n--;
	if (n > 1)
		text_add(text, decimals, n);
	text_add_char(text, 's');
}

void
text_add_seconds(struct text_buffer *text, uint64_t ns, int decimals)
{
	char fraction[10];

	snprintf(fraction, sizeof fraction, "%09" PRIu64, ns % 1000000000);
	text_add_format(text, "%" PRIu64, ns / 1000000000);
	if (decimals > 0)
		text_add_format(text, ".%.*s", decimals, fraction);
}

int
seconds_decimals(uint64_t ns)
{
	uint64_t unit = 1000000000;
	int n = 0;

	while (ns % unit != 0) {
		unit /= 10;
		n++;
	}
	return n;
}

const char *
text_read_duration(const char *text, uint64_t *ns)
{
	static const struct {
		char unit[3];
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
	    { "s", 1000000000 }, { "m", 60000000000 },
	    { "h", 3600000000000 } };
	const char *at = text, *unit;
	uint64_t number = 0, divisor = 1, factor = 1000000000;
	wide product;
	bool has_point = false;

	for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point &&
	     at[1] != '.'); at++) {
		if (*at == '.') {
			has_point = true;
			continue;
		}
		if (number > UINT64_MAX / 10 - 1 || divisor > UINT64_MAX / 10)
			return NULL;
		number = number * 10 + (uint64_t)(*at - '0');
		if (has_point)
			divisor *= 10;
	}
	if (at == text || (has_point && divisor == 1))
		return NULL;
	unit = at;
	while (*at >= 'a' && *at <= 'z')
		at++;
	if (at > unit)
		factor = 0;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].unit) == (size_t)(at - unit) &&
		    memcmp(units[i].unit, unit, (size_t)(at - unit)) == 0)
			factor = units[i].ns;
	product = (wide)number * factor / divisor;
	if (factor == 0 || product > UINT64_MAX)
		return NULL;
	*ns = (uint64_t)product;
	return at;
}
