/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h -- gticks in units that people read. */
#ifndef CPPROF_BASE_UNITS_H
#define CPPROF_BASE_UNITS_H

#include <stdint.h>

#include "src/base/text_buffer.h"

enum unit_kind { UNIT_IS_OTHER, UNIT_IS_TIME, UNIT_IS_SPACE };

/*
 * The kind of unit that text[n] names, such as a gtick, "ms" or "MiB".  *size:
 * what it is in nanoseconds or bytes.  *name, unless name is NULL: the same as
 * a string.  Both are not touched if it is none of these.
 */
enum unit_kind unit_find(const char *text, size_t n, long double *size,
                         const char **name);

/*
 * Adds hits * interval gticks: "12.3 ms" and "1.50 MiB" where the gtick is a
 * known unit of time or space, otherwise the exact number and the gtick's
 * name, "56710 faults".  If gtick is NULL or "", only the number.
 */
void text_add_gticks(struct text_buffer *text, uint64_t hits,
                     uint64_t interval, const char *gtick);

/* The same with four significant digits, and no zeros at the end: "1.063 s". */
void text_add_total_gticks(struct text_buffer *text, uint64_t hits,
                           uint64_t interval, const char *gtick);

/*
 * Adds gticks in the unit of the whole that they are a part of, so that the
 * two can be compared, unless they are less than a hundredth of it.  0: there
 * is no whole.
 */
void text_add_gticks_of(struct text_buffer *text, uint64_t gticks,
                        uint64_t whole, const char *gtick);

/*
 * Adds an amount of hits that may be a part of one or below 0: "-12.3 ms"
 * where the gtick is a known unit of time or space, otherwise only the number
 * of gticks, to a tenth.
 */
void text_add_amount(struct text_buffer *text, double hits, uint64_t interval,
                     const char *gtick);

/*
 * Adds a number with so many decimals; with an exponent if its whole part would
 * have more digits than anybody reads: "1.42e+300".
 */
void text_add_decimal(struct text_buffer *text, long double number,
                      int decimals);

/*
 * Adds a share in percent, which is itself not sure: to two digits, or to whole
 * percents, and never with an exponent: "0.46%", "37%", "114%".
 */
void text_add_rough_percent(struct text_buffer *text, double share);

/*
 * Adds a time in ns, exactly and as text_read_duration reads it: "2s", "1.5s",
 * "0.015625s".
 */
void text_add_duration(struct text_buffer *text, uint64_t ns);

/*
 * Adds ns in seconds with so many decimals, 0 to 9, cut and not rounded:
 * "2.50".  seconds_decimals: how many a number and all its multiples need.
 */
void text_add_seconds(struct text_buffer *text, uint64_t ns, int decimals);
int seconds_decimals(uint64_t ns);

/*
 * Reads "2s", "1.5s", "250ms", "2.5", "10us", "3ns", "1m", "2h"; a number alone
 * is seconds.  Returns its end, or NULL if there is none or it is too large.
 */
const char *text_read_duration(const char *text, uint64_t *ns);

/*
 * Adds an amount as text_read_gticks reads it, rounded up: "8.781s", "501".
 */
void text_add_least_gticks(struct text_buffer *text, double gticks,
                           const char *gtick);

/*
 * Reads an amount in gticks: "120ms" and "1.5MiB" with a unit of the gtick's
 * kind that text_add_gticks has, or, if the gtick is no unit of time or space,
 * a number.  Returns its end; NULL if it is none of these.
 */
const char *text_read_gticks(const char *text, const char *gtick,
                             double *gticks);

/* What text_read_gticks reads: "120ms", "1.5MiB" or "500". */
const char *gticks_example(const char *gtick);

/*
 * Adds what a run would cost: "38.4 s instead of 122.8 s" or, if the gtick is
 * no unit of time or space, "3 instead of 12 faults".  of: what follows the
 * first amount, such as " of CPU time".
 */
void text_add_saving(struct text_buffer *text, uint64_t after, uint64_t before,
                     const char *of, const char *gtick);

/*
 * Adds the gticks from one hit to the next: "4 ms", "ms", "512 KiB", "10
 * faults", "fault".  If gtick is NULL or "", its name is "gtick".
 */
void text_add_interval(struct text_buffer *text, uint64_t interval,
                       const char *gtick);

/*
 * Adds a gtick's name, made printable, in the form that follows that number:
 * "fault", "faults", "misses", "hundredths of a second".  "ms" has no plural.
 */
void text_add_gtick_name(struct text_buffer *text, const char *gtick,
                         uint64_t count);

#endif
