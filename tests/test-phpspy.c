/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-phpspy.c -- stacks as phpspy prints them. */
#include "tests/reader-fixture.h"

extern const struct format format_phpspy;

static const char good[] =
    "0 usleep <internal>:-1\n"
    "1 Worker::run /srv/my app.php:12\n"
    "2 <main> /srv/app.php:30\n"
    "# pid = 77\n"
    "# uri = /login\n"
    "\n"
    "0 Worker::run /srv/my app.php:13\n"
    "1 <main> /srv/app.php:30\n"
    "# pid = 78\n"
    "\n"
    "0 usleep <internal>:-1\n"
    "1 Worker::run /srv/my app.php:12\n"
    "2 <main> /srv/app.php:30\n"
    "# pid = 77\n"
    "\n";

static void
phpspy_stacks_are_counted(void **state)
{
	struct profile *profile = must_read(&format_phpspy, good,
	                                    sizeof good - 1);

	(void)state;
	assert_int_equal(format_phpspy.probe(good, sizeof good - 1),
	                 PROBE_SURE);
	assert_int_equal(hits_of(profile, 0, "<main>;Worker::run /srv/my;"
	                         "usleep"), 2);
	assert_int_equal(hits_of(profile, 0, "<main>;Worker::run /srv/my"),
	                 1);
	assert_int_equal(profile->n_threads, 2);
	assert_int_equal(profile->processes[0].pid, 77);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

/* An empty line may be missing, and so may remarks. */
static void
phpspy_frame_0_begins_a_sample(void **state)
{
	static const char text[] = "0 f /a.php:1\n1 <main> /a.php:9\n"
	    "0 g /a.php:2\n1 <main> /a.php:9\n";
	struct profile *profile = must_read(&format_phpspy, text,
	                                    sizeof text - 1);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "<main>;f"), 1);
	assert_int_equal(hits_of(profile, 0, "<main>;g"), 1);
	assert_int_equal(profile->locations[0].line, 1);
	profile_free(profile);
}

static void
phpspy_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "# pid = 1\n\n", "in: no samples" },
		{ "0 f /a:1\n2 g /a:2\n", "in:2: expected the next frame" },
		{ "0 f /a:1\nwhat\n", "in:2: expected NUMBER FUNCTION" },
		{ "0  \n", "in:1: expected NUMBER FUNCTION" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_phpspy, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

static void
phpspy_is_told_by_its_contents(void **state)
{
	static const char *const others[] = { "", "0 f\n", "1 f /a:1\n",
		"main;f 1\n", "0 f /a:x\n", "0 1\n1 2\n", "12:30 a b:1\n" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_phpspy.probe(others[i],
		    strlen(others[i])), PROBE_NO);
}

static void
phpspy_cut_at_every_byte_gives_whole_samples(void **state)
{
	(void)state;
	cut_at_every_byte(&format_phpspy, good, sizeof good - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phpspy_stacks_are_counted),
		cmocka_unit_test(phpspy_frame_0_begins_a_sample),
		cmocka_unit_test(phpspy_refuses_what_does_not_fit),
		cmocka_unit_test(phpspy_is_told_by_its_contents),
		cmocka_unit_test(phpspy_cut_at_every_byte_gives_whole_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
