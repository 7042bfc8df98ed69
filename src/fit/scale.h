/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_SCALE_H
#define KWHY_FIT_SCALE_H

#include "base/status.h"
#include "fit/interval.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Throughput x as a function of the number n of workers:
 *
 * Amdahl: x(n) = r n / (1 + s (n - 1))
 *
 * USL: x(n) = r n / (1 + s (n - 1) + k n (n - 1)) (Gunther)
 *
 * r is the throughput of one worker, s the contention and k the coherency. n / x is linear in 1/r, s/r and
 * k/r, so both forms are fitted by least squares of relative errors with non-negative coefficients. Results
 * hold for the measured numbers of workers only.
 */
struct kwhy_scale_point {
	double workers;	   /* 1 or more */
	double throughput; /* units of work per second, above 0 */
};

enum kwhy_scale_form { KWHY_SCALE_AMDAHL, KWHY_SCALE_USL, KWHY_SCALE_FORM_COUNT };

const char *kwhy_scale_form_name(enum kwhy_scale_form form); /* "Amdahl" */

struct kwhy_scale_fit {
	struct kwhy_interval rate;	   /* r, the throughput of one worker */
	struct kwhy_interval serial_ratio; /* s, the contention */
	struct kwhy_interval agree_ratio;  /* k, the coherency; 0 for Amdahl */
	double rms_ratio;		   /* root mean square relative error over the points */
	double held_out_ratio; /* root mean square relative error at points that were predicted from those
				  with other numbers of workers; NAN: too few points */
};

struct kwhy_scale {
	struct kwhy_scale_fit fits[KWHY_SCALE_FORM_COUNT];
	enum kwhy_scale_form chosen; /* Amdahl, unless the held-out error of USL is smaller by a tenth */
	double least_workers, most_workers; /* range of the measured numbers of workers */
	double peak_workers; /* number of workers at which the chosen form has its highest throughput; NAN:
				that is not inside the measured range */
};

/*
 * KWHY_E_INPUT: fewer than three different numbers of workers, workers below 1, throughput that is not above
 * 0, or throughput that grows faster than the number of workers.
 */
KWHY_MUST_USE enum kwhy_status kwhy_scale_of(const struct kwhy_scale_point *points, size_t count,
	struct kwhy_scale *out, struct kwhy_error *error);

/* Computes the throughput by the chosen form. KWHY_E_INPUT: `workers` is outside of the measured range. */
KWHY_MUST_USE enum kwhy_status kwhy_scale_at(
	const struct kwhy_scale *scale, double workers, double *out_throughput, struct kwhy_error *error);

#endif
