/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_DIVIDE_H
#define KWHY_LLM_DIVIDE_H

#include "llm/power_fit.h"

/* Energy of one request above that of the idle server. */
struct kwhy_llm_request_energy {
	/*
	 * energy of processing the prompt: its tokens, including those from the prefix cache, and its share
	 * of the batch in which it was processed
	 */
	int64_t prefill_nj;
	/*
	 * energy of generating the answer's tokens after the first: the tokens, their shares of the server's
	 * steps, and reading their contexts
	 */
	int64_t decode_nj;
};

/* Energy of an interval between two readings. Its parts add up to it exactly. */
struct kwhy_llm_window_energy {
	int64_t idle_nj, prefill_nj, decode_nj;
};

/*
 * Divides the metered energy of each interval between readings into that of the idle server and those of the
 * requests, in proportion to the energies that the fitted coefficients give for them. windows: [reading_count
 * - 1] the parts of each interval; requests: [record_count] energy of each request above idle.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_divide(const struct kwhy_llm_metered *metered,
	const struct kwhy_llm_shares *shares, const struct kwhy_llm_power_fit *fit,
	struct kwhy_llm_request_energy *requests, struct kwhy_llm_window_energy *windows,
	struct kwhy_error *error);

#endif
