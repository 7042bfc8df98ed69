/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_SLOW_KERNELS_H
#define KWHY_DETECT_SLOW_KERNELS_H

#include "detect/detect.h"
#include "model/gpu_peaks.h"

/*
 * Sets out[name], for each name of the recording, to the activity of the device while kernels of that name
 * ran: the share of time in which memory or an arithmetic unit was active, whichever is higher, by counters
 * of the device (GPM gauges). It is the mean over intervals between readings of which these kernels filled at
 * least 90 %, weighted by length. NAN: there are fewer than two such intervals, or no gauges.
 */
KWHY_MUST_USE enum kwhy_status kwhy_slow_by_counters(const struct kwhy_detect_context *context, double *out);

/*
 * Sizes in bytes of arrays, each at least 64 MiB, whose copies have at least half of all bytes copied between
 * host and device; thus there are at most two. Smaller arrays are left out, since they largely fit in caches.
 */
struct kwhy_slow_arrays {
	uint64_t bytes[2];
	size_t count;
};

void kwhy_slow_arrays_find(const struct kwhy_detect_context *context, struct kwhy_slow_arrays *out);
/*
 * The largest of the sizes in `arrays` to which the kernel's grid fits, with one thread for each value of 4
 * or 8 bytes, rounded up to whole blocks; 0: there is none. The kernel is assumed to read and to write an
 * array of that size.
 */
uint64_t kwhy_slow_array_bytes(
	const struct kwhy_slow_arrays *arrays, const struct kwhy_recording *recording, size_t row);

/*
 * Least time in ns, at the device's peaks, of the work that the user stated for the run: the longer one of
 * its FLOP and its bytes. NAN: no work was stated in a unit with a known peak, several devices were active,
 * or only a part of the run was recorded.
 */
double kwhy_slow_by_stated_work(
	const struct kwhy_detect_context *context, const struct kwhy_gpu_peaks *peaks);

#endif
