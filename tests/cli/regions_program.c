/* SPDX-License-Identifier: Apache-2.0 */
/* A program that reports its regions and its work to libkwhy: three steps of 10 ms with 7 tokens each. */
#include <kwhy/measure.h>

#include <stdio.h>
#include <time.h>

int main(void)
{
	const struct timespec step = {.tv_nsec = 10000000};
	struct kwhy_session_options options = {.size = sizeof(options), .without_host = 1};
	struct kwhy_session *session;
	char message[512];
	uint32_t region, unit;

	if (kwhy_session_open(&options, &session, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	region = kwhy_session_name(session, "generate");
	unit = kwhy_session_name(session, "tokens");
	for (int i = 0; i < 3; i++) {
		kwhy_region_begin(session, region);
		nanosleep(&step, NULL);
		kwhy_region_work(session, unit, 7);
		kwhy_region_end(session, region);
	}
	kwhy_session_close(session);
	return 0;
}
