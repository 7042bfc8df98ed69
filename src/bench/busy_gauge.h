/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_BUSY_GAUGE_H
#define KWHY_BENCH_BUSY_GAUGE_H

#include "gpu/gpu.h"
#include "vendor/nvml.h"

/*
 * Polls a GPU's utilisation, as NVML reports it, while a benchmark runs. Utilisation is the share of the
 * driver's last sample period (a sixth of a second to a second) in which any kernel ran. Only one thread may
 * use a gauge.
 */
struct kwhy_busy_gauge {
	struct kwhy_nvml nvml;
	kwhy_nvml_handle handle; /* handle of the GPU; NULL: utilisation is unknown */
	char missing[sizeof(((struct kwhy_error *)0)->text)]; /* why utilisation is unknown */
	int64_t asked_ns;
	double sum;
	uint32_t count;
};

/*
 * Opens NVML. If the library or the device is missing, that is no error: `missing` then says why. End with
 * kwhy_busy_gauge_close().
 */
void kwhy_busy_gauge_open(const struct kwhy_gpu *gpu, struct kwhy_busy_gauge *out);
void kwhy_busy_gauge_close(struct kwhy_busy_gauge *gauge);

/*
 * Starts a new mean. During its first second, utilisation is not read, since it may cover work from before
 * the start.
 */
void kwhy_busy_gauge_begin(struct kwhy_busy_gauge *gauge);
/*
 * Reads the utilisation, unless less than 0.1 s has passed since the last reading, or less than 1 s since
 * kwhy_busy_gauge_begin(); the call then does nothing.
 */
void kwhy_busy_gauge_poll(struct kwhy_busy_gauge *gauge);
/* Mean utilisation, from 0 to 1, of the readings after the first second; NAN: there were no readings. */
double kwhy_busy_gauge_mean(const struct kwhy_busy_gauge *gauge);

#endif
