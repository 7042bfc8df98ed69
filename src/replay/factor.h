/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_FACTOR_H
#define KWHY_REPLAY_FACTOR_H

#include <stddef.h>

/* A factor of what is asked of proxy kernels, and what a replay drew above idle with it. */
struct kwhy_replay_attempt {
	double factor, net_j;
};

/*
 * The factor to try after some, so that wanted_j, above 0, comes out: between the nearest below and above on
 * the line through them, else on that through the last two, by four times the last at most. Pure.
 */
double kwhy_replay_next_factor(const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j);

/*
 * Of a factor that was found, what a changed replay takes: no more, or less, than the first window was off.
 * Where kernels are too short to hold the work that is asked of them the factor grows without much coming of
 * it, and longer ones would draw it all. Pure.
 */
double kwhy_replay_carried_factor(double factor, double first_off_ratio);

#endif
