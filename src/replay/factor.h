/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_FACTOR_H
#define KWHY_REPLAY_FACTOR_H

#include <stddef.h>

/*
 * An attempt to reproduce the recorded energy: the factor by which the wanted power of proxy kernels above
 * idle was multiplied, and the energy above idle of a replay with that factor.
 */
struct kwhy_replay_attempt {
	double factor, net_j;
};

/*
 * The factor to try next so that a replay draws wanted_j above idle; wanted_j must be above 0. It is
 * interpolated linearly between the attempts that drew less and more than wanted_j with the nearest factors.
 * If no such pair exists, it is extrapolated linearly from the last two attempts if energy rose with the
 * factor, otherwise in proportion from the last one; the result is then between a quarter of the last factor
 * and four times it. Pure.
 */
double kwhy_replay_next_factor(const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j);

/*
 * The factor that the replay with changes uses, from the calibrated factor. It lies between 1 and the factor
 * that would correct first_off_ratio, the relative error of the energy at factor 1, if energy were
 * proportional to the factor. The calibrated factor alone could be far too large: it grows without much
 * effect if the kernels are too short to draw their wanted power, and the longer kernels that the changed
 * replay may have would draw all of that power. Pure.
 */
double kwhy_replay_carried_factor(double factor, double first_off_ratio);

#endif
