/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_COMPAT_H
#define KWHY_BENCH_TRANSFERS_COMPAT_H

#include "gpu/gpu.h"

/*
 * Rates as nvbandwidth 0.8 would print them, by its method: of three samples the median; a sample is 16
 * copies of the same buffers behind 4 to warm up, all queued before the first begins; bytes over whole
 * microseconds of the device's events, cut off; GB is 10^9. Where both directions run, the other one copies
 * twice the bytes and is not counted. Its copies by kernels ("sm") are made with a kernel of ours.
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

/* "host_to_device_memcpy_ce" and the line above its table */
const char *kwhy_bench_compat_name(enum kwhy_bench_compat which);
const char *kwhy_bench_compat_title(enum kwhy_bench_compat which);

/* `device` as in kwhy_gpu_open(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_compat_measure(enum kwhy_gpu_backend backend, const char *device,
	uint64_t bytes, uint64_t seed, double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT],
	struct kwhy_error *error);

#endif
