/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_number.h -- JSON's decimal numbers as exact integers.
 *
 * Times are written in seconds, 1717171717.123456, and counted in nanoseconds:
 * a double would lose some of these.
 */
#ifndef CPPROF_FORMATS_JSON_JSON_NUMBER_H
#define CPPROF_FORMATS_JSON_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/formats/json/json_reader.h"

/* digits * 10^exponent */
struct decimal {
	int64_t digits;
	int32_t exponent;
	bool is_rounded;	/* the token had more digits than fit */
};

/*
 * The number, with its first 18 digits, and a 19th if 63 bits can hold it.
 * false: the token is not a number.
 */
bool json_decimal(const struct json_token *token, struct decimal *decimal);

/*
 * decimal * 10^power, rounded to the nearest integer (halves away from 0).
 * *is_exact, which may be NULL, becomes false if anything was rounded, here or
 * in the decimal.  false: the result would exceed INT64_MAX.
 */
bool decimal_scale(struct decimal decimal, int power, int64_t *integer,
                   bool *is_exact);

/* The number if it is an integer from 0 to `most`; false: it is not. */
bool json_whole_number(const struct json_token *token, uint64_t most,
                       uint64_t *number);

/*
 * Reads the value of a key as a number from 0 to `most`; null leaves *number
 * as it is.  Any other value is an error that says `what` was expected.
 */
void json_get_number(struct json_reader *json, uint64_t most,
                     const char *what, uint64_t *number);

#endif
