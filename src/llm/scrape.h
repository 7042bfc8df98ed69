/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPE_H
#define KWHY_LLM_SCRAPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The energy of GPUs as one response of `kwhy serve` reports it in its metrics (docs/formats/metrics.md). */

enum { KWHY_LLM_SCRAPE_DEVICES = 64, KWHY_LLM_SCRAPE_NAME_BYTES = 24 };

struct kwhy_llm_scrape_device {
	/* value of the label `device`, such as "0", or "0:1" for MIG instance 1 of device 0 */
	char name[KWHY_LLM_SCRAPE_NAME_BYTES];
	double joules; /* value of the device's energy counter; NAN: not reported yet */
	bool lost;     /* whether the device no longer responds */
	/*
	 * Age in seconds of the newest reading that `joules` includes; NAN: not reported. lag_s: of a power
	 * meter or, without one, of the energy counter. Between reads of the counter the joules follow the
	 * power, so a younger reading of the counter may not be in them yet. least_lag_s: of any of them.
	 */
	double lag_s, least_lag_s;
	bool is_lag_of_power;
};

struct kwhy_llm_scrape {
	bool is_kwhy;
	double started_unix_s; /* when kwhy serve began to count, as Unix time; NAN: not reported */
	struct kwhy_llm_scrape_device devices[KWHY_LLM_SCRAPE_DEVICES];
	size_t device_count;
};

/* Parses the text of a response, in either exposition format. Invalid lines are skipped. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scrape_read(
	const char *text, struct kwhy_llm_scrape *out, struct kwhy_error *error);

/* Finds a device by the value of its label `device`. NULL: the response does not have it. */
const struct kwhy_llm_scrape_device *kwhy_llm_scrape_find(
	const struct kwhy_llm_scrape *scrape, const char *name);

#endif
