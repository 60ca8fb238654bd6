/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-debug-lines.c -- lines and inlined calls, compared with other tools at
 * every address of programs compiled in several ways.
 *
 * LLVM's addr2line must agree in everything.  Where it is not installed,
 * binutils' is compared, which in some code names the innermost inlined
 * function by the symbol around it, loses inlined calls of clang, and names no
 * files after whole-program optimisation.
 */
#include "tests/module-fixture.h"
#include "tests/skip.h"

#include <sys/mman.h>

#include "src/symbols/elf/elf_file.h"
#include "src/symbols/lines/address_lines.h"
#include "src/symbols/lines/debug_lines.h"

enum { CHAIN_TEXT = 4000 };

/* The answers for one address, innermost first: "function file:line\n"... */
struct answers {
	uint64_t *addresses;
	char (*texts)[CHAIN_TEXT];
	size_t n;
};

static void
answers_free(struct answers *answers)
{
	free(answers->addresses);
	free(answers->texts);
}

static void
add_level(char *text, const char *function, const char *directory,
          const char *file, unsigned line)
{
	char clean[PATH_MAX] = "?";
	size_t length = strlen(text);

	if (file != NULL)
		source_path_clean(clean, sizeof clean, directory, file);
	snprintf(text + length, CHAIN_TEXT - length, "%s %s:%u\n", function,
	         clean, line);
}

static int
keep_answer(void *context, size_t which, const struct debug_location *chain,
            size_t n, struct error *error)
{
	struct answers *answers = context;

	(void)error;
	assert_true(which < answers->n);
	assert_true(n >= 1);
	assert_null(chain[0].function);
	assert_string_equal(answers->texts[which], "");
	for (size_t i = n; i-- > 0;)
		add_level(answers->texts[which], i == 0 ? "symbol" :
		          chain[i].function, chain[i].directory,
		          chain[i].file, chain[i].line);
	return 0;
}

/* Every step-th address of a file's .text. */
static void
make_questions(struct answers *answers, const char *path, uint64_t step)
{
	struct elf_file file;
	GElf_Shdr text;

	assert_int_equal(elf_file_open(&file, path), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	answers->n = (text.sh_size + step - 1) / step;
	answers->addresses = calloc(answers->n, sizeof *answers->addresses);
	answers->texts = calloc(answers->n, sizeof *answers->texts);
	assert_non_null(answers->texts);
	for (size_t i = 0; i < answers->n; i++)
		answers->addresses[i] = text.sh_addr + i * step;
	elf_file_close(&file);
}

static enum debug_lines_state
ask(struct answers *answers, const char *path)
{
	const struct symbol_search search = { 0 };
	const struct debug_lines_request request = {
		.addresses = answers->addresses,
		.n = answers->n,
		.found = keep_answer,
		.context = answers,
	};
	struct error error = { 0 };
	enum debug_lines_state state = DEBUG_LINES_NONE;
	struct elf_file file;

	assert_int_equal(elf_file_open(&file, path), ELF_FILE_OPEN);
	assert_int_equal(debug_lines_read_in_child(&file, &search, &request,
	                                           &state, &error), 0);
	elf_file_close(&file);
	return state;
}

static bool
has_llvm(void)
{
	return run("llvm-addr2line --version >/dev/null 2>&1");
}

/*
 * One "file:line" of addr2line, with or without "(discriminator 3)" after it.
 */
static void
add_their_level(char *text, const char *function, char *place,
                bool is_outermost)
{
	char *colon = strrchr(place, ':');
	unsigned line = (unsigned)strtoul(colon + 1, NULL, 10);

	*colon = '\0';
	add_level(text, is_outermost ? "symbol" : function, NULL,
	          strcmp(place, "??") == 0 ? NULL : place, line);
}

/* The answers of "addr2line -afi", which repeats each address first. */
static void
read_theirs(struct answers *theirs, FILE *input)
{
	char function[CHAIN_TEXT] = "", place[CHAIN_TEXT] = "", line[CHAIN_TEXT];
	size_t which = SIZE_MAX;

	while (fgets(line, sizeof line, input) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0x", 2) == 0) {
			if (which != SIZE_MAX)
				add_their_level(theirs->texts[which], function,
				                place, true);
			which++;
			assert_int_equal(strtoull(line, NULL, 16),
			                 theirs->addresses[which]);
			place[0] = '\0';
			continue;
		}
		if (place[0] != '\0')
			add_their_level(theirs->texts[which], function, place,
			                false);
		strcpy(function, line);
		assert_non_null(fgets(place, sizeof place, input));
		place[strcspn(place, "\n")] = '\0';
	}
	add_their_level(theirs->texts[which], function, place, true);
}

static void
ask_addr2line(struct answers *theirs, const char *path, const char *directory)
{
	char command[2 * PATH_MAX], questions[PATH_MAX];
	FILE *file;

	snprintf(questions, sizeof questions, "%s/questions", directory);
	file = fopen(questions, "w");
	assert_non_null(file);
	for (size_t i = 0; i < theirs->n; i++)
		fprintf(file, "0x%llx\n",
		        (unsigned long long)theirs->addresses[i]);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof command, "%s -afi -e '%s' <'%s'",
	         has_llvm() ? "llvm-addr2line" : "addr2line", path, questions);
	file = popen(command, "r");
	assert_non_null(file);
	read_theirs(theirs, file);
	assert_int_equal(pclose(file), 0);
}

/*
 * Compares one level: theirs may lack the scope of functions without linkage.
 */
static bool
is_same_level(const char *ours, size_t n, const char *theirs, size_t m)
{
	return n >= m && memcmp(ours + n - m, theirs, m) == 0 &&
	    (n == m || (n >= m + 2 && memcmp(ours + n - m - 2, "::", 2) == 0));
}

/* Without the function. */
static bool
is_same_place(const char *ours, size_t n, const char *theirs, size_t m)
{
	const char *mine = memrchr(ours, ' ', n);
	const char *other = memrchr(theirs, ' ', m);

	return ours + n - mine == theirs + m - other &&
	    memcmp(mine, other, (size_t)(ours + n - mine)) == 0;
}

static bool
agree(const char *ours, const char *theirs, bool is_strict)
{
	bool is_first = true;

	/* For code without lines they may know the file's name. */
	if (*ours == '\0')
		return strstr(theirs, ":0\n") != NULL;
	while (*ours != '\0' && *theirs != '\0') {
		size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");

		if (!is_same_level(ours, n, theirs, m) &&
		    (is_strict || !is_first ||
		     !is_same_place(ours, n, theirs, m)))
			return false;
		is_first = false;
		ours += n + 1;
		theirs += m + 1;
	}
	return *ours == *theirs;
}

/* Compares with addr2line at each step-th address of a file's code. */
static void
assert_agrees(const char *path, const char *directory, uint64_t step)
{
	struct answers ours, theirs;
	size_t n_inlined = 0, n_other = 0;
	bool is_strict = has_llvm();

	make_questions(&ours, path, step);
	make_questions(&theirs, path, step);
	assert_int_equal(ask(&ours, path), DEBUG_LINES_READ);
	ask_addr2line(&theirs, path, directory);
	for (size_t i = 0; i < ours.n; i++) {
		const char *end = strchr(ours.texts[i], '\n');

		n_inlined += end != NULL && end[1] != '\0';
		if (agree(ours.texts[i], theirs.texts[i], is_strict))
			continue;
		if (n_other++ == 0)
			print_message("%s: 0x%llx:\n%s--- addr2line:\n%s",
			    path, (unsigned long long)ours.addresses[i],
			    ours.texts[i], theirs.texts[i]);
	}
	if (n_other > 0)
		fail_msg("%s: %zu of %zu addresses differ", path, n_other,
		         ours.n);
	assert_true(n_inlined > ours.n / 20);
	answers_free(&ours);
	answers_free(&theirs);
}

static void
make_directory(char *directory)
{
	strcpy(directory, "/tmp/test-lines.XXXXXX");
	assert_non_null(mkdtemp(directory));
}

/* Compiles one of tests/programs to directory/program. */
static void
compile(const char *directory, const char *command, const char *source)
{
	if (!run("%.20s --version >/dev/null 2>&1", command))
		skip_since("%s not found", command);
	if (!run("%s -O2 -o %s/program '%s/tests/programs/%s' 2>%s/errors",
	         command, directory, getenv("srcdir"), source, directory)) {
		run("cat %s/errors >&2", directory);
		fail_msg("%s %s", command, source);
	}
}

static void
assert_compiled_agrees(const char *command, const char *source)
{
	char directory[64], path[80];

	make_directory(directory);
	compile(directory, command, source);
	snprintf(path, sizeof path, "%s/program", directory);
	assert_agrees(path, directory, 1);
	remove_copy(directory);
}

static void
lines_of_dwarf_4_agree(void **state)
{
	(void)state;
	assert_compiled_agrees("cc -gdwarf-4", "inlines.c");
	assert_compiled_agrees("c++ -gdwarf-4", "inlines.cc");
}

static void
lines_of_dwarf_5_agree(void **state)
{
	(void)state;
	assert_compiled_agrees("cc -gdwarf-5", "inlines.c");
	assert_compiled_agrees("c++ -gdwarf-5", "inlines.cc");
}

static void
lines_of_compressed_sections_agree(void **state)
{
	(void)state;
	skip_if_quick();
	assert_compiled_agrees("cc -g -gz", "inlines.c");
	assert_compiled_agrees("c++ -g -gz", "inlines.cc");
	assert_compiled_agrees("c++ -gdwarf-4 -gz=zlib-gnu", "inlines.cc");
}

/* Expects the program's lines of a copy made by a command. */
static void
assert_copy_agrees(const char *path, const char *copy)
{
	struct answers own, copied;

	make_questions(&own, path, 4);
	make_questions(&copied, copy, 4);
	assert_int_equal(ask(&own, path), DEBUG_LINES_READ);
	assert_int_equal(ask(&copied, copy), DEBUG_LINES_READ);
	assert_int_equal(own.n, copied.n);
	for (size_t i = 0; i < own.n; i++)
		assert_string_equal(own.texts[i], copied.texts[i]);
	answers_free(&own);
	answers_free(&copied);
}

static void
lines_of_sections_that_zstd_packed_agree(void **state)
{
	char directory[64], path[80], packed[80];

	(void)state;
	skip_if_quick();
	make_directory(directory);
	compile(directory, "c++ -g", "inlines.cc");
	snprintf(path, sizeof path, "%s/program", directory);
	snprintf(packed, sizeof packed, "%s/packed", directory);
	if (!run("objcopy --compress-debug-sections=zstd %s %s 2>/dev/null",
	         path, packed)) {
		remove_copy(directory);
		skip_since("objcopy does not know zstd");
	}
	assert_copy_agrees(path, packed);
	remove_copy(directory);
}

/* Lines are in the program, inlined calls in a file of their own. */
static void
lines_of_split_units_are_known(void **state)
{
	char directory[64], path[80];
	struct answers answers;
	size_t n_known = 0;

	(void)state;
	make_directory(directory);
	compile(directory, "cc -gdwarf-5 -gsplit-dwarf", "inlines.c");
	snprintf(path, sizeof path, "%s/program", directory);
	make_questions(&answers, path, 4);
	assert_int_equal(ask(&answers, path), DEBUG_LINES_SPLIT);
	for (size_t i = 0; i < answers.n; i++)
		n_known += strstr(answers.texts[i], "inlines.c:") != NULL;
	assert_true(n_known > answers.n / 2);
	answers_free(&answers);
	remove_copy(directory);
}

static void
lines_of_fixed_addresses_and_many_sections_agree(void **state)
{
	(void)state;
	skip_if_quick();
	assert_compiled_agrees("c++ -g -no-pie -ffunction-sections "
	                       "-Wl,--gc-sections", "inlines.cc");
}

/* Inlined functions are then declared in other units. */
static void
lines_of_programs_optimised_as_a_whole_agree(void **state)
{
	(void)state;
	skip_if_quick();
	if (!has_llvm())
		skip_since("llvm-addr2line not found");
	assert_compiled_agrees("cc -g -flto", "inlines.c");
	assert_compiled_agrees("c++ -g -flto", "inlines.cc");
}

static void
lines_of_clang_agree(void **state)
{
	(void)state;
	skip_if_quick();
	if (!has_llvm())
		skip_since("llvm-addr2line not found");
	assert_compiled_agrees("clang -gdwarf-4", "inlines.c");
	assert_compiled_agrees("clang -gdwarf-5", "inlines.c");
	assert_compiled_agrees("clang++ -gdwarf-5", "inlines.cc");
}

/*
 * As in distributions: stripped, with debug information in a file found by
 * build-id.
 */
static void
lines_are_not_in_a_stripped_file(void **state)
{
	char directory[64], path[80];
	struct answers answers;

	(void)state;
	make_directory(directory);
	compile(directory, "c++ -g", "inlines.cc");
	snprintf(path, sizeof path, "%s/program", directory);
	make_questions(&answers, path, 64);
	assert_true(run("objcopy --strip-debug %s", path));
	assert_int_equal(ask(&answers, path), DEBUG_LINES_NONE);
	for (size_t i = 0; i < answers.n; i++)
		assert_string_equal(answers.texts[i], "");
	answers_free(&answers);
	remove_copy(directory);
}

/* Paths */

static void
assert_joined(const char *directory, const char *path, const char *expected)
{
	char clean[32];

	assert_int_equal(source_path_clean(clean, sizeof clean, directory,
	                                   path), strlen(expected));
	if (*expected != '\0')
		assert_string_equal(clean, expected);
}

static void
assert_clean(const char *path, const char *expected)
{
	assert_joined(NULL, path, expected);
}

static void
source_paths_have_one_spelling(void **state)
{
	(void)state;
	assert_clean("/usr/include/stdio.h", "/usr/include/stdio.h");
	assert_clean("/a//b/./c.c", "/a/b/c.c");
	assert_clean("/a/b/../c.c", "/a/c.c");
	assert_clean("/a/../../c.c", "/c.c");
	assert_clean("a/../b.c", "b.c");
	assert_clean("../a/../../b.c", "../../b.c");
	assert_clean("./a.c", "a.c");
	assert_clean("a/..", "");
	assert_clean("", "");
	assert_clean("/", "/");
	assert_clean("..a/...", "..a/...");
	assert_clean("/0123456789/0123456789/0123456789", "");
	assert_joined("/a/b", "c.c", "/a/b/c.c");
	assert_joined("/a/b", "../c.c", "/a/c.c");
	assert_joined("/a/b/", "/c.c", "/c.c");
	assert_joined(".", "c.c", "c.c");
	assert_joined("", "c.c", "c.c");
	assert_joined("/", "c.c", "/c.c");
	assert_joined("/0123456789/0123456789/0123456789", "c.c", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_dwarf_4_agree),
		cmocka_unit_test(lines_of_dwarf_5_agree),
		cmocka_unit_test(lines_of_compressed_sections_agree),
		cmocka_unit_test(lines_of_sections_that_zstd_packed_agree),
		cmocka_unit_test(lines_of_split_units_are_known),
		cmocka_unit_test(
		    lines_of_fixed_addresses_and_many_sections_agree),
		cmocka_unit_test(lines_of_programs_optimised_as_a_whole_agree),
		cmocka_unit_test(lines_of_clang_agree),
		cmocka_unit_test(lines_are_not_in_a_stripped_file),
		cmocka_unit_test(source_paths_have_one_spelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
