/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_RESPONSE_H
#define KWHY_MEASURE_RESPONSE_H

#include "model/meter.h"
#include "model/profile.h"

/*
 * How the meters of one device answer its power: a first-order low-pass after a delay. Fields
 * _sd_ are standard uncertainties. Seconds.
 */
struct kwhy_response {
	double delay_s, delay_sd_s;
	double time_constant_s, time_constant_sd_s;
	double stamp_sd_s;		   /* of the time that a counter's update is given */
	double average_window_s;	   /* of a power meter that tells a trailing mean; 0: it does not */
	double counter_ratio, power_ratio; /* how far counted and integrated energies stray, gain apart */
	double power_alone_ratio;	   /* the same, where no counter holds the samples to their sum */
};

/*
 * What is known of the meters of such a device: NVML's as measured on one H200, driver 580.159.04; all others
 * as if they answered without delay, with the uncertainty of one update. `power`: the meter that gives the
 * powers.
 */
struct kwhy_response kwhy_response_of(enum kwhy_meter power);

/* The same, with what the machine profile knows better; NULL: nothing. */
struct kwhy_response kwhy_response_of_profile(enum kwhy_meter power, const struct kwhy_profile *profile);

/*
 * No meter knows its own constant gain error. What others found on several cards, as shares of the energy:
 * Yang et al., arXiv 2312.02741. It is stated next to results, never a part of their intervals.
 */
#define KWHY_GAIN_LOW_RATIO (-0.058)
#define KWHY_GAIN_HIGH_RATIO 0.04

#endif
