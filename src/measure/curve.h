/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_CURVE_H
#define KWHY_MEASURE_CURVE_H

#include "measure/window.h"

/*
 * The contents of a curve, for window.c: energy as a function of time, linear between knots. It has either no
 * knots or at least two, in order of time.
 */
struct kwhy_curve {
	int64_t *time_ns;
	double *joules;	   /* energy used from the first knot to this one */
	double *reading_w; /* reading of the power meter at the knot; NAN: the knot is from the counter */
	size_t count, capacity;
	int64_t last_ns;   /* time of the last knot */
	int64_t *ticks_ns; /* times of the counter's updates, corrected for the meter's lag */
	double *gains;	   /* [update_count] energy by the counter divided by energy by the samples, from each
			      update to the next; 1 also if this is unknown or implausible */
	size_t update_count;
	double quantum_j;
	struct kwhy_response response;
	enum kwhy_energy_basis basis; /* meters from which the curve comes, up to the moment at which the
					 counter stopped (faults.counter_stuck), or in all */
	struct kwhy_curve_faults faults;
};

#endif
