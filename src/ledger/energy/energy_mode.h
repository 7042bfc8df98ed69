/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MODE_H
#define KWHY_LEDGER_ENERGY_ENERGY_MODE_H

#include "ledger/energy/energy_powers.h"
#include "ledger/energy/energy_priors.h"

/*
 * The most probable powers of one device's power classes, and the most probable response of its meter: the
 * mode of the posterior density. The mode is searched on a grid of meter responses (time constants and
 * delays), which is moved until the mode lies inside.
 */

/* All that one inference uses. Zero-initialise. */
struct kwhy_inference {
	const struct kwhy_powers_question *question;
	struct kwhy_powers *powers;
	struct kwhy_normal tau_s, delay_s;
	struct kwhy_power_readings readings;
	struct kwhy_response_grid grid;
	struct kwhy_response_features features;
	struct kwhy_posterior_prior prior;
	struct kwhy_posterior_model model;
	struct kwhy_posterior_fit fit;
	double *shared_w2, *draws;
	int grids; /* number of response grids tried after the first one */
};

/* Sets the response grid to the means of the priors of the meter's response. */
void kwhy_inference_first_grid(struct kwhy_inference *inference);

/* Computes what the readings would show of each power class at each response of the grid. */
KWHY_MUST_USE enum kwhy_status kwhy_inference_features(
	struct kwhy_inference *inference, struct kwhy_error *error);

/* Finds a mode to begin with. If the density may have several maxima, it starts at several delays. */
KWHY_MUST_USE enum kwhy_status kwhy_inference_start(
	struct kwhy_inference *inference, struct kwhy_error *error);

/*
 * Climbs to the mode, with steps in between that make the likelihood realistic: drift is removed from the
 * readings, similar readings get a common error, and autocorrelation tempers the likelihood (raises it to a
 * power below 1).
 */
KWHY_MUST_USE enum kwhy_status kwhy_inference_settle(
	struct kwhy_inference *inference, struct kwhy_error *error);

#endif
