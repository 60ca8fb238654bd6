/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_number.c -- JSON's decimal numbers as exact integers. */
#include "src/formats/json/json_reader.h"

#include <stdlib.h>

enum { EXPONENT_MAX = 1 << 20, SMALL_DIGITS = 18 };

/* The fast path: up to 18 digits and nothing else.  false: any other token. */
static bool
get_small(const struct json_token *token, int64_t *number)
{
	int64_t digits = 0;

	if (token->type != JSON_NUMBER || token->length > SMALL_DIGITS)
		return false;
	for (size_t i = 0; i < token->length; i++) {
		unsigned digit = (unsigned char)token->text[i] - '0';

		if (digit > 9)
			return false;
		digits = 10 * digits + digit;
	}
	*number = digits;
	return true;
}

/* The exponent after the 'e'.  Past EXPONENT_MAX the digits do not matter. */
static int32_t
parse_exponent(const char *at, const char *end)
{
	bool is_negative = at < end && *at == '-';
	int32_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && exponent < EXPONENT_MAX; at++)
		exponent = 10 * exponent + (*at - '0');
	return is_negative ? -exponent : exponent;
}

/* yajl has checked that the text of a number is well-formed. */
bool
json_decimal(const struct json_token *token, struct decimal *decimal)
{
	const char *at = token->text, *end = at + token->length;
	bool is_negative = token->length > 0 && *at == '-', is_fraction = false;
	bool is_full = false, is_rounded = false;
	int64_t digits = 0, more;
	int32_t exponent = 0;

	if (token->type != JSON_NUMBER)
		return false;
	if (get_small(token, &digits)) {
		*decimal = (struct decimal){ .digits = digits };
		return true;
	}
	for (at += is_negative; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.') {
			is_fraction = true;
			continue;
		}
		is_full = is_full ||
		    __builtin_mul_overflow(digits, 10, &more) ||
		    __builtin_add_overflow(more, *at - '0', &more);
		if (!is_full) {
			digits = more;
			exponent -= is_fraction;
		} else {
			is_rounded |= *at != '0';
			if (!is_fraction && exponent < EXPONENT_MAX)
				exponent++;
		}
	}
	if (at < end)
		exponent += parse_exponent(at + 1, end);
	*decimal = (struct decimal){ is_negative ? -digits : digits,
		exponent, is_rounded };
	return true;
}

bool
decimal_scale(struct decimal decimal, int power, int64_t *integer,
              bool *is_exact)
{
	int64_t number = decimal.digits;
	int32_t exponent = decimal.exponent + power;
	int64_t divisor = 1, rest;
	bool is_half;

	if (is_exact != NULL)
		*is_exact = !decimal.is_rounded;
	if (exponent == 0) {
		*integer = number;
		return true;
	}
	for (; exponent > 0 && number != 0; exponent--)
		if (__builtin_mul_overflow(number, 10, &number))
			return false;
	for (; exponent < 0 && divisor <= INT64_MAX / 10; exponent++)
		divisor *= 10;
	/* A number of 19 digits can still be more than half of 10^19. */
	rest = exponent < 0 ? number : number % divisor;
	number = exponent < 0 ? 0 : number / divisor;
	is_half = exponent == 0 ? llabs(rest) >= divisor / 2 :
	          exponent == -1 && llabs(rest) >= 5 * divisor;
	if (rest != 0 && is_exact != NULL)
		*is_exact = false;
	if (rest != 0 && is_half)
		number += rest > 0 ? 1 : -1;
	*integer = number;
	return true;
}

bool
json_whole_number(const struct json_token *token, uint64_t most,
                  uint64_t *number)
{
	struct decimal decimal;
	int64_t integer;
	bool is_exact;

	if (get_small(token, &integer)) {
		*number = (uint64_t)integer;
		return (uint64_t)integer <= most;
	}
	if (!json_decimal(token, &decimal) ||
	    !decimal_scale(decimal, 0, &integer, &is_exact) || !is_exact ||
	    integer < 0 || (uint64_t)integer > most)
		return false;
	*number = (uint64_t)integer;
	return true;
}

void
json_get_number(struct json_reader *json, uint64_t most, const char *what,
                uint64_t *number)
{
	struct json_token token;

	if (!json_next(json, &token) || token.type == JSON_NULL)
		return;
	if (!json_whole_number(&token, most, number))
		json_fail(json, token.offset, "expected %s", what);
}
