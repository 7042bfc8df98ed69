/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_GPU_PEAKS_H
#define KWHY_MODEL_GPU_PEAKS_H

#include "model/precision.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

/* Highest rates of a device; NAN: unknown, or it has no such units. */
struct kwhy_gpu_peaks {
	double bytes_per_s;
	double flop_per_s[KWHY_PRECISION_COUNT]; /* dense products, on tensor cores where the precision has
						    them */
	bool measured; /* all of them are from the machine profile; false: from the device's data sheet */
};

/*
 * The rates that `kwhy bench ops` measured, where the profile has those of memory and of some arithmetic,
 * else those of the data sheet for the device's name. `profile` may be NULL.
 */
struct kwhy_gpu_peaks kwhy_gpu_peaks_of(const struct kwhy_device *device, const struct kwhy_profile *profile);

#endif
