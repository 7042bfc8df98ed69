/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_LAG_H
#define KWHY_FIT_LAG_H

#include "base/status.h"
#include "fit/pulse.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Fits the response of a power meter to known pulses of work. In each series of readings the true power is
 * on_w during a pulse and off_w otherwise. The meter shows this power
 *
 * - through a first-order low-pass of time constant width_s, or as the mean of the last width_s,
 *
 * - delay_s late.
 *
 * Width and delay are fitted on a grid that is refined around its maximum. For each width and delay, off_w
 * and on_w of each series follow by least squares with Student-t errors (4 degrees of freedom, for outliers).
 * These levels and the scale of the errors are marginalised, so that the standard deviations of width and
 * delay include their uncertainty. Autocorrelated residuals widen the standard deviations.
 */
enum kwhy_lag_kind { KWHY_LAG_LOW_PASS, KWHY_LAG_MEAN };

struct kwhy_lag_reading {
	int64_t time_ns;
	double power_w;
};

/*
 * A series: the readings of one load. Before its first pulse, the power was off_w for so long that no
 * reading shows an earlier power.
 */
struct kwhy_lag_stretch {
	const struct kwhy_pulse *pulses; /* in order of time, disjoint */
	size_t pulse_count;
	const struct kwhy_lag_reading *readings; /* in order of time */
	size_t reading_count;
};

struct kwhy_lag_data {
	enum kwhy_lag_kind kind;
	const struct kwhy_lag_stretch *stretches;
	size_t stretch_count;
	/* range of the search, in which the prior is flat */
	double width_low_s, width_high_s, delay_low_s, delay_high_s;
};

enum { KWHY_LAG_STRETCHES_MAX = 16 };

struct kwhy_lag_levels {
	double off_w, off_sd_w, on_w, on_sd_w;
	double noise_w; /* scale of the Student-t residuals */
	double temper;	/* exponent of the likelihood of the series' readings; 1 if residuals are independent,
			   less if they are correlated */
};

struct kwhy_lag {
	double width_s, width_sd_s, delay_s, delay_sd_s;
	double log_likelihood; /* log-likelihood of all readings at width_s and delay_s, with all exponents
				  (temper) taken as 1; fits of the two kinds (enum kwhy_lag_kind) to the same
				  readings are compared by it */
	struct kwhy_lag_levels levels[KWHY_LAG_STRETCHES_MAX]; /* [stretch_count] levels of each series */
};

/*
 * KWHY_E_INPUT: there is no series or more than KWHY_LAG_STRETCHES_MAX, or one of them has no pulse, fewer
 * than 12 readings, or readings that do not show its pulses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_lag_fit(
	const struct kwhy_lag_data *data, struct kwhy_lag *out, struct kwhy_error *error);

/*
 * Computes the readings out[reading_count] that a meter of this kind would show if the power were 1 during
 * pulses and 0 otherwise.
 */
void kwhy_lag_shown(enum kwhy_lag_kind kind, const struct kwhy_lag_stretch *stretch, double width_s,
	double delay_s, double *out);

#endif
