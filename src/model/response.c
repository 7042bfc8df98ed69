/* SPDX-License-Identifier: Apache-2.0 */
#include "model/response.h"

#include <math.h>

/*
 * Length in seconds of the window of trailing means where no profile states it; on an H200 it measured 1.00
 * to 1.01 s.
 */
#define AVERAGE_WINDOW_S 1

static const struct kwhy_response responses[KWHY_METER_RESPONSE_COUNT] = {
	/*
	 * Measured on an H200 with driver 580.159.04. delay and time constant are from a step of the power
	 * from 368 to 121 W. stamp_sd_s: the time of a counter update is known within one or two polls.
	 * counter_ratio and power_ratio: the energies by the 20 ms samples and by the counter differ by 0.1
	 * to 0.3 % over idle time, steady work and long mixtures of both. Over 2 to 3 s of square waves with
	 * 5/5, 20/80 and 50/50 ms on/off they differed by 1.3, 1.9 and 2.2 %, because samples alias with
	 * periodic work; where the counter updates, it corrects this.
	 */
	[KWHY_METER_RESPONSE_H200] = {.delay_s = 3.5e-3,
		.delay_sd_s = 1e-3,
		.time_constant_s = 14.5e-3,
		.time_constant_sd_s = 1.5e-3,
		.stamp_sd_s = 1.5e-3,
		.counter_ratio = 0.001,
		.power_ratio = 0.012,
		.power_alone_ratio = 0.02,
		.is_measured = true},
	/* Not measured. The true delay and low-pass may be anything from 0 to about twice these values. */
	[KWHY_METER_RESPONSE_AMD] = {.delay_s = 5e-3,
		.delay_sd_s = 5e-3,
		.time_constant_s = 10e-3,
		.time_constant_sd_s = 10e-3,
		.stamp_sd_s = 0.5e-3,
		.counter_ratio = 0.001,
		.power_ratio = 0.005,
		.power_alone_ratio = 0.02},
	/* A meter that is read on demand, whose reading is the value at the time of the call. */
	[KWHY_METER_RESPONSE_PROMPT] = {.delay_sd_s = 1e-3,
		.stamp_sd_s = 0.5e-3,
		.counter_ratio = 0.001,
		.power_ratio = 0.005,
		.power_alone_ratio = 0.02},
	/*
	 * Meters at the wall socket, which are assumed to update once per second and to state the mean of the
	 * second before the update.
	 */
	[KWHY_METER_RESPONSE_DESK] = {.delay_sd_s = 0.3,
		.stamp_sd_s = 0.5e-3,
		.counter_ratio = 0.001,
		.power_ratio = 0.005,
		.power_alone_ratio = 0.02},
};

struct kwhy_response kwhy_response_of(enum kwhy_meter meter)
{
	struct kwhy_response response = responses[kwhy_meter_row(meter)->response];

	response.average_window_s = kwhy_meter_is_mean(meter) ? AVERAGE_WINDOW_S : 0;
	return response;
}

/*
 * Sets *value and, if it is known, *sd to those of a profile's figure. False: the profile does not have the
 * figure, and nothing is set.
 */
static bool learn(double *value, double *sd, const struct kwhy_measured *measured)
{
	if (!(measured->value > 0))
		return false;
	*value = measured->value;
	if (!isnan(measured->sd))
		*sd = measured->sd;
	return true;
}

struct kwhy_response kwhy_response_of_profile(enum kwhy_meter meter, const struct kwhy_profile *profile)
{
	struct kwhy_response response = kwhy_response_of(meter);

	if (!profile || kwhy_meter_row(meter)->response != KWHY_METER_RESPONSE_H200)
		return response;
	response.has_delay = learn(&response.delay_s, &response.delay_sd_s, &profile->sensor.delay_s);
	response.has_time_constant = learn(
		&response.time_constant_s, &response.time_constant_sd_s, &profile->sensor.time_constant_s);
	if (response.average_window_s > 0 && profile->sensor.average_window_s > 0)
		response.average_window_s = profile->sensor.average_window_s;
	return response;
}
