/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_RESPONSE_H
#define KWHY_MEASURE_RESPONSE_H

#include "model/meter.h"
#include "model/profile.h"

/*
 * Response of the meters of one device to its power: a first-order low-pass after a delay. Fields with _sd_
 * are standard uncertainties. Times are in seconds.
 */
struct kwhy_response {
	double delay_s, delay_sd_s;
	double time_constant_s, time_constant_sd_s;
	double stamp_sd_s;	 /* uncertainty of the time stamp of a counter's update */
	double average_window_s; /* averaging window of a power meter that reports trailing means; 0: it
				    reports no means */
	double counter_ratio, power_ratio; /* relative uncertainty of counted and of integrated energy,
					      without that of the gain */
	double power_alone_ratio; /* relative uncertainty of integrated energy where no counter corrects it */
};

/*
 * Known response of the meters of a device with the power meter `power`. NVML's meters respond as measured on
 * one H200, driver 580.159.04. All others are assumed to respond without delay, with the uncertainty of one
 * update.
 */
struct kwhy_response kwhy_response_of(enum kwhy_meter power);

/* The same, with the values of the machine profile where it has them; NULL: no profile. */
struct kwhy_response kwhy_response_of_profile(enum kwhy_meter power, const struct kwhy_profile *profile);

/*
 * Constant gain errors found on several cards, as shares of the energy: Yang et al., arXiv 2312.02741. No
 * meter shows its own. They are stated next to results and are never part of an interval.
 */
#define KWHY_GAIN_LOW_RATIO (-0.058)
#define KWHY_GAIN_HIGH_RATIO 0.04

#endif
