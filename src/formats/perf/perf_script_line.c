/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_line.c -- lines of what perf script prints. */
#include "src/formats/perf/perf_script_line.h"

#include <string.h>

/* What is left of a line. */
struct scan {
	const char *at, *end;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void
skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end && is_blank(*scan->at))
		scan->at++;
}

/* Each takes what it names off the front, or nothing and returns false. */
static bool
take_char(struct scan *scan, char c)
{
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool
take_number(struct scan *scan, uint64_t *number)
{
	const char *at = scan->at;
	uint64_t sum = 0;

	for (; at < scan->end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
			return false;
	if (at == scan->at)
		return false;
	scan->at = at;
	*number = sum;
	return true;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
take_hex(struct scan *scan, uint64_t *number)
{
	const char *at = scan->at;
	uint64_t sum = 0;

	for (; at < scan->end && hex_digit(*at) >= 0; at++) {
		if (sum >> 60 != 0)
			return false;
		sum = sum << 4 | (uint64_t)hex_digit(*at);
	}
	if (at == scan->at)
		return false;
	scan->at = at;
	*number = sum;
	return true;
}

/* ---- the first line of a sample ---- */

/* "[003]": where it ran. */
static void
pass_cpu(struct scan *scan)
{
	struct scan ahead = *scan;
	uint64_t cpu;

	if (!take_char(&ahead, '[') || !take_number(&ahead, &cpu) ||
	    !take_char(&ahead, ']'))
		return;
	skip_blanks(&ahead);
	*scan = ahead;
}

/*
 * "U", "KE", "GSp": of what mode the sample is, and what else a record is
 * marked with (-F +misc).
 */
static void
pass_misc(struct scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && memchr("KUHGgMEFSp", *at, 10) != NULL)
		at++;
	if (at == scan->at || at == scan->end || !is_blank(*at))
		return;
	scan->at = at;
	skip_blanks(scan);
}

/* "1007.550442:", or with --ns nine decimals; *ns: UINT64_MAX if too large. */
static bool
take_time(struct scan *scan, uint64_t *ns)
{
	struct scan ahead = *scan;
	uint64_t seconds, part;
	const char *decimals;

	if (!take_number(&ahead, &seconds) || !take_char(&ahead, '.'))
		return false;
	decimals = ahead.at;
	if (!take_number(&ahead, &part))
		return false;
	for (ptrdiff_t n = ahead.at - decimals; n < 9; n++)
		part *= 10;
	if (!take_char(&ahead, ':'))
		return false;
	if (part >= 1000000000 ||
	    __builtin_mul_overflow(seconds, 1000000000, ns) ||
	    __builtin_add_overflow(*ns, part, ns))
		*ns = UINT64_MAX;
	skip_blanks(&ahead);
	*scan = ahead;
	return true;
}

/* "123  ", in front of something else */
static void
pass_period(struct scan *scan, struct perf_script_header *header)
{
	struct scan ahead = *scan;
	uint64_t number;

	if (!take_number(&ahead, &number) || ahead.at == ahead.end ||
	    !is_blank(*ahead.at))
		return;
	skip_blanks(&ahead);
	header->period = number;
	header->has_period = true;
	*scan = ahead;
}

/* Up to the first ':' that ends a word: "sched:sched_switch:". */
static bool
take_event(struct scan *scan, struct perf_text *event)
{
	const char *at = scan->at;

	while (at < scan->end && !is_blank(*at))
		at++;
	if (at - scan->at < 2 || at[-1] != ':')
		return false;
	event->text = scan->at;
	event->length = (size_t)(at - scan->at) - 1;
	scan->at = at;
	return true;
}

/* Takes the text off the front, and blanks after it. */
static bool
take_text(struct scan *scan, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(scan->end - scan->at) < length ||
	    memcmp(scan->at, text, length) != 0)
		return false;
	scan->at += length;
	skip_blanks(scan);
	return true;
}

/* "PERF_RECORD_LOST lost 12", and likewise PERF_RECORD_LOST_SAMPLES */
static bool
read_record(struct scan scan, uint64_t *n_lost)
{
	*n_lost = 0;
	if (!take_text(&scan, "PERF_RECORD_"))
		return false;
	if (take_text(&scan, "LOST")) {
		take_text(&scan, "_SAMPLES");
		if (take_text(&scan, "lost") && !take_number(&scan, n_lost))
			*n_lost = 0;
	}
	return true;
}

/* A process or thread; -1, of which perf knows nothing, becomes 0. */
static bool
take_task(struct scan *scan, uint64_t *number)
{
	struct scan ahead = *scan;

	if (!take_char(&ahead, '-'))
		return take_number(scan, number);
	if (!take_number(&ahead, number) || *number != 1)
		return false;
	*number = 0;
	*scan = ahead;
	return true;
}

/* "TID " or "PID/TID " */
static bool
take_tasks(struct scan *scan, struct perf_script_header *header)
{
	header->pid = 0;
	if (!take_task(scan, &header->tid))
		return false;
	if (take_char(scan, '/')) {
		header->pid = header->tid;
		if (!take_task(scan, &header->tid))
			return false;
	}
	if (scan->at < scan->end && !is_blank(*scan->at))
		return false;
	skip_blanks(scan);
	return true;
}

/* Reads what comes after the tasks; whether it can be that. */
static bool
read_behind_tasks(struct scan scan, struct perf_script_header *header)
{
	header->period = 1;
	header->has_period = false;
	header->event = (struct perf_text){ scan.end, 0 };
	pass_cpu(&scan);
	pass_misc(&scan);
	header->has_time = take_time(&scan, &header->time_ns);
	header->is_record = header->has_time &&
	    read_record(scan, &header->n_lost);
	pass_period(&scan, header);
	if (!take_event(&scan, &header->event) && !header->has_time)
		return false;
	header->rest = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
	return true;
}

/*
 * Reads what comes after the command; whether it can be that.  Without tasks
 * (-F -tid), which anything could be, it must have a time and an event.
 */
static bool
read_behind_command(struct scan scan, struct perf_script_header *header)
{
	struct scan behind = scan;

	if (take_tasks(&behind, header) && read_behind_tasks(behind, header))
		return true;
	header->pid = header->tid = 0;
	return read_behind_tasks(scan, header) && header->has_time &&
	       header->event.length > 0;
}

/*
 * The command ends at the first blank after which all the rest fits; one that
 * fits with a time is preferred.  There may be none (-F -comm).
 */
bool
perf_script_read_header(const char *line, size_t length,
                        struct perf_script_header *header)
{
	struct scan scan = { line, line + length };
	struct perf_script_header found = { .has_time = false };
	bool is_found = false;

	if (length > 0 && line[0] == '\t')
		return false;
	skip_blanks(&scan);
	found.comm = (struct perf_text){ scan.at, 0 };
	if (read_behind_command(scan, &found) && found.has_time) {
		*header = found;
		return true;
	}
	for (; scan.at < scan.end; scan.at++) {
		if (!is_blank(*scan.at) || scan.at + 1 == scan.end ||
		    is_blank(scan.at[1]))
			continue;
		found.comm.length = (size_t)(scan.at - found.comm.text);
		while (is_blank(found.comm.text[found.comm.length - 1]))
			found.comm.length--;
		if (!read_behind_command((struct scan){ scan.at + 1,
		        scan.end }, &found))
			continue;
		if (found.has_time || !is_found)
			*header = found;
		is_found = true;
		if (found.has_time)
			break;
	}
	return is_found;
}

/* ---- a first line that lacks most ---- */

enum { PERIOD_WIDTH = 10, ADDRESS_WIDTH = 16 };

/* The last word and, as *width, its length with the blanks in front of it. */
static struct scan
last_word(const struct scan *scan, size_t *width)
{
	struct scan word = *scan;
	const char *at;

	while (word.end > word.at && is_blank(word.end[-1]))
		word.end--;
	at = word.end;
	while (at > word.at && !is_blank(at[-1]))
		at--;
	word.at = at;
	while (at > scan->at && is_blank(at[-1]))
		at--;
	*width = (size_t)(word.end - at);
	return word;
}

static bool
is_period(struct scan word, size_t width, uint64_t *period)
{
	uint64_t number;

	/* One of the blanks ends the field before it. */
	if (width < PERIOD_WIDTH || !take_number(&word, &number) ||
	    word.at != word.end)
		return false;
	*period = number;
	return true;
}

void
perf_script_read_brief(const char *line, size_t length,
                       struct perf_script_header *header)
{
	static const struct perf_text unnamed = { "period", 6 };
	struct scan scan = { line, line + length }, word, copy;
	size_t width;

	*header = (struct perf_script_header){
		.event = { scan.end, 0 },
		.rest = { scan.end, 0 },
		.period = 1,
	};
	word = last_word(&scan, &width);
	copy = word;
	if (!take_time(&copy, &header->time_ns) && take_event(&word, &header->event)) {
		scan.end = header->event.text;
		word = last_word(&scan, &width);
	}
	header->has_period = is_period(word, width, &header->period);
	if (header->has_period) {
		if (header->event.length == 0)
			header->event = unnamed;
		scan.end = word.at;
		word = last_word(&scan, &width);
	}
	copy = word;
	if (take_time(&copy, &header->time_ns) && copy.at == copy.end) {
		header->has_time = true;
		scan.end = word.at;
		word = last_word(&scan, &width);
	}
	copy = word;
	pass_cpu(&copy);
	if (copy.at == copy.end && word.at < word.end) {
		scan.end = word.at;
		word = last_word(&scan, &width);
	}
	copy = word;
	if (take_tasks(&copy, header) && copy.at == copy.end)
		scan.end = word.at;
	else
		header->pid = header->tid = 0;
	skip_blanks(&scan);
	while (scan.end > scan.at && is_blank(scan.end[-1]))
		scan.end--;
	header->comm = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
}

/* Whether there is the sign, and then an address in its column. */
static bool
is_printed_frame(struct scan scan, char sign)
{
	const char *column;
	uint64_t address;

	if (!take_char(&scan, sign))
		return false;
	column = scan.at;
	skip_blanks(&scan);
	return take_hex(&scan, &address) &&
	       scan.at - column >= ADDRESS_WIDTH &&
	       (scan.at == scan.end || *scan.at == ' ');
}

bool
perf_script_is_printed_frame(const char *line, size_t length)
{
	return is_printed_frame((struct scan){ line, line + length }, '\t');
}

bool
perf_script_is_only_frame(const struct perf_text *rest)
{
	return is_printed_frame((struct scan){ rest->text,
	    rest->text + rest->length }, ' ');
}

/* ---- frames ---- */

enum { LONE_DIGITS = 12 };	/* of an address; no symbol has so many */

/* Where the bracket begins that ends the text, or NULL. */
static const char *
last_bracket(const char *text, const char *end)
{
	size_t depth = 0;

	if (end == text || end[-1] != ')')
		return NULL;
	while (end > text) {
		end--;
		if (*end == ')')
			depth++;
		else if (*end == '(' && --depth == 0)
			return end;
	}
	return NULL;
}

/* Takes " (OBJECT)" off the end. */
static void
read_object(struct scan *scan, struct perf_text *object)
{
	const char *bracket = last_bracket(scan->at, scan->end);

	*object = (struct perf_text){ scan->end, 0 };
	if (bracket == NULL || (bracket > scan->at && bracket[-1] != ' '))
		return;
	object->text = bracket + 1;
	object->length = (size_t)(scan->end - 1 - object->text);
	scan->end = bracket > scan->at ? bracket - 1 : bracket;
}

/* Takes "+0x1f" off the end. */
static void
drop_offset(struct scan *scan)
{
	const char *at = scan->end;

	while (at > scan->at && hex_digit(at[-1]) >= 0)
		at--;
	if (at < scan->end && at - scan->at > 3 &&
	    memcmp(at - 3, "+0x", 3) == 0)
		scan->end = at - 3;
}

/*
 * Whether the number can be an address though no symbol follows it (perf script
 * -F ip,dso): "add (/lib/x)" is a symbol, whose name does not begin with a
 * digit.
 */
static bool
is_lone_address(const char *line, const char *number, const char *end)
{
	return *number <= '9' || end - number >= LONE_DIGITS ||
	       (line[0] == '\t' && end - line > ADDRESS_WIDTH);
}

/* Whether a symbol follows the address that ends here, or nothing at all. */
static bool
ends_address(struct scan scan, const char *line, const char *number)
{
	const char *end = scan.at;

	if (scan.at == scan.end)
		return true;
	/* simpleperf's report_sample.py has a tab here. */
	if ((!take_char(&scan, ' ') && !take_char(&scan, '\t')) ||
	    scan.at == scan.end)
		return false;
	/* "add (anonymous namespace)::f" has a symbol. */
	return last_bracket(scan.at, scan.end) != scan.at ||
	       is_lone_address(line, number, end);
}

bool
perf_script_read_frame(const char *line, size_t length,
                       struct perf_script_frame *frame)
{
	struct scan scan = { line, line + length }, behind;

	while (scan.end > scan.at && is_blank(scan.end[-1]))
		scan.end--;
	skip_blanks(&scan);
	behind = scan;
	frame->has_address = take_hex(&behind, &frame->address) &&
	    ends_address(behind, line, scan.at);
	if (frame->has_address) {
		skip_blanks(&behind);
		scan = behind;
	}
	read_object(&scan, &frame->object);
	drop_offset(&scan);
	frame->symbol = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
	frame->lacks_symbol = frame->symbol.length == 0;
	if (frame->lacks_symbol && frame->has_address)
		frame->symbol = (struct perf_text){ "[unknown]", 9 };
	return frame->symbol.length > 0;
}
