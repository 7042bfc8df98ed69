/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/plan.h"

#include "base/random.h"
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"
#include "bench/transfers/plan.h"
#include "pairs/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAX_BYTES (UINT64_C(1) << 30)
#define HOST_MAX_BYTES (UINT64_C(1) << 24)
#define LIMIT_BYTES (UINT64_C(1) << 32)
#define REFERENCE_BYTES (UINT64_C(1) << 20)
#define EXCHANGE_MIN_BYTES (UINT64_C(4) << 20)
#define TIME_S 120
#define BURST_S 1

enum { SIZES_MAX = 128, RANDOM_MAX = 64, CONFIGS_MAX = 1 << 20 };

/*
 * Sizes in bytes of the transfers that are also measured under load, which is other transfers at the same
 * time.
 */
static const uint64_t load_sizes[] = {1 << 16, 1 << 20, 1 << 24, 1 << 28};

struct maker {
	const struct kwhy_pair_request *request;
	struct kwhy_pairs *pairs;
	uint64_t sizes[SIZES_MAX];
	size_t size_count, count;
	bool only_counts;
};

enum kwhy_status kwhy_pair_request_complete(struct kwhy_pair_request *request, struct kwhy_error *error)
{
	if (!request->least_bytes)
		request->least_bytes = 1;
	if (!request->most_bytes)
		request->most_bytes = request->backend == KWHY_GPU_HOST ? HOST_MAX_BYTES : MAX_BYTES;
	if (!(request->time_s > 0))
		request->time_s = TIME_S;
	if (!(request->burst_s > 0))
		request->burst_s = BURST_S;
	if (request->least_bytes > request->most_bytes)
		return kwhy_fail(error, KWHY_E_USAGE,
			"the smallest size is above the largest one; exchange --min-size and --max-size");
	if (request->most_bytes >= LIMIT_BYTES)
		return kwhy_fail(
			error, KWHY_E_USAGE, "sizes of 4 GiB and above are not measured; lower --max-size");
	if (request->random_sizes > RANDOM_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"at most %d random sizes are measured; lower --random-sizes", RANDOM_MAX);
	return KWHY_OK;
}

const char *kwhy_pair_request_text(const struct kwhy_pair_request *request, char out[KWHY_PAIR_REQUEST_BYTES])
{
	int length = snprintf(out, KWHY_PAIR_REQUEST_BYTES,
		"engines %#x, clocks %#x, %" PRIu64 " to %" PRIu64 " B, %" PRIu32 " random sizes%s",
		request->engines, request->clocks, request->least_bytes, request->most_bytes,
		request->random_sizes, request->no_loads ? ", no loads" : "");

	if (request->ranks && length > 0 && length < KWHY_PAIR_REQUEST_BYTES)
		snprintf(out + length, KWHY_PAIR_REQUEST_BYTES - (size_t)length, ", %" PRIu32 " ranks",
			request->ranks->calls.link.size);
	return out;
}

static void add_size(struct maker *maker, uint64_t bytes)
{
	size_t i = maker->size_count;

	for (size_t k = 0; k < maker->size_count; k++)
		if (maker->sizes[k] == bytes)
			return;
	for (; i > 0 && maker->sizes[i - 1] > bytes; i--)
		maker->sizes[i] = maker->sizes[i - 1];
	maker->sizes[i] = bytes;
	maker->size_count++;
}

static void list_sizes(struct maker *maker)
{
	const struct kwhy_pair_request *request = maker->request;
	double low = log((double)request->least_bytes), high = log((double)request->most_bytes);
	uint64_t state = request->seed;

	for (uint64_t bytes = 1; bytes <= request->most_bytes; bytes *= 2)
		if (bytes >= request->least_bytes)
			add_size(maker, bytes);
	add_size(maker, request->most_bytes);
	for (uint32_t i = 0; i < request->random_sizes; i++) {
		double share = kwhy_random_share(kwhy_random_next(&state));

		add_size(maker, (uint64_t)exp(low + share * (high - low)));
	}
}

static void add(struct maker *maker, struct kwhy_pair_config config)
{
	if (!maker->only_counts) {
		config.conditions = (struct kwhy_transfer_conditions){NAN, NAN, NAN, NAN, 0};
		kwhy_pair_sum_up(&config);
		maker->pairs->configs[maker->count] = config;
	}
	maker->count++;
}

static bool is_possible(uint32_t gpus, enum kwhy_pair_load load)
{
	switch (load) {
	case KWHY_PAIR_SAME_SOURCE:
	case KWHY_PAIR_SAME_TARGET:
		return gpus >= 3;
	case KWHY_PAIR_DISJOINT:
		return gpus >= 4;
	default:
		return true;
	}
}

/*
 * Adds the configurations of a pair under each kind of load that the number of GPUs allows. Only copies
 * queued on the source (WRITE) are measured under load.
 */
static void add_loads(struct maker *maker, uint32_t source, uint32_t target)
{
	for (int load = KWHY_PAIR_ALONE + 1; load < KWHY_PAIR_REFERENCE; load++)
		for (size_t i = 0; i < sizeof(load_sizes) / sizeof(load_sizes[0]); i++)
			if (is_possible(maker->pairs->gpu_count, (enum kwhy_pair_load)load) &&
				load_sizes[i] >= maker->request->least_bytes &&
				load_sizes[i] <= maker->request->most_bytes)
				add(maker,
					(struct kwhy_pair_config){.engine = KWHY_PAIR_WRITE,
						.load = (enum kwhy_pair_load)load,
						.clock = KWHY_PAIR_BACK_TO_BACK,
						.source = source,
						.target = target,
						.bytes = load_sizes[i]});
}

/*
 * Size in bytes that the engine uses in place of maker->sizes[i]. Collectives round it down to equal parts.
 * 0: the size is left out, because it is too small for the engine or a collective rounds it to the size
 * before it.
 */
static uint64_t size_of(const struct maker *maker, enum kwhy_pair_engine engine, size_t i)
{
	uint32_t gpus = maker->pairs->gpu_count;
	uint64_t bytes = maker->sizes[i];

	if (engine == KWHY_PAIR_EXCHANGE && maker->request->ranks && bytes < EXCHANGE_MIN_BYTES)
		return 0; /* two ranks start their copies some microseconds apart, which would distort times
			     of small sizes */
	if (!kwhy_pair_is_collective(engine))
		return bytes;
	bytes = kwhy_pair_collective_bytes(engine, bytes, gpus);
	return i > 0 && bytes == kwhy_pair_collective_bytes(engine, maker->sizes[i - 1], gpus) ? 0 : bytes;
}

static void add_engine(struct maker *maker, enum kwhy_pair_engine engine, uint32_t source, uint32_t target)
{
	unsigned clocks = kwhy_pair_clocks(engine);
	uint64_t most = kwhy_pair_most_bytes(engine);

	if (maker->request->clocks && (clocks & maker->request->clocks))
		clocks &= maker->request->clocks;
	for (int clock = 0; clock < KWHY_PAIR_CLOCK_COUNT; clock++)
		for (size_t i = 0; clocks >> clock & 1 && i < maker->size_count; i++) {
			uint64_t bytes = size_of(maker, engine, i);

			if (bytes && (!most || bytes <= most))
				add(maker,
					(struct kwhy_pair_config){.engine = engine,
						.clock = (enum kwhy_pair_clock)clock,
						.source = source,
						.target = target,
						.bytes = bytes});
		}
}

static bool is_nccl(enum kwhy_pair_engine engine)
{
	return engine == KWHY_PAIR_NCCL || engine == KWHY_PAIR_NCCL_EXCHANGE || engine == KWHY_PAIR_NCCL_FULL;
}

/*
 * Whether an engine is measured for a pair if the user names no engines. With ranks, engines that need one
 * process to queue the work of both GPUs are left out.
 */
static bool is_usual(
	const struct maker *maker, enum kwhy_pair_engine engine, uint32_t source, uint32_t target)
{
	bool is_direct = maker->pairs->is_direct[source][target];

	if (engine == KWHY_PAIR_NCCL_FULL && maker->pairs->gpu_count == 2)
		return false; /* of two GPUs, the communicator of all GPUs is the one that KWHY_PAIR_NCCL uses
			       */
	if (is_nccl(engine))
		return maker->request->backend == KWHY_GPU_CUDA;
	switch (engine) {
	case KWHY_PAIR_STAGED:
		return !is_direct && !maker->request->ranks;
	case KWHY_PAIR_PING_PONG:
		return !maker->request->ranks;
	case KWHY_PAIR_SOCKET:
		return maker->request->ranks != NULL;
	default:
		return !kwhy_pair_is_collective(engine) || maker->request->backend != KWHY_GPU_HIP;
	}
}

static bool wants(const struct maker *maker, enum kwhy_pair_engine engine, uint32_t source, uint32_t target)
{
	if (kwhy_pair_is_collective(engine) && (source != 0 || target + 1 != maker->pairs->gpu_count))
		return false;
	if (maker->request->engines)
		return maker->request->engines >> engine & 1;
	return is_usual(maker, engine, source, target);
}

static void make(struct maker *maker)
{
	const struct kwhy_pair_request *request = maker->request;
	uint64_t reference = request->most_bytes < REFERENCE_BYTES ? request->most_bytes : REFERENCE_BYTES;

	maker->count = 0;
	add(maker,
		(struct kwhy_pair_config){.engine = KWHY_PAIR_WRITE,
			.load = KWHY_PAIR_REFERENCE,
			.target = 1,
			.bytes = reference});
	for (uint32_t source = 0; source < maker->pairs->gpu_count; source++)
		for (uint32_t target = 0; target < maker->pairs->gpu_count; target++) {
			if (source == target)
				continue;
			for (int engine = 0; engine < KWHY_PAIR_ENGINE_COUNT; engine++)
				if (wants(maker, (enum kwhy_pair_engine)engine, source, target))
					add_engine(maker, (enum kwhy_pair_engine)engine, source, target);
			if (!request->no_loads && !request->ranks)
				add_loads(maker, source, target);
		}
}

enum kwhy_status kwhy_pair_plan_make(
	const struct kwhy_pair_request *request, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct maker maker = {.request = request, .pairs = pairs, .only_counts = true};

	list_sizes(&maker);
	make(&maker);
	if (maker.count > CONFIGS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%zu configurations are too many; ask for fewer engines or sizes", maker.count);
	pairs->configs = kwhy_arena_alloc(&pairs->arena, maker.count, sizeof(*pairs->configs));
	if (!pairs->configs)
		return kwhy_fail_memory(error, "the plan of a benchmark");
	maker.only_counts = false;
	make(&maker);
	pairs->config_count = maker.count;
	return KWHY_OK;
}
