/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_CURVE_H
#define KWHY_MEASURE_CURVE_H

#include "measure/window.h"

/* The inside of a curve, for window.c: knots in order of time, at least two or none. */
struct kwhy_curve {
	int64_t *time_ns;
	double *joules;	   /* used since the first knot */
	double *reading_w; /* what the power meter said there; NAN: a knot of the counter */
	size_t count, capacity;
	int64_t last_ns;   /* known up to here */
	int64_t *ticks_ns; /* of the counter, lag taken back */
	double *gains; /* of the counter over the samples, from each update to the next; 1: they agree or are
			  silent */
	size_t update_count;
	double quantum_j;
	struct kwhy_response response;
	enum kwhy_energy_basis basis; /* while the counter counts */
	struct kwhy_curve_faults faults;
};

#endif
