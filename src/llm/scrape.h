/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPE_H
#define KWHY_LLM_SCRAPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The GPUs' energy in one response of `kwhy serve`, read from its metrics (docs/monitoring.md). */

enum { KWHY_LLM_SCRAPE_DEVICES = 64, KWHY_LLM_SCRAPE_NAME_BYTES = 24 };

struct kwhy_llm_scrape_device {
	char name[KWHY_LLM_SCRAPE_NAME_BYTES]; /* value of the label `device`: "0", or "0:1" for an instance
						*/
	double joules;			       /* NAN: not reported yet */
	bool lost;			       /* the device no longer responds */
	double lag_s;			       /* age of the newest reading in `joules`; NAN: not reported */
};

struct kwhy_llm_scrape {
	bool is_kwhy;
	double started_unix_s; /* start of the counters; NAN: not reported */
	struct kwhy_llm_scrape_device devices[KWHY_LLM_SCRAPE_DEVICES];
	size_t device_count;
};

/* Parses `text`, in either exposition format; invalid lines are skipped. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scrape_read(
	const char *text, struct kwhy_llm_scrape *out, struct kwhy_error *error);

/* The device of that name; NULL: it is missing, or its energy is not reported. */
const struct kwhy_llm_scrape_device *kwhy_llm_scrape_find(
	const struct kwhy_llm_scrape *scrape, const char *name);

#endif
