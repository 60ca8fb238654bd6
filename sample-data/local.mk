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
	sample-data/forms.folded \
	sample-data/process_db.cmd \
	sample-data/process_db.folded

EXTRA_DIST += \
	sample-data/recursion/README.md
