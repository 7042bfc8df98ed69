/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live.h"

#include "base/arena.h"
#include "base/cpu_time.h"
#include "live/process.h"
#include "live/totals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * In ns. Energies of a meter are final up to some time (struct kwhy_live_totals, settled_ns). Readings are
 * kept from KEEP_NS before the earliest of these times, because the power curves that follow depend on them,
 * but no longer than KEEP_MAX_NS + KEEP_NS: the time of a meter that has stopped does not advance.
 */
#define KEEP_NS INT64_C(3000000000)
#define KEEP_MAX_NS INT64_C(120000000000)
/*
 * A gauge counts as unknown if its last reading is at least GAUGE_STALE_NS old and at least
 * GAUGE_STALE_PERIODS of its periods.
 */
#define GAUGE_STALE_PERIODS 3
#define GAUGE_STALE_NS INT64_C(60000000000)
/*
 * In ns: the names of the processes of a device are read again after this time, since a program may change
 * its name.
 */
#define NAMES_NS INT64_C(60000000000)

/*
 * The sampler's energy is computed again when the busy time of all CPUs together has grown by this many CPU
 * seconds: the system counts the busy time of each CPU in steps of 10 ms, which would be a large error of a
 * shorter time.
 */
#define BUSY_MIN_S 1.0

/*
 * Values when the sampler's energy was last computed: energy of all CPU packages since the start, CPU time of
 * the sampler thread, and busy time of all CPUs. begun: there was such a computation.
 */
struct shared {
	double packages_j, cpu_s, busy_s;
	bool begun;
};

/*
 * Times on CLOCK_MONOTONIC: due_ns: when the processes of a device in the snapshot are to be updated;
 * names_ns: when their names are to be read again.
 */
struct listing {
	int64_t due_ns, names_ns;
};

/*
 * Times of the newest reading of the energy counter and of the power of a metered object when its figures
 * were last computed; 0: it has none.
 */
struct newest {
	int64_t counter_ns, power_ns;
};

struct kwhy_live {
	struct kwhy_sensors *sensors;
	struct kwhy_history *history;
	struct kwhy_arena arena;
	struct kwhy_live_device *devices;
	struct kwhy_live_metered *metered;
	struct kwhy_live_source *sources;
	struct kwhy_live_totals *device_ledger;
	struct kwhy_live_process (*processes)[KWHY_SENSOR_PROCESSES];
	struct listing *listings; /* [number of the device] */
	struct newest *newest;	  /* [index in snapshot.metered] */
	int64_t started_ns;	  /* time on CLOCK_MONOTONIC from which on energy counts */
	struct shared shared;
	kwhy_live_follow *follow; /* function that gets the readings of each tick; NULL: none */
	void *follower;
	double sampler_j; /* energy of the sampler thread since the start, J; NAN: not computed yet */
	struct kwhy_live_snapshot snapshot;
};

static void name_source(struct kwhy_live_source *out, const struct kwhy_source_channel *source)
{
	if (source->kind == KWHY_SOURCE_METER)
		kwhy_meter_source(out->name, source->meter, source->domain);
	else
		snprintf(out->name, sizeof(out->name), "%s", kwhy_gauge_name(source->gauge));
	out->label = source->label;
}

static void describe_devices(struct kwhy_live *live)
{
	for (size_t d = 0; d < live->sensors->device_count; d++) {
		const struct kwhy_sensor_device *device = &live->sensors->devices[d];

		live->devices[d] = (struct kwhy_live_device){.name = device->name,
			.uuid = device->uuid,
			.pci_address = device->pci_address,
			.driver = device->driver,
			.index = device->index,
			.mig_index = device->mig_index,
			.memory_bytes = device->memory_bytes,
			.processes = live->processes[d]};
	}
}

static void describe_sources(struct kwhy_live *live)
{
	for (size_t s = 0; s < live->sensors->source_count; s++) {
		const struct kwhy_source_channel *source = &live->sensors->sources[s];
		struct kwhy_live_source *out = &live->sources[s];

		name_source(out, source);
		out->device = source->device == KWHY_SENSOR_NO_DEVICE ? NULL : &live->devices[source->device];
		out->period_s = source->period_ns > 0 ? (double)source->period_ns * 1e-9 : NAN;
	}
}

/*
 * Name of metered object number `at`. Users of the snapshot identify metered objects by name, so if k objects
 * before it have the same name, " (k + 1)" is added.
 */
static const char *unique_name(struct kwhy_live *live, const struct kwhy_metered *metered, size_t at)
{
	size_t same = 1;

	for (size_t i = 0; i < at; i++)
		same += strcmp(metered[i].name, metered[at].name) == 0;
	return same == 1 ? metered[at].name
			 : kwhy_arena_printf(&live->arena, "%s (%zu)", metered[at].name, same);
}

static enum kwhy_status describe_metered(struct kwhy_live *live, struct kwhy_error *error)
{
	size_t count;
	const struct kwhy_metered *metered = kwhy_history_metered(live->history, &count);

	live->metered = kwhy_arena_alloc(&live->arena, count + 1, sizeof(*live->metered));
	live->device_ledger = kwhy_arena_alloc(&live->arena, count + 1, sizeof(*live->device_ledger));
	live->newest = kwhy_arena_alloc(&live->arena, count + 1, sizeof(*live->newest));
	if (!live->metered || !live->device_ledger || !live->newest)
		return kwhy_fail_memory(error, "the live figures");
	for (size_t i = 0; i < count; i++) {
		live->metered[i] = (struct kwhy_live_metered){.kind = metered[i].kind,
			.name = unique_name(live, metered, i),
			.energy_j = NAN,
			.idle_j = NAN,
			.low_w = NAN,
			.mean_w = NAN,
			.high_w = NAN};
		if (!live->metered[i].name)
			return kwhy_fail_memory(error, "the live figures");
		if (metered[i].kind == KWHY_METERED_DEVICE)
			live->devices[metered[i].device].metered = &live->metered[i];
	}
	live->snapshot.metered_count = count;
	return KWHY_OK;
}

static enum kwhy_status describe(struct kwhy_live *live, struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = live->sensors;

	live->devices = kwhy_arena_alloc(&live->arena, sensors->device_count + 1, sizeof(*live->devices));
	live->processes = kwhy_arena_alloc(&live->arena, sensors->device_count + 1, sizeof(*live->processes));
	live->listings = kwhy_arena_alloc(&live->arena, sensors->device_count + 1, sizeof(*live->listings));
	live->sources = kwhy_arena_alloc(&live->arena, sensors->source_count + 1, sizeof(*live->sources));
	if (!live->devices || !live->processes || !live->listings || !live->sources)
		return kwhy_fail_memory(error, "the live figures");
	describe_devices(live);
	describe_sources(live);
	return describe_metered(live, error);
}

enum kwhy_status kwhy_live_new(
	struct kwhy_sensors *sensors, int64_t now_mono_ns, struct kwhy_live **out, struct kwhy_error *error)
{
	struct kwhy_live *live = calloc(1, sizeof(*live));
	enum kwhy_status status;

	if (!live)
		return kwhy_fail_memory(error, "the live figures");
	live->sensors = sensors;
	live->started_ns = now_mono_ns;
	live->sampler_j = NAN;
	status = kwhy_history_new(sensors, 0, &live->history, error);
	if (!status)
		status = describe(live, error);
	if (status) {
		kwhy_live_free(live);
		return status;
	}
	live->snapshot.devices = live->devices;
	live->snapshot.device_count = sensors->device_count;
	live->snapshot.metered = live->metered;
	live->snapshot.sources = live->sources;
	live->snapshot.source_count = sensors->source_count;
	live->snapshot.absences = sensors->absences;
	live->snapshot.absence_count = sensors->absence_count;
	live->snapshot.started_unix_s = (double)kwhy_clock_unix_ns() * 1e-9;
	*out = live;
	return KWHY_OK;
}

void kwhy_live_free(struct kwhy_live *live)
{
	if (!live)
		return;
	kwhy_history_free(live->history);
	kwhy_arena_done(&live->arena);
	free(live);
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void update_sources(struct kwhy_live *live, int64_t now_ns)
{
	for (size_t s = 0; s < live->sensors->source_count; s++) {
		struct kwhy_source_channel *source = &live->sensors->sources[s];
		struct kwhy_live_source *out = &live->sources[s];
		struct kwhy_live_value *gauge;
		struct kwhy_reading last;

		out->failures = atomic_load_explicit(&source->failures, memory_order_relaxed);
		out->refused = atomic_load_explicit(&source->refused, memory_order_relaxed);
		out->readings = atomic_load_explicit(&source->channel.written, memory_order_acquire);
		out->age_s = NAN;
		if (!kwhy_channel_last(&source->channel, &last))
			continue;
		out->age_s = (double)(now_ns - last.time_mono_ns) * 1e-9;
		if (source->kind != KWHY_SOURCE_GAUGE || source->device == KWHY_SENSOR_NO_DEVICE)
			continue;
		gauge = &live->devices[source->device].gauges[source->gauge];
		*gauge = (struct kwhy_live_value){!live->devices[source->device].lost && !out->refused &&
				now_ns - last.time_mono_ns <
					most(GAUGE_STALE_NS, GAUGE_STALE_PERIODS * source->period_ns),
			last.value};
	}
}

static void update_devices(struct kwhy_live *live)
{
	for (size_t d = 0; d < live->sensors->device_count; d++) {
		const struct kwhy_sensor_device *device = &live->sensors->devices[d];

		live->devices[d].lost = atomic_load_explicit(&device->lost, memory_order_acquire);
		live->devices[d].division = atomic_load_explicit(&device->division, memory_order_relaxed);
	}
}

static void show_processes(struct kwhy_live *live, uint32_t device, int64_t now_ns,
	const struct kwhy_sensor_process *listed, size_t count)
{
	struct kwhy_live_process known[KWHY_SENSOR_PROCESSES];
	struct listing *listing = &live->listings[device];
	const bool keeps_names = now_ns < listing->names_ns;
	const size_t known_count = keeps_names ? live->devices[device].process_count : 0;

	listing->due_ns = now_ns + KWHY_LIVE_PROCESSES_NS;
	if (!keeps_names)
		listing->names_ns = now_ns + NAMES_NS;
	memcpy(known, live->processes[device], known_count * sizeof(*known));
	live->devices[device].process_count = kwhy_live_processes_make(
		listed, count, known, known_count, live->processes[device]);
}

size_t kwhy_live_list_processes(struct kwhy_live *live, uint32_t device, int64_t now_mono_ns,
	struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES])
{
	const size_t count = kwhy_sensors_processes(live->sensors, device, out);

	if (now_mono_ns >= live->listings[device].due_ns)
		show_processes(live, device, now_mono_ns, out, count);
	return count;
}

static void update_processes(struct kwhy_live *live, int64_t now_ns)
{
	const int64_t grace_ns = live->follow ? KWHY_LIVE_PROCESSES_NS : 0;
	struct kwhy_sensor_process listed[KWHY_SENSOR_PROCESSES];

	for (size_t d = 0; d < live->sensors->device_count; d++)
		if (now_ns >= live->listings[d].due_ns + grace_ns)
			(void)kwhy_live_list_processes(live, (uint32_t)d, now_ns, listed);
}

void kwhy_live_set_follower(struct kwhy_live *live, kwhy_live_follow *follow, void *context)
{
	live->follow = follow;
	live->follower = context;
}

static int64_t newest_ns(const struct kwhy_readings *readings)
{
	return readings->count ? readings->items[readings->count - 1].time_mono_ns : 0;
}

/*
 * Passes the readings of metered object i to the follower, if one is set. `counter`: the kept readings of its
 * energy counter, empty if it has none.
 */
static void pass_on(const struct kwhy_live *live, size_t i, const struct kwhy_metered *metered,
	const struct kwhy_curve *curve, const struct kwhy_readings *counter)
{
	struct kwhy_live_readings readings = {.metered = i, .device = metered->device, .curve = curve};

	if (counter->count) {
		readings.has_counter = true;
		readings.counter = counter->items[counter->count - 1];
		readings.meter = counter->meter;
		readings.wrap = counter->wrap;
	}
	if (live->follow)
		live->follow(live->follower, &readings);
}

/*
 * Whether the figures of an object need not be computed again: it has no newer readings than at the last
 * time, and the newest are not so old that its power has become unknown.
 */
static bool is_settled(const struct newest *before, const struct newest *now, int64_t now_ns)
{
	const int64_t last_ns = now->power_ns ? now->power_ns : now->counter_ns;

	return before->counter_ns == now->counter_ns && before->power_ns == now->power_ns &&
		now_ns - last_ns <= KWHY_LIVE_STALE_NS;
}

static enum kwhy_status settle(struct kwhy_live *live, size_t i, int64_t now_ns, struct kwhy_error *error)
{
	size_t count;
	const struct kwhy_metered *metered = &kwhy_history_metered(live->history, &count)[i];
	struct kwhy_live_entry entry = {.started_ns = live->started_ns, .now_ns = now_ns};
	struct kwhy_readings powers = {0}, counter = {0};
	struct newest newest;
	struct kwhy_curve *curve;
	enum kwhy_status status;

	if (metered->counter != KWHY_HISTORY_NO_SOURCE)
		counter = kwhy_history_readings(live->history, metered->counter);
	if (metered->power != KWHY_HISTORY_NO_SOURCE) {
		powers = kwhy_history_readings(live->history, metered->power);
		entry.powers = &powers;
	}
	newest = (struct newest){newest_ns(&counter), newest_ns(&powers)};
	if (is_settled(&live->newest[i], &newest, now_ns))
		return KWHY_OK;
	live->newest[i] = newest;
	status = kwhy_history_curve(live->history, i, NULL, &curve, error);
	if (status)
		return status;
	entry.curve = curve;
	entry.counted_ns = newest.counter_ns;
	if (metered->kind == KWHY_METERED_DEVICE) {
		const struct kwhy_live_value *busy = &live->devices[metered->device].gauges[KWHY_GAUGE_BUSY];

		entry.idle_known = busy->known;
		entry.idle = busy->value == 0;
	}
	kwhy_live_totals_settle(&live->device_ledger[i], &entry, &live->metered[i]);
	pass_on(live, i, metered, curve, &counter);
	kwhy_curve_free(curve);
	return KWHY_OK;
}

/*
 * Drops readings that no power curve needs any more; see KEEP_NS. A meter of which no energy is final yet
 * does not delay this, and its readings from before that time are dropped, too.
 */
static void forget(struct kwhy_live *live, int64_t now_ns)
{
	int64_t before_ns = now_ns;

	for (size_t i = 0; i < live->snapshot.metered_count; i++)
		if (live->device_ledger[i].settled_ns && live->device_ledger[i].settled_ns < before_ns)
			before_ns = live->device_ledger[i].settled_ns;
	if (before_ns < now_ns - KEEP_MAX_NS)
		before_ns = now_ns - KEEP_MAX_NS;
	kwhy_history_forget(live->history, before_ns - KEEP_NS);
}

static double process_cpu_s(void)
{
	struct timespec used = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/*
 * Energy of all CPU packages since the start in J; NAN: no meter reads one, or the energy of one is unknown.
 */
static double packages_j(const struct kwhy_live *live)
{
	size_t count, packages = 0;
	const struct kwhy_metered *metered = kwhy_history_metered(live->history, &count);
	double joules = 0;

	for (size_t i = 0; i < count; i++)
		if (metered[i].counter != KWHY_HISTORY_NO_SOURCE &&
			kwhy_meter_row(live->sensors->sources[metered[i].counter].meter)->owner ==
				KWHY_METER_OWNER_PACKAGE) {
			joules += live->metered[i].energy_j;
			packages++;
		}
	return packages ? joules : NAN;
}

/*
 * Adds to sampler_j the energy of the sampler thread since the last computation: the energy of the CPU
 * packages in that time, times the share of the thread in the busy time of all CPUs. Does nothing before the
 * busy time has grown by BUSY_MIN_S.
 */
static void share_out(struct kwhy_live *live, double cpu_s, double busy_s)
{
	const struct shared now = {packages_j(live), cpu_s, busy_s, true}, *before = &live->shared;
	double part_j;

	if (isnan(now.packages_j) || isnan(busy_s) || (before->begun && busy_s - before->busy_s < BUSY_MIN_S))
		return;
	part_j = kwhy_cpu_part_j(
		now.packages_j - before->packages_j, cpu_s - before->cpu_s, busy_s - before->busy_s);
	if (before->begun && !isnan(part_j))
		live->sampler_j = isnan(live->sampler_j) ? part_j : live->sampler_j + part_j;
	live->shared = now;
}

enum kwhy_status kwhy_live_tick(struct kwhy_live *live, int64_t now_mono_ns,
	const struct kwhy_sampler_cost *cost, double busy_s, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_history_drain(live->history, error);

	if (status)
		return status;
	update_devices(live);
	update_sources(live, now_mono_ns);
	update_processes(live, now_mono_ns);
	for (size_t i = 0; !status && i < live->snapshot.metered_count; i++)
		status = settle(live, i, now_mono_ns, error);
	forget(live, now_mono_ns);
	live->snapshot.since_start_s = (double)(now_mono_ns - live->started_ns) * 1e-9;
	live->snapshot.cost = (struct kwhy_live_cost){
		.process_cpu_s = process_cpu_s(), .losses = kwhy_history_losses(live->history)};
	if (cost) {
		live->snapshot.cost.sampler = *cost;
		share_out(live, (double)cost->cpu_ns * 1e-9, busy_s);
	}
	live->snapshot.cost.sampler_j = live->sampler_j;
	return status;
}

const struct kwhy_live_snapshot *kwhy_live_snapshot(const struct kwhy_live *live)
{
	return &live->snapshot;
}
