# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/symbols/address_frames.c src/symbols/address_frames.h \
	src/symbols/debug_file.c src/symbols/debug_file.h \
	src/symbols/demangle.c src/symbols/demangle.h \
	src/symbols/elf_file.c src/symbols/elf_file.h \
	src/symbols/elf_symbols.c src/symbols/elf_symbols.h \
	src/symbols/function_ranges.c src/symbols/function_ranges.h \
	src/symbols/module_file.c src/symbols/module_file.h \
	src/symbols/module_cache.c src/symbols/module_cache.h \
	src/symbols/module_segments.c src/symbols/module_segments.h \
	src/symbols/module_symbols.c src/symbols/module_symbols.h \
	src/symbols/plt_symbols.c src/symbols/plt_symbols.h \
	src/symbols/symbol_table.c src/symbols/symbol_table.h
