/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_FACTOR_H
#define KWHY_REPLAY_FACTOR_H

#include <stddef.h>

/* A factor on the power above idle asked of proxy kernels, and the energy above idle of a replay with it. */
struct kwhy_replay_attempt {
	double factor, net_j;
};

/*
 * The factor to try next so that a replay draws wanted_j, above 0. It lies on the line through the nearest
 * attempts below and above, else on the line through the last two attempts, and differs from the last factor
 * at most fourfold. Pure.
 */
double kwhy_replay_next_factor(const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j);

/*
 * The part of a settled factor that a changed replay uses: it corrects at most the error of the first window.
 * Where kernels are too short to hold the work asked of them, the settled factor grows with little effect,
 * and longer kernels of a changed replay would draw all of it. Pure.
 */
double kwhy_replay_carried_factor(double factor, double first_off_ratio);

#endif
