/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/tokens.h"

#include <math.h>

void kwhy_tokens_of(const struct kwhy_tokens_phase *phase, struct kwhy_tokens *out)
{
	out->joules_per_token = phase->tokens > 0 ? kwhy_interval_scaled(phase->joules, 1 / phase->tokens)
						  : kwhy_interval_unknown();
	out->tokens_per_joule = kwhy_interval_inverse(out->joules_per_token);
	out->tokens_per_s = phase->seconds > 0 ? phase->tokens / phase->seconds : NAN;
	out->mean_w = phase->seconds > 0 ? phase->joules.value / phase->seconds : NAN;
}

struct kwhy_tokens_phase kwhy_tokens_sum(const struct kwhy_tokens_phase *phases, size_t count)
{
	struct kwhy_tokens_phase sum = {"all", 0, {0, 0, 0}, 0};

	for (size_t i = 0; i < count; i++) {
		sum.tokens += phases[i].tokens;
		sum.seconds += phases[i].seconds;
		sum.joules = kwhy_interval_sum(sum.joules, phases[i].joules);
	}
	return sum;
}
