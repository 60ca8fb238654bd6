/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-short-names.c -- names without what a reader can do without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/short_name.h"
#include "tests/failing-memory.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

/* Names as binaries and tools have them, alone; and their last identifiers. */
static const struct {
	const char *whole, *text, *last;
} cases[] = {
	/* C++: libstdc++, LLVM, node, GCC */
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector::push_back", "push_back" },
	{ "void std::sort<int*>(int*, int*)", "std::sort", "sort" },
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, "
	  "std::allocator<char> >::basic_string(char const*, "
	  "std::allocator<char> const&)",
	  "std::__cxx11::basic_string::basic_string", "basic_string" },
	{ "std::locale::facet::_S_get_c_name[abi:cxx11]()",
	  "std::locale::facet::_S_get_c_name", "_S_get_c_name" },
	{ "std::ios_base::failure[abi:cxx11]::~failure()",
	  "std::ios_base::failure::~failure", "~failure" },
	{ "bool std::operator< <char>(std::allocator<char> const&, int)",
	  "std::operator<", "operator<" },
	{ "int [Shop] Shop.Cart::Sum(int)[Optimized]", "Shop.Cart::Sum",
	  "Sum" },
	{ "std::ostream& operator<< <int>(std::ostream&, int)",
	  "operator<<", "operator<<" },
	{ "bool operator<<int>(int)", "operator<", "operator<" },
	{ "A::operator<=>(A const&) const", "A::operator<=>", "operator<=>" },
	{ "std::unique_ptr<T>::operator->() const",
	  "std::unique_ptr::operator->", "operator->" },
	{ "p::operator->*(int)", "p::operator->*", "operator->*" },
	{ "f::operator()(int) const", "f::operator()", "operator()" },
	{ "f::operator()<int>(int) const", "f::operator()", "operator()" },
	{ "v<int>::operator[](unsigned long)", "v::operator[]",
	  "operator[]" },
	{ "operator new(unsigned long)", "operator new", "operator new" },
	{ "operator delete[](void*)", "operator delete[]",
	  "operator delete[]" },
	{ "A::operator unsigned long() const", "A::operator unsigned long",
	  "operator unsigned long" },
	{ "A<int>::operator std::pair<int, char>() const",
	  "A::operator std::pair", "operator std::pair" },
	{ "operator\"\" _km(long double)", "operator\"\" _km",
	  "operator\"\" _km" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f", "f" },
	{ "node::(anonymous namespace)::S::g(v8::Local<v8::Value>)",
	  "node::(anonymous namespace)::S::g", "g" },
	{ "foo(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "foo::{lambda#1}::operator()", "operator()" },
	{ "void foo(int)::'lambda'(char)::operator()(char) const",
	  "foo::'lambda'::operator()", "operator()" },
	{ "main::$_0::operator()(int) const", "main::$_0::operator()",
	  "operator()" },
	{ "f(int)::Local::g(char) const &", "f::Local::g", "g" },
	{ "f() const::{lambda(int)#2}::_FUN(int)", "f::{lambda#2}::_FUN",
	  "_FUN" },
	{ "std::_Function_handler<void (int, char*), main::{lambda(int)#1}>::"
	  "_M_invoke(std::_Any_data const&, int&&)",
	  "std::_Function_handler::_M_invoke", "_M_invoke" },
	{ "void (*A<int>::f<char>(int))(char)", "A::f", "f" },
	{ "int (&g<int>())[3]", "g", "g" },
	{ "decltype (forward<F>(f)) std::__invoke<F>(F&&)", "std::__invoke",
	  "__invoke" },
	{ "decltype(auto) h<int>(int)", "h", "h" },
	{ "void f<&(operator< (A, B))>(int)", "f", "f" },
	{ "A<(1<2), (3>2)>::f(int)", "A::f", "f" },
	{ "S<'('>::f(char)", "S::f", "f" },
	{ "non-virtual thunk to A<int>::f(int)", "non-virtual thunk to A::f",
	  "f" },
	{ "guard variable for A<int>::f()::x", "guard variable for A::f::x",
	  "x" },
	{ "f(int) [clone .isra.0]", "f", "f" },
	{ "f [clone .isra.0]", "f", "f" },
	{ "void a::f<int>(int) [clone .isra.0]", "a::f", "f" },
	{ "long (anonymous namespace)::f<a::(anonymous namespace)::B>(int) "
	  "[clone .constprop.0]", "(anonymous namespace)::f", "f" },
	{ "int f<int>() const [clone .part.0] [clone .cold]", "f", "f" },
	{ "compute.constprop.0.isra.1", "compute", "compute" },
	{ "start_thread.llvm.1234567", "start_thread", "start_thread" },
	{ "llvm::SmallVectorImpl<llvm::Value*>::append<llvm::Use const*, void>"
	  "(llvm::Use const*, llvm::Use const*)",
	  "llvm::SmallVectorImpl::append", "append" },
	/* granularity callsite and address */
	{ "foo(int):42", "foo:42", "foo" },
	{ "foo<int>(int)+0x1c", "foo+0x1c", "foo" },
	{ "memcpy@plt", "memcpy@plt", "memcpy" },
	/* Rust */
	{ "<alloc::vec::Vec<T> as core::iter::Extend<&T>>::extend",
	  "<alloc::vec::Vec as core::iter::Extend>::extend", "extend" },
	{ "<alloc::vec::Vec<u8>>::push", "<alloc::vec::Vec>::push", "push" },
	{ "core::ptr::drop_in_place::<alloc::string::String>",
	  "core::ptr::drop_in_place", "drop_in_place" },
	{ "core::ptr::drop_in_place<alloc::string::String>",
	  "core::ptr::drop_in_place", "drop_in_place" },
	{ "core::fmt::num::<impl core::fmt::Debug for u32>::fmt::"
	  "h0123456789abcdef",
	  "core::fmt::num::<impl core::fmt::Debug for u32>::fmt", "fmt" },
	{ "std::rt::lang_start::{{closure}}::h00112233445566ff",
	  "std::rt::lang_start::{{closure}}", "{{closure}}" },
	{ "rustup[317d481089b8c8fe]::cli::main::{closure#0}",
	  "rustup::cli::main::{closure#0}", "{closure#0}" },
	{ "core::x::<u8 as core::fmt::Debug>::fmt",
	  "core::x::<u8 as core::fmt::Debug>::fmt", "fmt" },
	{ "<fn(u8) -> u8 as core::ops::FnOnce<(u8,)>>::call_once",
	  "<fn(u8) -> u8 as core::ops::FnOnce>::call_once", "call_once" },
	/* Go */
	{ "github.com/x/y.(*T[...]).Method", "github.com/x/y.(*T).Method",
	  "Method" },
	{ "main.Map[go.shape.int,go.shape.string].func1", "main.Map.func1",
	  "func1" },
	{ "runtime.mallocgc", "runtime.mallocgc", "mallocgc" },
	/* D */
	{ "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])",
	  "std.stdio.writeln.writeln", "writeln" },
	/* Java */
	{ "java.util.HashMap.put(Ljava/lang/Object;I)Ljava/lang/Object;",
	  "java.util.HashMap.put", "put" },
	{ "void java.util.Foo.<init>(int, java.lang.String)",
	  "java.util.Foo.<init>", "<init>" },
	{ "a.B$$Lambda$14/0x00007f7c0c001000.run", "a.B$$Lambda$14.run",
	  "run" },
	/* What has none of these forms stays as it is. */
	{ "main", "main", "main" },
	{ "a->b", "a->b", "a->b" },
	{ "func (file.py:12)", "func (file.py:12)", "func" },
	{ "<module>", "<module>", "<module>" },
	{ "-[NSFoo bar:]", "-[NSFoo bar:]", "-[NSFoo bar:]" },
	{ "do_syscall_64_[k]", "do_syscall_64_[k]", "do_syscall_64_[k]" },
	{ "worker[3]", "worker[3]", "worker[3]" },
	{ "[unknown]", "[unknown]", "[unknown]" },
	{ "(garbage collector)", "(garbage collector)",
	  "(garbage collector)" },
	{ "/usr/lib/libc.so.6", "/usr/lib/libc.so.6", "libc.so.6" },
	{ "db.c:118", "db.c:118", "db.c" },
	{ "", "", "" },
};

static void
short_names_lack_what_tells_nothing(void **state)
{
	struct name_parts parts = { 0 };
	struct error error = { 0 };

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct text_buffer text = { 0 };
		size_t n = strlen(cases[i].whole);
		char last[100] = "";

		assert_int_equal(text_add_short_name(&text, &parts,
		    cases[i].whole, n, &error), 0);
		assert_string_equal(text_string(&text), cases[i].text);
		memcpy(last, cases[i].whole + parts.last_begin,
		       parts.last_end - parts.last_begin);
		assert_string_equal(last, cases[i].last);
		/* Of a declarator, the return type goes on after the name. */
		if (strstr(cases[i].whole, "(*") == NULL &&
		    strstr(cases[i].whole, "(&g") == NULL &&
		    name_return_type(cases[i].whole, n) != parts.begin)
			fail_msg("%s: %zu", cases[i].whole, name_return_type(
			         cases[i].whole, n));
		text_free(&text);
	}
	name_parts_free(&parts);
}

enum { MOST = 400 };

/* Makes the short names of n names, which must differ. */
static void
make(struct short_name *names, const char *const *whole, size_t n,
     struct arena *arena)
{
	struct error error = { 0 };

	for (size_t i = 0; i < n; i++)
		names[i] = (struct short_name){
			.whole = whole[i], .n_whole = strlen(whole[i])
		};
	assert_int_equal(short_names_make(names, n, arena, &error), 0);
}

/* Names beside each other, up to NULL, and their short texts. */
static const char *const sets[][9] = {
	{ "std::vector<int, std::allocator<int> >::f(int const&)",
	  "std::vector<double, std::allocator<double> >::f(double const&)",
	  NULL,
	  "std::vector<int>::f", "std::vector<double>::f" },
	{ "f(int)", "f(char)", "f", "g(int)", NULL,
	  "f(int)", "f(char)", "f", "g" },
	/* Arguments only where they differ. */
	{ "f<std::string, Foo>(int)", "f<std::string, Bar>(int)", NULL,
	  "f<\xe2\x80\xa6, Foo>", "f<\xe2\x80\xa6, Bar>" },
	{ "f<int, Foo>(int)", "f<int, Bar>(int)", NULL,
	  "f<int, Foo>", "f<int, Bar>" },
	{ "f<A, std::pair<std::string, B> >()",
	  "f<A, std::pair<std::string, C> >()", NULL,
	  "f<A, std::pair<\xe2\x80\xa6, B>>",
	  "f<A, std::pair<\xe2\x80\xa6, C>>" },
	/* The blank between brackets is left out, also where names part. */
	{ "f<A<B<int> >, C>()", "f<A<B<int>, D>, C>()", NULL,
	  "f<A<B>>", "f<A<\xe2\x80\xa6, D>>" },
	{ "f<A<B> >(C<D<E> >&, long)", "f<A<B> >(C<D<E> >&, long, long)",
	  NULL,
	  "f<A<B>>(C<D<E>>&, long)", "f<A<B>>(C<D<E>>&, long, long)" },
	{ "f<std::string, std::wstring, Foo>()",
	  "f<std::string, std::wstring, Bar>()", NULL,
	  "f<\xe2\x80\xa6, Foo>", "f<\xe2\x80\xa6, Bar>" },
	{ "f<N::a, N::long_one, X>()", "f<N::b, N::long_one, X>()",
	  "f<N::b, N::long_one, Y>()", NULL,
	  "f<N::a>", "f<N::b, \xe2\x80\xa6, X>",
	  "f<N::b, \xe2\x80\xa6, Y>" },
	{ "f<std::string>()", "f<std::string, Foo>()", NULL,
	  "f<std::string>", "f<\xe2\x80\xa6, Foo>" },
	/* The way to each of three: by argument, then by parameter. */
	{ "f<double>(double)", "f<int>(int)", "f<int>(char)", NULL,
	  "f<double>", "f<int>(int)", "f<int>(char)" },
	/* A return type only if nothing else differs. */
	{ "int f<int>(A)", "long f<long>(A)", NULL, "f<int>", "f<long>" },
	{ "int f<A>(A)", "long f<A>(A)", NULL, "int f", "long f" },
	{ "P<A> f<A>(A)", "Q f<A>(A)", "P<B> f<A>(A)", NULL,
	  "P<A> f", "Q f", "P<B> f" },
	{ "void (*f(int))(char)", "void (*f(int))(long)", NULL,
	  "void (*f)(char)", "void (*f)(long)" },
	{ "f(int)", "f(int) const", NULL, "f", "f const" },
	{ "f", "f.constprop.0", "f.constprop.1", NULL,
	  "f", "f.constprop.0", "f.constprop.1" },
	{ "a::f::h0123456789abcdef", "a::f::hfedcba9876543210", NULL,
	  "a::f::h0123456789abcdef", "a::f::hfedcba9876543210" },
	{ "main.Map[int]", "main.Map[string]", NULL,
	  "main.Map[int]", "main.Map[string]" },
	{ "x::drop::<A>", "x::drop::<B>", NULL,
	  "x::drop::<A>", "x::drop::<B>" },
};

static void
names_keep_what_tells_them_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(sets); i++) {
		struct short_name names[9];
		struct arena arena = { 0 };
		size_t n = 0;

		while (sets[i][n] != NULL)
			n++;
		make(names, sets[i], n, &arena);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(names[k].text,
			                    sets[i][n + 1 + k]);
		arena_free(&arena);
	}
}

static uint64_t seed = 13;

static unsigned
below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void
add_one_of(struct text_buffer *text, const char *const *words, size_t n)
{
	text_add_string(text, words[below((unsigned)n)]);
}

static void
add_type(struct text_buffer *text, int depth)
{
	static const char *const types[] = {
		"int", "T", "std::string", "unsigned long", "char const*",
	};

	add_one_of(text, types, LENGTH(types));
	if (depth > 0 && below(3) == 0) {
		text_add_string(text, "::Box<");
		add_type(text, depth - 1);
		if (below(2) == 0) {
			text_add_string(text, ", ");
			add_type(text, depth - 1);
		}
		text_add_string(text, " >");
	}
}

/*
 * Adds a name as a demangler writes it, which ends with the identifier that is
 * returned.  Few words, so that many names differ only in their arguments.
 */
static const char *
add_name(struct text_buffer *text)
{
	static const char *const scopes[] = {
		"a::", "std::", "(anonymous namespace)::", "Box<int>::",
		"f(int)::{lambda(int)#1}::", "g() const::",
	};
	static const char *const lasts[] = {
		"put", "operator()", "operator<", "operator new[]", "~Box",
		"operator unsigned long", "operator->",
	};
	const char *last = lasts[below(LENGTH(lasts))];
	bool has_list = below(2) == 0;

	if (has_list && below(2) == 0) {
		add_type(text, 2);
		text_add_char(text, ' ');
	}
	for (unsigned n = below(3); n > 0; n--)
		add_one_of(text, scopes, LENGTH(scopes));
	text_add_string(text, last);
	if (below(2) == 0) {
		text_add_string(text, last[strlen(last) - 1] == '<' ?
		                " <" : "<");
		add_type(text, 2);
		text_add_char(text, '>');
	}
	if (has_list || below(2) == 0) {
		text_add_char(text, '(');
		if (below(3) > 0)
			add_type(text, 2);
		text_add_string(text, below(4) == 0 ? ") const" : ")");
	}
	if (below(8) == 0)
		text_add_string(text, ".constprop.0");
	return last;
}

/* Adds brackets and letters in any order. */
static const char *
add_noise(struct text_buffer *text)
{
	static const char *const words[] = {
		"<", ">", "(", ")", "[", "]", "{", "}", "::", ",", ", ", " ",
		".", "/", "a", "b", "operator", "-", "'", "&", "*", "\xe2",
		" as ", " const", "::h0123456789abcdef", ".part.0", "!", ":1",
		"+0x1", "L", ";", "decltype", "[clone ", " to ", ELLIPSIS,
	};

	for (unsigned n = 1 + below(12); n > 0; n--)
		add_one_of(text, words, LENGTH(words));
	return "";
}

static int
compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Checks the short names of random names, and that each can be typed. */
static void
check_random_names(const char *(*add)(struct text_buffer *))
{
	static struct short_name names[MOST];
	static const char *whole[MOST], *lasts[MOST], *texts[MOST];
	struct name_parts parts = { 0 };
	struct arena arena = { 0 };
	struct error error = { 0 };
	size_t n = 0, wanted = 2 + below(MOST - 2);

	for (size_t i = 0; i < wanted; i++) {
		struct text_buffer text = { 0 };
		bool is_new = true;

		lasts[n] = add(&text);
		whole[n] = text_move(&text, &arena, &error);
		for (size_t k = 0; k < n; k++)
			is_new &= strcmp(whole[k], whole[n]) != 0;
		n += is_new;
	}
	make(names, whole, n, &arena);
	for (size_t i = 0; i < n; i++) {
		const struct short_name *name = &names[i];

		assert_true(name->length <= name->n_whole);
		assert_int_equal(strlen(name->text), name->length);
		assert_non_null(strstr(name->text, lasts[i]));
		assert_int_equal(name_parts_find(&parts, name->whole,
		                                 name->n_whole, &error), 0);
		if (!short_name_stands_for(name->text, name->length,
		    name->whole, name->n_whole, &parts, false, &error))
			fail_msg("%s for %s", name->text, name->whole);
		texts[i] = name->text;
	}
	qsort(texts, n, sizeof *texts, compare_strings);
	for (size_t i = 1; i < n; i++)
		assert_string_not_equal(texts[i - 1], texts[i]);
	name_parts_free(&parts);
	arena_free(&arena);
}

static void
short_names_differ_are_shorter_and_keep_the_last_identifier(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++)
		check_random_names(add_name);
}

static void
any_bytes_are_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++)
		check_random_names(add_noise);
}

/* Names that would take long if a step looked at all of them again. */
static void
deep_brackets_take_no_longer(void **state)
{
	static const char *const pieces[] = {
		"<", "(", "a<", "f(", "f()", "()L", "::<", "(*", "a,", "f<a,",
		"operator<", "/0x", "' as ", ".part.0", "::h0123456789abcdef",
		" const", "{[", "A<B>::",
	};
	enum { SIZE = 1 << 19 };
	char *name = malloc(SIZE + 1);
	struct name_parts parts = { 0 };
	struct error error = { 0 };

	(void)state;
	for (size_t i = 0; i < LENGTH(pieces); i++) {
		size_t n = strlen(pieces[i]);
		struct text_buffer text = { 0 };

		for (size_t k = 0; k < SIZE; k++)
			name[k] = pieces[i][k % n];
		name[SIZE] = '\0';
		assert_int_equal(text_add_short_name(&text, &parts, name,
		                                     SIZE, &error), 0);
		assert_true(text.length <= SIZE);
		text_free(&text);
	}
	free(name);
	name_parts_free(&parts);
}

static bool
stands_for(const char *typed, const char *name, bool lacks_scopes)
{
	struct name_parts parts = { 0 };
	struct error error = { 0 };
	bool stands;

	assert_int_equal(name_parts_find(&parts, name, strlen(name), &error),
	                 0);
	stands = short_name_stands_for(typed, strlen(typed), name,
	                               strlen(name), &parts, lacks_scopes,
	                               &error);
	name_parts_free(&parts);
	return stands;
}

static void
a_short_name_stands_for_longer_ones(void **state)
{
	const char *name = "int a::Box<std::string, A<B, C> >::put<D>(char, E) "
	    "const";

	(void)state;
	assert_true(stands_for("a::Box::put", name, false));
	assert_true(stands_for("a::Box::put(char)", name, false));
	assert_true(stands_for("a::Box<" ELLIPSIS ", A<B>>::put", name,
	                       false));
	assert_true(stands_for("a::Box<std::string>::put<D>", name, false));
	assert_true(stands_for("int a::Box::put const", name, false));
	assert_true(stands_for(ELLIPSIS "::put", name, false));
	assert_true(stands_for(name, name, false));
	assert_true(stands_for("put", name, true));
	assert_true(stands_for("Box::put", name, true));
	assert_true(stands_for("f<" ELLIPSIS ", C>", "f<A, B, C>()", false));
	assert_false(stands_for("a" ELLIPSIS "::put", name, false));
	assert_false(stands_for("put", name, false));
	assert_false(stands_for("ut", name, true));
	assert_false(stands_for("a::Box::pu", name, true));
	assert_false(stands_for("a::Box::put<E>", name, true));
	assert_false(stands_for("a::Box<A>::put", name, true));
	assert_false(stands_for("a::Box<B>::put", name, true));
	assert_false(stands_for(ELLIPSIS "::out", name, true));
	assert_false(stands_for("Box", name, true));
	assert_false(stands_for("", name, true));
	assert_true(stands_for("y.Method", "github.com/x/y.Method", true));
}

/* What programmers type, and how it stands for a function's name. */
static const struct {
	const char *typed, *name;
	enum name_reading reading;
} typed_cases[] = {
	{ "push_back", "std::vector<int>::push_back(int const&)",
	  READING_INNER },
	{ "ns::run", "int ns::run<int>(int) const", READING_SHORT },
	/* Python: the file is the module. */
	{ "json.loads", "loads (json/__init__.py)", READING_QUALIFIED },
	{ "json.loads()", "loads (json/__init__.py)", READING_QUALIFIED },
	{ "json.loads", "loads (/usr/lib/python3.12/json/__init__.py:299)",
	  READING_QUALIFIED },
	{ "json.decoder.JSONDecoder.decode",
	  "JSONDecoder.decode (json/decoder.py)", READING_QUALIFIED },
	{ "json.JSONDecoder.decode", "JSONDecoder.decode (json/decoder.py)",
	  READING_SPARSE },
	{ "app.outer.inner", "outer.<locals>.inner (app.py)", READING_SPARSE },
	{ "json.loads", "py::loads:/usr/lib/python3.12/json/__init__.py",
	  READING_QUALIFIED },
	{ "json.load", "loads (json/__init__.py)", N_NAME_READINGS },
	{ "son.loads", "loads (json/__init__.py)", N_NAME_READINGS },
	{ "loads.json", "loads (json/__init__.py)", N_NAME_READINGS },
	{ "simplejson.loads", "loads (json/__init__.py)", N_NAME_READINGS },
	{ "json", "loads (json/__init__.py)", N_NAME_READINGS },
	/* JavaScript */
	{ "events.emit", "emit (node:events:519)", READING_QUALIFIED },
	{ "express.handle", "handle (express/index.js:12)", READING_SPARSE },
	/* Java */
	{ "com.example.Cart.total", "com/example/Cart.total",
	  READING_QUALIFIED },
	{ "Cart.total", "com/example/Cart.total_[j]", READING_QUALIFIED },
	{ "com.example.Cart.total", "Lcom/example/Cart;::total",
	  READING_QUALIFIED },
	/* .NET */
	{ "Shop.Cart.Sum", "int [Shop] Shop.Cart::Sum(int)[Optimized]",
	  READING_QUALIFIED },
	/* C++ */
	{ "std::vector::at", "int& std::__1::vector<int>::at(unsigned long)",
	  READING_SPARSE },
	{ "std.vector.at", "int& std::vector<int>::at(unsigned long)",
	  READING_QUALIFIED },
	{ "std::vector<char>::at", "int& std::__1::vector<int>::at(int)",
	  N_NAME_READINGS },
	{ "std::at", "std::vector<int>::at_end(int)", N_NAME_READINGS },
	/* Rust */
	{ "Vec::extend", "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
	  READING_QUALIFIED },
	{ "core::iter::Extend::extend",
	  "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
	  READING_QUALIFIED },
	{ "T::extend", "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
	  N_NAME_READINGS },
	{ "Reader::read", "<&mut a::Reader<'_> as b::Read>::read",
	  READING_QUALIFIED },
	{ "Parser::next", "a::<impl b::Next for a::Parser>::next",
	  READING_QUALIFIED },
	{ "Parser::new", "<a::Parser<T>>::new", READING_QUALIFIED },
	/* Go, PHP, Ruby, Erlang */
	{ "http.Server.Serve", "net/http.(*Server).Serve", READING_QUALIFIED },
	{ "User::find", "App\\Models\\User::find", READING_QUALIFIED },
	{ "Foo::Bar.baz", "Foo::Bar#baz", READING_QUALIFIED },
	{ "lists:map", "lists:map/2", READING_QUALIFIED },
	/* What follows a blank belongs to the name. */
	{ "f", "f 7", N_NAME_READINGS },
	{ "f", "a.f [7]", N_NAME_READINGS },
	{ "T::f", "a::T<int>::f(char) const [clone .cold]", READING_INNER },
	{ "a.T.f", "int a::T<int>::f(char) const [clone .cold]",
	  READING_QUALIFIED },
	{ "", "f", N_NAME_READINGS },
	{ ".", "f", N_NAME_READINGS },
	{ "..", "f (a.py)", N_NAME_READINGS },
	{ "/1", "f/1", N_NAME_READINGS },
};

static enum name_reading
reading_of(const char *typed, const char *name, enum name_reading most)
{
	struct typed_name word;
	struct name_parts parts = { 0 };
	struct error error = { 0 };
	enum name_reading reading;

	assert_int_equal(typed_name_make(&word, typed, strlen(typed), &error),
	                 0);
	reading = typed_name_stands_for(&word, name, strlen(name), most,
	                                &parts, &error);
	assert_false(error.is_set);
	name_parts_free(&parts);
	return reading;
}

static void
a_typed_name_stands_for_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(typed_cases); i++) {
		const char *typed = typed_cases[i].typed;
		const char *name = typed_cases[i].name;
		enum name_reading wanted = typed_cases[i].reading;
		enum name_reading reading = reading_of(typed, name,
		                                       READING_SPARSE);

		if (reading != wanted)
			fail_msg("%s for %s: %d, not %d", typed, name, reading,
			         wanted);
		if (wanted > READING_SHORT && wanted < N_NAME_READINGS)
			assert_int_equal(reading_of(typed, name, wanted - 1),
			                 N_NAME_READINGS);
	}
}

/* Any name stands for itself; one of 2 MB is one identifier. */
static void
any_bytes_are_typed(void **state)
{
	enum { SIZE = 1 << 21 };
	char *name = malloc(SIZE + 1);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct text_buffer typed = { 0 }, other = { 0 };

		add_noise(&typed);
		add_noise(&other);
		reading_of(text_string(&typed), text_string(&other),
		           READING_SPARSE);
		reading_of(text_string(&typed), text_string(&typed),
		           READING_SPARSE);
		text_free(&typed);
		text_free(&other);
	}
	for (size_t i = 0; i < SIZE; i++)
		name[i] = "a::<"[i % 4];
	name[SIZE] = '\0';
	assert_int_equal(reading_of("a", name, READING_SPARSE),
	                 N_NAME_READINGS);
	name[SIZE >> 2] = '\0';
	reading_of("a::a", name, READING_SPARSE);
	free(name);
}

/* A digest of short names, or 0 with *error set. */
static uint64_t
digest_names(void *data, struct error *error)
{
	static const char *const whole[] = {
		"f<int, A<B> >(int)", "f<int, C>(int)", "g()", "a::b::c",
	};
	struct short_name names[LENGTH(whole)];
	struct arena arena = { 0 };
	uint64_t digest = 1;

	(void)data;
	for (size_t i = 0; i < LENGTH(whole); i++)
		names[i] = (struct short_name){
			.whole = whole[i], .n_whole = strlen(whole[i])
		};
	if (short_names_make(names, LENGTH(whole), &arena, error) != 0)
		digest = 0;
	for (size_t i = 0; digest > 0 && i < LENGTH(whole); i++)
		for (size_t k = 0; k < names[i].length; k++)
			digest = digest * 31 +
			    (unsigned char)names[i].text[k];
	arena_free(&arena);
	return digest;
}

static void
shortening_survives_any_failure_of_memory(void **state)
{
	(void)state;
	sweep_memory("short names", digest_names, NULL, 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_names_lack_what_tells_nothing),
		cmocka_unit_test(names_keep_what_tells_them_apart),
		cmocka_unit_test(
		    short_names_differ_are_shorter_and_keep_the_last_identifier),
		cmocka_unit_test(any_bytes_are_a_name),
		cmocka_unit_test(deep_brackets_take_no_longer),
		cmocka_unit_test(a_short_name_stands_for_longer_ones),
		cmocka_unit_test(a_typed_name_stands_for_functions),
		cmocka_unit_test(any_bytes_are_typed),
		cmocka_unit_test(shortening_survives_any_failure_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
