/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_GPU_PEAKS_H
#define KWHY_MODEL_GPU_PEAKS_H

#include "model/precision.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

/* Highest rates of a device; NAN: the rate is unknown, or the device has no such units. */
struct kwhy_gpu_peaks {
	double bytes_per_s;
	double flop_per_s[KWHY_PRECISION_COUNT]; /* rate of dense matrix products; from a data sheet, FP64 and
						    FP32 are those of the vector units and the others those of
						    the tensor cores */
	bool measured; /* true: all rates are from the machine profile; false: from the device's data sheet or
			  the recording */
};

/*
 * Returns the rates that `kwhy bench ops` measured, if the profile has a rate of memory and one of
 * arithmetic. Otherwise returns those of the data sheet for the device's name; the memory's rate is then that
 * of the recording, if it states one. `profile` may be NULL.
 */
struct kwhy_gpu_peaks kwhy_gpu_peaks_of(const struct kwhy_device *device, const struct kwhy_profile *profile);

#endif
