/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/facts.h"

#include "base/boot.h"
#include "base/clock.h"
#include "base/launcher.h"
#include "vendor/cuda.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 2048, NOTE_COMPLETENESS = 0 };

static uint32_t number_of(int64_t number)
{
	return number < 0 ? KWHY_WIRE_UNKNOWN_U32 : (uint32_t)number;
}

struct kwhy_inject_ranks kwhy_inject_ranks(char *(*get)(const char *name))
{
	const struct kwhy_launcher_ranks ranks = kwhy_launcher_ranks(get);

	return (struct kwhy_inject_ranks){
		number_of(ranks.rank), number_of(ranks.world_size), number_of(ranks.local_rank)};
}

void kwhy_inject_host(char *out, size_t space)
{
	if (gethostname(out, space) || !out[0])
		snprintf(out, space, "host");
	out[space - 1] = '\0';
}

/*
 * Writes the process's command line to `out`, with spaces between its words, truncated to COMMAND_BYTES - 1
 * bytes; "": unknown.
 */
static void read_command(char out[COMMAND_BYTES])
{
	const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, out, COMMAND_BYTES - 1);

	if (file >= 0)
		close(file);
	if (length < 0)
		length = 0;
	while (length && !out[length - 1])
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (!out[i])
			out[i] = ' ';
	out[length] = '\0';
}

void kwhy_inject_fact_process(
	struct kwhy_inject_labels *labels, char *(*get)(const char *name), int64_t now_mono_ns)
{
	const struct kwhy_inject_ranks ranks = kwhy_inject_ranks(get);
	struct kwhy_wire_process row = {.pid = getpid(),
		.parent_pid = getppid(),
		.start_mono_ns = now_mono_ns,
		.rank = ranks.rank,
		.world_size = ranks.world_size,
		.local_rank_from_1 = ranks.local_rank + 1};
	struct kwhy_wire_process *out;
	char host[256], boot[KWHY_BOOT_BYTES], command[COMMAND_BYTES];

	kwhy_inject_host(host, sizeof(host));
	kwhy_boot_read(NULL, boot);
	read_command(command);
	row.host = kwhy_inject_label(labels, host);
	row.boot = kwhy_inject_label(labels, boot);
	row.command = kwhy_inject_label(labels, command);
	row.producer = kwhy_inject_label(labels, "libkwhy-inject " KWHY_VERSION);
	out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_PROCESS);
	if (out)
		*out = row;
}

void kwhy_inject_fact_clock(struct kwhy_block_writer *writer)
{
	const struct kwhy_clock_relation now = kwhy_clock_relate();
	struct kwhy_wire_clock *out = kwhy_block_writer_add(writer, KWHY_WIRE_CLOCK);

	if (out)
		*out = (struct kwhy_wire_clock){now.mono_ns, now.offset_ns, now.width_ns};
}

void kwhy_inject_fact_note(struct kwhy_inject_labels *labels, const char *id, const char *text)
{
	const struct kwhy_wire_note row = {.kind = NOTE_COMPLETENESS,
		.id = kwhy_inject_label(labels, id),
		.text = kwhy_inject_label(labels, text)};
	struct kwhy_wire_note *out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_NOTE);

	if (out)
		*out = row;
}

enum kwhy_wire_choice kwhy_inject_choice(const struct kwhy_inject_options *options)
{
	if (options->share_ppm)
		return KWHY_WIRE_CHOICE_DUTY;
	if (options->range[0])
		return KWHY_WIRE_CHOICE_RANGE;
	return options->from_unix_ns || options->until_unix_ns ? KWHY_WIRE_CHOICE_TIME : KWHY_WIRE_CHOICE_ALL;
}

static int64_t mono_of(const struct kwhy_clock_relation *relation, int64_t unix_ns, int64_t otherwise)
{
	return unix_ns ? kwhy_clock_mono_of_unix(relation, unix_ns) : otherwise;
}

struct kwhy_inject_plan kwhy_inject_plan_of(
	const struct kwhy_inject_options *options, const struct kwhy_clock_relation *relation)
{
	return (struct kwhy_inject_plan){.from_mono_ns = mono_of(relation, options->from_unix_ns, INT64_MIN),
		.until_mono_ns = mono_of(relation, options->until_unix_ns, INT64_MAX),
		.origin_mono_ns = mono_of(relation, options->origin_unix_ns, relation->mono_ns),
		.window_ns = options->window_ns,
		.share_ratio = options->share_ppm ? options->share_ppm / 1e6 : (double)NAN,
		.seed = options->seed};
}

void kwhy_inject_fact_selection(struct kwhy_inject_labels *labels, const struct kwhy_inject_options *options,
	int64_t start_mono_ns, int64_t end_mono_ns)
{
	const struct kwhy_wire_selection row = {.start_mono_ns = start_mono_ns,
		.end_mono_ns = end_mono_ns,
		.choice = kwhy_inject_choice(options),
		.range = kwhy_inject_label(labels, options->range),
		.share_ratio = options->share_ppm ? options->share_ppm / 1e6 : (double)NAN,
		.window_ns = options->share_ppm ? options->window_ns : 0,
		.seed = options->seed};
	struct kwhy_wire_selection *out = NULL;

	if (row.choice != KWHY_WIRE_CHOICE_ALL)
		out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_SELECTION);
	if (out)
		*out = row;
}

void kwhy_inject_fact_coverage(struct kwhy_block_writer *writer, const struct kwhy_inject_window *window,
	enum kwhy_wire_choice choice)
{
	struct kwhy_wire_coverage *out = kwhy_block_writer_add(writer, KWHY_WIRE_COVERAGE);

	if (out)
		*out = (struct kwhy_wire_coverage){.start_mono_ns = window->start_mono_ns,
			.end_mono_ns = window->end_mono_ns,
			.device = -1,
			.choice = choice,
			.since_mono_ns = window->since_mono_ns};
}

void kwhy_inject_fact_cost(
	struct kwhy_block_writer *writer, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count)
{
	struct kwhy_wire_cost *out = kwhy_block_writer_add(writer, KWHY_WIRE_COST);

	if (out)
		*out = (struct kwhy_wire_cost){.spent_ns = spent_ns, .count = count, .kind = kind};
}

static uint32_t attribute_of(const struct kwhy_cuda *cuda, int attribute, kwhy_cuda_device device)
{
	int value = 0;

	if (cuda->cuDeviceGetAttribute(&value, attribute, device) || value < 0)
		return 0;
	return (uint32_t)value;
}

/* Writes the device's UUID in NVML's form to `out`; "": unknown. */
static void read_uuid(const struct kwhy_cuda *cuda, kwhy_cuda_device device, char out[48])
{
	__typeof__(cuDeviceGetUuid) *ask = cuda->cuDeviceGetUuid ? cuda->cuDeviceGetUuid
								 : cuda->cuDeviceGetUuid_v2;
	struct kwhy_cuda_uuid uuid;
	int at;

	out[0] = '\0';
	if (!ask || ask(&uuid, device))
		return;
	at = sprintf(out, "GPU");
	for (int i = 0; i < 16; i++)
		at += sprintf(out + at, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			uuid.bytes[i]);
}

static bool read_device(const struct kwhy_cuda *cuda, int index, struct kwhy_inject_device *out)
{
	kwhy_cuda_device device;
	size_t memory_bytes = 0;

	if (cuda->cuDeviceGet(&device, index))
		return false;
	*out = (struct kwhy_inject_device){.index = index,
		.sm_count = attribute_of(cuda, KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS, device),
		.threads_per_sm = attribute_of(cuda, KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, device),
		.registers_per_sm = attribute_of(
			cuda, KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR, device),
		.shared_bytes_per_sm = attribute_of(
			cuda, KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR, device),
		/*
		 * kHz times bits: 1e3 is from kHz to Hz; factor 2, since the memory transfers data twice per
		 * clock cycle (DDR).
		 */
		.memory_rate_bytes_per_s = 2e3 *
			attribute_of(cuda, KWHY_CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ, device) *
			attribute_of(cuda, KWHY_CUDA_ATTRIBUTE_MEMORY_BUS_BITS, device) / 8};
	if (cuda->cuDeviceGetName(out->name, sizeof(out->name), device))
		out->name[0] = '\0';
	read_uuid(cuda, device, out->uuid);
	if (cuda->cuDeviceTotalMem_v2 && !cuda->cuDeviceTotalMem_v2(&memory_bytes, device))
		out->memory_bytes = memory_bytes;
	return true;
}

int kwhy_inject_devices_read(struct kwhy_inject_device out[KWHY_INJECT_DEVICES_MAX])
{
	struct kwhy_cuda cuda;
	struct kwhy_error error;
	int count = 0, known = 0;

	if (kwhy_cuda_open(&cuda, &error))
		return 0;
	if (!cuda.cuDeviceGetCount || cuda.cuDeviceGetCount(&count))
		count = 0;
	for (int i = 0; i < count && known < KWHY_INJECT_DEVICES_MAX; i++)
		known += read_device(&cuda, i, &out[known]);
	return known; /* cuda is not closed: the process uses the driver's library anyway */
}

bool kwhy_inject_has_context(void)
{
	struct kwhy_cuda cuda;
	struct kwhy_error error;
	int count = 0;

	if (kwhy_cuda_open(&cuda, &error) || !cuda.cuDevicePrimaryCtxGetState || !cuda.cuDeviceGetCount ||
		cuda.cuDeviceGetCount(&count))
		return false;
	for (int i = 0; i < count; i++) {
		kwhy_cuda_device device;
		unsigned flags;
		int is_active = 0;

		if (!cuda.cuDeviceGet(&device, i) &&
			!cuda.cuDevicePrimaryCtxGetState(device, &flags, &is_active) && is_active)
			return true;
	}
	return false;
}

void kwhy_inject_fact_device(struct kwhy_inject_labels *labels, const struct kwhy_inject_device *device)
{
	const struct kwhy_wire_device row = {.index = device->index,
		.name = kwhy_inject_label(labels, device->name),
		.uuid = kwhy_inject_label(labels, device->uuid),
		.sm_count = device->sm_count,
		.threads_per_sm = device->threads_per_sm,
		.registers_per_sm = device->registers_per_sm,
		.shared_bytes_per_sm = device->shared_bytes_per_sm,
		.memory_bytes = device->memory_bytes,
		.memory_rate_bytes_per_s = device->memory_rate_bytes_per_s,
		.limit_mw = -1};
	struct kwhy_wire_device *out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_DEVICE);

	if (out)
		*out = row;
}
