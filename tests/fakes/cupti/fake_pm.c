/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM sampling of the fake CUPTI: every interval since the start gives a sample, in which counter number n of
 * the configuration, from 1, has counted 100 n. The sizes of arguments are those of CUPTI 13.0.
 *
 * The environment variable KWHY_FAKE_CUPTI_PM selects a fault:
 *
 *   privileges    the user may not sample counters
 *   metrics       the chip has other counters
 *   overflow      the device's buffer overflows 100 ms after the start
 *   crash         decoding crashes 100 ms after the start
 *   crash-early   preparing crashes
 *   hang          decoding does not return 100 ms after the start
 *   busy          another profiler uses the counters
 *   start         starting fails
 *   stop          stopping fails
 *   disable       disabling fails
 *
 * With KWHY_FAKE_CUPTI_PM_FROM=N the fault begins when the counters are enabled for the N-th time.
 */
#include "fakes/cupti/fake_cupti.h"

#include "vendor/cupti_pm_abi.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INVALID = 1, IMAGE_BYTES = 64, COUNTERS = 8, FAULT_NS = 100000000 };

/* Contents of a counter data image. `space`: the number of samples that it can hold. */
struct image {
	uint64_t magic, count, space;
	struct {
		uint64_t start_ns, end_ns;
	} samples[];
};
#define MAGIC UINT64_C(0x6661)

static uint64_t start_ns, next_ns, end_ns, interval_ns;
static bool is_enabled, runs;
static int enabled_count;

static bool asked_for(const char *what)
{
	const char *scenario = getenv("KWHY_FAKE_CUPTI_PM"), *from = getenv("KWHY_FAKE_CUPTI_PM_FROM");

	return scenario && strcmp(scenario, what) == 0 && (!from || enabled_count >= atoi(from));
}

/*
 * Ends the process by SIGSEGV, as a fault of CUPTI does. A sanitizer's handler is removed first, as it would
 * report the signal as an error of kwhy.
 */
static void crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static enum kwhy_cupti_result of(bool is_right)
{
	return is_right ? KWHY_CUPTI_SUCCESS : (enum kwhy_cupti_result)INVALID;
}

enum kwhy_cupti_result cuptiProfilerInitialize(struct kwhy_cupti_pm_initialize *ask)
{
	return of(ask->bytes == 16 && !ask->zero);
}

enum kwhy_cupti_result cuptiDeviceGetChipName(struct kwhy_cupti_pm_chip *ask)
{
	ask->out_name = "GH100";
	return of(ask->bytes == 32);
}

enum kwhy_cupti_result cuptiPmSamplingGetCounterAvailability(struct kwhy_cupti_pm_availability *ask)
{
	if (!ask->image)
		ask->image_bytes = IMAGE_BYTES;
	else
		memset(ask->image, 1, ask->image_bytes);
	return of(ask->bytes == 40);
}

enum kwhy_cupti_result cuptiProfilerHostInitialize(struct kwhy_cupti_pm_host_open *ask)
{
	ask->out_host = (kwhy_cupti_host)&interval_ns;
	return of(ask->bytes == 48 && ask->profiler == 1 && !strcmp(ask->chip, "GH100") &&
		ask->availability[0] == 1);
}

enum kwhy_cupti_result cuptiProfilerHostDeinitialize(struct kwhy_cupti_pm_host_close *ask)
{
	return of(ask->bytes == 24 && ask->host);
}

enum kwhy_cupti_result cuptiProfilerHostConfigAddMetrics(struct kwhy_cupti_pm_metrics *ask)
{
	if (asked_for("metrics"))
		return (enum kwhy_cupti_result)KWHY_CUPTI_INVALID_METRIC_NAME;
	return of(
		ask->bytes == 40 && ask->count == COUNTERS && !strcmp(ask->names[5], "dram__bytes_read.sum"));
}

enum kwhy_cupti_result cuptiProfilerHostGetConfigImageSize(struct kwhy_cupti_pm_image_size *ask)
{
	ask->out_image_bytes = IMAGE_BYTES;
	return of(ask->bytes == 32);
}

enum kwhy_cupti_result cuptiProfilerHostGetConfigImage(struct kwhy_cupti_pm_image *ask)
{
	memset(ask->image, 2, ask->image_bytes);
	return of(ask->bytes == 40 && ask->image_bytes == IMAGE_BYTES);
}

enum kwhy_cupti_result cuptiPmSamplingEnable(struct kwhy_cupti_pm_enable *ask)
{
	enabled_count++;
	if (asked_for("crash-early"))
		crash();
	if (asked_for("busy"))
		return (enum kwhy_cupti_result)KWHY_CUPTI_HARDWARE_BUSY;
	if (asked_for("privileges"))
		return (enum kwhy_cupti_result)KWHY_CUPTI_INSUFFICIENT_PRIVILEGES;
	is_enabled = true;
	ask->out_sampling = (kwhy_cupti_pm)&start_ns;
	return of(ask->bytes == 32);
}

enum kwhy_cupti_result cuptiPmSamplingSetConfig(struct kwhy_cupti_pm_config *ask)
{
	interval_ns = ask->interval_ns;
	return of(is_enabled && ask->bytes == 64 && ask->image[0] == 2 && ask->trigger == 1 && !ask->append &&
		ask->buffer_bytes && interval_ns);
}

enum kwhy_cupti_result cuptiPmSamplingGetCounterDataSize(struct kwhy_cupti_pm_data_size *ask)
{
	struct image *image = NULL;

	ask->out_data_bytes = sizeof(*image) + ask->most_samples * sizeof(image->samples[0]);
	return of(ask->bytes == 56 && ask->count == COUNTERS);
}

enum kwhy_cupti_result cuptiPmSamplingCounterDataImageInitialize(struct kwhy_cupti_pm_data *ask)
{
	struct image *image = (void *)ask->data;

	*image = (struct image){
		.magic = MAGIC, .space = (ask->data_bytes - sizeof(*image)) / sizeof(image->samples[0])};
	return of(ask->bytes == 40);
}

enum kwhy_cupti_result cuptiPmSamplingStart(struct kwhy_cupti_pm_switch *ask)
{
	if (asked_for("start"))
		return of(false);
	start_ns = next_ns = fake_cupti_now();
	runs = true;
	return of(ask->bytes == 24 && interval_ns);
}

enum kwhy_cupti_result cuptiPmSamplingStop(struct kwhy_cupti_pm_switch *ask)
{
	if (asked_for("stop"))
		return of(false);
	end_ns = fake_cupti_now();
	runs = false;
	return of(ask->bytes == 24);
}

enum kwhy_cupti_result cuptiPmSamplingDisable(struct kwhy_cupti_pm_switch *ask)
{
	if (asked_for("disable"))
		return of(false);
	is_enabled = false;
	return of(ask->bytes == 24 && !runs);
}

enum kwhy_cupti_result cuptiPmSamplingDecodeData(struct kwhy_cupti_pm_decode *ask)
{
	struct image *image = (void *)ask->data;
	const uint64_t now_ns = runs ? fake_cupti_now() : end_ns;

	if (now_ns > start_ns + FAULT_NS && asked_for("crash"))
		crash();
	while (now_ns > start_ns + FAULT_NS && asked_for("hang"))
		pause();
	if (now_ns > start_ns + FAULT_NS && asked_for("overflow"))
		return (enum kwhy_cupti_result)KWHY_CUPTI_OUT_OF_MEMORY;
	for (; next_ns + interval_ns <= now_ns && image->count < image->space; next_ns += interval_ns) {
		image->samples[image->count].start_ns = next_ns;
		image->samples[image->count++].end_ns = next_ns + interval_ns;
	}
	ask->out_stopped_by = image->count == image->space ? KWHY_CUPTI_PM_STOPPED_BY_FULL_IMAGE : 2;
	return of(ask->bytes == 45 && image->magic == MAGIC);
}

enum kwhy_cupti_result cuptiPmSamplingGetCounterDataInfo(struct kwhy_cupti_pm_info *ask)
{
	const struct image *image = (const void *)ask->data;

	ask->out_space = image->space;
	ask->out_filled = ask->out_complete = image->count;
	return of(ask->bytes == 56);
}

enum kwhy_cupti_result cuptiPmSamplingCounterDataGetSampleInfo(struct kwhy_cupti_pm_sample *ask)
{
	const struct image *image = (const void *)ask->data;

	if (ask->sample >= image->count)
		return of(false);
	ask->out_start_ns = image->samples[ask->sample].start_ns;
	ask->out_end_ns = image->samples[ask->sample].end_ns;
	return of(ask->bytes == 64);
}

enum kwhy_cupti_result cuptiProfilerHostEvaluateToGpuValues(struct kwhy_cupti_pm_values *ask)
{
	for (size_t i = 0; i < ask->count; i++)
		ask->out_values[i] = 100.0 * (double)(i + 1);
	return of(ask->bytes == 72 && ask->count == COUNTERS);
}
