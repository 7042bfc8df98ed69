/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <math.h>

void kwhy_random_init(struct kwhy_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		random->state[i] = kwhy_random_next(&seed);
	random->spare = NAN;
}

static uint64_t rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

uint64_t kwhy_random_bits(struct kwhy_random *random)
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
	return ((double)(kwhy_random_bits(random) >> 11) + 0.5) * 0x1p-53;
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
