/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_report.c -- reports on a recording in a few lines. */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/text_buffer.h"
#include "src/shell/terminal/terminal.h"

#define UNSEEN_SECONDS 0.01	/* less is noise */
#define UNSEEN_HITS 5

/* Processes that had a resource from another source than the usual one. */
static void
report_other_sources(const struct recording_report *report,
                     const struct cpprofdata_summary *summary)
{
	const struct offers *offers = report->offers;

	for (size_t i = 0; i < summary->n_sources; i++) {
		const char *source = summary->sources[i].source;
		const char *name = summary->sources[i].resource;

		for (size_t k = 0; k < offers->n; k++)
			if (*source != '\0' &&
			    strcmp(offers->items[k].name, name) == 0 &&
			    strcmp(offers->items[k].source, source) != 0)
				message_note("%s: %sfrom the %s",
				             name,
				             summary->sources[i].n_files <
				             summary->n_files ?
				             "of some processes " : "",
				             source);
	}
	/* Who has not chosen an interval finds it in info. */
	if (summary->n_by_ticks > 0 && !report->is_default)
		message_note("cpu: threads that switched often were "
		             "sampled at the kernel's ticks, in %" PRIu64
		             " process%s", summary->n_by_ticks,
		             summary->n_by_ticks == 1 ? "" : "es");
}

void
recording_report_moved(const struct recording *recording)
{
	char first[PATH_MAX], last[PATH_MAX];
	unsigned n = recording->n_moved;

	if (n == 0)
		return;
	earlier_name(recording->name, 1, first, sizeof first);
	earlier_name(recording->name, n, last, sizeof last);
	if (n == 1)
		message_note("the earlier recording is now %s",
		             first);
	else
		message_note("the %u earlier recordings are now %s "
		             "(the latest) to %s", n, first, last);
}

static double
lost_share(const struct cpprofdata_summary_resource *resource)
{
	const double all = (double)resource->hits + (double)resource->lost;

	return all > 0 ? (double)resource->lost / all : 0;
}

/* The resource that lost the largest share. */
static const struct cpprofdata_summary_resource *
most_lost(const struct cpprofdata_summary *summary)
{
	const struct cpprofdata_summary_resource *most = summary->resources;

	for (size_t i = 1; i < summary->n_resources; i++)
		if (lost_share(&summary->resources[i]) > lost_share(most))
			most = &summary->resources[i];
	return most;
}

/* " (12% of hits lost, see info)", of the resource that lost the largest
 * share, if views show it in their heading. */
static void
recording_report_add_lost(const struct cpprofdata_summary *summary,
                          struct text_buffer *text)
{
	const struct cpprofdata_summary_resource *most = most_lost(summary);

	if (lost_share(most) > 0.01)
		text_add_format(text, " (%.0f%% of %s%shits lost, see info)",
		                100 * lost_share(most),
		                summary->n_resources > 1 ? most->name : "",
		                summary->n_resources > 1 ? " " : "");
	else if (summary->n_lost > 0)
		text_add_string(text, " (some lost, see info)");
}

/* "82 samples of 1 process" or "82 samples of cpu, 9 of real, of 1 process" */
static void
recording_report_add_samples(const struct cpprofdata_summary *summary,
                             struct text_buffer *text)
{
	const bool are_several = summary->n_resources > 1;
	const struct cpprofdata_summary_resource *resource;

	for (size_t i = 0; are_several && i < summary->n_resources; i++) {
		resource = &summary->resources[i];
		text_add_format(text, "%" PRIu64 "%s of %s, ",
		                resource->n_samples, i > 0 ? "" :
		                resource->n_samples == 1 ? " sample" :
		                " samples", resource->name);
	}
	if (!are_several)
		text_add_format(text, "%" PRIu64 " sample%s ",
		                summary->n_samples,
		                summary->n_samples == 1 ? "" : "s");
	text_add_format(text, "of %" PRIu64 " process%s", summary->n_processes,
	                summary->n_processes == 1 ? "" : "es");
	recording_report_add_lost(summary, text);
}

/* "82 samples of 1 process in p; open them with: cpprof p" */
static void
report_samples(const struct recording_report *report,
             const struct cpprofdata_summary *summary)
{
	const char *name = report->recording->name;
	struct text_buffer samples = { 0 };
	char status[48] = "";

	if (report->opens && report->status != 0)
		snprintf(status, sizeof status, "exit status %d; ",
		         report->status);
	recording_report_add_samples(summary, &samples);
	if (report->is_attached ? summary->n_samples == 0 :
	    summary->n_processes == 0 && report->is_outside) {
		message_note("no samples: nothing of the resource was used "
		             "while the processes were sampled");
	} else if (summary->n_processes == 0) {
		text_free(&samples);
		sampled_time_add_none(report->time, &samples);
		message_note("%sno samples: %s", status,
		             text_string(&samples));
	} else
		message_note("%s%s in %s%s%s", status,
		             text_string(&samples), name,
		             report->opens ? "" : "; open them with: cpprof ",
		             report->opens ? "" : name);
	text_free(&samples);
}

/* Hits of a resource without samples, of n_hits, if they are more than noise. */
static void
report_unseen(const struct recording_report *report,
              const struct sampler_unseen *unseen, uint64_t n_hits)
{
	const bool is_time = unseen->kind->scale > 1;	/* events count ns */
	const double seconds = (double)unseen->hits *
	    (double)unseen->interval / 1e6;
	const char *where = "";
	struct text_buffer why = { 0 };

	if (unseen->hits < n_hits / 20 ||
	    (is_time ? seconds < UNSEEN_SECONDS : unseen->hits < UNSEEN_HITS))
		return;
	if (report->outside->sees_kernel) {
		text_add_format(&why, "threads ended before their next sample, "
		                "timers were late, or samples were lost; "
		                "%s samples more often, and -a, as root, "
		                "samples short threads, too", is_time ?
		                "-F 1000" : "a smaller interval");
	} else {
		where = ", mostly in the kernel";
		sample_events_explain(EACCES, &why);
	}
	if (is_time)
		message_note("%.2f CPU s have no sample%s, and are shown as "
		             "[partial]: %s", seconds, where,
		             text_string(&why));
	else
		message_note("%" PRIu64 " of %" PRIu64 " hits of %s have no "
		             "sample%s, and are shown as [partial]: %s",
		             unseen->hits, n_hits, unseen->kind->name, where,
		             text_string(&why));
	text_free(&why);
}

static void
report_all_unseen(const struct recording_report *report,
                  const struct cpprofdata_summary *summary)
{
	const struct sampler_unseen *unseen = report->outside != NULL ?
	    report->outside->unseen : NULL;
	const struct cpprofdata_summary_resource *of = summary->resources;

	for (size_t i = 0; unseen != NULL && i < CPPROFDATA_MAX_RESOURCES; i++)
		for (size_t k = 0; unseen[i].kind != NULL &&
		     k < summary->n_resources; k++)
			if (strcmp(of[k].name, unseen[i].kind->name) == 0)
				report_unseen(report, &unseen[i], of[k].hits);
}

/* Waits without a stack, if they are more than noise. */
static void
report_lost_waits(const struct recording_report *report)
{
	const struct sampler_result *outside = report->outside;
	struct text_buffer why = { 0 };

	if (outside == NULL || outside->lost_wait_ns < 10000000)
		return;
	if (outside->sees_kernel) {
		text_add_format(&why, "there were more at a time than could be "
		                "read (%" PRIu64 " reports of the kernel were "
		                "lost)", outside->n_lost);
	} else {
		text_add_string(&why, "where threads wait for a processor, or "
		                "for less than a look at them takes, is not "
		                "seen; ");
		sample_events_explain(EACCES, &why);
	}
	message_note("waits of %.2f s in all have no stack, and are shown as "
	             "[partial]: %s", (double)outside->lost_wait_ns / 1e9,
	             text_string(&why));
	text_free(&why);
}

/* What of the machine's processes may be wrong for want of records. */
static void
report_lost_tasks(const struct recording_report *report)
{
	if (report->outside != NULL && report->outside->n_side_lost > 0)
		message_note("%" PRIu64 " reports of programs that start, end or "
		             "map files were lost: some processes have another "
		             "program's name, or addresses instead of "
		             "functions", report->outside->n_side_lost);
}

/* Samples of Python code without their Python frames, if they matter. */
static void
report_no_python(const struct recording_report *report,
                 const struct cpprofdata_summary *summary)
{
	const struct sampler_result *outside = report->outside;
	uint64_t n;

	if (summary->n_unfit * 100 > summary->n_samples)
		message_note("%" PRIu64 " samples of Python code lack their "
		             "Python functions and what called these, and are "
		             "shown as [partial]: these do not fit the stack, "
		             "as while one greenlet is switched to another",
		             summary->n_unfit);
	if (summary->n_unknown_python > 0)
		message_note("Python functions are missing in %" PRIu64
		             " process%s: cpprof reads those of CPython 3.11 "
		             "to 3.15, not of other versions and of "
		             "free-threaded builds; \"python3 -X perf\" (from "
		             "3.12 on) names them",
		             summary->n_unknown_python,
		             summary->n_unknown_python == 1 ? "" : "es");
	if (outside == NULL)
		return;
	if (outside->refuses_python)
		message_note("Python functions are missing: the kernel does "
		             "not let this user read the memory of other "
		             "processes; run cpprof as root, or set "
		             "kernel.yama.ptrace_scope to 0");
	n = outside->n_python + outside->n_no_python;
	if (outside->n_no_python * 100 <= n)
		return;
	message_note("%" PRIu64 " of %" PRIu64 " samples of Python code (%.1f%%) "
	             "lack their Python functions: the threads ran on before "
	             "these were read, or reading took too much time; a "
	             "smaller -F loses fewer", outside->n_no_python, n,
	             100 * (double)outside->n_no_python / (double)n);
}

/* Functions whose calls should have been observed, and that no file has. */
static void
report_no_calls(const struct recording_report *report,
                const struct cpprofdata_summary *summary)
{
	const char *at = report->calls;

	for (size_t i = 0; at != NULL && i < summary->n_functions; i++) {
		const size_t length = strcspn(at, ",");

		if (summary->n_places[i] == 0)
			message_note("no function %.*s was found, so no calls "
			             "of it were observed; \"calls %.*s\" "
			             "says more",
			             (int)length, at, (int)length, at);
		at = at[length] == ',' ? at + length + 1 : NULL;
	}
}

uint64_t
recording_report(const struct recording_report *report)
{
	const struct sampled_time *time = report->time;
	/* Read before files are counted: processes that still run make more. */
	const uint64_t n_made = sampled_time_n_recorded(time);
	struct cpprofdata_summary summary = { 0 };
	const uint64_t n_rings = sampled_time_n_rings(time);
	uint64_t n_found;
	struct text_buffer missing = { 0 }, unlisted = { 0 };
	struct error unreadable = { 0 };

	/* The cursor is after the ^C that the terminal has shown. */
	if (report->status == 128 + SIGINT && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	recording_summarise(report->recording->path, &summary, &unreadable);
	report_samples(report, &summary);
	n_found = summary.n_files + summary.n_briefs;
	if (n_found > 0 && n_made > n_found)
		message_note("the samples of %" PRIu64 " of %" PRIu64
		             " processes are lost: their files were removed "
		             "or overwritten while the program ran",
		             n_made - n_found, n_made);
	report_other_sources(report, &summary);
	if (n_rings > 0)
		message_note("%" PRIu64 " process%s used io_uring, whose I/O "
		             "is not counted", n_rings,
		             n_rings == 1 ? "" : "es");
	if (sampled_time_add_unlisted(time, &unlisted))
		message_note("%s", text_string(&unlisted));
	text_free(&unlisted);
	if (!report->is_outside && !report->is_alone &&
	    summary.n_processes > 0 && sampled_time_add_missing(time, &missing))
		message_note("%s", text_string(&missing));
	text_free(&missing);
	if (summary.n_running > 0)
		message_note(summary.n_running == 1 ?
		             "%" PRIu64 " process is still running and will be "
		             "recorded until it ends" :
		             "%" PRIu64 " processes are still running and will "
		             "be recorded until they end", summary.n_running);
	report_no_calls(report, &summary);
	report_all_unseen(report, &summary);
	report_lost_waits(report);
	report_lost_tasks(report);
	report_no_python(report, &summary);
	if (!report->is_outside &&
	    summary.n_running == 0 && report->is_default &&
	    summary.n_processes > 0 && summary.n_samples <= 1 &&
	    lost_share(most_lost(&summary)) == 0 &&
	    !sampled_time_is_much(time))
		message_note("almost no CPU time was used; try "
		             "-r real, which counts waiting, or -F 10000");
	recording_report_moved(report->recording);
	return summary.n_samples;
}
