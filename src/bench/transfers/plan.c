/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/plan.h"

#include "base/clock.h"
#include "base/iso_time.h"
#include "base/random.h"
#include "base/text.h"
#include "fit/median.h"

#include <math.h>
#include <string.h>

#define MAX_BYTES (UINT64_C(1) << 30)
#define HOST_MAX_BYTES (UINT64_C(1) << 24)
#define CAPACITY_MIN_BYTES (UINT64_C(1) << 16)
#define CAPACITY_MAX_BYTES (UINT64_C(1) << 32)
#define TIME_S 170
#define BURST_S 1

enum { SIZES_MAX = 128, RANDOM_SIZES_MAX = 64, QUICK_STEP = 4 };

/*
 * Transfers of pieces are measured with each of these sizes of a piece, in bytes, and each of these numbers
 * of pieces.
 */
static const uint32_t piece_sizes[] = {16, 64, 256, 1024, 4096, 16384, 65536};
static const uint32_t piece_counts[] = {16, 64, 256, 1024, 4096};

struct sizes {
	uint64_t items[SIZES_MAX];
	size_t count;
};

/* State of add_all(), which runs twice: first it counts the points to measure, then it makes them. */
struct maker {
	const struct kwhy_bench_request *request;
	struct kwhy_transfers *transfers;
	struct kwhy_bench_plan *plan; /* plan to fill; NULL: the points are only counted */
	size_t count;
	bool failed;
};

static enum kwhy_status check_strategies(const struct kwhy_bench_request *request, struct kwhy_error *error)
{
	struct kwhy_text names = {0};
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < request->strategy_count; i++) {
		if (kwhy_bench_strategy_find(request->strategies[i]))
			continue;
		for (size_t k = 0; (strategy = kwhy_bench_strategy_at(k)); k++)
			kwhy_text_addf(&names, "%s%s", k ? ", " : "", strategy->id);
		status = kwhy_fail(error, KWHY_E_USAGE, "no strategy is called '%.40s'; there are: %s",
			request->strategies[i], names.data ? names.data : "");
	}
	kwhy_text_done(&names);
	return status;
}

enum kwhy_status kwhy_bench_request_complete(struct kwhy_bench_request *request, struct kwhy_error *error)
{
	if (!request->directions)
		request->directions = KWHY_BENCH_BIT(KWHY_TRANSFER_DIRECTION_COUNT) - 1;
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
	if (request->most_bytes > CAPACITY_MAX_BYTES - CAPACITY_MIN_BYTES)
		return kwhy_fail(
			error, KWHY_E_USAGE, "sizes of 4 GiB and above are not measured; lower --max-size");
	if (request->random_sizes > RANDOM_SIZES_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"at most %d random sizes are measured; lower --random-sizes", RANDOM_SIZES_MAX);
	return check_strategies(request, error);
}

const char *kwhy_bench_known(struct kwhy_arena *arena, const char *text)
{
	return text && *text ? kwhy_arena_copy(arena, text) : NULL;
}

const char *kwhy_bench_now_text(struct kwhy_arena *arena)
{
	char text[KWHY_ISO_TIME_BYTES];

	return kwhy_arena_copy(arena, kwhy_iso_time(text, kwhy_clock_unix_ns()));
}

void kwhy_bench_shuffle(size_t *order, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)(kwhy_random_next(state) % i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

static void add_size(struct sizes *sizes, uint64_t bytes)
{
	size_t i = sizes->count;

	for (size_t k = 0; k < sizes->count; k++)
		if (sizes->items[k] == bytes)
			return;
	for (; i > 0 && sizes->items[i - 1] > bytes; i--)
		sizes->items[i] = sizes->items[i - 1];
	sizes->items[i] = bytes;
	sizes->count++;
}

/*
 * Lists the sizes in bytes, ascending: powers of two in the range (with request->quick only every fourth
 * power), both ends of the range, and random sizes with uniformly distributed logarithms.
 */
static void list_sizes(const struct kwhy_bench_request *request, struct sizes *out)
{
	double low = log((double)request->least_bytes), high = log((double)request->most_bytes);
	uint64_t state = request->seed;
	int power = 0;

	out->count = 0;
	add_size(out, request->least_bytes);
	add_size(out, request->most_bytes);
	for (uint64_t bytes = 1; bytes <= request->most_bytes; bytes *= 2, power++)
		if (bytes >= request->least_bytes && (!request->quick || power % QUICK_STEP == 0))
			add_size(out, bytes);
	for (uint32_t i = 0; i < request->random_sizes; i++) {
		double share = kwhy_random_share(kwhy_random_next(&state));

		add_size(out, (uint64_t)exp(low + share * (high - low)));
	}
}

struct kwhy_transfer_point *kwhy_bench_point_init(struct kwhy_arena *arena, struct kwhy_transfer_point *point)
{
	point->samples_s = kwhy_arena_alloc(arena, KWHY_TRANSFER_SAMPLES_MAX, sizeof(*point->samples_s));
	point->moments = kwhy_arena_alloc(arena, KWHY_TRANSFER_SAMPLES_MAX, sizeof(*point->moments));
	point->conditions = (struct kwhy_transfer_conditions){NAN, NAN, NAN, NAN, 0};
	point->link_bytes = NAN;
	kwhy_bench_point_sum_up(point);
	return point->samples_s && point->moments ? point : NULL;
}

static void add_point(struct maker *maker, const struct kwhy_bench_strategy *strategy,
	enum kwhy_transfer_direction direction, enum kwhy_transfer_clock clock, uint64_t bytes,
	uint32_t pieces)
{
	size_t which = maker->count++;
	struct kwhy_transfer_point *point;

	if (!maker->plan || maker->failed)
		return;
	point = &maker->transfers->points[which];
	point->strategy = strategy->id;
	point->direction = direction;
	point->clock = clock;
	point->bytes = bytes;
	point->pieces = pieces;
	maker->failed = !kwhy_bench_point_init(&maker->transfers->arena, point);
	maker->plan->tasks[which] = (struct kwhy_bench_task){.strategy = strategy, .point = point};
}

static void add_size_of(
	struct maker *maker, const struct kwhy_bench_strategy *strategy, uint64_t bytes, uint32_t pieces)
{
	for (int direction = 0; direction < KWHY_TRANSFER_DIRECTION_COUNT; direction++) {
		if (!(maker->request->directions & KWHY_BENCH_BIT(direction)) ||
			!kwhy_bench_strategy_takes(
				strategy, (enum kwhy_transfer_direction)direction, bytes, pieces))
			continue;
		for (int clock = 0; clock < KWHY_TRANSFER_CLOCK_COUNT; clock++)
			if (strategy->clocks & KWHY_BENCH_BIT(clock))
				add_point(maker, strategy, (enum kwhy_transfer_direction)direction,
					(enum kwhy_transfer_clock)clock, bytes, pieces);
	}
}

static void add_pieces(struct maker *maker, const struct kwhy_bench_strategy *strategy)
{
	size_t step = maker->request->quick ? 2 : 1;

	for (size_t s = 0; s < sizeof(piece_sizes) / sizeof(piece_sizes[0]); s += step)
		for (size_t c = 0; c < sizeof(piece_counts) / sizeof(piece_counts[0]); c += step) {
			uint64_t bytes = (uint64_t)piece_sizes[s] * piece_counts[c];

			if (bytes <= maker->request->most_bytes && bytes >= maker->request->least_bytes)
				add_size_of(maker, strategy, bytes, piece_counts[c]);
		}
}

static bool is_wanted(const struct kwhy_bench_request *request, const struct kwhy_bench_strategy *strategy)
{
	if (!request->strategies)
		return !strategy->only_if_asked;
	for (size_t i = 0; i < request->strategy_count; i++)
		if (strcmp(request->strategies[i], strategy->id) == 0)
			return true;
	return false;
}

static void add_all(struct maker *maker, const struct sizes *sizes)
{
	const struct kwhy_bench_strategy *strategy;

	for (size_t i = 0; (strategy = kwhy_bench_strategy_at(i)); i++) {
		if (!is_wanted(maker->request, strategy))
			continue;
		if (strategy->is_of_pieces)
			add_pieces(maker, strategy);
		for (size_t k = 0; !strategy->is_of_pieces && k < sizes->count; k++)
			add_size_of(maker, strategy, sizes->items[k], 1);
	}
}

enum kwhy_status kwhy_bench_plan_make(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_plan *out, struct kwhy_error *error)
{
	struct maker maker = {.request = request, .transfers = transfers};
	struct sizes sizes;

	list_sizes(request, &sizes);
	add_all(&maker, &sizes);
	if (maker.count == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"these strategies, directions and sizes leave nothing to measure; widen --min-size "
			"and --max-size, or name other strategies");
	out->count = transfers->point_count = maker.count;
	transfers->points = kwhy_arena_alloc(&transfers->arena, maker.count, sizeof(*transfers->points));
	out->tasks = kwhy_arena_alloc(&transfers->arena, maker.count, sizeof(*out->tasks));
	if (!transfers->points || !out->tasks)
		return kwhy_fail_memory(error, "the points of a benchmark");
	maker.plan = out;
	maker.count = 0;
	add_all(&maker, &sizes);
	out->capacity = 0;
	for (size_t i = 0; i < out->count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];
		uint64_t stride = kwhy_bench_stride(point->bytes / point->pieces, point->pieces);

		if (point->pieces * stride > out->capacity)
			out->capacity = point->pieces * stride;
	}
	if (out->capacity < CAPACITY_MIN_BYTES)
		out->capacity = CAPACITY_MIN_BYTES;
	return maker.failed ? kwhy_fail_memory(error, "the samples of a benchmark") : KWHY_OK;
}

double kwhy_bench_task_foreseen_s(const struct kwhy_bench_plan *plan, const struct kwhy_bench_task *task)
{
	double sum_s = 0;
	size_t count = 0;

	if (task->last_s > 0)
		return task->last_s;
	for (size_t i = 0; i < plan->count; i++)
		if (plan->tasks[i].first_s > 0 && plan->tasks[i].point->bytes == task->point->bytes) {
			sum_s += plan->tasks[i].first_s;
			count++;
		}
	return count ? sum_s / (double)count : 0;
}

void kwhy_bench_point_sum_up(struct kwhy_transfer_point *point)
{
	double sorted[KWHY_TRANSFER_SAMPLES_MAX];
	struct kwhy_median median;

	if (point->sample_count)
		memcpy(sorted, point->samples_s, point->sample_count * sizeof(*sorted));
	kwhy_median_of(sorted, point->sample_count, &median);
	point->summary = (struct kwhy_transfer_summary){
		median.count, median.median, median.least, median.p5, median.p95, median.low, median.high};
}

double kwhy_bench_point_width(const struct kwhy_transfer_point *point)
{
	const struct kwhy_median median = {.median = point->summary.median_s,
		.low = point->summary.low_s,
		.high = point->summary.high_s};

	return kwhy_median_width(&median);
}
