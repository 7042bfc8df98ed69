/* SPDX-License-Identifier: Apache-2.0 */
/* The energy counter. It is read close to its updates, so that each reading has the time of an update. */
#include "sensor/nvml/parts.h"

/* Time between updates on an H200, in nanoseconds. */
#define PERIOD_NS INT64_C(100000000)

/*
 * Default time between caught updates. To catch an update, the counter is read again and again until its
 * value changes (update.h). On an H200, these reads spin in the driver for 4.5 ms, at worst for 30 ms, so
 * catching every update would use a tenth of a core. Between caught updates the driver's power samples,
 * another meter, show how the power changes.
 */
#define CATCH_NS INT64_C(20000000000)

/*
 * Time between reported updates while the driver returns no power samples. These updates are not caught, but
 * come from single reads some time after them, which do not spin.
 */
#define ALONE_NS INT64_C(1000000000)

/*
 * Readings per second for which the channel has space; the counter of an H200 is updated 10 times per second.
 */
#define UPDATES_PER_S 50.0

struct kwhy_nvml_counter {
	struct kwhy_nvml_unit *unit;
	uint32_t source;
	unsigned long long value_mj;
	bool has_moved; /* whether the value has changed since the first read */
	struct kwhy_nvml_update update;
};

/*
 * Publishes how uncertain the times of recent readings are. This is the uncertainty of the new reading or, if
 * that is larger, seven eighths of the value published before.
 */
static void note_unsure(const struct kwhy_nvml_counter *counter)
{
	_Atomic int64_t *unsure_ns = &counter->unit->sensors->sources[counter->source].unsure_ns;
	const int64_t before_ns = atomic_load_explicit(unsure_ns, memory_order_relaxed);
	const int64_t kept_ns = before_ns - before_ns / 8, now_ns = counter->update.reported_unsure_ns;

	atomic_store_explicit(unsure_ns, now_ns > kept_ns ? now_ns : kept_ns, memory_order_relaxed);
}

static int64_t read_counter(void *state, uint32_t argument, int64_t now_ns)
{
	struct kwhy_nvml_counter *counter = state;
	struct kwhy_nvml_unit *unit = counter->unit;
	unsigned long long value_mj;
	enum kwhy_nvml_result result;
	int64_t edge_ns;
	bool reported, changed;

	(void)argument;
	if (kwhy_nvml_unit_is_lost(unit))
		return INT64_MAX;
	result = unit->nvml->nvmlDeviceGetTotalEnergyConsumption(unit->handle, &value_mj);
	if (result != KWHY_NVML_SUCCESS) {
		kwhy_nvml_unit_refuse(unit, counter->source, result);
		return 0;
	}
	kwhy_nvml_unit_set_refused(unit, counter->source, false);
	changed = value_mj != counter->value_mj;
	counter->has_moved |= changed && counter->update.has_value;
	reported = kwhy_nvml_update_read(
		&counter->update, now_ns, kwhy_nvml_unit_now_ns(unit), changed, &edge_ns);
	counter->value_mj = value_mj;
	if (reported) {
		note_unsure(counter);
		kwhy_nvml_unit_push(unit, counter->source, edge_ns, (int64_t)value_mj);
	} else if (!counter->has_moved && counter->update.phase == KWHY_NVML_UPDATE_STILL) {
		/*
		 * No update was found within the time that the search takes at most. While the counter has
		 * kept its first value, each such reading is pushed nevertheless, to show that it does not
		 * change.
		 */
		kwhy_nvml_unit_push(unit, counter->source, now_ns, (int64_t)value_mj);
	}
	return counter->update.next_ns;
}

void kwhy_nvml_counter_stand_in(struct kwhy_nvml_unit *unit, int64_t now_ns)
{
	if (unit->counter && now_ns >= unit->counter->update.reported_ns + ALONE_NS)
		read_counter(unit->counter, 0, now_ns);
}

enum kwhy_status kwhy_nvml_counter_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct kwhy_nvml_counter *counter = kwhy_arena_alloc(&unit->sensors->arena, 1, sizeof(*counter));
	int64_t asked_ns = unit->request->counter_period_ns;
	unsigned long long value_mj;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetTotalEnergyConsumption, unit->handle, &value_mj);

	if (!counter)
		return kwhy_fail_memory(error, "the meters");
	if (result != KWHY_NVML_SUCCESS)
		return kwhy_nvml_unit_add_absence(unit, "the energy counter", result, error);
	counter->unit = unit;
	unit->counter = counter;
	counter->update.wanted_ns = asked_ns ? asked_ns : CATCH_NS;
	counter->update.catch_ns = unit->request->counter_catch_ns;
	if (kwhy_nvml_unit_add_meter(
		    unit, KWHY_METER_NVML_ENERGY, PERIOD_NS, UPDATES_PER_S, &counter->source, error))
		return error->status;
	return kwhy_nvml_unit_add_task(
		unit, "counter", counter, counter->update.wanted_ns, read_counter, error);
}
