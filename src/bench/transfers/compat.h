/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_COMPAT_H
#define KWHY_BENCH_TRANSFERS_COMPAT_H

#include "gpu/gpu.h"

/*
 * Rates as nvbandwidth 0.8 prints them, measured by its method. A rate is the median of three samples. For a
 * sample, 4 warm-up copies and 16 counted copies of the same buffers are queued before the first copy begins.
 * The rate is the number of bytes of the 16 copies, divided by the time between device events before and
 * after them, which is rounded down to whole microseconds. Rates are in GB/s (10^9 bytes per second). In
 * bidirectional tests (BOTH), copies of twice as many bytes run in the opposite direction at the same time;
 * they are not counted. Copies by kernels ("sm") use a kernel of kwhy.
 */
enum kwhy_bench_compat {
	KWHY_BENCH_COMPAT_H2D_CE,
	KWHY_BENCH_COMPAT_D2H_CE,
	KWHY_BENCH_COMPAT_H2D_BOTH_CE,
	KWHY_BENCH_COMPAT_D2H_BOTH_CE,
	KWHY_BENCH_COMPAT_H2D_SM,
	KWHY_BENCH_COMPAT_D2H_SM,
	KWHY_BENCH_COMPAT_COUNT
};

/*
 * kwhy_bench_compat_name(): nvbandwidth's name of the test, such as "host_to_device_memcpy_ce".
 * kwhy_bench_compat_title(): the title that nvbandwidth prints above the rate.
 */
const char *kwhy_bench_compat_name(enum kwhy_bench_compat which);
const char *kwhy_bench_compat_title(enum kwhy_bench_compat which);

/*
 * Measures all rates, in GB/s, with `bytes` per copy. `device` has the same meaning as in kwhy_gpu_open().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_compat_measure(enum kwhy_gpu_backend backend, const char *device,
	uint64_t bytes, uint64_t seed, double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT],
	struct kwhy_error *error);

#endif
