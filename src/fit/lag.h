/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_LAG_H
#define KWHY_FIT_LAG_H

#include "base/status.h"
#include "fit/pulse.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How a power meter answers known pulses of work. In each stretch of readings the power is `off_w` and,
 * during a pulse, `on_w`; the meter shows it
 *  - through a first-order low-pass of time constant `width_s`, or as the mean of the last `width_s`,
 *  - `delay_s` late.
 * Fitted together: width and delay on a grid that is refined round its summit; off and on of each stretch, at
 * each place of the grid, by least squares with Student-t errors (4 degrees, for stray readings). The levels
 * and the errors' scale are marginalised, so that the standard deviations of width and delay contain that
 * they are not known either. Residuals that follow each other widen the standard deviations.
 */
enum kwhy_lag_kind { KWHY_LAG_LOW_PASS, KWHY_LAG_MEAN };

struct kwhy_lag_reading {
	int64_t time_ns;
	double power_w;
};

/* Readings of one load; before the first pulse the power was off for longer than the meter remembers. */
struct kwhy_lag_stretch {
	const struct kwhy_pulse *pulses; /* in order, apart */
	size_t pulse_count;
	const struct kwhy_lag_reading *readings; /* in order */
	size_t reading_count;
};

struct kwhy_lag_data {
	enum kwhy_lag_kind kind;
	const struct kwhy_lag_stretch *stretches;
	size_t stretch_count;
	double width_low_s, width_high_s, delay_low_s, delay_high_s; /* where to look; flat prior */
};

enum { KWHY_LAG_STRETCHES_MAX = 16 };

struct kwhy_lag_levels {
	double off_w, off_sd_w, on_w, on_sd_w;
	double noise_w; /* scale of what the fit leaves */
	double temper;	/* effective share of the readings: 1 when residuals are independent */
};

struct kwhy_lag {
	double width_s, width_sd_s, delay_s, delay_sd_s;
	double log_likelihood; /* of all readings: says which kind of meter fits the same readings better */
	struct kwhy_lag_levels levels[KWHY_LAG_STRETCHES_MAX]; /* of each stretch */
};

/* KWHY_E_INPUT where a stretch has too few readings, or shows nothing of its pulses. */
KWHY_MUST_USE enum kwhy_status kwhy_lag_fit(
	const struct kwhy_lag_data *data, struct kwhy_lag *out, struct kwhy_error *error);

/* What such a meter shows of pulses of height 1 over 0: out[reading_count]. */
void kwhy_lag_shown(enum kwhy_lag_kind kind, const struct kwhy_lag_stretch *stretch, double width_s,
	double delay_s, double *out);

#endif
