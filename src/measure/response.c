/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/response.h"

#include <math.h>

/*
 * H200, driver 580.159.04: low-pass and delay were measured with a step from 368 to 121 W. An update of the
 * counter is found within a poll or two. Ring and counter agree within 0.1 to 0.3 % over idle, steady work
 * and long mixtures. Over 2 to 3 s of square waves of 5/5, 20/80 and 50/50 ms they differed by 1.3, 1.9 and
 * 2.2 %, as samples alias with periodic work. Near updates the counter corrects this.
 */
static const struct kwhy_response nvml = {
	.delay_s = 0.0035,
	.delay_sd_s = 0.001,
	.time_constant_s = 0.0145,
	.time_constant_sd_s = 0.0015,
	.stamp_sd_s = 0.0015,
	.counter_ratio = 0.001,
	.power_ratio = 0.012,
	.power_alone_ratio = 0.02,
};

/* A meter that is read on demand: a reading is the value at the moment of the call. */
static const struct kwhy_response prompt = {
	.delay_sd_s = 0.001,
	.stamp_sd_s = 0.0005,
	.counter_ratio = 0.001,
	.power_ratio = 0.005,
	.power_alone_ratio = 0.02,
};

struct kwhy_response kwhy_response_of(enum kwhy_meter power)
{
	struct kwhy_response response = prompt;

	if (power <= KWHY_METER_NVML_MEMORY_AVERAGE)
		response = nvml;
	if (power == KWHY_METER_NVML_AVERAGE || power == KWHY_METER_NVML_MEMORY_AVERAGE)
		response.average_window_s = 1;
	if (power == KWHY_METER_WALL) /* desk meters: an update a second, of the second before */
		response.delay_sd_s = 0.3;
	return response;
}

static void learn(double *value, double *sd, const struct kwhy_measured *measured)
{
	if (isnan(measured->value))
		return;
	*value = measured->value;
	if (!isnan(measured->sd))
		*sd = measured->sd;
}

struct kwhy_response kwhy_response_of_profile(enum kwhy_meter power, const struct kwhy_profile *profile)
{
	struct kwhy_response response = kwhy_response_of(power);

	if (!profile || power > KWHY_METER_NVML_MEMORY_AVERAGE)
		return response;
	learn(&response.delay_s, &response.delay_sd_s, &profile->sensor.delay_s);
	learn(&response.time_constant_s, &response.time_constant_sd_s, &profile->sensor.time_constant_s);
	if (response.average_window_s > 0 && profile->sensor.average_window_s > 0)
		response.average_window_s = profile->sensor.average_window_s;
	return response;
}
