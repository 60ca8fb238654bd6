# SPDX-License-Identifier: MIT
# dwarf/ is compiled into the program and into the collector.
EXTRA_DIST += dwarf/COPYING
dwarf_sources = dwarf/arch.c dwarf/arch.h \
	dwarf/cfi.c dwarf/cfi.h \
	dwarf/step.c dwarf/step.h

libcore_a_SOURCES += $(dwarf_sources)
