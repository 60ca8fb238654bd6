# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/symbols/address_frames.c src/symbols/address_frames.h \
	src/symbols/address_lines.c src/symbols/address_lines.h \
	src/symbols/debug_file.c src/symbols/debug_file.h \
	src/symbols/debug_lines.c src/symbols/debug_lines.h \
	src/symbols/debug_units.c src/symbols/debug_units.h \
	src/symbols/debug_walk.c src/symbols/debug_walk.h \
	src/symbols/demangle.c src/symbols/demangle.h \
	src/symbols/elf_file.c src/symbols/elf_file.h \
	src/symbols/elf_symbols.c src/symbols/elf_symbols.h \
	src/symbols/function_ranges.c src/symbols/function_ranges.h \
	src/symbols/inlined_calls.c src/symbols/inlined_calls.h \
	src/symbols/jit_map.c src/symbols/jit_map.h \
	src/symbols/kernel_symbols.c src/symbols/kernel_symbols.h \
	src/symbols/module_cache.c src/symbols/module_cache.h \
	src/symbols/module_file.c src/symbols/module_file.h \
	src/symbols/module_lines.c src/symbols/module_lines.h \
	src/symbols/module_segments.c src/symbols/module_segments.h \
	src/symbols/module_symbols.c src/symbols/module_symbols.h \
	src/symbols/plain_functions.c src/symbols/plain_functions.h \
	src/symbols/plt_symbols.c src/symbols/plt_symbols.h \
	src/symbols/source_path.c src/symbols/source_path.h \
	src/symbols/stack_walk.c src/symbols/stack_walk.h \
	src/symbols/symbol_table.c src/symbols/symbol_table.h
libcore_a_SOURCES += \
	src/symbols/program.c src/symbols/program.h \
	src/symbols/static_calls.c src/symbols/static_calls.h
