/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 };

static size_t skipped;

void kwhy_skip_at(const char *why, const char *file, int line)
{
	printf("skipped: %s\n", why);
	skipped++;
	_skip(file, line);
	abort(); /* not reached: cmocka jumps to the next case */
}

int kwhy_skip_all(const char *why)
{
	printf("skipped: %s\n", why);
	return SKIPPED;
}

int kwhy_test_run(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
	CMFixtureFunction teardown)
{
	/*
	 * A shell starts background jobs with SIGINT ignored, which programs started by a test would inherit.
	 */
	signal(SIGINT, SIG_DFL);
	if (_cmocka_run_group_tests(name, tests, count, setup, teardown) != 0)
		return 1;
	if (skipped > 0)
		printf("%zu of %zu cases were skipped\n", skipped, count);
	return count > 0 && skipped == count ? SKIPPED : 0;
}
