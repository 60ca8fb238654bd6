/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_line.c -- lines of what perf script prints. */
#include "src/formats/perf/perf_script_line.h"

#include <string.h>

#include "src/formats/reader.h"

static bool
perf_script_line_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void
perf_script_line_skip_blanks(struct line_text *scan)
{
	while (scan->at < scan->end && perf_script_line_is_blank(*scan->at))
		scan->at++;
}

/* Each takes what it names off the front, or nothing and returns false. */
static bool
perf_script_line_take_number(struct line_text *scan, uint64_t *number)
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
perf_script_line_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
take_hex(struct line_text *scan, uint64_t *number)
{
	const char *at = scan->at;
	uint64_t sum = 0;

	for (; at < scan->end && perf_script_line_hex_digit(*at) >= 0; at++) {
		if (sum >> 60 != 0)
			return false;
		sum = sum << 4 | (uint64_t)perf_script_line_hex_digit(*at);
	}
	if (at == scan->at)
		return false;
	scan->at = at;
	*number = sum;
	return true;
}

enum {
	TASK_WIDTH = 7,			/* of perf's columns: a process or */
	OLD_TASK_WIDTH = 5,		/* thread, what a record is marked */
	MISC_WIDTH = 5,			/* with, */
	PERIOD_WIDTH = 10,
	WEIGHT_WIDTH = 16,		/* with no blank after it */
	ADDRESS_WIDTH = 16,
	COMMAND_LENGTH = 64		/* the kernel's own threads have up to
					 * so many bytes */
};

/* ---- the address of a sample without a stack, and branch stacks ---- */

/* Where the first branch begins, "0x4005c8/0x4005dc/P/-/-/0"; or the end. */
static const char *
find_branches(struct line_text scan)
{
	const char *at = scan.at;

	while ((at = memchr(at, '/', (size_t)(scan.end - at))) != NULL) {
		at++;
		if (scan.end - at < 7 || memchr("MP-", at[0], 3) == NULL ||
		    at[1] != '/' || memchr("X-", at[2], 2) == NULL ||
		    at[3] != '/' || memchr("A-", at[4], 2) == NULL ||
		    at[5] != '/' || at[6] < '0' || at[6] > '9')
			continue;
		while (at > scan.at && !perf_script_line_is_blank(at[-1]))
			at--;
		return at;
	}
	return scan.end;
}

/* Where registers, instructions or branches begin, which end a line. */
static const char *
find_tail(struct line_text scan)
{
	static const char *const tails[] = { " ABI:", " insn:", " ilen:" };

	scan.end = find_branches(scan);
	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		const char *tail = memmem(scan.at, (size_t)(scan.end - scan.at),
		                          tails[i], strlen(tails[i]));

		if (tail != NULL)
			scan.end = tail;
	}
	return scan.end;
}

bool
perf_script_has_mark(const char *line, size_t length)
{
	const char *end = line + length,
		   *at = find_tail((struct line_text){ line, end });

	if (find_branches((struct line_text){ line, end }) < end ||
	    memmem(line, length, "|OP ", 4) != NULL)
		return true;
	if (end - at < 7 || (memcmp(at, " insn:", 6) != 0 &&
	                     memcmp(at, " ilen:", 6) != 0))
		return false;
	for (at += 6; at < end; at++)
		if (*at != ' ' && perf_script_line_hex_digit(*at) < 0)
			return false;
	return true;
}

bool
perf_script_has_branches(const char *line, size_t length)
{
	const char *end = line + length;

	return find_branches((struct line_text){ line, end }) < end;
}

bool
perf_script_is_branches(const char *line, size_t length)
{
	struct line_text scan = { line, line + length };
	const char *end = scan.end;

	perf_script_line_skip_blanks(&scan);
	return scan.at < end && find_branches(scan) == scan.at;
}

/*
 * "U", "KE", "GSp": of what mode the sample is, and what else a record is
 * marked with (-F +misc).
 */
static bool
take_misc(struct line_text *scan)
{
	const char *at = scan->at;

	while (at < scan->end && memchr("KUHGgMEFSp", *at, 10) != NULL)
		at++;
	if (at == scan->at ||
	    (at < scan->end && !perf_script_line_is_blank(*at)))
		return false;
	scan->at = at;
	perf_script_line_skip_blanks(scan);
	return true;
}

/*
 * The blanks with which perf fills the column of a field that ends here:
 * "77/78     " and "U    ".  `column`: how wide a thread's is.
 */
static ptrdiff_t
padding(const char *word, const char *end, ptrdiff_t column)
{
	struct line_text scan = { word, end };
	uint64_t number;
	ptrdiff_t width = 0;

	if (perf_script_line_take_number(&scan, &number) &&
	    line_take(&scan, "/"))
		width = column - (end - scan.at);
	else if (take_misc(&(struct line_text){ word, end }))
		width = MISC_WIDTH - (end - word);
	return width > 0 ? width : 0;
}

static bool
perf_script_line_is_hex(const char *word, const char *end)
{
	if (end - word > ADDRESS_WIDTH)
		return false;
	while (word < end && perf_script_line_hex_digit(*word) >= 0)
		word++;
	return word == end;
}

/*
 * Whether other columns follow, of numbers or a data source, and the last of
 * them is an address: then the number that ends where `scan` begins is a field
 * before that, such as addr or weight.  A symbol has one blank before it,
 * a column more, unless 16 digits fill it.
 */
static bool
leads_to_address(struct line_text scan)
{
	const char *behind = scan.at;
	bool is_source = false;

	for (perf_script_line_skip_blanks(&scan); scan.at < scan.end;
	     perf_script_line_skip_blanks(&scan)) {
		const char *word = scan.at;
		ptrdiff_t width;

		while (scan.at < scan.end &&
		       !perf_script_line_is_blank(*scan.at))
			scan.at++;
		width = scan.at - behind;
		behind = scan.at;
		is_source |= *word == '|';
		if (perf_script_line_is_hex(word, scan.at) &&
		    (width == 1 + ADDRESS_WIDTH ||
		     (is_source && width > ADDRESS_WIDTH) ||
		     (width - (scan.at - word) > 1 && width != ADDRESS_WIDTH)))
			return true;
		if (!is_source && !(perf_script_line_is_hex(word, scan.at) &&
		                    width == ADDRESS_WIDTH))
			return false;
	}
	return false;
}

/* Takes the sizes of pages, of data and code, off the end of a frame. */
static void
perf_script_line_cut_sizes(struct perf_text *frame)
{
	const char *at = frame->text, *end = at + frame->length, *blank;

	while ((blank = memrchr(at, ' ', (size_t)(end - at))) != NULL &&
	       ((end - blank == 4 && memcmp(blank, " N/A", 4) == 0) ||
	        (end - blank > 2 && blank[1] >= '1' && blank[1] <= '9' &&
	         memchr("KMGT", end[-1], 4) != NULL)) &&
	       memchr(at, ')', (size_t)(blank - at)) != NULL)
		end = blank;
	frame->length = (size_t)(end - at);
}

/*
 * perf prints a blank and the address in a column of 16; before it other
 * fields, of which addr is a column of 16, too, but without the blank.  Fields
 * of a line's beginning end in a blank of their own; of the text behind the
 * time or the event (is_beginning is false), only the first has such a blank
 * before it.  *end: where the line's beginning ends.
 */
static bool
perf_script_line_find_frame(struct line_text scan, bool is_beginning,
                            struct perf_text *frame, const char **end)
{
	enum { COLUMN = 1 + ADDRESS_WIDTH, EMPTY_FLAGS = 24 };
	const char *behind = scan.at;	/* the field before; of old perf's, it
					 * ends so many blanks less behind */
	ptrdiff_t less = 0;
	bool is_found = false, is_first = true, is_filled = false;
	bool is_behind = false;		/* columns like that of an address */

	*end = is_beginning ? scan.end : scan.at;
	if (!is_beginning && scan.at < scan.end && *scan.at == ' ')
		behind++;
	for (perf_script_line_skip_blanks(&scan); scan.at < scan.end;
	     perf_script_line_skip_blanks(&scan)) {
		const char *word = scan.at;
		const char *tail;
		ptrdiff_t width;
		bool is_address, is_column;

		while (scan.at < scan.end &&
		       !perf_script_line_is_blank(*scan.at))
			scan.at++;
		width = scan.at - behind;
		is_address = perf_script_line_is_hex(word, scan.at);
		if (is_address && width + less == COLUMN) {
			behind -= less;
			width += less;
		}
		is_column = is_address && (width == COLUMN ||
		    width == EMPTY_FLAGS + COLUMN || (width > COLUMN &&
		        (is_filled || (is_first && !is_beginning)) &&
		        width != EMPTY_FLAGS + ADDRESS_WIDTH));
		if (is_column && leads_to_address(scan)) {
			if (is_beginning)
				*end = word;
			is_beginning = false;
			is_behind = true;
		} else if (is_column || (is_behind && !is_found && is_address &&
		               width - (scan.at - word) > 1 &&
		               !leads_to_address(scan))) {
			is_found = true;
			frame->text = behind;
			tail = memmem(scan.at, (size_t)(scan.end - scan.at),
			              "  ", 2);
			frame->length = (size_t)((tail != NULL ? tail :
			                          scan.end) - behind);
			perf_script_line_cut_sizes(frame);
			if (is_beginning)
				*end = behind;
			is_beginning = false;
		} else if (is_beginning && ((is_address && !is_first &&
		               (width == ADDRESS_WIDTH ||
		                width + less == ADDRESS_WIDTH ||
		                width == EMPTY_FLAGS + ADDRESS_WIDTH)) ||
		           *word == '|' ||
		           memchr(word, '=', (size_t)(scan.at - word)) !=
		               NULL)) {
			*end = word;
			is_beginning = false;
		}
		is_filled |= *word == '|';	/* data_src */
		behind = scan.at;
		less = 0;
		if (is_beginning) {
			width = padding(word, scan.at, TASK_WIDTH);
			less = width - padding(word, scan.at, OLD_TASK_WIDTH);
			behind += width + 1;
		}
		is_first = false;
	}
	return is_found;
}

bool
perf_script_find_frame(const struct perf_text *rest, struct perf_text *frame)
{
	const char *end;

	return perf_script_line_find_frame((struct line_text){ rest->text,
	    rest->text + rest->length }, false, frame, &end);
}

/* ---- the first line of a sample ---- */

/* "[003]": where it ran. */
static bool
take_cpu(struct line_text *scan)
{
	struct line_text ahead = *scan;
	uint64_t cpu;

	if (!line_take(&ahead, "[") ||
	    !perf_script_line_take_number(&ahead, &cpu) ||
	    !line_take(&ahead, "]"))
		return false;
	perf_script_line_skip_blanks(&ahead);
	*scan = ahead;
	return true;
}

/* "1007.550442:", or with --ns nine decimals; *ns: UINT64_MAX if too large. */
static bool
perf_script_line_take_time(struct line_text *scan, uint64_t *ns)
{
	struct line_text ahead = *scan;
	uint64_t seconds, part;
	const char *decimals;

	if (!perf_script_line_take_number(&ahead, &seconds) ||
	    !line_take(&ahead, "."))
		return false;
	decimals = ahead.at;
	if (!perf_script_line_take_number(&ahead, &part))
		return false;
	for (ptrdiff_t n = ahead.at - decimals; n < 9; n++)
		part *= 10;
	if (!line_take(&ahead, ":"))
		return false;
	if (part >= 1000000000 ||
	    __builtin_mul_overflow(seconds, 1000000000, ns) ||
	    __builtin_add_overflow(*ns, part, ns))
		*ns = UINT64_MAX;
	*scan = ahead;
	return true;
}

/* Up to the first ':' that ends a word: "sched:sched_switch:". */
static bool
take_event(struct line_text *scan, struct perf_text *event)
{
	const char *at = scan->at;

	while (at < scan->end && !perf_script_line_is_blank(*at))
		at++;
	if (at - scan->at < 2 || at[-1] != ':')
		return false;
	event->text = scan->at;
	event->length = (size_t)(at - scan->at) - 1;
	scan->at = at;
	return true;
}

/*
 * "123  " in front of an event or, if it fills its column as perf prints it, of
 * anything else.  *is_doubtful: another number is there, which can be an
 * address.
 */
static void
take_period(struct line_text *scan, struct perf_script_header *header)
{
	struct line_text column = *scan, ahead, behind;
	struct perf_text event;
	uint64_t number;
	const char *digits;

	if (column.at < column.end && *column.at == ' ')
		column.at++;		/* the end of the field before it */
	ahead = column;
	perf_script_line_skip_blanks(&ahead);
	digits = ahead.at;
	if (!perf_script_line_take_number(&ahead, &number) ||
	    (ahead.at < ahead.end && !perf_script_line_is_blank(*ahead.at)))
		return;
	behind = ahead;
	perf_script_line_skip_blanks(&behind);
	if (!take_event(&behind, &event) &&
	    ahead.at - column.at != (ahead.at - digits > PERIOD_WIDTH ?
	                             ahead.at - digits : PERIOD_WIDTH)) {
		header->is_doubtful = behind.at == behind.end &&
		    ahead.at - column.at < PERIOD_WIDTH;
		return;
	}
	header->period = number;
	header->has_period = true;
	*scan = ahead;
}

/* "PERF_RECORD_LOST lost 12", and likewise PERF_RECORD_LOST_SAMPLES */
static bool
perf_script_line_read_record(struct line_text scan, uint64_t *n_lost)
{
	*n_lost = 0;
	perf_script_line_skip_blanks(&scan);
	if (!line_take(&scan, "PERF_RECORD_"))
		return false;
	if (line_take(&scan, "LOST")) {
		line_take(&scan, "_SAMPLES");
		perf_script_line_skip_blanks(&scan);
		if (line_take(&scan, "lost")) {
			perf_script_line_skip_blanks(&scan);
			if (!perf_script_line_take_number(&scan, n_lost))
				*n_lost = 0;
		}
	}
	return true;
}

/* A process or thread; -1, of which perf knows nothing, becomes 0. */
static bool
take_task(struct line_text *scan, uint64_t *number)
{
	struct line_text ahead = *scan;

	if (!line_take(&ahead, "-"))
		return perf_script_line_take_number(scan, number);
	if (!perf_script_line_take_number(&ahead, number) || *number != 1)
		return false;
	*number = 0;
	*scan = ahead;
	return true;
}

/* "TID " or "PID/TID " */
static bool
take_tasks(struct line_text *scan, struct perf_script_header *header)
{
	header->pid = 0;
	if (!take_task(scan, &header->tid))
		return false;
	if (line_take(scan, "/")) {
		header->pid = header->tid;
		if (!take_task(scan, &header->tid))
			return false;
	}
	if (scan->at < scan->end && !perf_script_line_is_blank(*scan->at))
		return false;
	perf_script_line_skip_blanks(scan);
	return true;
}

/* "2026-11-25 12:00:00.123456", the time of day (-F +tod) */
static void
skip_date(struct line_text *scan)
{
	struct line_text ahead = *scan;
	uint64_t number;

	if (perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, "-") &&
	    perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, "-") &&
	    perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, " ") &&
	    perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, ":") &&
	    perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, ":") &&
	    perf_script_line_take_number(&ahead, &number) &&
	    line_take(&ahead, ".") &&
	    perf_script_line_take_number(&ahead, &number)) {
		perf_script_line_skip_blanks(&ahead);
		*scan = ahead;
	}
}

/* Reads what comes after the tasks; whether it can be that. */
static bool
read_behind_tasks(struct line_text scan, struct perf_script_header *header)
{
	struct line_text ahead;

	header->period = 1;
	header->has_period = header->is_doubtful = false;
	header->event = header->rest = (struct perf_text){ scan.end, 0 };
	if (take_cpu(&scan))
		perf_script_line_skip_blanks(&scan);
	take_misc(&scan);
	skip_date(&scan);
	header->has_time = perf_script_line_take_time(&scan, &header->time_ns);
	ahead = scan;
	perf_script_line_skip_blanks(&ahead);
	header->is_record = perf_script_line_read_record(ahead,
	                                                 &header->n_lost);
	if (header->is_record)
		return true;
	take_period(&scan, header);
	ahead = scan;
	perf_script_line_skip_blanks(&ahead);
	if (take_event(&ahead, &header->event))
		scan = ahead;
	else if (!header->has_time)
		return false;
	header->rest = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
	return true;
}

/*
 * Reads what comes after the command; whether it can be that.  Without tasks
 * (-F -tid), which anything could be, it must have a time.
 */
static bool
read_behind_command(struct line_text scan, struct perf_script_header *header)
{
	struct line_text behind = scan;

	if (take_tasks(&behind, header) && read_behind_tasks(behind, header))
		return true;
	header->pid = header->tid = 0;
	return read_behind_tasks(scan, header) &&
	       (header->is_record || header->has_time);
}

/*
 * Whether a number that begins at `at` fills the column of a period, which is
 * wider than that of a thread.
 */
static bool
is_wide(const char *line, const char *at, const char *end)
{
	const char *begin = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	if (at == end || *at != ' ')
		return false;
	while (begin > line && begin[-1] == ' ')
		begin--;
	return at - begin - (begin > line) >= PERIOD_WIDTH;
}

/* Whether a period in its column is in front of the event. */
static bool
has_wide_period(const char *line, const struct perf_script_header *header)
{
	const char *at = header->event.text;

	if (!header->has_period || header->event.length == 0)
		return false;
	while (at > line && at[-1] == ' ')
		at--;
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return is_wide(line, at, header->event.text);
}

/*
 * The command ends at the first blank after which all the rest fits; one that
 * fits with a time is preferred.  There may be none (-F -comm).
 */
bool
perf_script_read_header(const char *line, size_t length,
                        struct perf_script_header *header)
{
	struct line_text scan = { line, line + length };
	struct perf_script_header found = { .has_time = false };
	bool is_found = false;

	if (length > 0 && line[0] == '\t')
		return false;
	scan.end = find_tail(scan);
	perf_script_line_skip_blanks(&scan);
	found.comm = (struct perf_text){ scan.at, 0 };
	/* No command is a thread's number and what else is before a period. */
	if (read_behind_command(scan, &found) && (found.has_time ||
	    found.is_record || (has_wide_period(line, &found) &&
	                        !is_wide(line, scan.at, scan.end)))) {
		*header = found;
		return true;
	}
	for (; scan.at < scan.end; scan.at++) {
		if (!perf_script_line_is_blank(*scan.at) ||
		    scan.at + 1 == scan.end ||
		    perf_script_line_is_blank(scan.at[1]))
			continue;
		found.comm.length = (size_t)(scan.at - found.comm.text);
		while (perf_script_line_is_blank(
		    found.comm.text[found.comm.length - 1]))
			found.comm.length--;
		if (!read_behind_command((struct line_text){ scan.at + 1,
		        scan.end }, &found) ||
		    (!found.has_time && !found.is_record &&
		     is_wide(line, scan.at + 1, scan.end)))
			continue;
		if (found.has_time || found.is_record || !is_found)
			*header = found;
		is_found = true;
		if (found.has_time || found.is_record)
			break;
	}
	return is_found;
}

/* ---- a first line that has neither a time nor both a thread and an event ---- */

/* The last word and, as *width, its length with the blanks in front of it. */
static struct line_text
last_word(const struct line_text *scan, ptrdiff_t *width)
{
	struct line_text word = *scan;
	const char *at;

	while (word.end > word.at && perf_script_line_is_blank(word.end[-1]))
		word.end--;
	at = word.end;
	while (at > word.at && !perf_script_line_is_blank(at[-1]))
		at--;
	word.at = at;
	while (at > scan->at && perf_script_line_is_blank(at[-1]))
		at--;
	*width = word.end - at;
	return word;
}

/*
 * Takes a period off the end, or a weight; where a field stands before it, one
 * of the blanks ends that.
 */
static void
take_last_period(struct line_text *scan, const char *line_end,
                 struct perf_script_header *header)
{
	ptrdiff_t width;
	struct line_text word = last_word(scan, &width), end = word;
	uint64_t number;

	if (width < PERIOD_WIDTH ||
	    !perf_script_line_take_number(&word, &number) ||
	    word.at != word.end)
		return;
	scan->end = end.at;
	if (end.end - end.at < width &&
	    ((end.end - width == scan->at && width == WEIGHT_WIDTH) ||
	     (end.end == line_end && width >= WEIGHT_WIDTH)))
		return;
	header->period = number;
	header->has_period = true;
	header->fields |= PERF_SCRIPT_PERIOD;
}

static void
take_last_cpu(struct line_text *scan, struct perf_script_header *header)
{
	ptrdiff_t width;
	struct line_text word = last_word(scan, &width), end = word;

	if (!take_cpu(&word) || word.at != word.end)
		return;
	header->fields |= PERF_SCRIPT_CPU;
	scan->end = end.at;
}

static void
take_last_tasks(struct line_text *scan, struct perf_script_header *header)
{
	ptrdiff_t width;
	struct line_text word = last_word(scan, &width), end = word;
	bool is_column = end.end - width == scan->at ||
	    width > OLD_TASK_WIDTH ||
	    memchr(end.at, '/', (size_t)(end.end - end.at)) != NULL;

	/* A narrower number is the end of a command's name. */
	if (is_column && take_tasks(&word, header) && word.at == word.end) {
		header->fields |= PERF_SCRIPT_TASKS;
		scan->end = end.at;
	} else {
		header->pid = header->tid = 0;
	}
}

/* Where a command would end at the first word that ends in ':', if any does. */
static bool
perf_script_line_find_event(const struct line_text *scan,
                            struct line_text *event, struct perf_text *name)
{
	struct line_text ahead = *scan;

	for (perf_script_line_skip_blanks(&ahead); ahead.at < ahead.end;
	     perf_script_line_skip_blanks(&ahead)) {
		*event = ahead;
		if (take_event(&ahead, name))
			return true;
		while (ahead.at < ahead.end &&
		       !perf_script_line_is_blank(*ahead.at))
			ahead.at++;
	}
	return false;
}

static const char *
first_word(const char *at, const char *end)
{
	while (at < end && !perf_script_line_is_blank(*at))
		at++;
	return at;
}

/* Whether an address and a symbol begin a text: "7fbe2aefab70 _start". */
static bool
has_symbol(struct line_text scan)
{
	enum { DIGITS_MIN = 6 };
	const char *word = scan.at;

	scan.at = first_word(scan.at, scan.end);
	if (scan.at - word < DIGITS_MIN ||
	    !perf_script_line_is_hex(word, scan.at))
		return false;
	perf_script_line_skip_blanks(&scan);
	return scan.at < scan.end && *scan.at != '(' &&
	       !perf_script_line_is_hex(scan.at, first_word(scan.at, scan.end));
}

/* Whether an address, a weight, the event's arguments or the like follow. */
static bool
has_other_fields(const struct perf_text *rest)
{
	struct line_text scan = { rest->text, rest->text + rest->length };
	struct perf_text frame;
	const char *end;

	if (scan.at < scan.end && *scan.at == ' ')
		scan.at++;
	/* As at a line's beginning, a column of 16 and no more is no frame. */
	if (!perf_script_line_find_frame(scan, true, &frame, &end) &&
	    end == scan.end)
		return scan.end - scan.at >= ADDRESS_WIDTH &&
		    memchr(scan.at, ' ', ADDRESS_WIDTH) == scan.at &&
		    perf_script_line_is_hex(last_word(&scan, &(ptrdiff_t){ 0 })
		                                .at,
		                            scan.end);
	return true;
}

bool
perf_script_read_columns(const char *line, size_t length, unsigned known,
                         struct perf_script_header *header)
{
	static const struct perf_text unnamed = { "period", 6 };
	struct line_text scan = { line, line + length }, event;
	struct perf_text frame;
	const char *end;

	*header = (struct perf_script_header){
		.event = { scan.end, 0 }, .period = 1,
		.rest = { scan.end, 0 },
	};
	scan.end = find_tail(scan);
	if ((known & PERF_SCRIPT_EVENT) &&
	    perf_script_line_find_event(&scan, &event, &header->event)) {
		header->fields |= PERF_SCRIPT_EVENT;
		header->rest.text = header->event.text + header->event.length +
		                    1;
		header->rest.length = (size_t)(scan.end - header->rest.text);
		scan.end = event.at;
		header->has_other = has_other_fields(&header->rest);
		if (perf_script_find_frame(&header->rest, &frame)) {
			header->fields |= PERF_SCRIPT_ADDRESS;
			header->rest = frame;
		}
	} else {
		if (perf_script_line_find_frame(scan, true, &header->rest,
		                                &end))
			header->fields |= PERF_SCRIPT_ADDRESS;
		header->has_other = end < scan.end;
		header->has_column = header->has_other &&
		    (*end == '|' ||
		     perf_script_line_is_hex(end, first_word(end, scan.end)));
		header->has_symbol = header->has_other &&
		    !(header->fields & PERF_SCRIPT_ADDRESS) &&
		    has_symbol((struct line_text){ end, scan.end });
		scan.end = end;
	}
	if (known & PERF_SCRIPT_PERIOD)
		take_last_period(&scan, line + length, header);
	if (header->has_period && header->event.length == 0)
		header->event = unnamed;
	/*
	 * Such letters in their column; without it they end a command's name.
	 */
	ptrdiff_t width;
	struct line_text word = last_word(&scan, &width), misc = word;

	if (take_misc(&word) && word.at == word.end &&
	    scan.end - misc.at > MISC_WIDTH)
		scan.end = misc.at;
	if (known & PERF_SCRIPT_CPU)
		take_last_cpu(&scan, header);
	if (known & PERF_SCRIPT_TASKS)
		take_last_tasks(&scan, header);
	perf_script_line_skip_blanks(&scan);
	while (scan.end > scan.at && perf_script_line_is_blank(scan.end[-1]))
		scan.end--;
	header->comm = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
	/* A command has no column of blanks in it, or it is something else. */
	return header->comm.length <= COMMAND_LENGTH &&
	    memmem(header->comm.text, header->comm.length, "  ", 2) == NULL;
}

bool
perf_script_is_printed_frame(const char *line, size_t length)
{
	struct line_text scan = { line, line + length };
	const char *column;
	uint64_t address;

	if (!line_take(&scan, "\t"))
		return false;
	column = scan.at;
	perf_script_line_skip_blanks(&scan);
	return take_hex(&scan, &address) &&
	       scan.at - column >= ADDRESS_WIDTH &&
	       (scan.at == scan.end || *scan.at == ' ');
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
perf_script_line_read_object(struct line_text *scan, struct perf_text *object)
{
	const char *bracket = last_bracket(scan->at, scan->end);

	*object = (struct perf_text){ scan->end, 0 };
	if (bracket == NULL || (bracket > scan->at && bracket[-1] != ' '))
		return;
	object->text = bracket + 1;
	object->length = (size_t)(scan->end - 1 - object->text);
	scan->end = bracket > scan->at ? bracket - 1 : bracket;
}

/* Whether a symbol follows the address that ends here, or nothing at all. */
static bool
ends_address(struct line_text scan, const char *line, const char *number)
{
	const char *end = scan.at;

	if (scan.at == scan.end)
		return true;
	/* simpleperf's report_sample.py has a tab here. */
	if ((!line_take(&scan, " ") && !line_take(&scan, "\t")) ||
	    scan.at == scan.end)
		return false;
	/* "add (anonymous namespace)::f" has a symbol. */
	return last_bracket(scan.at, scan.end) != scan.at ||
	    (*number <= '9' || end - number >= LONE_DIGITS ||
	     (line[0] == '\t' && end - line > ADDRESS_WIDTH));
}

bool
perf_script_read_frame(const char *line, size_t length,
                       struct perf_script_frame *frame)
{
	struct line_text scan = { line, line + length }, behind;
	const char *at;

	while (scan.end > scan.at && perf_script_line_is_blank(scan.end[-1]))
		scan.end--;
	perf_script_line_skip_blanks(&scan);
	behind = scan;
	frame->has_address = take_hex(&behind, &frame->address) &&
	    ends_address(behind, line, scan.at);
	if (frame->has_address) {
		perf_script_line_skip_blanks(&behind);
		scan = behind;
	}
	perf_script_line_read_object(&scan, &frame->object);
	/* Takes "+0x1f" off the end. */
	at = scan.end;
	while (at > scan.at && perf_script_line_hex_digit(at[-1]) >= 0)
		at--;
	if (at < scan.end && at - scan.at > 3 && memcmp(at - 3, "+0x", 3) == 0)
		scan.end = at - 3;
	frame->symbol = (struct perf_text){ scan.at,
		(size_t)(scan.end - scan.at) };
	frame->lacks_symbol = frame->symbol.length == 0;
	if (frame->lacks_symbol && frame->has_address)
		frame->symbol = (struct perf_text){ "[unknown]", 9 };
	return frame->symbol.length > 0;
}
