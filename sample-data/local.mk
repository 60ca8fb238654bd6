# SPDX-License-Identifier: GPL-3.0-or-later
# sample-data/local.mk -- the paper's two programs, and profiles to explore.

# Optimised, with no frame pointers, as most programs are that people profile;
# but every call stays a frame, so that the call paths are the paper's.
sample_program_cflags = $(AM_CFLAGS) -O2 -fomit-frame-pointer \
	-fno-optimize-sibling-calls

noinst_PROGRAMS += sample-data/forms sample-data/process_db
sample_data_forms_SOURCES = sample-data/forms.c
sample_data_forms_CFLAGS = $(sample_program_cflags)
sample_data_forms_LDADD =
sample_data_process_db_SOURCES = sample-data/process_db.c
sample_data_process_db_CFLAGS = $(sample_program_cflags)
sample_data_process_db_LDADD =

sampledatadir = $(pkgdatadir)/sample-data
dist_sampledata_DATA = \
	sample-data/README.md \
	sample-data/demo.cmd \
	sample-data/forms.c \
	sample-data/forms.folded \
	sample-data/forms-recorded.folded \
	sample-data/ledger.c \
	sample-data/phases.c \
	sample-data/process_db.c \
	sample-data/rdparse.c \
	sample-data/rdparse.callgrind.gz \
	sample-data/rdparse.folded.gz \
	sample-data/process_db.cmd \
	sample-data/process_db.folded \
	sample-data/process_db-recorded.folded \
	sample-data/relay.c \
	sample-data/relay-0.cpprofdata.gz \
	sample-data/relay-1.cpprofdata.gz \
	sample-data/server.c \
	sample-data/server.pb.gz \
	sample-data/sites.c \
	sample-data/sites.pb.gz \
	sample-data/words.cc \
	sample-data/words-0.folded.gz \
	sample-data/words-1.folded.gz \
	sample-data/words-2.folded.gz

# Recordings are directories.
ledger0datadir = $(sampledatadir)/ledger-0.cpprof
dist_ledger0data_DATA = sample-data/ledger-0.cpprof/cpprofdata.1 \
	sample-data/ledger-0.cpprof/names
ledger1datadir = $(sampledatadir)/ledger-1.cpprof
dist_ledger1data_DATA = sample-data/ledger-1.cpprof/cpprofdata.1 \
	sample-data/ledger-1.cpprof/names

# For the tests, and for whoever wonders about recursion.
recursiondatadir = $(sampledatadir)/recursion
dist_recursiondata_DATA = sample-data/recursion/README.md \
	sample-data/recursion/excess.expected \
	sample-data/recursion/excess.folded \
	sample-data/recursion/mutual.expected \
	sample-data/recursion/mutual.folded \
	sample-data/recursion/nested-root.expected \
	sample-data/recursion/nested-root.folded \
	sample-data/recursion/period.expected \
	sample-data/recursion/period.folded \
	sample-data/recursion/self.expected \
	sample-data/recursion/self.folded \
	sample-data/recursion/shortcut.expected \
	sample-data/recursion/shortcut.folded \
	sample-data/recursion/through.expected \
	sample-data/recursion/through.folded \
	sample-data/recursion/upward.expected \
	sample-data/recursion/upward.folded
