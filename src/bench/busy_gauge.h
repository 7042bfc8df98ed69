/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_BUSY_GAUGE_H
#define KWHY_BENCH_BUSY_GAUGE_H

#include "gpu/gpu.h"
#include "vendor/nvml.h"

/*
 * The utilisation of a GPU as NVML reports it, polled between runs of a benchmark: the share of the driver's
 * last sample period (a sixth of a second to a second) in which any kernel ran. For one thread.
 */
struct kwhy_busy_gauge {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle handle;			      /* NULL: utilisation is unknown */
	char missing[sizeof(((struct kwhy_error *)0)->text)]; /* why it is unknown */
	int64_t asked_ns;
	double sum;
	uint32_t count;
};

/*
 * Opens NVML. A missing library or device is no error but sets `missing`. End with kwhy_busy_gauge_close().
 */
void kwhy_busy_gauge_open(const struct kwhy_gpu *gpu, struct kwhy_busy_gauge *out);
void kwhy_busy_gauge_close(struct kwhy_busy_gauge *gauge);

/* Starts a new mean. Readings of the first second are ignored, since they may cover earlier work. */
void kwhy_busy_gauge_begin(struct kwhy_busy_gauge *gauge);
/* Takes a reading, at most ten times a second. */
void kwhy_busy_gauge_poll(struct kwhy_busy_gauge *gauge);
/* Mean of the readings since the first second, from 0 to 1; NAN: there are none. */
double kwhy_busy_gauge_mean(const struct kwhy_busy_gauge *gauge);

#endif
