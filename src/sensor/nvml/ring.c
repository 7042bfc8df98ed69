/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's ring of power samples: 120 on an H200, 20 ms apart, with the driver's own Unix time stamps. It
 * is read often enough that nothing is overwritten, and costs one call.
 */
#include "sensor/nvml/parts.h"

#include <stdlib.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

#define SAMPLE_NS (20 * MS)
#define UPDATES_PER_S 50.0
#define READ_NS (2000 * MS) /* the ring is 2.4 s deep; a call costs 0.6 ms of processor on an H200 */
/*
 * Time to the next try after a refusal, before samples are overwritten; each try is at another phase of the
 * counter's updates.
 */
#define RETRY_NS (230 * MS)
#define GAP_NS (100 * MS)      /* single gaps are 7 to 47 ms; after a longer one samples are missing */
#define CLOCK_SET_NS (50 * MS) /* from this change against CLOCK_MONOTONIC on, Unix time was set */
#define AHEAD_NS (100 * MS)    /* timestamps further in the future are invalid */

enum { SPACE_MIN = 256 };

struct ring {
	struct kwhy_nvml_unit *unit;
	uint32_t source;
	unsigned space;
	struct kwhy_nvml_sample *samples;    /* array of the ring's capacity */
	unsigned long long seen_unix_us;     /* newest timestamp read; 0: all samples are new */
	int64_t seen_mono_ns;		     /* the same on CLOCK_MONOTONIC; INT64_MIN: no sample yet */
	struct kwhy_clock_relation relation; /* relation of the clocks at the last read */
};

static void refuse(struct ring *ring)
{
	kwhy_nvml_unit_refuse(ring->unit, ring->source, KWHY_NVML_UNKNOWN);
}

/* Counts the samples missing between the last one and this one. */
static void count_missing(struct ring *ring, int64_t time_mono_ns)
{
	int64_t gap_ns = ring->seen_mono_ns == INT64_MIN ? 0 : time_mono_ns - ring->seen_mono_ns;

	if (gap_ns <= GAP_NS)
		return;
	for (int64_t missing = gap_ns / SAMPLE_NS - 1; missing > 0; missing--)
		refuse(ring);
}

/*
 * Takes a sample. The newest one of the previous read may come again; any other that is not later than that,
 * or lies in the future, is invalid.
 */
static void take(struct ring *ring, const struct kwhy_nvml_sample *sample, unsigned type, int64_t now_ns)
{
	int64_t time_mono_ns = kwhy_clock_mono_of_unix(&ring->relation, (int64_t)sample->time_unix_us * US);
	int64_t value_mw;

	if (sample->time_unix_us == ring->seen_unix_us)
		return;
	if (time_mono_ns <= ring->seen_mono_ns || time_mono_ns > now_ns + AHEAD_NS ||
		!kwhy_nvml_value_int(type, sample->value, &value_mw)) {
		refuse(ring);
		return;
	}
	count_missing(ring, time_mono_ns);
	kwhy_nvml_unit_push(ring->unit, ring->source, time_mono_ns, value_mw);
	ring->seen_unix_us = sample->time_unix_us;
	ring->seen_mono_ns = time_mono_ns;
}

/*
 * After Unix time was set, earlier and later timestamps are not comparable: samples that are later on
 * CLOCK_MONOTONIC are new.
 */
static void relate(struct ring *ring)
{
	struct kwhy_clock_relation now = kwhy_sensors_relate(ring->unit->sensors);

	if (llabs(now.offset_ns - ring->relation.offset_ns) > CLOCK_SET_NS)
		ring->seen_unix_us = 0;
	ring->relation = now;
}

static int64_t read_ring(void *state, uint32_t argument, int64_t now_ns)
{
	struct ring *ring = state;
	struct kwhy_nvml_unit *unit = ring->unit;
	unsigned count = ring->space, type = KWHY_NVML_TYPE_UNSIGNED_INT;
	enum kwhy_nvml_result result;

	(void)argument;
	if (kwhy_nvml_unit_is_lost(unit))
		return INT64_MAX;
	relate(ring);
	result = unit->nvml->nvmlDeviceGetSamples(unit->handle, KWHY_NVML_TOTAL_POWER_SAMPLES,
		ring->seen_unix_us, &type, &count, ring->samples);
	if (result == KWHY_NVML_NOT_FOUND) /* nothing new */
		return 0;
	if (result != KWHY_NVML_SUCCESS) {
		kwhy_nvml_unit_refuse(unit, ring->source, result);
		kwhy_nvml_counter_stand_in(unit, now_ns);
		return now_ns + RETRY_NS;
	}
	now_ns = kwhy_nvml_unit_now_ns(unit);
	for (unsigned i = 0; i < count && i < ring->space; i++)
		take(ring, &ring->samples[i], type, now_ns);
	return 0;
}

static enum kwhy_status add(
	struct kwhy_nvml_unit *unit, struct ring *ring, unsigned count, struct kwhy_error *error)
{
	int64_t asked_ns = unit->request->ring_period_ns, period_ns = asked_ns ? asked_ns : READ_NS;

	ring->unit = unit;
	ring->space = count > SPACE_MIN ? count : SPACE_MIN;
	ring->samples = kwhy_arena_alloc(&unit->sensors->arena, ring->space, sizeof(*ring->samples));
	if (!ring->samples)
		return kwhy_fail_memory(error, "the meters");
	ring->seen_mono_ns = INT64_MIN;
	ring->relation = kwhy_sensors_relate(unit->sensors);
	if (kwhy_nvml_unit_add_meter(
		    unit, KWHY_METER_NVML_SAMPLE, SAMPLE_NS, UPDATES_PER_S, &ring->source, error))
		return error->status;
	unit->has_ring = true;
	return kwhy_nvml_unit_add_task(
		unit, "ring", ring, period_ns < READ_NS ? period_ns : READ_NS, read_ring, error);
}

enum kwhy_status kwhy_nvml_ring_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct ring *ring = kwhy_arena_alloc(&unit->sensors->arena, 1, sizeof(*ring));
	unsigned count = 0, type;
	enum kwhy_nvml_result result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetSamples, unit->handle,
		KWHY_NVML_TOTAL_POWER_SAMPLES, 0, &type, &count, NULL);

	if (!ring)
		return kwhy_fail_memory(error, "the meters");
	if (result != KWHY_NVML_SUCCESS)
		return kwhy_nvml_unit_add_absence(unit, "the 20 ms power samples", result, error);
	return add(unit, ring, count, error);
}
