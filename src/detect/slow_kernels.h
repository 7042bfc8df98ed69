/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_SLOW_KERNELS_H
#define KWHY_DETECT_SLOW_KERNELS_H

#include "detect/detect.h"
#include "model/gpu_peaks.h"

/*
 * What the device's counters say of kernels whose work is not known. `out` has a number for each name of the
 * recording: the highest share at which memory or an arithmetic unit was active while kernels of this name
 * filled the intervals between readings of the GPM gauges; NAN: fewer than two such intervals, or no gauges.
 */
KWHY_MUST_USE enum kwhy_status kwhy_slow_by_counters(const struct kwhy_detect_context *context, double *out);

/*
 * Sizes of the arrays that a program copies between host and device for the most part: those that make up a
 * half of the copied bytes at least. Arrays of which caches hold much are left out.
 */
struct kwhy_slow_arrays {
	uint64_t bytes[2];
	size_t count;
};

void kwhy_slow_arrays_find(const struct kwhy_detect_context *context, struct kwhy_slow_arrays *out);
/*
 * The largest of the arrays for which the kernel has one thread a value of 4 or 8 bytes, up to whole blocks;
 * 0: none. Such a kernel passes over arrays of that size.
 */
uint64_t kwhy_slow_array_bytes(
	const struct kwhy_slow_arrays *arrays, const struct kwhy_recording *recording, size_t row);

/*
 * Least time of the work that was stated for the run, at the device's peaks, in nanoseconds. NAN: none was
 * stated in units with a known peak, several devices shared it, or the recording is only a part of the run.
 */
double kwhy_slow_by_stated_work(
	const struct kwhy_detect_context *context, const struct kwhy_gpu_peaks *peaks);

#endif
