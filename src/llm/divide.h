/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_DIVIDE_H
#define KWHY_LLM_DIVIDE_H

#include "llm/power_fit.h"

/* Energy of one request above that of the idle server. */
struct kwhy_llm_request_energy {
	int64_t prefill_nj; /* energy of the prompt, with its cached tokens and its share of a batch */
	int64_t decode_nj;  /* energy of the answer's tokens after the first, with their shares of steps */
};

/* Energy between two readings: its parts add up to it exactly. */
struct kwhy_llm_window_energy {
	int64_t idle_nj, prefill_nj, decode_nj;
};

/*
 * Divides the energy of each interval between readings among the idle server and the requests, in proportion
 * to what the fitted power says of each. windows [reading_count - 1] have the energy of the intervals;
 * requests [record_count] have their share of it above idle.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_divide(const struct kwhy_llm_metered *metered,
	const struct kwhy_llm_shares *shares, const struct kwhy_llm_power_fit *fit,
	struct kwhy_llm_request_energy *requests, struct kwhy_llm_window_energy *windows,
	struct kwhy_error *error);

#endif
