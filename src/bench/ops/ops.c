/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/ops/ops.h"

#include "base/clock.h"
#include "bench/gpu_list.h"
#include "bench/ops/kernels.h"
#include "bench/ops/rows.h"
#include "bench/series.h"
#include "launch/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH_S 4e-3 /* intended time that the kernel of one launch runs, in seconds */

enum { FIRST_ROUNDS = 16, ROUNDS_MAX = 1 << 24, AHEAD = 4 };

/* State of a running `kwhy bench ops`. */
struct work {
	const struct kwhy_bench_ops_request *request;
	struct kwhy_bench_ops *bench;
	struct kwhy_ops_kit kit;
	struct kwhy_device_energy *energy; /* NULL: energy was not requested */
};

const char *kwhy_ops_class_name(enum kwhy_ops_class class)
{
	static const char *const names[KWHY_OPS_CLASS_COUNT] = {
		"compute", "memory", "small", "large", "mixed", "collectives"};

	return names[class];
}

struct kwhy_joules kwhy_bench_ops_per_unit(
	const struct kwhy_bench_ops_row *row, const struct kwhy_joules *joules)
{
	double share = row->count > 0 ? 1 / row->count : NAN;

	return kwhy_joules_times(joules, share);
}

static bool names(const char *word, const struct kwhy_ops_row *row)
{
	return strcmp(word, row->id) == 0 || strcmp(word, kwhy_ops_class_name(row->class)) == 0;
}

static bool is_asked(const char *list, const struct kwhy_ops_row *row)
{
	return kwhy_bench_list_has(list, row->id) ||
		kwhy_bench_list_has(list, kwhy_ops_class_name(row->class));
}

static bool is_operation(const char *word)
{
	for (size_t i = 0; i < kwhy_ops_row_count; i++)
		if (names(word, &kwhy_ops_rows[i]))
			return true;
	return false;
}

static enum kwhy_status check_list(const char *list, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];
	bool is_unknown = kwhy_bench_list_unknown(list, is_operation, word);

	if (is_unknown && strncmp(word, "nccl", 4) == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"there is no operation '%s': 'collective' is by kwhy's own kernel, NCCL's are of "
			"'kwhy bench pairs --engine nccl,all-reduce'",
			word);
	if (is_unknown)
		return kwhy_fail(error, KWHY_E_USAGE,
			"there is no operation '%s'; there are compute, memory, small, large, mixed, "
			"collectives and what 'kwhy help bench ops' lists",
			word);
	return KWHY_OK;
}

/* --- Resources of the operations --- */

static enum kwhy_status open_gpus(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_gpus gpus;
	enum kwhy_status status = kwhy_bench_gpus_open(
		work->request->backend, work->request->devices, &gpus, error);

	if (!status && !gpus.count) /* not reached, since kwhy_bench_gpus_open() refuses a list that names no
				       GPU; static analysers need the check */
		return kwhy_fail(error, KWHY_E_USAGE, "--device names no GPU");
	work->kit.gpu_count = work->bench->gpu_count = gpus.count;
	for (uint32_t i = 0; i < gpus.count; i++) {
		work->kit.gpus[i] = gpus.items[i];
		work->bench->gpus[i] = gpus.items[i]->facts;
	}
	return status;
}

static enum kwhy_status fill(struct kwhy_ops_kit *kit, uint64_t place, struct kwhy_error *error)
{
	uint64_t words = kit->bytes / 16;
	void *arguments[] = {&kit->seed, &place, &words};
	struct kwhy_gpu_launch launch = {.blocks = 1024,
		.threads_per_block = KWHY_OPS_THREADS,
		.arguments = arguments,
		.stream = kit->stream};
	struct kwhy_gpu *gpu = kit->gpus[0];
	enum kwhy_status status = gpu->ops->kernel_find(
		gpu, kit->module, "kwhy_ops_fill", &launch.kernel, error);

	return status ? status : gpu->ops->launch(gpu, &launch, error);
}

/*
 * Makes two device buffers and a pinned host buffer of kit->bytes each, with random data, since power depends
 * on the data.
 */
static enum kwhy_status make_buffers(struct kwhy_ops_kit *kit, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	struct kwhy_gpu_copy copy;
	enum kwhy_status status = gpu->ops->memory_new(gpu, kit->bytes, &kit->from, error);

	if (!status)
		status = gpu->ops->memory_new(gpu, kit->bytes, &kit->to, error);
	if (!status)
		status = gpu->ops->host_new(
			gpu, KWHY_GPU_HOST_PINNED, kit->bytes, gpu->facts.numa_node, &kit->host, error);
	if (!status)
		status = fill(kit, kit->from, error);
	if (!status)
		status = fill(kit, kit->to, error);
	copy = (struct kwhy_gpu_copy){kwhy_gpu_address(kit->host.memory), kit->from, kit->bytes};
	if (!status)
		status = gpu->ops->copy(gpu, kit->stream, &copy, error);
	return status ? status : gpu->ops->synchronize(gpu, kit->stream, error);
}

static enum kwhy_status make_peer(struct kwhy_ops_kit *kit, struct kwhy_error *error)
{
	struct kwhy_gpu *peer = kit->gpus[1];
	enum kwhy_status status;

	if (kit->gpu_count < 2)
		return KWHY_OK;
	status = peer->ops->enter(peer, error);
	if (!status)
		status = peer->ops->memory_new(peer, kit->bytes, &kit->peer, error);
	if (!status)
		status = peer->ops->stream_new(peer, &kit->peer_stream, error);
	if (!status)
		status = kit->gpus[0]->ops->enter(kit->gpus[0], error);
	return status ? status : kit->gpus[0]->ops->peer_enable(kit->gpus[0], peer, error);
}

/*
 * Makes the group of GPUs for collectives: the first two GPUs, or the only GPU if there is one. kit->group is
 * NULL if the GPUs cannot access each other's memory.
 */
static enum kwhy_status make_group(struct kwhy_ops_kit *kit, struct kwhy_error *error)
{
	const struct kwhy_collectives_member members[2] = {
		{kit->gpus[0], kit->stream}, {kit->gpus[1], kit->peer_stream}};
	enum kwhy_status status = kwhy_collectives_own_new(
		members, kit->gpu_count < 2 ? 1 : 2, &kit->group, error);

	kit->group_places[0] = kit->from;
	kit->group_places[1] = kit->peer;
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

static enum kwhy_status make_kit(struct work *work, struct kwhy_error *error)
{
	struct kwhy_ops_kit *kit = &work->kit;
	struct kwhy_gpu *gpu = kit->gpus[0];
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	kit->bytes = work->request->memory_bytes / 256 * 256;
	kit->seed = work->request->seed;
	if (!status)
		status = gpu->ops->module_new(gpu, &kwhy_ops_source, &kit->module, error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &kit->stream, error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &kit->other, error);
	if (!status)
		status = make_buffers(kit, error);
	if (!status)
		status = make_peer(kit, error);
	return status ? status : make_group(kit, error);
}

static void free_kit(struct kwhy_ops_kit *kit)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	struct kwhy_gpu_stream *const streams[] = {kit->stream, kit->other};
	struct kwhy_error ignored;

	if (!gpu)
		return;
	/*
	 * After a failure, operations may still be queued; they must end before the memory that they use is
	 * freed.
	 */
	for (size_t i = 0; i < 2; i++)
		if (streams[i])
			(void)gpu->ops->synchronize(gpu, streams[i], &ignored);
	if (kit->graph)
		gpu->ops->graph_free(gpu, kit->graph);
	if (kit->group)
		kit->group->ops->free(kit->group);
	if (kit->host.memory)
		gpu->ops->host_free(gpu, &kit->host);
	/* Closing the GPUs frees everything else. */
	for (uint32_t i = 0; i < kit->gpu_count; i++)
		kit->gpus[i]->ops->close(kit->gpus[i]);
}

/* --- Run one row --- */

/* Checks whether this machine can run a row. KWHY_E_UNSUPPORTED: it cannot. */
static enum kwhy_status check_row(
	const struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, struct kwhy_error *error)
{
	int architecture = kit->gpus[0]->facts.architecture;

	if (row->gpus > kit->gpu_count)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "needs %u GPUs; name them with --device", row->gpus);
	if (!architecture && !row->on_host)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "the host has no such instruction here");
	if (architecture && architecture < row->architecture)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"compute capability %d.%d has no such instruction; %d.%d has", architecture / 10,
			architecture % 10, row->architecture / 10, row->architecture % 10);
	if (row->class == KWHY_OPS_COLLECTIVES && !kit->group)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "these GPUs do not reach each other's memory");
	return KWHY_OK;
}

/*
 * Finds the row's kernel, if it has one, and the number of its blocks: as many as can be resident on the
 * device at once, or 1 for the host back end.
 */
static enum kwhy_status find_kernel(
	struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	uint32_t resident = 1;
	enum kwhy_status status;

	if (!row->kernel)
		return KWHY_OK;
	status = gpu->ops->kernel_find(gpu, kit->module, row->kernel, &kit->kernel, error);
	if (!status && gpu->facts.sm_count)
		status = gpu->ops->resident_blocks(gpu, kit->kernel, KWHY_OPS_THREADS, &resident, error);
	kit->blocks = gpu->facts.sm_count ? resident * gpu->facts.sm_count : 1;
	return status;
}

/*
 * Measures on the host the seconds from the start of the call that queues one batch of the row's operations
 * until the stream is empty. The stream must be empty before.
 */
static enum kwhy_status time_batch(
	struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *out_s, struct kwhy_error *error)
{
	double count = 0, bytes = 0;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = row->issue(kit, row, &count, &bytes, error);

	if (!status)
		status = kit->gpus[0]->ops->synchronize(kit->gpus[0], kit->stream, error);
	*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return status;
}

/*
 * Sets kit->rounds so that a launch of the row's kernel lasts about LAUNCH_S (at least half of it, unless the
 * limit of rounds is reached). Also warms the GPU up.
 */
static enum kwhy_status find_rounds(
	struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, struct kwhy_error *error)
{
	double batch_s = 0;
	enum kwhy_status status = KWHY_OK;

	kit->rounds = row->byte_count > 0 ? 1 : FIRST_ROUNDS;
	for (int i = 0; !status && i < 12; i++) {
		status = time_batch(kit, row, &batch_s, error);
		if (!row->kernel || batch_s >= LAUNCH_S / 2 || kit->rounds > ROUNDS_MAX / 8)
			continue;
		kit->rounds *= batch_s > LAUNCH_S / 16 ? 2 : 8;
	}
	return status;
}

static enum kwhy_status run_window(struct work *work, const struct kwhy_ops_row *row,
	struct kwhy_bench_ops_row *out, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->kit.gpus[0];
	int64_t start_ns, end_ns;
	enum kwhy_status status = KWHY_OK;

	if (work->energy)
		status = kwhy_device_energy_begin(work->energy, row->id, error);
	start_ns = kwhy_clock_mono_ns();
	end_ns = start_ns + (int64_t)(work->request->seconds * 1e9);
	out->bytes = 0;
	for (int i = 0; !status && (i == 0 || kwhy_clock_mono_ns() < end_ns); i++) {
		status = kwhy_stop_check(error);
		if (!status)
			status = row->issue(&work->kit, row, &out->count, &out->bytes, error);
		if (!status && i % AHEAD == AHEAD - 1)
			status = gpu->ops->synchronize(gpu, work->kit.stream, error);
	}
	if (!status)
		status = gpu->ops->synchronize(gpu, work->kit.stream, error);
	out->seconds = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	if (work->energy)
		kwhy_device_energy_end(work->energy);
	if (out->bytes == 0)
		out->bytes = NAN;
	return status;
}

static enum kwhy_status run_row(struct work *work, const struct kwhy_ops_row *row, struct kwhy_error *error)
{
	struct kwhy_bench_ops_row *out = &work->bench->rows[work->bench->row_count++];
	enum kwhy_status status = check_row(&work->kit, row, error);

	*out = (struct kwhy_bench_ops_row){.id = row->id,
		.title = row->title,
		.class = row->class,
		.unit = row->unit,
		.bytes = NAN,
		.seconds = NAN,
		.gpus = row->class == KWHY_OPS_COLLECTIVES && work->kit.group ? work->kit.group->count
									      : row->gpus};
	out->energy = kwhy_window_joules_unknown();
	if (work->request->progress)
		work->request->progress(work->request->context, row->id);
	if (!status)
		status = find_kernel(&work->kit, row, error);
	if (!status)
		status = find_rounds(&work->kit, row, error);
	if (!status)
		status = run_window(work, row, out, error);
	if (status != KWHY_E_UNSUPPORTED)
		return status;
	out->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return out->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

/* --- Run all rows --- */

static enum kwhy_status run_rows(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < kwhy_ops_row_count; i++)
		if (is_asked(work->request->rows, &kwhy_ops_rows[i]))
			status = run_row(work, &kwhy_ops_rows[i], error);
	if (status != KWHY_E_LOST)
		return status;
	return kwhy_bench_end_early(&work->bench->arena, &work->bench->row_count, &work->bench->ended, error);
}

static enum kwhy_status open_meters(struct work *work, struct kwhy_error *error)
{
	if (!work->request->energy) {
		work->bench->energy_missing = kwhy_bench_energy_unrequested(work->request->backend);
		return KWHY_OK;
	}
	return kwhy_bench_meters_open(work->kit.gpus, work->kit.gpu_count, &work->energy, error);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_ops *bench = work->bench;
	enum kwhy_status status = kwhy_bench_meters_read(
		work->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		struct kwhy_bench_ops_row *row = &bench->rows[i];

		kwhy_bench_meters_of(work->energy, row->id, row->gpus, &bench->arena, &row->energy);
	}
	return status;
}

static const struct kwhy_bench_ops_row *find_row(const struct kwhy_bench_ops *bench, const char *id)
{
	for (size_t i = 0; i < bench->row_count; i++)
		if (strcmp(bench->rows[i].id, id) == 0 && !bench->rows[i].missing)
			return &bench->rows[i];
	return NULL;
}

/* Net joules per unit; NAN: the net energy cannot be distinguished from zero. */
static double net_of(const struct kwhy_bench_ops_row *row)
{
	return row->energy.net.low > 0 ? kwhy_bench_ops_per_unit(row, &row->energy.net).value : NAN;
}

static void find_roofs(struct kwhy_bench_ops *bench)
{
	const struct kwhy_bench_ops_row *memory = find_row(bench, "memory-copy");

	for (size_t i = 0; memory && i < bench->row_count; i++) {
		const struct kwhy_bench_ops_row *row = &bench->rows[i];

		if (row->class != KWHY_OPS_COMPUTE || row->missing)
			continue;
		bench->roofs[bench->roof_count++] = (struct kwhy_bench_ops_roof){.compute = row,
			.memory = memory,
			.time_balance = (row->count / row->seconds) / (memory->count / memory->seconds),
			.energy_balance = net_of(memory) / net_of(row)};
	}
}

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = check_list(work->request->rows, error);

	if (!status)
		status = open_gpus(work, error);
	if (!status)
		status = make_kit(work, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = run_rows(work, error);
	if (!status)
		status = read_meters(work, error);
	if (!status)
		find_roofs(work->bench);
	kwhy_device_energy_close(work->energy);
	free_kit(&work->kit);
	return status;
}

enum kwhy_status kwhy_bench_ops(
	const struct kwhy_bench_ops_request *request, struct kwhy_bench_ops **out, struct kwhy_error *error)
{
	struct work work = {.request = request, .bench = calloc(1, sizeof(*work.bench))};
	enum kwhy_status status;

	if (!work.bench)
		return kwhy_fail_memory(error, "a benchmark");
	work.bench->backend = request->backend;
	work.bench->memory_bytes = request->memory_bytes;
	work.bench->seed = request->seed;
	status = run_all(&work, error);
	if (status)
		kwhy_bench_ops_free(work.bench);
	else
		*out = work.bench;
	return status;
}

void kwhy_bench_ops_free(struct kwhy_bench_ops *bench)
{
	if (!bench)
		return;
	kwhy_arena_done(&bench->arena);
	free(bench);
}
