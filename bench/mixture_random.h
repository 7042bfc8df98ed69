/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_RANDOM_H
#define KWHY_BENCH_MIXTURE_RANDOM_H

#include "base/random.h"

#include <math.h>

/* Random numbers for the mixtures, made from the generator of base/random.h. */

/* Returns a uniform number in [0, 1). */
static inline double kwhy_mixture_random_unit(struct kwhy_random *random)
{
	return kwhy_random_share(kwhy_random_bits(random));
}

static inline double kwhy_mixture_random_range(struct kwhy_random *random, double low, double high)
{
	return low + (high - low) * kwhy_mixture_random_unit(random);
}

/* Returns a number whose logarithm is uniform; 0 < low <= high. */
static inline double kwhy_mixture_random_log_range(struct kwhy_random *random, double low, double high)
{
	return low * pow(high / low, kwhy_mixture_random_unit(random));
}

static inline double kwhy_mixture_random_normal(struct kwhy_random *random, double mean, double sd)
{
	double radius = sqrt(-2 * log(1 - kwhy_mixture_random_unit(random)));

	return mean + sd * radius * cos(6.283185307179586 * kwhy_mixture_random_unit(random));
}

/* Returns a uniform integer in 0 .. count-1; count > 0. */
static inline uint32_t kwhy_mixture_random_pick(struct kwhy_random *random, uint32_t count)
{
	return (uint32_t)(kwhy_mixture_random_unit(random) * count);
}

#endif
