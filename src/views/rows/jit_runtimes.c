/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_runtimes.c -- recognises runtimes by their programs and modules. */
#include "src/views/rows/rows.h"

#include <fnmatch.h>
#include <string.h>

/*
 * Globs for the last component of a program's name or a module's path, and what
 * to do there.
 */
static const struct {
	const char *pattern, *remedy;
} runtimes[] = {
	{ "node",
	  "run node --perf-basic-prof --interpreted-frames-native-stack, or "
	  "record --node" },
	{ "nodejs",
	  "run node --perf-basic-prof --interpreted-frames-native-stack, or "
	  "record --node" },
	{ "libnode.so*",
	  "run node --perf-basic-prof --interpreted-frames-native-stack, or "
	  "record --node" },
	{ "deno", "run deno --v8-flags=--perf-basic-prof" },
	{ "d8", "run d8 --perf-basic-prof" },
	{ "libjvm.so",
	  "run java -XX:+UnlockDiagnosticVMOptions "
	  "-XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer (JDK 17), or "
	  "record --java" },
	{ "libcoreclr.so", "set DOTNET_PerfMapEnabled=1" },
	{ "mono", "run mono --jitmap" },
	{ "mono-sgen*", "run mono --jitmap" },
	{ "libmonosgen-*.so*", "run mono --jitmap" },
	{ "php*", "run php -d opcache.jit_debug=16" },
	{ "libphp*.so*", "set opcache.jit_debug=16 in php.ini" },
	{ "opcache.so", "set opcache.jit_debug=16 in php.ini" },
	{ "ruby*", "run ruby --yjit --yjit-perf (Ruby 3.3)" },
	{ "libruby*.so*", "run ruby --yjit --yjit-perf (Ruby 3.3)" },
	{ "python3*", "run python3 -X perf (Python 3.12)" },
	{ "libpython3*.so*", "run python3 -X perf (Python 3.12)" },
	{ "luajit*",
	  "set LUA_INIT=@ and the path of cpprof's luajit-map.lua" },
	{ "libluajit*.so*",
	  "set LUA_INIT=@ and the path of cpprof's luajit-map.lua" },
	{ "libjulia*.so*", "set ENABLE_JITPROFILING=1" },
	{ "wasmtime", "run wasmtime --profile=perfmap" },
	{ "beam.smp", "run erl +JPperf true" },
	{ "dart", "run dart --generate-perf-events-symbols" },
	{ "qemu-*", "run qemu -perfmap" },
	{ "llvmjit.so",
	  "set jit_profiling_support = on in postgresql.conf" },
};

enum { N_RUNTIMES = sizeof runtimes / sizeof runtimes[0] };

/* Perf names programs without a path, modules with one. */
static void
jit_runtimes_mark(const char *path, bool is_found[N_RUNTIMES])
{
	const char *name = path != NULL ? strrchr(path, '/') : NULL;

	name = name != NULL ? name + 1 : path;
	for (size_t i = 0; name != NULL && i < N_RUNTIMES; i++)
		if (fnmatch(runtimes[i].pattern, name, 0) == 0)
			is_found[i] = true;
}

/* Whether an earlier row that was found has the same remedy. */
static bool
is_repeated(size_t i, const bool is_found[N_RUNTIMES])
{
	for (size_t k = 0; k < i; k++)
		if (is_found[k] &&
		    strcmp(runtimes[k].remedy, runtimes[i].remedy) == 0)
			return true;
	return false;
}

void
jit_runtimes_add_remedies(const struct profile *profile,
                          struct text_buffer *text)
{
	bool is_found[N_RUNTIMES] = { false };
	bool has_one = false;

	for (uint32_t i = 0; i < profile->n_modules; i++)
		jit_runtimes_mark(profile->modules[i].path, is_found);
	for (uint32_t i = 0; i < profile->n_processes; i++)
		jit_runtimes_mark(profile->processes[i].program, is_found);
	for (size_t i = 0; i < N_RUNTIMES; i++) {
		if (!is_found[i] || is_repeated(i, is_found))
			continue;
		text_add_format(text, "%s%s", has_one ? "; " : "",
		                runtimes[i].remedy);
		has_one = true;
	}
	if (!has_one)
		text_add_string(text, "the process must write "
		                "/tmp/perf-PID.map or a jitdump");
}
