/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_RANDOM_H
#define KWHY_BENCH_MIXTURE_RANDOM_H

#include <math.h>
#include <stdint.h>

/* xoshiro256** by Blackman and Vigna, seeded through splitmix64: the same numbers everywhere. */
struct kwhy_mixture_random {
	uint64_t state[4];
};

static inline void kwhy_mixture_random_init(struct kwhy_mixture_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t x = seed += 0x9E3779B97F4A7C15u;

		x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
		x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
		random->state[i] = x ^ (x >> 31);
	}
}

static inline uint64_t kwhy_mixture_random_next(struct kwhy_mixture_random *random)
{
	uint64_t *s = random->state;
	uint64_t x = s[1] * 5, result = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* Uniform in [0, 1). */
static inline double kwhy_mixture_random_unit(struct kwhy_mixture_random *random)
{
	return (double)(kwhy_mixture_random_next(random) >> 11) * 0x1p-53;
}

static inline double kwhy_mixture_random_range(struct kwhy_mixture_random *random, double low, double high)
{
	return low + (high - low) * kwhy_mixture_random_unit(random);
}

/* Uniform in its logarithm; 0 < low <= high. */
static inline double kwhy_mixture_random_log_range(
	struct kwhy_mixture_random *random, double low, double high)
{
	return low * pow(high / low, kwhy_mixture_random_unit(random));
}

static inline double kwhy_mixture_random_normal(struct kwhy_mixture_random *random, double mean, double sd)
{
	double radius = sqrt(-2 * log(1 - kwhy_mixture_random_unit(random)));

	return mean + sd * radius * cos(6.283185307179586 * kwhy_mixture_random_unit(random));
}

/* 0 .. count-1; count > 0. */
static inline uint32_t kwhy_mixture_random_pick(struct kwhy_mixture_random *random, uint32_t count)
{
	return (uint32_t)(kwhy_mixture_random_unit(random) * count);
}

#endif
