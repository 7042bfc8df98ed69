/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_TOKENS_H
#define KWHY_FIT_TOKENS_H

#include "fit/interval.h"

#include <stddef.h>

/* A stretch of work and what it took, from one measured window. NAN is not known. */
struct kwhy_tokens_phase {
	const char *name;
	double tokens;
	struct kwhy_interval joules;
	double seconds;
};

/*
 * Tokens a second and watt are tokens a joule: one figure, given once. Watts a token are no rate of anything;
 * what is meant is joules a token.
 */
struct kwhy_tokens {
	struct kwhy_interval joules_per_token, tokens_per_joule;
	double tokens_per_s, mean_w;
};

void kwhy_tokens_of(const struct kwhy_tokens_phase *phase, struct kwhy_tokens *out);

/* The phases one after another; what one of them does not know the whole does not know. */
struct kwhy_tokens_phase kwhy_tokens_sum(const struct kwhy_tokens_phase *phases, size_t count);

#endif
