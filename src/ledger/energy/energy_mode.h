/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MODE_H
#define KWHY_LEDGER_ENERGY_ENERGY_MODE_H

#include "ledger/energy/energy_powers.h"
#include "ledger/energy/energy_priors.h"

/*
 * Finds the most probable powers of one device's power classes together with the most probable response of
 * its meter: the mode of the posterior density. The model is interpolated on a grid of meter responses (time
 * constants and delays), which is moved until the mode lies inside.
 */

/* State of one inference. Zero-initialise it. */
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

/* Centres the response grid on the prior means of the meter's time constant and delay, tau_s and delay_s. */
void kwhy_inference_first_grid(struct kwhy_inference *inference);

/*
 * Computes the features: how much of each power class each reading would show, for each meter response of the
 * grid. Frees those of an earlier grid.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inference_features(
	struct kwhy_inference *inference, struct kwhy_error *error);

/*
 * Finds a first mode. If the posterior density may have several maxima along the delay, climbs from several
 * delays and keeps the mode with the highest density.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inference_start(
	struct kwhy_inference *inference, struct kwhy_error *error);

/*
 * Climbs to the mode several times, and between two climbs makes the likelihood realistic: removes slow drift
 * from the readings, gives readings with similar features a common error, and raises the likelihood to a
 * power below 1 because the errors of successive readings are correlated.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inference_settle(
	struct kwhy_inference *inference, struct kwhy_error *error);

#endif
