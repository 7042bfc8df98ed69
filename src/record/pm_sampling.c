/* SPDX-License-Identifier: Apache-2.0 */
#include "record/pm_sampling.h"

#include "base/clock.h"
#include "vendor/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * BUFFER_BYTES_PER_S: size of CUPTI's buffer for samples that are not decoded yet, for each second for which
 * this process may not run; an H200 used 50 kB per sample. A larger buffer takes longer to enable.
 * LONGEST_PAUSE_NS and SHORTEST_PAUSE_NS: limits of that time. IMAGE_SAMPLES: largest number of samples that
 * one call decodes; the time of the call grows with it, even if there are few samples.
 */
#define BUFFER_BYTES_PER_S (UINT64_C(256) << 20)
#define LONGEST_PAUSE_NS INT64_C(1000000000)
#define SHORTEST_PAUSE_NS INT64_C(250000000)
enum { IMAGE_SAMPLES = 500, UUID_BYTES = 48 };

/*
 * Declares `name`, the parameter struct of a call of CUPTI. Its size member is the size up to and including
 * the member `last`, as CUPTI defines it; the given members are set.
 */
#define ASK(type, last, name, ...) \
	struct kwhy_cupti_pm_##type name = {KWHY_CUPTI_PM_BYTES(kwhy_cupti_pm_##type, last), __VA_ARGS__}

/* The names by which CUPTI knows the counters. CUPTI takes them as an array that it does not change. */
static const char *metrics[] = {
#define X(counter, name, metric) metric,
#include "model/perf_counters.def"
#undef X
};

static uint64_t clock_ns(void)
{
	return (uint64_t)kwhy_clock_mono_ns();
}

/* What the user can do about an error of CUPTI: the end of a message, after "; ". */
static const char *cure_of(enum kwhy_cupti_result result)
{
	switch ((int)result) {
	case KWHY_CUPTI_INSUFFICIENT_PRIVILEGES:
	case KWHY_CUPTI_VIRTUAL_PRIVILEGES:
		return "run kwhy as root, or let the driver's module allow it to all users "
		       "(NVreg_RestrictProfilingToAdminUsers=0)";
	case KWHY_CUPTI_INVALID_METRIC_NAME:
		return "kwhy knows the names of these counters on Hopper (H100, H200) only";
	case KWHY_CUPTI_HARDWARE_BUSY:
		return "end the other profiler of this GPU, or DCGM's profiling metrics";
	case KWHY_CUPTI_MIG_NOT_SUPPORTED:
		return "switch MIG off";
	case KWHY_CUPTI_OUT_OF_MEMORY:
		return "samples came faster than this machine's processors decode them; leave a core free";
	default:
		return "record without --counters";
	}
}

static enum kwhy_status check(const struct kwhy_pm_sampling *pm, enum kwhy_cupti_result result,
	const char *what, struct kwhy_error *error)
{
	if (!result)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "CUPTI cannot %s: %s; %s", what,
		kwhy_cupti_words(&pm->cupti, result), cure_of(result));
}

/*
 * Writes the UUID of CUDA's device `index` as NVML writes it ("GPU-..."). False: the driver does not report
 * it.
 */
static bool read_uuid(const struct kwhy_cuda *cuda, int index, char out[UUID_BYTES])
{
	__typeof__(cuDeviceGetUuid) *ask = cuda->cuDeviceGetUuid ? cuda->cuDeviceGetUuid
								 : cuda->cuDeviceGetUuid_v2;
	struct kwhy_cuda_uuid uuid;
	kwhy_cuda_device device;
	int at;

	if (!ask || cuda->cuDeviceGet(&device, index) || ask(&uuid, device))
		return false;
	at = sprintf(out, "GPU");
	for (int i = 0; i < 16; i++)
		at += sprintf(out + at, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			uuid.bytes[i]);
	return true;
}

/*
 * Finds the number that CUDA gives the device with this UUID; it depends on CUDA_VISIBLE_DEVICES.
 * KWHY_E_UNSUPPORTED: CUDA does not show it.
 */
static enum kwhy_status find_device(const char *uuid, size_t *out, struct kwhy_error *error)
{
	struct kwhy_cuda cuda;
	char text[UUID_BYTES];
	int count = 0;
	enum kwhy_status status = kwhy_cuda_open(&cuda, error);

	if (status)
		return status;
	if (!cuda.cuDeviceGetCount || cuda.cuDeviceGetCount(&count))
		count = 0;
	for (int i = 0; i < count; i++)
		if (read_uuid(&cuda, i, text) && !strcmp(text, uuid)) {
			*out = (size_t)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"CUDA does not show this GPU; name it in CUDA_VISIBLE_DEVICES, or leave it out of --device");
}

/* Opens CUPTI and makes it use CLOCK_MONOTONIC for the times of samples. */
static enum kwhy_status open_cupti(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_cupti_open(&pm->cupti, secure_getenv("KWHY_CUPTI"), error);
	ASK(initialize, zero, initialize, NULL);

	if (!status)
		status = kwhy_cupti_pm_find(&pm->cupti, &pm->calls, error);
	if (status)
		return status;
	if (!pm->cupti.cuptiActivityRegisterTimestampCallback)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"this CUPTI takes no clock; install a newer one, or name it in KWHY_CUPTI");
	status = check(pm, pm->cupti.cuptiActivityRegisterTimestampCallback(clock_ns), "take a clock", error);
	return status
		? status
		: check(pm, pm->calls.cuptiProfilerInitialize(&initialize), "start its profiler", error);
}

static enum kwhy_status read_availability(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	static const char what[] = "tell which counters the GPU has";
	ASK(availability, image, ask, .device = pm->device);
	enum kwhy_status status = check(
		pm, pm->calls.cuptiPmSamplingGetCounterAvailability(&ask), what, error);

	if (status)
		return status;
	pm->availability = ask.image = calloc(1, ask.image_bytes);
	if (!ask.image)
		return kwhy_fail_memory(error, "the performance counters");
	return check(pm, pm->calls.cuptiPmSamplingGetCounterAvailability(&ask), what, error);
}

static enum kwhy_status open_host(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	ASK(chip, out_name, chip, .device = pm->device);
	ASK(host_open, out_host, host, .profiler = KWHY_CUPTI_PROFILER_PM_SAMPLING);
	enum kwhy_status status = check(
		pm, pm->calls.cuptiDeviceGetChipName(&chip), "tell the GPU's chip", error);

	if (!status)
		status = read_availability(pm, error);
	host.chip = chip.out_name;
	host.availability = pm->availability;
	if (!status)
		status = check(pm, pm->calls.cuptiProfilerHostInitialize(&host), "prepare for the GPU's chip",
			error);
	pm->host = host.out_host;
	return status;
}

/* Makes pm->config, CUPTI's binary configuration for sampling these metrics on the device. */
static enum kwhy_status choose_metrics(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	ASK(metrics, count, ask, .host = pm->host, .names = metrics, .count = KWHY_PERF_COUNTER_COUNT);
	ASK(image_size, out_image_bytes, size, .host = pm->host);
	ASK(image, image, image, .host = pm->host);
	enum kwhy_status status = check(pm, pm->calls.cuptiProfilerHostConfigAddMetrics(&ask),
		"sample these counters on this GPU", error);

	if (!status)
		status = check(pm, pm->calls.cuptiProfilerHostGetConfigImageSize(&size),
			"combine these counters on this GPU", error);
	if (status)
		return status;
	pm->config = image.image = calloc(1, size.out_image_bytes);
	pm->config_bytes = image.image_bytes = size.out_image_bytes;
	if (!pm->config)
		return kwhy_fail_memory(error, "the performance counters");
	return check(pm, pm->calls.cuptiProfilerHostGetConfigImage(&image),
		"combine these counters on this GPU", error);
}

/* Allocates pm->data, into which up to IMAGE_SAMPLES samples are decoded, and initialises it. */
static enum kwhy_status make_data(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	static const char what[] = "make room for samples of counters";
	ASK(data_size, out_data_bytes, size, .sampling = pm->sampling, .names = metrics,
		.count = KWHY_PERF_COUNTER_COUNT, .most_samples = IMAGE_SAMPLES);
	ASK(data, data, data, .sampling = pm->sampling);
	enum kwhy_status status = check(pm, pm->calls.cuptiPmSamplingGetCounterDataSize(&size), what, error);

	if (status)
		return status;
	pm->data_bytes = data.data_bytes = size.out_data_bytes;
	pm->data = data.data = calloc(1, pm->data_bytes);
	pm->blank = malloc(pm->data_bytes);
	if (!pm->data || !pm->blank)
		return kwhy_fail_memory(error, "samples of performance counters");
	status = check(pm, pm->calls.cuptiPmSamplingCounterDataImageInitialize(&data), what, error);
	if (!status)
		memcpy(pm->blank, pm->data, pm->data_bytes);
	return status;
}

static uint64_t buffer_bytes(int64_t most_ns)
{
	if (most_ns > LONGEST_PAUSE_NS)
		most_ns = LONGEST_PAUSE_NS;
	if (most_ns < SHORTEST_PAUSE_NS)
		most_ns = SHORTEST_PAUSE_NS;
	return BUFFER_BYTES_PER_S * (uint64_t)most_ns / 1000000000;
}

static enum kwhy_status enable(struct kwhy_pm_sampling *pm, int64_t most_ns, struct kwhy_error *error)
{
	ASK(enable, out_sampling, enable, .device = pm->device);
	ASK(config, append, config, .image_bytes = pm->config_bytes, .image = pm->config,
		.buffer_bytes = buffer_bytes(most_ns), .interval_ns = KWHY_PM_INTERVAL_NS,
		.trigger = KWHY_CUPTI_PM_TRIGGER_TIME, .append = KWHY_CUPTI_PM_KEEP_OLDEST);
	enum kwhy_status status = check(
		pm, pm->calls.cuptiPmSamplingEnable(&enable), "sample counters of this GPU", error);

	if (status)
		return status;
	config.sampling = pm->sampling = enable.out_sampling;
	status = check(
		pm, pm->calls.cuptiPmSamplingSetConfig(&config), "sample these counters at once", error);
	return status || pm->data ? status : make_data(pm, error);
}

enum kwhy_status kwhy_pm_sampling_open(
	struct kwhy_pm_sampling *pm, const char *uuid, struct kwhy_error *error)
{
	enum kwhy_status status = find_device(uuid, &pm->device, error);

	if (!status)
		status = open_cupti(pm, error);
	if (!status)
		status = open_host(pm, error);
	if (!status)
		status = choose_metrics(pm, error);
	return status;
}

enum kwhy_status kwhy_pm_sampling_start(
	struct kwhy_pm_sampling *pm, int64_t most_ns, struct kwhy_error *error)
{
	ASK(switch, sampling, ask, .zero = NULL);
	enum kwhy_status status = enable(pm, most_ns, error);

	if (status)
		return status;
	ask.sampling = pm->sampling;
	status = check(pm, pm->calls.cuptiPmSamplingStart(&ask), "start to sample counters", error);
	pm->is_started = !status;
	return status;
}

enum kwhy_status kwhy_pm_sampling_stop(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	ASK(switch, sampling, ask, .sampling = pm->sampling);

	pm->is_started = false;
	return check(pm, pm->calls.cuptiPmSamplingStop(&ask), "stop to sample counters", error);
}

enum kwhy_status kwhy_pm_sampling_release(struct kwhy_pm_sampling *pm, struct kwhy_error *error)
{
	ASK(switch, sampling, ask, .sampling = pm->sampling);

	pm->sampling = NULL;
	return check(pm, pm->calls.cuptiPmSamplingDisable(&ask), "release the GPU's counters", error);
}

/*
 * Reads sample number `index` of the decoded ones. *out_valid false: its times are impossible, since it has
 * no length or one above 4 s.
 */
static enum kwhy_status read_sample(struct kwhy_pm_sampling *pm, size_t index, struct kwhy_perf_sample *out,
	bool *out_valid, struct kwhy_error *error)
{
	static const char what[] = "read a sample of counters";
	double values[KWHY_PERF_COUNTER_COUNT] = {0};
	ASK(sample, out_end_ns, sample, .sampling = pm->sampling, .data = pm->data,
		.data_bytes = pm->data_bytes, .sample = index);
	ASK(values, out_values, ask, .host = pm->host, .data = pm->data, .data_bytes = pm->data_bytes,
		.sample = index, .names = metrics, .count = KWHY_PERF_COUNTER_COUNT, .out_values = values);
	enum kwhy_status status = check(
		pm, pm->calls.cuptiPmSamplingCounterDataGetSampleInfo(&sample), what, error);

	if (!status)
		status = check(pm, pm->calls.cuptiProfilerHostEvaluateToGpuValues(&ask), what, error);
	*out_valid = sample.out_end_ns > sample.out_start_ns &&
		sample.out_end_ns - sample.out_start_ns <= UINT32_MAX;
	*out = (struct kwhy_perf_sample){.start_ns = (int64_t)sample.out_start_ns,
		.length_ns = (uint32_t)(sample.out_end_ns - sample.out_start_ns)};
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		out->counts[i] = (float)values[i];
	return status;
}

enum kwhy_status kwhy_pm_sampling_read(struct kwhy_pm_sampling *pm, kwhy_pm_sampling_seen *seen,
	void *context, bool *out_more, struct kwhy_error *error)
{
	static const char what[] = "decode samples of counters";
	ASK(decode, out_overflow, decode, .sampling = pm->sampling, .data = pm->data,
		.data_bytes = pm->data_bytes);
	ASK(info, out_complete, info, .data = pm->data, .data_bytes = pm->data_bytes);
	struct kwhy_perf_sample sample;
	bool is_valid;
	enum kwhy_status status = check(pm, pm->calls.cuptiPmSamplingDecodeData(&decode), what, error);

	if (!status)
		status = check(pm, pm->calls.cuptiPmSamplingGetCounterDataInfo(&info), what, error);
	for (size_t i = 0; !status && i < info.out_complete; i++) {
		status = read_sample(pm, i, &sample, &is_valid, error);
		if (!status && is_valid)
			seen(context, &sample);
	}
	memcpy(pm->data, pm->blank, pm->data_bytes);
	*out_more = decode.out_stopped_by == KWHY_CUPTI_PM_STOPPED_BY_FULL_IMAGE;
	return status;
}

void kwhy_pm_sampling_close(struct kwhy_pm_sampling *pm)
{
	ASK(switch, sampling, ask, .sampling = pm->sampling);
	ASK(host_close, host, host, .host = pm->host);

	if (pm->is_started)
		pm->calls.cuptiPmSamplingStop(&ask);
	if (pm->sampling)
		pm->calls.cuptiPmSamplingDisable(&ask);
	if (pm->host)
		pm->calls.cuptiProfilerHostDeinitialize(&host);
	free(pm->availability);
	free(pm->config);
	free(pm->data);
	free(pm->blank);
	*pm = (struct kwhy_pm_sampling){0};
}
