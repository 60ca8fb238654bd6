# SPDX-License-Identifier: GPL-3.0-or-later
# The reference part of manual.md and the man page come from the command
# table; `make reference` writes them anew and tests/reference.sh compares.
man1_MANS += doc/cpprof.1
if HAVE_MPI
man1_MANS += doc/cpprof-mpi.1
endif
if COLLECTOR
man3_MANS += doc/libcpprof.3
endif
doc_DATA += README.md doc/manual.md doc/agent.md doc/ci.md doc/adding-a-command.md doc/adding-a-format.md doc/cpprofdata.md doc/architecture.md doc/fleet.md doc/formats.md doc/merged.md doc/performance.md doc/recursion.md doc/releasing.md doc/runtimes.md doc/security.md doc/tables.md
measurementsdir = $(docdir)/measurements
measurements_DATA = doc/measurements/accuracy.md \
	doc/measurements/brief-processes.md doc/measurements/check.md \
	doc/measurements/collector-cost.md \
	doc/measurements/loading.md doc/measurements/members.md doc/measurements/merging.md doc/measurements/mutations.md doc/measurements/names.md doc/measurements/noise.md \
	doc/measurements/runtimes.md \
	doc/measurements/specialise.md \
	doc/measurements/structure.md doc/measurements/survival.md doc/measurements/views.md \
	doc/measurements/waits.md
EXTRA_DIST += $(measurements_DATA)
EXTRA_DIST += doc/cpprof.1 doc/cpprof-mpi.1 doc/libcpprof.3 doc/manual.md doc/agent.md doc/ci.md doc/adding-a-command.md doc/adding-a-format.md doc/cpprofdata.md doc/architecture.md doc/fleet.md doc/formats.md doc/merged.md doc/performance.md doc/recursion.md doc/releasing.md doc/runtimes.md doc/security.md

reference: cpprof
	$(srcdir)/doc/make-reference $(builddir)/cpprof $(srcdir)/doc
.PHONY: reference
EXTRA_DIST += doc/make-reference
