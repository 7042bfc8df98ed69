/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_BUSY_GAUGE_H
#define KWHY_BENCH_BUSY_GAUGE_H

#include "gpu/gpu.h"
#include "vendor/nvml.h"

/*
 * What NVML calls the utilisation of a GPU, asked for between runs of a benchmark: the share of the driver's
 * last sample period, a sixth of a second to a second, in which anything ran at all. One thread.
 */
struct kwhy_busy_gauge {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle handle;			      /* NULL: it is not known */
	char missing[sizeof(((struct kwhy_error *)0)->text)]; /* why not */
	int64_t asked_ns;
	double sum;
	uint32_t count;
};

/* What is missing is no error. End with kwhy_busy_gauge_close(). */
void kwhy_busy_gauge_open(const struct kwhy_gpu *gpu, struct kwhy_busy_gauge *out);
void kwhy_busy_gauge_close(struct kwhy_busy_gauge *gauge);

/* Begins anew; what the driver says in the first second may be of before. */
void kwhy_busy_gauge_begin(struct kwhy_busy_gauge *gauge);
/* Asks, but no more often than ten times a second. */
void kwhy_busy_gauge_poll(struct kwhy_busy_gauge *gauge);
/* Mean of what was said since the first second, as a share of 1; NAN: nothing. */
double kwhy_busy_gauge_mean(const struct kwhy_busy_gauge *gauge);

#endif
