/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_ANCHORS_H
#define KWHY_MEASURE_ANCHORS_H

#include "measure/window.h"

/* A counter's readings with wraps undone. Zero-initialise; free with kwhy_anchors_done(). */
struct kwhy_anchors {
	int64_t *time_ns;
	double *joules; /* since the first; NAN-free */
	bool *broken;	/* the rise from the reading before is not known: a reset */
	size_t count;
	int64_t period_ns;
	uint64_t wraps, resets, unordered;
};

KWHY_MUST_USE enum kwhy_status kwhy_anchors_make(
	const struct kwhy_readings *counter, struct kwhy_anchors *out, struct kwhy_error *error);
void kwhy_anchors_done(struct kwhy_anchors *anchors);

/* A power meter's readings and their integral. */
struct kwhy_samples {
	int64_t *time_ns; /* late stamps put right */
	double *watts;
	double *joules; /* by trapezoids, since the first */
	uint32_t *gaps; /* so many stretches before this reading were too long to say what went on in them */
	size_t count;
	int64_t period_ns;
	uint64_t late, unordered;
};

KWHY_MUST_USE enum kwhy_status kwhy_samples_make(
	const struct kwhy_readings *power, struct kwhy_samples *out, struct kwhy_error *error);
void kwhy_samples_done(struct kwhy_samples *samples);

/* The last sample at or before a time, which is not before the first. */
size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns);

#endif
