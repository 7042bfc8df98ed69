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
	double joules; /* value of kwhy serve's energy counter of the device, J; NAN: not reported yet */
	bool lost;     /* whether the device no longer responds */
	/*
	 * Ages in seconds of the newest readings of the device's meters; NAN: not reported. lag_s: that of a
	 * power meter or, without one, of the energy counter; `joules` includes all energy drawn until that
	 * reading, as kwhy serve adds the energy since the last reading of the energy counter from the power.
	 * least_lag_s: the least age among all of the device's meters of energy or power; `joules` includes
	 * no energy drawn after that reading.
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

/*
 * Parses the text of a response, in either exposition format. Invalid lines are skipped. KWHY_E_INPUT: more
 * than KWHY_LLM_SCRAPE_DEVICES devices, or one whose name is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scrape_read(
	const char *text, struct kwhy_llm_scrape *out, struct kwhy_error *error);

/*
 * Finds a device by the value of its label `device`. NULL: the response does not have it, or no energy of it.
 */
const struct kwhy_llm_scrape_device *kwhy_llm_scrape_find(
	const struct kwhy_llm_scrape *scrape, const char *name);

#endif
