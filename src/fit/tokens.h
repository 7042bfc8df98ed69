/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_TOKENS_H
#define KWHY_FIT_TOKENS_H

#include "fit/interval.h"

#include <stddef.h>

/*
 * A phase of a language model's work, such as prefill or decoding: its tokens, joules and seconds, from one
 * measured window. NAN: unknown.
 */
struct kwhy_tokens_phase {
	const char *name;
	double tokens;
	struct kwhy_interval joules;
	double seconds;
};

/*
 * Rates of a phase. Tokens per second and watt are tokens per joule, so there is one field for both. Watts
 * per token are no physical quantity (joules per token are meant), so there is no field for them.
 */
struct kwhy_tokens {
	struct kwhy_interval joules_per_token, tokens_per_joule;
	double tokens_per_s, mean_w;
};

void kwhy_tokens_of(const struct kwhy_tokens_phase *phase, struct kwhy_tokens *out);

/* Sum of consecutive phases. A figure that is unknown in one phase is unknown in the sum. */
struct kwhy_tokens_phase kwhy_tokens_sum(const struct kwhy_tokens_phase *phases, size_t count);

#endif
