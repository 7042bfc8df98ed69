/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/activity.h"

#include "base/clock.h"
#include "inject/lines/stacks.h"

/*
 * Version number of CUPTI in CUDA 12.0, the oldest that is supported; older versions write shorter records.
 */
enum { CUPTI_OLDEST = 19 };

static const struct {
	unsigned kind; /* a bit of enum kwhy_inject_kind */
	int cupti[2];  /* kinds of CUPTI records for this kind (enum kwhy_cupti_kind); 0: none */
} kinds[] = {
	{KWHY_INJECT_KERNEL, {KWHY_CUPTI_KIND_CONCURRENT_KERNEL, 0}},
	{KWHY_INJECT_COPY, {KWHY_CUPTI_KIND_MEMCPY, KWHY_CUPTI_KIND_MEMCPY2}},
	{KWHY_INJECT_MEMSET, {KWHY_CUPTI_KIND_MEMSET, 0}},
	{KWHY_INJECT_OVERHEAD, {KWHY_CUPTI_KIND_OVERHEAD, 0}},
	{KWHY_INJECT_MEMORY, {KWHY_CUPTI_KIND_MEMORY2, 0}},
	{KWHY_INJECT_GRAPH, {KWHY_CUPTI_KIND_GRAPH_TRACE, 0}},
};

/*
 * Returns the time in nanoseconds on CLOCK_MONOTONIC. CUPTI calls it instead of its own clock, at the start
 * and the end of each recorded CUDA call, on the thread that makes the call; so it also takes the stack of
 * that thread.
 */
static uint64_t clock_of_records(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	kwhy_stacks_see(now_mono_ns);
	return (uint64_t)now_mono_ns;
}

/*
 * Nanoseconds to add to CUPTI's time to get CLOCK_MONOTONIC, for a CUPTI that cannot call clock_of_records().
 * CUPTI's clock is read several times, each time between two readings of CLOCK_MONOTONIC; the offset is
 * computed from the attempt in which these two readings are closest together.
 */
static int64_t offset_of(const struct kwhy_cupti *cupti)
{
	int64_t best_width_ns = INT64_MAX, offset_ns = 0;

	for (int i = 0; i < 5; i++) {
		const int64_t before_ns = kwhy_clock_mono_ns();
		uint64_t cupti_ns = 0;

		if (cupti->cuptiGetTimestamp(&cupti_ns))
			return 0;
		const int64_t width_ns = kwhy_clock_mono_ns() - before_ns;

		if (width_ns < best_width_ns) {
			best_width_ns = width_ns;
			offset_ns = before_ns + width_ns / 2 - (int64_t)cupti_ns;
		}
	}
	return offset_ns;
}

/*
 * Returns 1 if CUPTI's present time is CLOCK_MONOTONIC, as clock_of_records() returns it, 0 if it is another
 * clock, -1 if CUPTI does not report its time.
 */
static int shows_own_clock(const struct kwhy_cupti *cupti)
{
	const int64_t before_ns = kwhy_clock_mono_ns();
	uint64_t cupti_ns = 0;

	if (cupti->cuptiGetTimestamp(&cupti_ns))
		return -1;
	return (int64_t)cupti_ns >= before_ns && (int64_t)cupti_ns <= kwhy_clock_mono_ns();
}

bool kwhy_inject_activity_is_ours(const struct kwhy_inject_activity *activity)
{
	return !activity->runs || !activity->clock_tells || shows_own_clock(&activity->cupti) != 0;
}

static void choose_clock(struct kwhy_inject_activity *activity)
{
	const struct kwhy_cupti *cupti = &activity->cupti;

	if (!cupti->cuptiActivityRegisterTimestampCallback ||
		cupti->cuptiActivityRegisterTimestampCallback(clock_of_records))
		activity->offset_ns = offset_of(cupti);
	else
		activity->clock_tells = shows_own_clock(cupti) == 1;
}

static enum kwhy_cupti_result switch_kind(const struct kwhy_cupti *cupti, int kind, bool is_on)
{
	return is_on ? cupti->cuptiActivityEnable(kind) : cupti->cuptiActivityDisable(kind);
}

static void switch_calls(struct kwhy_inject_activity *activity, bool is_on)
{
	if (activity->kinds & KWHY_INJECT_CALL)
		kwhy_inject_call_switch_set(&activity->calls, is_on);
}

/*
 * Switches the kinds of records in activity->kinds, other than calls, on or off. Returns an error if that
 * fails for kernels; for other kinds a failure is ignored. Kernels come first, because the other kinds are
 * useless without them. Records of whole graphs are never switched off: if a graph is instantiated while they
 * are off and launched while they are on, CUPTI 13.0 crashes the program
 * (bench/h200/programs/graph_switch.cu).
 */
static enum kwhy_cupti_result switch_kinds(const struct kwhy_inject_activity *activity, bool is_on)
{
	const struct kwhy_cupti *cupti = &activity->cupti;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (int j = 0; j < 2 && (activity->kinds & kinds[i].kind); j++) {
			if (kinds[i].kind == KWHY_INJECT_GRAPH && !is_on)
				continue;

			const enum kwhy_cupti_result result = kinds[i].cupti[j]
				? switch_kind(cupti, kinds[i].cupti[j], is_on)
				: KWHY_CUPTI_SUCCESS;

			if (result && kinds[i].kind == KWHY_INJECT_KERNEL)
				return result;
		}
	return KWHY_CUPTI_SUCCESS;
}

static enum kwhy_cupti_result begin(
	struct kwhy_inject_activity *activity, kwhy_cupti_buffer_wanted *wanted, kwhy_cupti_buffer_done *done)
{
	const struct kwhy_cupti *cupti = &activity->cupti;
	uint8_t zeroed = 1;
	size_t bytes = sizeof(zeroed);
	enum kwhy_cupti_result result;

	cupti->cuptiActivitySetAttribute(KWHY_CUPTI_ATTRIBUTE_ZEROED_BUFFERS, &bytes, &zeroed);
	if (cupti->cuptiSetThreadIdType)
		cupti->cuptiSetThreadIdType(KWHY_CUPTI_THREADS_OF_SYSTEM);
	choose_clock(activity);
	result = cupti->cuptiActivityRegisterCallbacks(wanted, done);
	return result ? result : switch_kinds(activity, true);
}

/*
 * Enables the recording of CUDA calls. It must run while the driver initialises, when the process has no
 * context yet (inject/call_switch.h).
 */
static void begin_calls(struct kwhy_inject_activity *activity)
{
	if (!(activity->kinds & KWHY_INJECT_CALL))
		return;
	kwhy_inject_call_switch_init(&activity->calls, &activity->cupti);
	kwhy_inject_call_switch_begin(&activity->calls);
}

static enum kwhy_status open_cupti(struct kwhy_inject_activity *activity, struct kwhy_error *error)
{
	uint32_t version = 0;
	enum kwhy_status status = kwhy_cupti_open(&activity->cupti, activity->options->cupti, error);

	if (status)
		return status;
	if (activity->cupti.cuptiGetVersion(&version) || version < CUPTI_OLDEST) {
		kwhy_cupti_close(&activity->cupti);
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"CUPTI has version %u, which is older than CUDA 12; install a newer one, or name it "
			"in KWHY_CUPTI",
			version);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_inject_activity_start(struct kwhy_inject_activity *activity,
	const struct kwhy_inject_options *options, kwhy_cupti_buffer_wanted *wanted,
	kwhy_cupti_buffer_done *done, struct kwhy_error *error)
{
	enum kwhy_status status;
	enum kwhy_cupti_result result;

	activity->options = options;
	activity->kinds = options->kinds;
	status = open_cupti(activity, error);
	if (status)
		return status;
	if (!kwhy_inject_pool_init(&activity->pool, options->buffer_bytes, options->buffer_count)) {
		kwhy_cupti_close(&activity->cupti);
		return kwhy_fail_memory(error, "the buffers of activity");
	}
	result = begin(activity, wanted, done);
	activity->runs = !result;
	if (!result)
		begin_calls(activity);
	if (result)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "CUPTI refuses to record activity: %s",
			kwhy_cupti_words(&activity->cupti, result));
	return KWHY_OK;
}

/*
 * Calls are switched on after kernels, and off before them: a recorded call that launches a kernel is thus
 * always followed by a record of the kernel.
 */
void kwhy_inject_activity_switch(struct kwhy_inject_activity *activity, bool is_on)
{
	if (!activity->runs)
		return;
	if (!is_on)
		switch_calls(activity, false);
	switch_kinds(activity, is_on);
	if (is_on)
		switch_calls(activity, true);
}

void kwhy_inject_activity_give_up_single_calls(struct kwhy_inject_activity *activity)
{
	if (activity->runs && activity->kinds & KWHY_INJECT_CALL)
		kwhy_inject_call_switch_give_up_alone(&activity->calls);
}

void kwhy_inject_activity_flush(struct kwhy_inject_activity *activity, bool forced)
{
	if (activity->runs)
		activity->cupti.cuptiActivityFlushAll(forced ? KWHY_CUPTI_FLUSH_FORCED : 0);
}

uint64_t kwhy_inject_activity_dropped(struct kwhy_inject_activity *activity)
{
	size_t records = 0;

	if (!activity->runs || activity->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &records))
		return 0;
	return records;
}
