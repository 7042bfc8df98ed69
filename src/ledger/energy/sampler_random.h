/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_SAMPLER_RANDOM_H
#define KWHY_LEDGER_ENERGY_SAMPLER_RANDOM_H

#include <stdint.h>

/*
 * xoshiro256** of Blackman and Vigna (public domain), seeded by splitmix64: the same seed gives the same
 * numbers on every machine.
 */
struct kwhy_random {
	uint64_t state[4];
	double spare; /* second normal of a pair; NAN: used up */
};

void kwhy_random_init(struct kwhy_random *random, uint64_t seed);
double kwhy_random_uniform(struct kwhy_random *random); /* in (0, 1) */
double kwhy_random_normal(struct kwhy_random *random);	/* mean 0, standard deviation 1 */

#endif
