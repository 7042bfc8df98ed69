/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_FACTOR_H
#define KWHY_REPLAY_FACTOR_H

#include <stddef.h>

/* A factor of what is asked of stand-ins, and what a replay drew above idle with it. */
struct kwhy_replay_try {
	double factor, net_j;
};

/*
 * The factor to try after some, so that wanted_j, above 0, comes out: between the nearest below and above on
 * the line through them, else on that through the last two, by four times the last at most. Pure.
 */
double kwhy_replay_next_factor(const struct kwhy_replay_try *tries, size_t count, double wanted_j);

#endif
