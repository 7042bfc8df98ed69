/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/load.h"

#include "base/clock.h"
#include "gpu/kernels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 256, CLOCK_READS = 40, SHIFTS = 8, COPY_BYTES = 256 << 20 };

/*
 * Relation of the device's clock to the host's CLOCK_MONOTONIC: at the device time device_ns, host time =
 * device time + offset_ns.
 */
struct gpu_clock {
	int64_t device_ns, offset_ns;
};

struct kwhy_loads {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *burns[KWHY_BURN_COUNT], *fill, *now, *nothing;
	uint32_t blocks[KWHY_BURN_COUNT];
	/* device addresses: start and end times of the kernels; source and sink of the copy kernel */
	uint64_t stamps, from, to;
	uint64_t *host_stamps; /* copy of `stamps` on the host; 2 * KWHY_LOAD_PULSES_MAX values */
	uint32_t seed;
};

/*
 * The loads, and the number of blocks of their kernels. With random data on all multiprocessors an H200 draws
 * 602 W with FMA, 4 % more when it is hot, and reaches its limit of 700 W with copies. Both powers change
 * during a load, too much to test meters by them, so the FMA and the copy load use fewer blocks than can be
 * resident.
 */
static const struct {
	const char *name, *kernel;
	uint32_t sm_divisor; /* one block on every n-th multiprocessor; 0: as many blocks as can be resident;
				UINT32_MAX: a single block */
} burns[KWHY_BURN_COUNT] = {
	[KWHY_BURN_FMA] = {"fma", "kwhy_burn_fma", 2},
	[KWHY_BURN_COPY] = {"copy", "kwhy_burn_copy", 1},
	[KWHY_BURN_INTEGER] = {"integer", "kwhy_burn_integer", 0},
	[KWHY_BURN_ONE_BLOCK] = {"one-block", "kwhy_burn_fma", UINT32_MAX},
};

const char *kwhy_burn_name(enum kwhy_burn burn)
{
	return burns[burn].name;
}

void kwhy_loads_free(struct kwhy_loads *loads)
{
	const struct kwhy_gpu_ops *ops;

	if (!loads)
		return;
	ops = loads->gpu->ops;
	ops->memory_free(loads->gpu, loads->stamps);
	ops->memory_free(loads->gpu, loads->from);
	ops->memory_free(loads->gpu, loads->to);
	ops->module_free(loads->gpu, loads->module);
	free(loads->host_stamps);
	free(loads);
}

static enum kwhy_status find_blocks(struct kwhy_loads *loads, enum kwhy_burn burn, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = loads->gpu;
	uint32_t sms = gpu->facts.sm_count ? gpu->facts.sm_count : 1, divisor = burns[burn].sm_divisor,
		 resident;
	enum kwhy_status status = gpu->ops->resident_blocks(
		gpu, loads->burns[burn], THREADS, &resident, error);

	if (status)
		return status;
	loads->blocks[burn] = divisor == 0 ? resident * sms : sms > divisor ? sms / divisor : 1;
	return KWHY_OK;
}

static enum kwhy_status find_kernels(struct kwhy_loads *loads, struct kwhy_error *error)
{
	const struct {
		const char *name;
		const struct kwhy_gpu_kernel **place;
	} others[] = {
		{"kwhy_fill", &loads->fill}, {"kwhy_now", &loads->now}, {"kwhy_nothing", &loads->nothing}};
	struct kwhy_gpu *gpu = loads->gpu;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(others) / sizeof(others[0]); i++)
		status = gpu->ops->kernel_find(gpu, loads->module, others[i].name, others[i].place, error);
	for (size_t i = 0; !status && i < KWHY_BURN_COUNT; i++) {
		status = gpu->ops->kernel_find(gpu, loads->module, burns[i].kernel, &loads->burns[i], error);
		if (!status)
			status = find_blocks(loads, (enum kwhy_burn)i, error);
	}
	return status;
}

/* Fills source and sink of the copy kernel with random data. */
static enum kwhy_status fill(struct kwhy_loads *loads, struct kwhy_error *error)
{
	uint64_t places[] = {loads->from, loads->to}, count = COPY_BYTES / sizeof(uint32_t);
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < 2; i++) {
		void *arguments[] = {&loads->seed, &places[i], &count};
		struct kwhy_gpu_launch launch = {.kernel = loads->fill,
			.blocks = 1024,
			.threads_per_block = THREADS,
			.arguments = arguments};

		status = loads->gpu->ops->launch(loads->gpu, &launch, error);
	}
	return status ? status : loads->gpu->ops->synchronize(loads->gpu, NULL, error);
}

static enum kwhy_status prepare(struct kwhy_loads *loads, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = loads->gpu;
	size_t stamp_bytes = 2 * KWHY_LOAD_PULSES_MAX * sizeof(uint64_t);
	const struct kwhy_gpu_source source = {.title = "burn.cu", .text = kwhy_kernels_burn};
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &loads->module, error);

	if (!status)
		status = find_kernels(loads, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, stamp_bytes, &loads->stamps, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, COPY_BYTES, &loads->from, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, COPY_BYTES, &loads->to, error);
	if (status)
		return status;
	loads->host_stamps = calloc(1, stamp_bytes);
	return loads->host_stamps ? fill(loads, error) : kwhy_fail_memory(error, "time stamps");
}

enum kwhy_status kwhy_loads_new(
	struct kwhy_gpu *gpu, uint32_t seed, struct kwhy_loads **out, struct kwhy_error *error)
{
	struct kwhy_loads *loads = calloc(1, sizeof(*loads));
	enum kwhy_status status;

	if (!loads)
		return kwhy_fail_memory(error, "the loads of a self-test");
	loads->gpu = gpu;
	loads->seed = seed;
	status = prepare(loads, error);
	if (status)
		kwhy_loads_free(loads);
	else
		*out = loads;
	return status;
}

static enum kwhy_status copy(
	struct kwhy_loads *loads, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {to, from, bytes};

	return loads->gpu->ops->copy_now(loads->gpu, &copy, error);
}

/*
 * Finds the offset of the host's clock from the device's: a kernel reads the device's clock between two
 * readings of the host's clock. Of several attempts, it takes the one with the shortest time between these
 * two readings.
 */
static enum kwhy_status relate(struct kwhy_loads *loads, struct gpu_clock *out, struct kwhy_error *error)
{
	void *arguments[] = {&loads->stamps};
	struct kwhy_gpu_launch launch = {
		.kernel = loads->now, .blocks = 1, .threads_per_block = 1, .arguments = arguments};
	struct kwhy_gpu *gpu = loads->gpu;
	enum kwhy_status status = KWHY_OK;
	int64_t closest_ns = INT64_MAX;

	for (int i = 0; !status && i < CLOCK_READS; i++) {
		int64_t before_ns = kwhy_clock_mono_ns(), after_ns;
		uint64_t device_ns = 0;

		status = gpu->ops->launch(gpu, &launch, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, NULL, error);
		after_ns = kwhy_clock_mono_ns();
		if (!status)
			status = copy(
				loads, kwhy_gpu_address(&device_ns), loads->stamps, sizeof(device_ns), error);
		if (after_ns - before_ns >= closest_ns)
			continue;
		closest_ns = after_ns - before_ns;
		out->device_ns = (int64_t)device_ns;
		out->offset_ns = before_ns + closest_ns / 2 - (int64_t)device_ns;
	}
	return status;
}

/*
 * Converts a time of the device's clock to a time of the host's clock. The offset is interpolated linearly
 * between two measured relations.
 */
static int64_t host_ns(const struct gpu_clock *first, const struct gpu_clock *last, int64_t device_ns)
{
	double span = (double)(last->device_ns - first->device_ns),
	       share = span > 0 ? (double)(device_ns - first->device_ns) / span : 0;

	return device_ns + first->offset_ns + (int64_t)(share * (double)(last->offset_ns - first->offset_ns));
}

static void sleep_until(int64_t mono_ns)
{
	struct timespec time = {mono_ns / 1000000000, mono_ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

static enum kwhy_status launch_pulse(
	struct kwhy_loads *loads, const struct kwhy_load *load, uint32_t which, struct kwhy_error *error)
{
	uint64_t length_ns = (uint64_t)load->on_ns, words = COPY_BYTES / 16,
		 stamps = loads->stamps + which * 2 * sizeof(uint64_t);
	void *copying[] = {&length_ns, &loads->from, &loads->to, &words, &stamps};
	void *counting[] = {&length_ns, &loads->seed, &loads->from, &stamps};
	struct kwhy_gpu_launch launch = {.kernel = loads->burns[load->burn],
		.blocks = loads->blocks[load->burn],
		.threads_per_block = THREADS,
		.arguments = load->burn == KWHY_BURN_COPY ? copying : counting};

	return loads->gpu->ops->launch(loads->gpu, &launch, error);
}

static int64_t shift_of(const struct kwhy_load *load, uint32_t pulse)
{
	return (int64_t)pulse * SHIFTS / load->pulses * load->shift_ns / SHIFTS;
}

static enum kwhy_status launch_all(
	struct kwhy_loads *loads, const struct kwhy_load *load, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns() + 1000000;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < load->pulses; i++) {
		if (load->off_ns)
			sleep_until(start_ns + i * (load->on_ns + load->off_ns) + shift_of(load, i));
		status = launch_pulse(loads, load, i, error);
	}
	return status ? status : loads->gpu->ops->synchronize(loads->gpu, NULL, error);
}

static enum kwhy_status clear_stamps(struct kwhy_loads *loads, size_t bytes, struct kwhy_error *error)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		loads->host_stamps[i] = i % 2 ? 0 : UINT64_MAX;
	return copy(loads, loads->stamps, kwhy_gpu_address(loads->host_stamps), bytes, error);
}

enum kwhy_status kwhy_load_run(struct kwhy_loads *loads, const struct kwhy_load *load,
	struct kwhy_pulse *out_pulses, struct kwhy_error *error)
{
	size_t bytes = load->pulses * 2 * sizeof(uint64_t);
	struct gpu_clock first, last;
	enum kwhy_status status = relate(loads, &first, error);

	if (!status)
		status = clear_stamps(loads, bytes, error);
	if (!status)
		status = launch_all(loads, load, error);
	if (!status)
		status = copy(loads, kwhy_gpu_address(loads->host_stamps), loads->stamps, bytes, error);
	if (!status)
		status = relate(loads, &last, error);
	for (uint32_t i = 0; !status && i < load->pulses; i++) {
		out_pulses[i].start_ns = host_ns(&first, &last, (int64_t)loads->host_stamps[2 * i]);
		out_pulses[i].end_ns = host_ns(&first, &last, (int64_t)loads->host_stamps[2 * i + 1]);
	}
	return status;
}

const struct kwhy_gpu_kernel *kwhy_loads_nothing(const struct kwhy_loads *loads)
{
	return loads->nothing;
}

uint64_t kwhy_loads_memory(const struct kwhy_loads *loads, size_t *out_bytes)
{
	*out_bytes = COPY_BYTES;
	return loads->to;
}
