/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_report.h -- reports on a recording in a few lines. */
#ifndef CPPROF_SHELL_RECORD_RECORDING_REPORT_H
#define CPPROF_SHELL_RECORD_RECORDING_REPORT_H

#include <stdbool.h>

#include "src/shell/record/offers.h"
#include "src/shell/record/recording.h"
#include "src/shell/record/sampled_time.h"

struct recording_report {
	const struct recording *recording;
	const struct offers *offers;	/* for the resources recorded */
	const struct sampled_time *time;
	int status;		/* the program's, as launch_program has it */
	bool opens;		/* the recording will be opened */
	bool is_default;	/* no resource was asked for */
	bool is_alone;		/* --no-children */
};

/*
 * Reports on standard error, in a line each: how many samples there are or why
 * there are none, what was lost or not sampled, and the new names of earlier
 * recordings.
 */
void recording_report(const struct recording_report *report);

/* Reports the new names of earlier recordings, if there were any. */
void recording_report_moved(const struct recording *recording);

#endif
