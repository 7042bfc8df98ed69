/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 199309L /* nanosleep() */
#include <kwhy/measure.h>

#include <stdio.h>
#include <time.h>

/*
 * Measures the energy of a region of a program and the joules of each unit of its work. Usage: region
 * [power.csv]; with a file, its readings are played back in place of those of meters.
 */

int main(int argc, char **argv)
{
	struct kwhy_session_options options = {
		.size = sizeof(options), .replay_path = argc > 1 ? argv[1] : NULL};
	struct kwhy_session *session;
	struct kwhy_results *results;
	char message[KWHY_MESSAGE_BYTES];

	if (kwhy_session_open(&options, &session, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	uint32_t step = kwhy_session_name(session, "step"), item = kwhy_session_name(session, "items");

	for (int i = 0; i < 20; i++) {
		kwhy_region_begin(session, step);
		/* takes the place of the work, which must have finished on the GPU before the region ends */
		nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
		kwhy_region_work(session, item, 64);
		kwhy_region_end(session, step);
	}
	if (kwhy_session_results(session, &results, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	fputs(kwhy_results_json(results), stdout);
	kwhy_results_free(results);
	kwhy_session_close(session);
	return 0;
}
