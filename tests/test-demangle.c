/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-demangle.c -- demangled names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/symbols/names/program.h"

static void
assert_demangled(const char *symbol, const char *expected)
{
	struct error error = { 0 };
	char *name = demangle(symbol, &error);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void
assert_is_demangled(const char *symbol)
{
	struct error error = { 0 };
	char *name = demangle(symbol, &error);

	assert_non_null(name);
	assert_string_not_equal(name, symbol);
	free(name);
}

static void
demangle_reads_cplusplus_rust_and_d(void **state)
{
	(void)state;
	assert_demangled("_Znwm", "operator new(unsigned long)");
	assert_demangled("_ZNK2db6record4findERKi",
	    "db::record::find(int const&) const");
	assert_demangled("_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
	    "core::fmt::Write::write_str");
	assert_demangled("_RNvCs1234_7mycrate4main", "mycrate::main");
	assert_demangled("_D3std5stdio7writelnFAyaZv",
	    "std.stdio.writeln(immutable(char)[])");
}

static void
demangle_mends_rust_that_went_through_cplusplus(void **state)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{ "a::main::hc2aaa9b4591a10c7", "a::main" },
		{ "_$LT$a..B$LT$T$GT$$GT$::new::hcd1c44cd143417f6",
		  "<a::B<T>>::new" },
		{ "_$LT$u8$u20$as$u20$a..C$GT$::c::h7bfab8630dda96cf",
		  "<u8 as a::C>::c" },
		{ "f(int)::hc2aaa9b4591a10c7", "f(int)::hc2aaa9b4591a10c7" },
		{ "a<b>::f::hello", "a<b>::f::hello" },
		{ "::hc2aaa9b4591a10c7", "::hc2aaa9b4591a10c7" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error error = { 0 };
		struct names *names = names_new(&error);

		assert_int_equal(demangle_and_add(names, cases[i].name,
		    strlen(cases[i].name), &error), 0);
		assert_string_equal(names_text(names, 0), cases[i].expected);
		names_free(names);
	}
}

static void
demangle_leaves_other_names(void **state)
{
	(void)state;
	assert_demangled("main", "main");
	assert_demangled("_Z", "_Z");
	assert_demangled("_Zfoo", "_Zfoo");
	assert_demangled("_D", "_D");
	assert_demangled("i", "i");
	assert_demangled("", "");
}

static void
demangle_drops_versions_and_cold_parts(void **state)
{
	(void)state;
	assert_demangled("memcpy@@GLIBC_2.14", "memcpy");
	assert_demangled("sort.cold", "sort");
	assert_demangled("sort.cold.12", "sort");
	assert_demangled("_Z1fi.cold", "f(int)");
	assert_demangled("sort.constprop.0", "sort.constprop.0");
	assert_demangled(".cold", ".cold");
	assert_demangled("12", "12");
}

/*
 * void f(A<T0, T0>) where each T is a pair of the one before: printed, 30
 * levels would be gigabytes.
 */
static void
demangle_gives_up_text_that_doubles(void **state)
{
	char symbol[1000] = "_Z1f1PIiiE";
	size_t length = strlen(symbol);

	(void)state;
	assert_demangled(symbol, "f(P<int, int>)");
	for (int level = 0; level < 30; level++) {
		char reference[8];

		/*
		 * Substitutions: P is S_, P<int, int> S0_, then one per level.
		 */
		snprintf(reference, sizeof reference, "S%c_",
		    level < 10 ? '0' + level : 'A' + level - 10);
		length += (size_t)snprintf(symbol + length,
		    sizeof symbol - length, "S_I%s%sE", reference, reference);
		if (level == 1)
			assert_demangled(symbol, "f(P<int, int>, "
			    "P<P<int, int>, P<int, int> >, "
			    "P<P<P<int, int>, P<int, int> >, "
			    "P<P<int, int>, P<int, int> > >)");
	}
	assert_demangled(symbol, symbol);
}

/* References into themselves, and lifetimes without a binder. */
static void
demangle_gives_up_endless_rust(void **state)
{
	(void)state;
	assert_demangled("_RINvC1a1bFG_EuE", "a::b::<for<'a> fn()>");
	assert_demangled("_RB_", "_RB_");
	assert_demangled("_RNvB_1a", "_RNvB_1a");
	assert_demangled("_RMINvC1a1bFGzzzzzzzzz_EuEu",
	    "_RMINvC1a1bFGzzzzzzzzz_EuEu");
}

/*
 * void f(A<...>...), each A made of two of the A before: the demangler
 * searches all of it for the pack to expand before it prints the first byte.
 */
static void
demangle_gives_up_packs_that_double(void **state)
{
	char symbol[1000] = "_Z1fDp1AI", known[] = "_Z1fDp1AIS_IiiES0_E";
	size_t length = strlen(symbol);

	(void)state;
	assert_demangled(known, "f((A<A<int, int>, A<int, int> >)...)");
	for (int level = 0; level < 33; level++)
		length += (size_t)sprintf(symbol + length, "S_I");
	length += (size_t)sprintf(symbol + length, "iiE");
	for (int level = 0; level < 33; level++)
		length += (size_t)sprintf(symbol + length, "S%c_E",
		    level < 10 ? '0' + level : 'A' + level - 10);
	assert_demangled(symbol, symbol);
	/* One part, however often, makes nothing double. */
	strcpy(symbol, "_Z1fIJ1AEEvDpT_");
	for (int i = 0; i < 100; i++)
		strcat(symbol, "S0_");
	assert_is_demangled(symbol);
}

static void
demangle_survives_long_names(void **state)
{
	static const char *const repeated[] = { "P", "I", "N1A", "S_", "1fI",
		"Dp", "XspT_", "F", "_", "(", "Q", "G", "A1_" };
	static const char *const heads[] = { "_Z1f", "_ZN", "_RNvC1a1bI",
		"_D1a", "_R", "x" };
	struct error error = { 0 };
	char *symbol = malloc(3 * DEMANGLED_MAX);
	char *name;

	(void)state;
	for (size_t head = 0; head < 6; head++)
		for (size_t i = 0; i < 13; i++) {
			size_t n = (size_t)sprintf(symbol, "%s", heads[head]);

			while (n + 8 < MANGLED_MAX)
				n += (size_t)sprintf(symbol + n, "%s",
				                     repeated[i]);
			name = demangle(symbol, &error);
			assert_non_null(name);
			free(name);
		}
	memset(symbol, 'x', 3 * DEMANGLED_MAX - 1);
	symbol[3 * DEMANGLED_MAX - 1] = '\0';
	name = demangle(symbol, &error);
	assert_int_equal(strlen(name), DEMANGLED_MAX);
	assert_string_equal(name + DEMANGLED_MAX - 4, "x...");
	free(name);
	free(symbol);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangle_reads_cplusplus_rust_and_d),
		cmocka_unit_test(
		    demangle_mends_rust_that_went_through_cplusplus),
		cmocka_unit_test(demangle_leaves_other_names),
		cmocka_unit_test(demangle_drops_versions_and_cold_parts),
		cmocka_unit_test(demangle_gives_up_text_that_doubles),
		cmocka_unit_test(demangle_gives_up_endless_rust),
		cmocka_unit_test(demangle_gives_up_packs_that_double),
		cmocka_unit_test(demangle_survives_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
