/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's ring buffer of power samples. On an H200 it has 120 samples, taken 20 ms apart, with Unix time
 * stamps of the driver. One call reads all that are newer than a time. Calls are less than 2.4 s apart, so
 * that no sample is overwritten unread.
 */
#include "sensor/nvml/parts.h"

#include <stdlib.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

#define SAMPLE_NS (20 * MS)
#define UPDATES_PER_S 50.0
/* time between reads: the ring buffer holds 2.4 s, and a read takes 0.6 ms of a core on an H200 */
#define READ_NS (2000 * MS)
/*
 * Time until the next attempt after the driver refused to return samples. At least one attempt comes before
 * unread samples are overwritten. The time is not a multiple of 100 ms, so that attempts fall at different
 * moments between two updates of the energy counter.
 */
#define RETRY_NS (230 * MS)
/* usual gaps between samples are 7 to 47 ms; a longer gap means that samples are missing */
#define GAP_NS (100 * MS)
/* a larger change of Unix time against CLOCK_MONOTONIC means that the clock was set */
#define CLOCK_SET_NS (50 * MS)
#define AHEAD_NS (100 * MS) /* time stamps that lie further in the future are invalid */

enum { SPACE_MIN = 256 };

struct ring {
	struct kwhy_nvml_unit *unit;
	uint32_t source;
	unsigned space;
	struct kwhy_nvml_sample *samples; /* space for all samples of the ring buffer */
	unsigned long long seen_unix_us;  /* newest time stamp that was read; 0: none yet, or Unix time was
					     set, so that all samples are requested */
	int64_t seen_mono_ns; /* seen_unix_us on CLOCK_MONOTONIC; INT64_MIN: there was no sample yet */
	struct kwhy_clock_relation relation; /* relation of Unix time to CLOCK_MONOTONIC at the last read */
	int64_t first_ns;		     /* time of the first read; 0: there was none yet */
	int64_t period_ns, view_period_ns;   /* time between two reads, usually and while a view is shown
						(kwhy_sensors_view()) */
};

static void refuse(struct ring *ring)
{
	kwhy_nvml_unit_refuse(ring->unit, ring->source, KWHY_NVML_UNKNOWN);
}

/*
 * Counts as failures the samples that are missing between the last sample taken and one at `time_mono_ns`, if
 * that gap is longer than GAP_NS.
 */
static void count_missing(struct ring *ring, int64_t time_mono_ns)
{
	int64_t gap_ns = ring->seen_mono_ns == INT64_MIN ? 0 : time_mono_ns - ring->seen_mono_ns;

	if (gap_ns <= GAP_NS)
		return;
	for (int64_t missing = gap_ns / SAMPLE_NS - 1; missing > 0; missing--)
		refuse(ring);
}

/*
 * Takes one sample. The driver may return the newest sample of the previous read again; that sample is then
 * skipped. A sample that is older than the newest taken sample, or lies more than AHEAD_NS in the future, is
 * invalid and counts as a failure.
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
 * Reads the relation of the clocks. If Unix time was set, time stamps from before and after the setting
 * cannot be compared. Then all samples are requested, and a sample is new if it is later on CLOCK_MONOTONIC
 * than the last sample taken.
 */
static void relate(struct ring *ring)
{
	struct kwhy_clock_relation now = kwhy_sensors_relate(ring->unit->sensors);

	if (llabs(now.offset_ns - ring->relation.offset_ns) > CLOCK_SET_NS)
		ring->seen_unix_us = 0;
	ring->relation = now;
}

/*
 * The time of the next read. If the period while a view is shown (kwhy_sensors_view()) equals the usual one,
 * it is 0: one period after this read. Otherwise reads lie at multiples of the present period after the first
 * read, so that after a view they are at the times at which they would be without it.
 */
static int64_t next_ns(struct ring *ring, int64_t now_ns)
{
	const int64_t until_ns = atomic_load_explicit(
		&ring->unit->sensors->viewed_until_ns, memory_order_relaxed);
	const int64_t period_ns = now_ns < until_ns ? ring->view_period_ns : ring->period_ns;

	if (ring->view_period_ns == ring->period_ns)
		return 0;
	if (!ring->first_ns)
		ring->first_ns = now_ns;
	return ring->first_ns + ((now_ns - ring->first_ns) / period_ns + 1) * period_ns;
}

static int64_t read_ring(void *state, uint32_t argument, int64_t now_ns)
{
	struct ring *ring = state;
	struct kwhy_nvml_unit *unit = ring->unit;
	unsigned count = ring->space, type = KWHY_NVML_TYPE_UNSIGNED_INT;
	enum kwhy_nvml_result result;
	int64_t read_ns;

	(void)argument;
	if (kwhy_nvml_unit_is_lost(unit))
		return INT64_MAX;
	relate(ring);
	result = unit->nvml->nvmlDeviceGetSamples(unit->handle, KWHY_NVML_TOTAL_POWER_SAMPLES,
		ring->seen_unix_us, &type, &count, ring->samples);
	if (result == KWHY_NVML_NOT_FOUND) /* there is no sample since the last read */
		return next_ns(ring, now_ns);
	if (result != KWHY_NVML_SUCCESS) {
		kwhy_nvml_unit_refuse(unit, ring->source, result);
		kwhy_nvml_counter_stand_in(unit, now_ns);
		return now_ns + RETRY_NS;
	}
	read_ns = kwhy_nvml_unit_now_ns(unit);
	for (unsigned i = 0; i < count && i < ring->space; i++)
		take(ring, &ring->samples[i], type, read_ns);
	return next_ns(ring, now_ns);
}

static enum kwhy_status add(
	struct kwhy_nvml_unit *unit, struct ring *ring, unsigned count, struct kwhy_error *error)
{
	int64_t asked_ns = unit->request->ring_period_ns, view_ns = unit->request->ring_view_period_ns;

	ring->period_ns = asked_ns && asked_ns < READ_NS ? asked_ns : READ_NS;
	ring->view_period_ns = view_ns && view_ns < ring->period_ns ? view_ns : ring->period_ns;
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
	return kwhy_nvml_unit_add_task(unit, "ring", ring, ring->period_ns, read_ring, error);
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
