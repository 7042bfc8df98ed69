/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_CURVE_H
#define KWHY_MEASURE_CURVE_H

#include "measure/window.h"

/* The inside of a curve, for window.c: either no knots or at least two, in order of time. */
struct kwhy_curve {
	int64_t *time_ns;
	double *joules;	   /* energy used since the first knot */
	double *reading_w; /* reading of the power meter at the knot; NAN: a knot of the counter */
	size_t count, capacity;
	int64_t last_ns;   /* end of the known time */
	int64_t *ticks_ns; /* times of the counter's updates, corrected for the meter's lag */
	double *gains; /* counter energy over that of the samples, from each update to the next; 1: equal, or
			  no samples */
	size_t update_count;
	double quantum_j;
	struct kwhy_response response;
	enum kwhy_energy_basis basis; /* basis while the counter works */
	struct kwhy_curve_faults faults;
};

#endif
