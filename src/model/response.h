/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RESPONSE_H
#define KWHY_MODEL_RESPONSE_H

#include "model/meter.h"
#include "model/profile.h"

/*
 * How the readings of a meter follow the power: by a first-order low-pass after a delay. Fields with _sd_ are
 * standard uncertainties. Times are in seconds.
 */
struct kwhy_response {
	double delay_s, delay_sd_s;
	double time_constant_s, time_constant_sd_s; /* 0: no low-pass */
	double stamp_sd_s;			    /* uncertainty of the time stamp of a counter's update */
	double average_window_s; /* length of the window over which a power meter reports trailing means; 0:
				    it reports no means */
	double counter_ratio, power_ratio; /* relative uncertainties of energy by the counter and of
					      integrated power; constant gain errors are not included */
	double power_alone_ratio; /* relative uncertainty of integrated power if there is no counter to
				     correct it */
	bool is_measured;	  /* the values were measured on one card; false: assumed */
	bool has_delay, has_time_constant; /* delay_s or time_constant_s is that of the machine profile */
};

/*
 * The response of a meter. That of NVML's meters was measured on one H200 with driver 580.159.04. That of
 * AMD's meters was not measured: the true delay and low-pass may be anything from 0 to about twice the values
 * given. All other meters are assumed to respond without delay, with an uncertainty (delay_sd_s) of 1 ms, or
 * of 0.3 s at the wall socket.
 */
struct kwhy_response kwhy_response_of(enum kwhy_meter meter);

/*
 * The response of a meter: values of the machine profile where it states them, else those of
 * kwhy_response_of(). A profile states values of NVML's meters only. `profile` may be NULL.
 */
struct kwhy_response kwhy_response_of_profile(enum kwhy_meter meter, const struct kwhy_profile *profile);

/*
 * Constant gain errors found on several cards, as shares of the energy: Yang et al., arXiv 2312.02741. No
 * meter shows its own gain error. These two figures are stated next to results and are never part of an
 * interval.
 */
#define KWHY_GAIN_LOW_RATIO (-0.058)
#define KWHY_GAIN_HIGH_RATIO 0.04

#endif
