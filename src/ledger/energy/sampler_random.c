/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/sampler_random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void kwhy_random_init(struct kwhy_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix(&seed);
	random->spare = NAN;
}

static uint64_t rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static uint64_t next(struct kwhy_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double kwhy_random_uniform(struct kwhy_random *random)
{
	return ((double)(next(random) >> 11) + 0.5) * 0x1p-53;
}

double kwhy_random_normal(struct kwhy_random *random)
{
	double radius, angle, spare = random->spare;

	if (!isnan(spare)) {
		random->spare = NAN;
		return spare;
	}
	radius = sqrt(-2 * log(kwhy_random_uniform(random)));
	angle = 2 * M_PI * kwhy_random_uniform(random);
	random->spare = radius * sin(angle);
	return radius * cos(angle);
}
