# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/symbols/code/disassembly.c src/symbols/code/disassembly.h \
	src/symbols/elf/debuginfod.c src/symbols/elf/debuginfod.h \
	src/symbols/elf/elf_file.c src/symbols/elf/elf_file.h \
	src/symbols/elf/elf_stubs.c \
	src/symbols/elf/elf_symbols.c \
	src/symbols/elf/elf_zstd.c \
	src/symbols/elf/go_symbols.c \
	src/symbols/elf/kernel_symbols.c \
	src/symbols/elf/module_file.c \
	src/symbols/elf/symbol_table.c \
	src/symbols/lines/address_lines.c src/symbols/lines/address_lines.h \
	src/symbols/lines/debug_lines.c src/symbols/lines/debug_lines.h \
	src/symbols/lines/debug_lines_child.c \
	src/symbols/lines/die_walk.c \
	src/symbols/lines/inlined_calls.c \
	src/symbols/lines/lines_choice.c \
	src/symbols/lines/missing_files.c src/symbols/lines/missing_files.h \
	src/symbols/lines/scoped_names.c \
	src/symbols/lines/source_digest.c \
	src/symbols/lines/source_file.c \
	src/symbols/lines/source_path.c \
	src/symbols/names/address_frames.c src/symbols/names/address_frames.h \
	src/symbols/names/code_decoder.c \
	src/symbols/names/code_decoder.h \
	src/symbols/names/demangle.c \
	src/symbols/names/jit_dump.c \
	src/symbols/names/jit_map.c \
	src/symbols/names/kept_names.c \
	src/symbols/names/module_cache.c \
	src/symbols/names/module_symbols.c \
	src/symbols/names/program.c src/symbols/names/program.h \
	src/symbols/names/static_calls.c \
	src/symbols/names/v8_name.c \
	src/symbols/unwind/code_file.c \
	src/symbols/unwind/code_flow.c \
	src/symbols/unwind/code_map.c \
	src/symbols/unwind/code_rules.c src/symbols/unwind/code_rules.h \
	src/symbols/unwind/stack_unwinder.c \
	src/symbols/unwind/stack_unwinder.h \
	src/symbols/unwind/unwind_table.c \
	src/symbols/unwind/x86_instruction.c \
	src/symbols/unwind/x86_instruction.h
