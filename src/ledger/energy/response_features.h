/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_FEATURES_H
#define KWHY_LEDGER_ENERGY_RESPONSE_FEATURES_H

#include "ledger/energy/filtered_levels.h"
#include "ledger/energy/response_reading.h"

/*
 * A grid of meter responses: time constants and delays in equal steps around a middle. The steps of the
 * delay are small, since a loop of some milliseconds causes a ripple in the readings whose phase depends on
 * the delay.
 */
#define KWHY_GRID_TAUS 3
#define KWHY_GRID_DELAYS 9
#define KWHY_GRID_POINTS (KWHY_GRID_TAUS * KWHY_GRID_DELAYS)
#define KWHY_GRID_MIDDLE (KWHY_GRID_POINTS / 2)

struct kwhy_response_grid {
	double tau_s, delay_s;		 /* time constant and delay at the middle of the grid */
	double tau_step_s, delay_step_s; /* both above 0; tau_s must be larger than tau_step_s */
};

/*
 * Level (power_level.h) of each power class as each reading shows it, for each point of the response grid:
 * the level after the low-pass and delay, or its mean over the averaging window of the reading. The level is
 * at net[(point * class_count + class) * reading_count + reading], where point is the index of the time
 * constant * KWHY_GRID_DELAYS + the index of the delay. The level of time without a context is negative.
 */
struct kwhy_response_features {
	struct kwhy_response_grid grid;
	size_t reading_count, class_count;
	float *net;
};

/*
 * Computes the levels. The caller fills the first members of `walk`, up to sm_count; the function sets time
 * constants, readouts and visitor in a copy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_response_features_init(struct kwhy_response_features *features,
	const struct kwhy_response_grid *grid, const struct kwhy_power_readings *readings,
	const struct kwhy_response_walk *walk, struct kwhy_error *error);
void kwhy_response_features_done(struct kwhy_response_features *features);

#endif
