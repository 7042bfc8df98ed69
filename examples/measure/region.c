/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 199309L /* nanosleep() */
#include <kwhy/measure.h>

#include <stdio.h>
#include <time.h>

/* Measures a region of a program and what a unit of its work costs. Usage: region [power.csv to play back] */

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
		nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL); /* the work, finished on the GPU */
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
