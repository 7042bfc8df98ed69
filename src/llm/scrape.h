/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPE_H
#define KWHY_LLM_SCRAPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What one answer of `kwhy serve` says of its GPUs' energy, read from its metrics (docs/monitoring.md). */

enum { KWHY_LLM_SCRAPE_DEVICES = 64, KWHY_LLM_SCRAPE_NAME_BYTES = 24 };

struct kwhy_llm_scrape_device {
	char name[KWHY_LLM_SCRAPE_NAME_BYTES]; /* as the label `device` has it: "0", "0:1" an instance of it
						*/
	double joules;			       /* NAN: not reported yet */
	bool lost;			       /* it answers no more */
	double lag_s; /* age of the newest reading that they hold; NAN: not reported */
};

struct kwhy_llm_scrape {
	bool is_kwhy;
	double started_unix_s; /* when counting began; NAN: not reported */
	struct kwhy_llm_scrape_device devices[KWHY_LLM_SCRAPE_DEVICES];
	size_t device_count;
};

/* `text` in either form of exposition; lines that are none are passed over. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scrape_read(
	const char *text, struct kwhy_llm_scrape *out, struct kwhy_error *error);

/* NULL: there is none of that name, or its energy is not reported. */
const struct kwhy_llm_scrape_device *kwhy_llm_scrape_find(
	const struct kwhy_llm_scrape *scrape, const char *name);

#endif
