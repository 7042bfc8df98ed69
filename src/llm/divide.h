/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_DIVIDE_H
#define KWHY_LLM_DIVIDE_H

#include "llm/power_fit.h"

/* Energy of one request above that of the idle server. */
struct kwhy_llm_request_energy {
	int64_t prefill_nj; /* energy of the prompt, including its cached tokens */
	int64_t decode_nj;  /* energy of the answer's tokens after the first, with their shares of steps */
};

/*
 * Divides the energy of each interval between readings among the idle server and the requests, in proportion
 * to what the fitted power says of each. requests [record_count] and *out_idle_nj add up to the last reading
 * less the first one, exactly.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_divide(const struct kwhy_llm_metered *metered,
	const struct kwhy_llm_shares *shares, const struct kwhy_llm_power_fit *fit,
	struct kwhy_llm_request_energy *requests, int64_t *out_idle_nj, struct kwhy_error *error);

#endif
