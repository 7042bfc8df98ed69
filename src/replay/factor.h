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
 * interpolated linearly between the nearest attempts below and above wanted_j. If all attempts are on one
 * side, it is extrapolated from the last two, or in proportion from a single one, to at most four times and
 * at least a quarter of the last factor. Pure.
 */
double kwhy_replay_next_factor(const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j);

/*
 * The part of a calibrated factor that a changed replay uses. It corrects at most the error of the first
 * window, first_off_ratio. Where kernels are too short to draw their wanted power, the calibrated factor
 * becomes large and has little effect. The changed replay may have longer kernels, which would draw all of
 * that power. Pure.
 */
double kwhy_replay_carried_factor(double factor, double first_off_ratio);

#endif
