/* SPDX-License-Identifier: Apache-2.0 */
#include "property/time_plan.h"
#include "ok.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

static const char *const call_names[KWHY_CALL_CLASS_COUNT] = {
	[KWHY_CALL_OTHER] = "cudaGetDevice",
	[KWHY_CALL_LAUNCH] = "cudaLaunchKernel",
	[KWHY_CALL_COPY] = "cudaMemcpy",
	[KWHY_CALL_SYNC] = "cudaStreamSynchronize",
	[KWHY_CALL_ALLOC] = "cudaMalloc",
	[KWHY_CALL_FREE] = "cudaFree",
};

/* Returns a random number by xorshift64*; the state is never 0. */
uint64_t plan_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717u >> 11;
}

static uint32_t below(uint64_t *state, uint64_t limit)
{
	return (uint32_t)(plan_random(state) % limit);
}

/* Returns a random length below 60 ns: often 0, rarely a long one. */
static int64_t random_length(uint64_t *state)
{
	static const uint8_t limits[] = {1, 4, 20, 60};

	return below(state, limits[below(state, 4)]);
}

static void plan_tables(struct plan *plan, uint64_t *state)
{
	plan->device_count = 1 + below(state, PLAN_DEVICES);
	plan->process_count = 1 + below(state, PLAN_PROCESSES);
	plan->thread_count = 1 + below(state, PLAN_THREADS);
	plan->stream_count = 1 + below(state, PLAN_STREAMS);
	plan->sm_count = below(state, 3) * 4;
	for (size_t i = 0; i < plan->thread_count; i++)
		plan->thread_process[i] = below(state, plan->process_count);
	for (size_t i = 0; i < plan->stream_count; i++) {
		plan->stream_process[i] = below(state, plan->process_count);
		plan->stream_device[i] = below(state, plan->device_count);
	}
}

/*
 * Whether no other call of this thread has the same start and end. If one had, it would not be determined
 * which of the two is the outer call.
 */
static bool call_is_new(const struct plan *plan, const struct plan_call *call)
{
	for (size_t i = 0; i < plan->call_count; i++)
		if (plan->calls[i].thread == call->thread && plan->calls[i].start_ns == call->start_ns &&
			plan->calls[i].end_ns == call->end_ns)
			return false;
	return true;
}

static void plan_calls(struct plan *plan, uint64_t *state)
{
	size_t wanted = below(state, 4) ? below(state, PLAN_CALLS + 1) : 0;

	for (size_t i = 0; i < wanted; i++) {
		struct plan_call call = {
			.start_ns = below(state, 100),
			.thread = below(state, plan->thread_count),
			.class = below(state, KWHY_CALL_CLASS_COUNT),
		};

		call.end_ns = call.start_ns + random_length(state);
		if (call_is_new(plan, &call))
			plan->calls[plan->call_count++] = call;
	}
}

/*
 * Returns a random call of the stream's process, or KWHY_NONE if the call drawn belongs to another process.
 */
static uint32_t random_call(const struct plan *plan, uint32_t stream, uint64_t *state)
{
	uint32_t call = plan->call_count ? below(state, plan->call_count) : KWHY_NONE;

	if (call == KWHY_NONE ||
		plan->thread_process[plan->calls[call].thread] != plan->stream_process[stream])
		return KWHY_NONE;
	return call;
}

static void plan_activities(struct plan *plan, uint64_t *state)
{
	plan->activity_count = below(state, PLAN_ACTIVITIES + 1);
	for (size_t i = 0; i < plan->activity_count; i++) {
		struct plan_activity *activity = &plan->activities[i];

		*activity = (struct plan_activity){
			.start_ns = below(state, 100),
			.stream = below(state, plan->stream_count),
			.kind = below(state, KWHY_ACTIVITY_KIND_COUNT),
			.copy_kind = below(state, KWHY_COPY_KIND_COUNT),
			.bytes = below(state, 5) ? below(state, 8000) : KWHY_UNKNOWN_BYTES,
			.blocks = below(state, 5) ? below(state, 12) : KWHY_UNKNOWN_BLOCKS,
		};
		activity->end_ns = activity->start_ns + random_length(state);
		activity->call = random_call(plan, activity->stream, state);
	}
}

static void plan_host_ranges(struct plan *plan, uint64_t *state)
{
	static const enum kwhy_host_kind kinds[] = {
		KWHY_HOST_OPERATOR, KWHY_HOST_PYTHON, KWHY_HOST_SYSTEM, KWHY_HOST_USER};

	plan->host_range_count = below(state, PLAN_HOST_RANGES + 1);
	for (size_t i = 0; i < plan->host_range_count; i++) {
		struct plan_host_range *range = &plan->host_ranges[i];

		range->start_ns = (int64_t)below(state, 140) - 20;
		range->end_ns = range->start_ns + 2 * random_length(state);
		range->thread = below(state, plan->thread_count);
		range->kind = kinds[below(state, 4)];
	}
}

struct plan plan_make(uint64_t seed)
{
	uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u;
	struct plan plan = {0};

	plan_tables(&plan, &state);
	plan_calls(&plan, &state);
	plan_activities(&plan, &state);
	plan.range_count = below(&state, PLAN_RANGES + 1);
	for (size_t i = 0; i < plan.range_count; i++) {
		struct plan_range *range = &plan.ranges[i];

		range->start_ns = (int64_t)below(&state, 140) - 20;
		range->end_ns = range->start_ns + 2 * random_length(&state);
		range->thread = below(&state, 6) ? below(&state, plan.thread_count) : KWHY_NONE;
		range->step = below(&state, 2);
	}
	plan_host_ranges(&plan, &state);
	return plan;
}

struct plan_variant plan_whole(void)
{
	return (struct plan_variant){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

static uint32_t name_of(struct kwhy_recording *recording, const char *text)
{
	uint32_t name;

	OK(kwhy_names_intern(&recording->names, text, strlen(text), &name, &error));
	return name;
}

static void build_tables(struct kwhy_recording *recording, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->device_count; i++) {
		struct kwhy_device device = {
			.index = (int32_t)i, .rank = KWHY_NONE, .sm_count = plan->sm_count};

		OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	}
	for (uint32_t i = 0; i < plan->process_count; i++) {
		struct kwhy_process process = {.pid = i, .rank = KWHY_NONE};

		OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	}
	for (uint32_t i = 0; i < plan->thread_count; i++) {
		struct kwhy_thread thread = {.process = plan->thread_process[i], .tid = i};

		OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	}
	for (uint32_t i = 0; i < plan->stream_count; i++) {
		struct kwhy_stream stream = {
			.device = plan->stream_device[i], .process = plan->stream_process[i], .id = i};

		OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	}
}

static bool copies_or_sets(const struct plan_activity *planned)
{
	return planned->kind == KWHY_ACTIVITY_COPY || planned->kind == KWHY_ACTIVITY_MEMSET;
}

/*
 * Returns a name that sorts as the activity's number does. kwhy sorts activities with equal times by name, so
 * the order is known then. Copies and memsets get a name for that, too.
 */
static uint32_t activity_name(struct kwhy_recording *recording, size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "Memcpy %04zu", number);
	return name_of(recording, name);
}

static void build_activity(struct kwhy_recording *recording, const struct plan *plan,
	const struct plan_variant *variant, size_t number)
{
	const struct plan_activity *planned = &plan->activities[number];
	struct kwhy_activity activity = kwhy_activity_unknown();
	bool copies = copies_or_sets(planned);

	if (planned->start_ns < variant->from_ns || planned->start_ns >= variant->to_ns)
		return;
	activity.start_ns = planned->start_ns + variant->shift_ns;
	activity.end_ns = planned->end_ns + variant->shift_ns;
	activity.name = activity_name(recording, number);
	activity.stream = planned->stream;
	activity.call = planned->call;
	activity.kind = (uint8_t)planned->kind;
	activity.copy_kind = copies ? (uint8_t)planned->copy_kind : 0;
	activity.bytes = copies ? planned->bytes : KWHY_UNKNOWN_BYTES;
	activity.blocks = planned->blocks;
	OK(kwhy_recording_add_activity(recording, &activity, &error));
}

static void build_call(struct kwhy_recording *recording, const struct plan *plan,
	const struct plan_variant *variant, size_t number)
{
	const struct plan_call *call = &plan->calls[number];

	OK(kwhy_recording_add_call(recording, call->start_ns + variant->shift_ns,
		call->end_ns + variant->shift_ns, name_of(recording, call_names[call->class]), call->thread,
		(uint32_t)number, &error));
}

static void build_range(struct kwhy_recording *recording, const struct plan *plan,
	const struct plan_variant *variant, size_t number)
{
	const struct plan_range *planned = &plan->ranges[number];
	char name[32];

	snprintf(name, sizeof(name), "range %zu", number);
	OK(kwhy_recording_add_range(recording,
		&(struct kwhy_range){
			.start_ns = planned->start_ns + variant->shift_ns,
			.end_ns = planned->end_ns + variant->shift_ns,
			.name = name_of(recording, name),
			.thread = planned->thread,
			.kind = planned->step ? KWHY_RANGE_STEP : KWHY_RANGE_NVTX,
		},
		&error));
}

static void build_host_range(struct kwhy_recording *recording, const struct plan *plan,
	const struct plan_variant *variant, size_t number)
{
	const struct plan_host_range *planned = &plan->host_ranges[number];
	struct kwhy_host_range range = {.start_ns = planned->start_ns + variant->shift_ns,
		.end_ns = planned->end_ns + variant->shift_ns,
		.thread = planned->thread,
		.kind = (uint8_t)planned->kind};
	char name[32];

	/* names sort in the opposite order of their numbers, which catches code that confuses the two */
	snprintf(name, sizeof(name), "host range %02zu", 99 - number);
	range.name = name_of(recording, name);
	OK(kwhy_recording_add_host_range(recording, &range, &error));
}

/*
 * Fills order[] with a random permutation of the row numbers, by which rows are added; seed 0: their own
 * order.
 */
static void shuffle(uint32_t *order, size_t count, uint64_t seed)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; seed && i > 1; i--) {
		size_t other = below(&seed, i);
		uint32_t swap = order[other];

		order[other] = order[i - 1];
		order[i - 1] = swap;
	}
}

struct kwhy_recording *plan_build(const struct plan *plan, const struct plan_variant *variant)
{
	uint32_t order[PLAN_CALLS + PLAN_ACTIVITIES + PLAN_RANGES];
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	build_tables(recording, plan);
	shuffle(order, plan->activity_count, variant->order_seed);
	for (size_t i = 0; i < plan->activity_count; i++)
		build_activity(recording, plan, variant, order[i]);
	shuffle(order, plan->call_count, variant->order_seed);
	for (size_t i = 0; i < plan->call_count; i++)
		build_call(recording, plan, variant, order[i]);
	shuffle(order, plan->range_count, variant->order_seed);
	for (size_t i = 0; i < plan->range_count; i++)
		build_range(recording, plan, variant, order[i]);
	for (size_t i = 0; i < plan->host_range_count; i++)
		build_host_range(recording, plan, variant, i);
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}
