/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_SLOW_KERNELS_H
#define KWHY_DETECT_SLOW_KERNELS_H

#include "detect/detect.h"
#include "model/gpu_peaks.h"

/*
 * For kernels whose work is unknown: the share of time in which memory or an arithmetic unit was active while
 * they ran, from counters of the device (GPM gauges). `out` has one number for each name of the recording.
 * The intervals between readings that kernels of this name filled are used. For each interval, the share of
 * the most active unit is taken; the number is the mean of these shares, weighted by the lengths of the
 * intervals. NAN: there are fewer than two such intervals, or no gauges.
 */
KWHY_MUST_USE enum kwhy_status kwhy_slow_by_counters(const struct kwhy_detect_context *context, double *out);

/*
 * Finds the sizes in bytes of the arrays that a program mostly copies between host and device: copies of
 * each such size are at least half of all copied bytes. Arrays that largely fit in caches are left out.
 */
struct kwhy_slow_arrays {
	uint64_t bytes[2];
	size_t count;
};

void kwhy_slow_arrays_find(const struct kwhy_detect_context *context, struct kwhy_slow_arrays *out);
/*
 * Size in bytes of the largest of these arrays to which the kernel's grid fits: the grid has one thread for
 * each value of 4 or 8 bytes, rounded up to whole blocks. 0: there is none. The kernel is assumed to read or
 * write an array of that size.
 */
uint64_t kwhy_slow_array_bytes(
	const struct kwhy_slow_arrays *arrays, const struct kwhy_recording *recording, size_t row);

/*
 * Least time in ns, at the device's peaks, of the work that the user stated for the run. NAN: no work was
 * stated in a unit with a known peak, several devices shared it, or only a part of the run was recorded.
 */
double kwhy_slow_by_stated_work(
	const struct kwhy_detect_context *context, const struct kwhy_gpu_peaks *peaks);

#endif
