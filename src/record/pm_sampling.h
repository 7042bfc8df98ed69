/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_PM_SAMPLING_H
#define KWHY_RECORD_PM_SAMPLING_H

#include "base/status.h"
#include "model/perf_counter.h"
#include "vendor/cupti_pm.h"

#include <stdbool.h>

/*
 * Samples of the performance counters of one device, by CUPTI. The process needs no CUDA context. It must
 * sample only one device, and use CUPTI for nothing else, because CUPTI's state is one for the whole process.
 */
struct kwhy_pm_sampling {
	struct kwhy_cupti cupti;
	struct kwhy_cupti_pm_calls calls;
	size_t device; /* CUDA's number of the device */
	kwhy_cupti_host host;
	kwhy_cupti_pm sampling; /* CUPTI's handle of the sampling; NULL: it is not enabled */
	uint8_t *availability, *config, *data,
		*blank; /* blank: initial contents of `data`, without samples */
	size_t config_bytes, data_bytes;
	bool is_started;
};

/* Length of a sample, and time from the start of one to the start of the next, in ns. */
#define KWHY_PM_INTERVAL_NS 200000

/*
 * Opens CUPTI and prepares the sampling of the device with this UUID, in NVML's form. KWHY_E_UNSUPPORTED: it
 * cannot be sampled; the message says why and what to do. End with kwhy_pm_sampling_close(), also after a
 * failure. Zero-initialise it first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pm_sampling_open(
	struct kwhy_pm_sampling *pm, const char *uuid, struct kwhy_error *error);

/*
 * Starts to sample, which takes 0.1 to 0.3 s. From this call until the end of kwhy_pm_sampling_release() the
 * device draws some 30 W more. `most_ns` is the longest time for which it will sample; INT64_MAX: no limit.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pm_sampling_start(
	struct kwhy_pm_sampling *pm, int64_t most_ns, struct kwhy_error *error);

/* Stops sampling. Samples that were taken before can still be read. */
KWHY_MUST_USE enum kwhy_status kwhy_pm_sampling_stop(struct kwhy_pm_sampling *pm, struct kwhy_error *error);

/* Disables the counters, after kwhy_pm_sampling_stop(). Then the sampling can be started again. */
KWHY_MUST_USE enum kwhy_status kwhy_pm_sampling_release(
	struct kwhy_pm_sampling *pm, struct kwhy_error *error);

/* Function that receives a sample. sample->start_ns is on CLOCK_MONOTONIC; sample->device is not set (0). */
typedef void kwhy_pm_sampling_seen(void *context, const struct kwhy_perf_sample *sample);

/*
 * Passes the samples since the last call to `seen`, at most 500. *out_more: there are more at once. Call it
 * every 10 ms or so: if the buffer for undecoded samples overflows, the call fails, and there are no more
 * samples.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pm_sampling_read(struct kwhy_pm_sampling *pm, kwhy_pm_sampling_seen *seen,
	void *context, bool *out_more, struct kwhy_error *error);

void kwhy_pm_sampling_close(struct kwhy_pm_sampling *pm);

#endif
