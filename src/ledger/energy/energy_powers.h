/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_POWERS_H
#define KWHY_LEDGER_ENERGY_ENERGY_POWERS_H

#include "ledger/energy/energy_meter.h"
#include "ledger/energy/posterior.h"

/* Input of the inference of one device's powers, one for each power class. */
struct kwhy_powers_question {
	const struct kwhy_recording *recording;
	uint32_t device;
	const struct kwhy_device_ledger *device_ledger;
	struct kwhy_power_classes *classes;
	const struct kwhy_covered *covered;
	const struct kwhy_device_meters *meters;
	const struct kwhy_metered_total *total;
	const struct kwhy_ledger_options *options;
};

/*
 * Powers of the power classes (accounts that share one power), above idle and in watts: medians of the
 * priors, posterior means, and random draws from the posterior.
 */
struct kwhy_powers {
	size_t class_count, draw_count;
	double *net_w; /* [class_count] posterior mean of the power above idle; below 0 for time in which the
			  device has no context and draws less than idle */
	double *prior_net_w;	 /* [class_count] medians of the priors of the powers above idle */
	double *posterior_ratio; /* [class_count] posterior / prior standard deviation of the power or of its
				    logarithm, whichever ratio is smaller */
	double *in_place_ratio;	 /* [class_count] uncertainty of the ratio of the power between the program's
				    other work to that in bursts: standard deviation of its logarithm */
	double idle_w;
	double tau_s, delay_s; /* posterior means of the time constant and delay of the meter, in seconds */
	double *draws_net_w;   /* [draw_count * class_count] power above idle of each class in each draw, in
				  watts */
	double *draws_idle_w;  /* [draw_count] idle level in each draw, in watts */
	uint32_t meter;	       /* meter whose readings were used; KWHY_NONE: no meter has usable ones */
	size_t reading_count, left_out_count;
	size_t unfitted_count; /* number of readings that were dropped because no powers fit them, so that the
				  assumed powers are returned; 0: the fit succeeded */
	size_t overruled_count; /* number of powers from other recordings that the readings contradict */
	/*
	 * Numbers of bursts of kwhy probe (repeats of one kernel in a row). burst_count: all bursts.
	 * throttled_count: those left out because the repeats became slower. other_clock_count: those left
	 * out because the clock in them was not one at which the program's own work ran.
	 */
	size_t burst_count, throttled_count, other_clock_count;
	bool response_assumed; /* the meter's response is assumed, because no profile states it */
	bool idle_measured;    /* some of the readings show only an idle device */
};

KWHY_MUST_USE enum kwhy_status kwhy_powers_infer(
	struct kwhy_powers *powers, const struct kwhy_powers_question *question, struct kwhy_error *error);
void kwhy_powers_done(struct kwhy_powers *powers);

#endif
