/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_report.h -- what became of a recording, in a few lines. */
#ifndef CPPROF_SHELL_RECORD_RECORDING_REPORT_H
#define CPPROF_SHELL_RECORD_RECORDING_REPORT_H

#include <stdbool.h>

#include "src/shell/record/offers.h"
#include "src/shell/record/recording.h"
#include "src/shell/record/sampled_time.h"

struct recording_report {
	const struct recording *recording;
	const struct offers *offers;	/* what was asked of the collector */
	const struct sampled_time *time;
	int status;		/* what the program ended with */
	bool opens;		/* the recording is opened afterwards */
	bool is_default;	/* no resource was asked for */
	bool is_alone;		/* --no-children */
};

/*
 * Tells how many samples there are or why there are none, what was lost and
 * what was not sampled, and where earlier recordings are now: one line of
 * standard error each.
 */
void recording_report(const struct recording_report *report);

#endif
