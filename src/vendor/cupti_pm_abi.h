/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_PM_ABI_H
#define KWHY_VENDOR_CUPTI_PM_ABI_H

#include "vendor/cupti_abi.h"

/*
 * The part of CUPTI that samples performance counters of a device at a fixed interval ("PM sampling"),
 * declared by hand from the documentation of CUPTI 13.0. The calls exist since CUDA 12.6. Each takes one
 * struct, whose first member is the number of bytes up to and with its last known member, by which CUPTI
 * recognises its version. The test unit_vendor_cupti_layout compares the declarations with the toolkit's
 * headers where they are installed.
 */

/* Further results of calls, which tell why counters cannot be sampled. */
enum {
	KWHY_CUPTI_OUT_OF_MEMORY = 8, /* of a decoding: the device's buffer of samples overflowed */
	KWHY_CUPTI_INVALID_METRIC_NAME = 17,
	KWHY_CUPTI_HARDWARE_BUSY = 26,
	KWHY_CUPTI_NOT_SUPPORTED = 27,
	KWHY_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	KWHY_CUPTI_VIRTUAL_PRIVILEGES = 40,
	KWHY_CUPTI_MIG_NOT_SUPPORTED = 43
};

enum { KWHY_CUPTI_PROFILER_PM_SAMPLING = 1 };
enum { KWHY_CUPTI_PM_TRIGGER_TIME = 1 }; /* the interval is in nanoseconds */
enum { KWHY_CUPTI_PM_KEEP_OLDEST = 0 };	 /* a full buffer of the device is an error */
enum { KWHY_CUPTI_PM_STOPPED_BY_FULL_IMAGE = 1 };

/* The first member of a struct for a call, by the last member. */
#define KWHY_CUPTI_PM_BYTES(type, last) (offsetof(struct type, last) + sizeof(((struct type *)NULL)->last))

typedef void *kwhy_cupti_host; /* knows metrics; needs no device */
typedef void *kwhy_cupti_pm;   /* sampling of one device */

struct kwhy_cupti_pm_initialize {
	size_t bytes;
	void *zero;
};

struct kwhy_cupti_pm_chip {
	size_t bytes;
	void *zero;
	size_t device; /* CUDA's number of the device */
	const char *out_name;
};

struct kwhy_cupti_pm_availability {
	size_t bytes;
	void *zero;
	size_t device;
	size_t image_bytes; /* set by the call if `image` is NULL */
	uint8_t *image;
};

struct kwhy_cupti_pm_host_open {
	size_t bytes;
	void *zero;
	int profiler; /* KWHY_CUPTI_PROFILER_PM_SAMPLING */
	const char *chip;
	const uint8_t *availability;
	kwhy_cupti_host out_host;
};

struct kwhy_cupti_pm_host_close {
	size_t bytes;
	void *zero;
	kwhy_cupti_host host;
};

struct kwhy_cupti_pm_metrics {
	size_t bytes;
	void *zero;
	kwhy_cupti_host host;
	const char **names;
	size_t count;
};

struct kwhy_cupti_pm_image_size {
	size_t bytes;
	void *zero;
	kwhy_cupti_host host;
	size_t out_image_bytes;
};

struct kwhy_cupti_pm_image {
	size_t bytes;
	void *zero;
	kwhy_cupti_host host;
	size_t image_bytes;
	uint8_t *image;
};

struct kwhy_cupti_pm_values {
	size_t bytes;
	void *zero;
	kwhy_cupti_host host;
	const uint8_t *data;
	size_t data_bytes;
	size_t sample; /* index of the sample in the data */
	const char **names;
	size_t count;
	double *out_values;
};

struct kwhy_cupti_pm_enable {
	size_t bytes;
	void *zero;
	size_t device;
	kwhy_cupti_pm out_sampling;
};

struct kwhy_cupti_pm_config {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
	size_t image_bytes;
	const uint8_t *image;
	size_t buffer_bytes; /* the device's buffer of samples that are not decoded yet */
	uint64_t interval_ns;
	int trigger; /* KWHY_CUPTI_PM_TRIGGER_TIME */
	int append;  /* KWHY_CUPTI_PM_KEEP_OLDEST */
};

struct kwhy_cupti_pm_data_size {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
	const char **names;
	size_t count;
	uint32_t most_samples;
	size_t out_data_bytes;
};

struct kwhy_cupti_pm_data {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
	size_t data_bytes;
	uint8_t *data;
};

/* The argument of the calls that start, stop and disable sampling. */
struct kwhy_cupti_pm_switch {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
};

struct kwhy_cupti_pm_decode {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
	uint8_t *data;
	size_t data_bytes;
	int out_stopped_by;
	uint8_t out_overflow;
};

struct kwhy_cupti_pm_info {
	size_t bytes;
	void *zero;
	const uint8_t *data;
	size_t data_bytes;
	size_t out_space, out_filled, out_complete; /* numbers of samples */
};

struct kwhy_cupti_pm_sample {
	size_t bytes;
	void *zero;
	kwhy_cupti_pm sampling;
	const uint8_t *data;
	size_t data_bytes;
	size_t sample;
	uint64_t out_start_ns, out_end_ns; /* on the clock that kwhy registered */
};

enum kwhy_cupti_result cuptiProfilerInitialize(struct kwhy_cupti_pm_initialize *ask);
enum kwhy_cupti_result cuptiDeviceGetChipName(struct kwhy_cupti_pm_chip *ask);
enum kwhy_cupti_result cuptiPmSamplingGetCounterAvailability(struct kwhy_cupti_pm_availability *ask);
enum kwhy_cupti_result cuptiProfilerHostInitialize(struct kwhy_cupti_pm_host_open *ask);
enum kwhy_cupti_result cuptiProfilerHostDeinitialize(struct kwhy_cupti_pm_host_close *ask);
enum kwhy_cupti_result cuptiProfilerHostConfigAddMetrics(struct kwhy_cupti_pm_metrics *ask);
enum kwhy_cupti_result cuptiProfilerHostGetConfigImageSize(struct kwhy_cupti_pm_image_size *ask);
enum kwhy_cupti_result cuptiProfilerHostGetConfigImage(struct kwhy_cupti_pm_image *ask);
enum kwhy_cupti_result cuptiProfilerHostEvaluateToGpuValues(struct kwhy_cupti_pm_values *ask);
enum kwhy_cupti_result cuptiPmSamplingEnable(struct kwhy_cupti_pm_enable *ask);
enum kwhy_cupti_result cuptiPmSamplingSetConfig(struct kwhy_cupti_pm_config *ask);
enum kwhy_cupti_result cuptiPmSamplingGetCounterDataSize(struct kwhy_cupti_pm_data_size *ask);
enum kwhy_cupti_result cuptiPmSamplingCounterDataImageInitialize(struct kwhy_cupti_pm_data *ask);
enum kwhy_cupti_result cuptiPmSamplingStart(struct kwhy_cupti_pm_switch *ask);
enum kwhy_cupti_result cuptiPmSamplingStop(struct kwhy_cupti_pm_switch *ask);
enum kwhy_cupti_result cuptiPmSamplingDisable(struct kwhy_cupti_pm_switch *ask);
enum kwhy_cupti_result cuptiPmSamplingDecodeData(struct kwhy_cupti_pm_decode *ask);
enum kwhy_cupti_result cuptiPmSamplingGetCounterDataInfo(struct kwhy_cupti_pm_info *ask);
enum kwhy_cupti_result cuptiPmSamplingCounterDataGetSampleInfo(struct kwhy_cupti_pm_sample *ask);

#endif
