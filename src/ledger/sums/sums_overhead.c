/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sums/sums.h"

#include "base/cpu_time.h"
#include "ledger/saturate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Overhead of the measurement, by kind: costs that kwhy's own parts state (struct kwhy_cost); the time that
 * the profiler took from the program's threads, as its trace states; and, for each device, the part of the
 * profiler's time in which the device was idle.
 */

/*
 * Largest number of rows for the whole run: one for each kind of cost, and one for the profiler. Each device
 * may have two more rows.
 */
enum { ROWS_OF_RUN = KWHY_COST_KIND_COUNT + 1 };

static struct kwhy_overhead_sum *open_row(struct kwhy_ledger *ledger, uint32_t kind)
{
	struct kwhy_overhead_sum *row = &ledger->overheads[ledger->overhead_count++];

	*row = (struct kwhy_overhead_sum){.kind = kind, .device = KWHY_NONE, .energy_nj = KWHY_UNKNOWN_NJ};
	return row;
}

/*
 * Sum of the mean powers in W of all metered CPU packages of a machine. NAN: the machine has no metered
 * package, or the power of a package is unknown.
 */
static double packages_w(const struct kwhy_ledger *ledger, uint32_t machine)
{
	double watts = NAN;

	for (size_t i = 0; i < ledger->host_count; i++) {
		const struct kwhy_host_energy *host = &ledger->hosts[i];
		int64_t window_ns = host->end_ns - host->start_ns;
		enum kwhy_meter meter;
		uint32_t domain;

		if (host->machine != machine ||
			!kwhy_meter_find(host->source, strlen(host->source), &meter, &domain) ||
			kwhy_meter_row(meter)->owner != KWHY_METER_OWNER_PACKAGE)
			continue;
		if (host->measured_nj == KWHY_UNKNOWN_NJ || window_ns <= 0)
			return NAN;
		watts = (isnan(watts) ? 0 : watts) + (double)host->measured_nj / (double)window_ns;
	}
	return watts;
}

/*
 * The cost of kind KWHY_COST_MACHINE: length of the run (count) and processor time of all processes of the
 * machine (spent_ns). NULL: there is none or more than one, or there are costs of several machines.
 */
static const struct kwhy_cost *find_machine(const struct kwhy_recording *recording)
{
	const struct kwhy_cost *found = NULL;

	for (size_t i = 0; i < recording->cost_count; i++) {
		const struct kwhy_cost *cost = &recording->costs[i];

		if (kwhy_recording_machine_of(recording, cost->process) !=
			kwhy_recording_machine_of(recording, recording->costs[0].process))
			return NULL;
		if (cost->kind != KWHY_COST_MACHINE)
			continue;
		if (found)
			return NULL;
		found = cost;
	}
	return found;
}

static bool is_processor_time(uint32_t kind)
{
	return kind == KWHY_COST_THREAD || kind == KWHY_COST_BUFFERS || kind == KWHY_COST_LAUNCHER ||
		kind == KWHY_COST_SAMPLER;
}

/*
 * Models the energy of each cost that is processor time: its share of the processor time of all processes of
 * the machine, times the energy that the CPU packages drew during the run.
 */
static void model_energies(struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	const struct kwhy_cost *machine = find_machine(recording);
	double packages_j = machine
		? packages_w(ledger, kwhy_recording_machine_of(recording, machine->process)) *
			(double)machine->count * 1e-9
		: NAN;

	for (size_t i = 0; machine && i < ledger->overhead_count; i++) {
		struct kwhy_overhead_sum *row = &ledger->overheads[i];
		double part_nj = 1e9 *
			kwhy_cpu_part_j(
				packages_j, (double)row->time_ns * 1e-9, (double)machine->spent_ns * 1e-9);

		if (is_processor_time(row->kind) && part_nj >= 0 && part_nj < 0x1p62)
			row->energy_nj = llround(part_nj);
	}
}

/* Adds a row for each kind of cost that a process states: the sum over all processes. */
static void add_costs(struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	for (uint32_t kind = 0; kind < KWHY_COST_MACHINE; kind++) {
		struct kwhy_overhead_sum *row = NULL;

		for (size_t i = 0; i < recording->cost_count; i++) {
			const struct kwhy_cost *cost = &recording->costs[i];

			if (cost->kind != kind)
				continue;
			if (!row)
				row = open_row(ledger, kind);
			row->time_ns = kwhy_saturate_add(row->time_ns, cost->spent_ns);
			row->count = kwhy_saturate_add_unsigned(row->count, cost->count);
		}
	}
}

static void add_profiler(struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	struct kwhy_overhead_sum *row;

	if (!recording->overhead_count)
		return;
	row = open_row(ledger, KWHY_OVERHEAD_PROFILER);
	for (size_t i = 0; i < recording->overhead_count; i++) {
		const struct kwhy_overhead *overhead = &recording->overheads[i];

		row->time_ns = kwhy_saturate_add(row->time_ns, overhead->end_ns - overhead->start_ns);
		row->count++;
	}
}

/*
 * State of a walk over the idle gaps of a device and the profiler's overheads, both in order of start. An
 * overhead counts for a device if its process has a stream there.
 */
struct meanwhile {
	struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	const bool *is_asked; /* [process_count] whether the process has a stream on the device */
	size_t next;	      /* index of the next overhead */
	int64_t covered_ns;   /* time up to which overheads in the current gap have been counted */
	double energy_nj;
	struct kwhy_overhead_sum row;
};

static bool is_of_device(const struct meanwhile *walk, const struct kwhy_overhead *overhead)
{
	return overhead->thread != KWHY_NONE &&
		walk->is_asked[walk->recording->threads[overhead->thread].process];
}

/*
 * Adds the part of the gap [start_ns, end_ns) in which an overhead ran, without counting any time twice.
 * walk->next is left at the first overhead that may reach into a later gap.
 */
static void take_gap(struct meanwhile *walk, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_recording *recording = walk->recording;
	int64_t longest_end_ns = INT64_MIN;
	size_t first = walk->next;

	walk->covered_ns = start_ns;
	for (size_t i = first; i < recording->overhead_count && recording->overheads[i].start_ns < end_ns;
		i++) {
		const struct kwhy_overhead *overhead = &recording->overheads[i];
		int64_t from_ns = overhead->start_ns,
			to_ns = overhead->end_ns < end_ns ? overhead->end_ns : end_ns;

		longest_end_ns = overhead->end_ns > longest_end_ns ? overhead->end_ns : longest_end_ns;
		if (longest_end_ns <= end_ns)
			walk->next = i + 1;
		from_ns = from_ns > walk->covered_ns ? from_ns : walk->covered_ns;
		if (!is_of_device(walk, overhead) || to_ns <= from_ns)
			continue;
		walk->row.time_ns += to_ns - from_ns;
		walk->row.count++;
		walk->energy_nj += kwhy_ledger_idle_nj(walk->ledger, walk->row.device, from_ns, to_ns);
		walk->covered_ns = to_ns;
	}
}

static void walk_gaps(struct meanwhile *walk)
{
	const struct kwhy_activities *rows = &walk->recording->activities;
	const uint32_t device = walk->row.device;
	int64_t reach_ns = INT64_MAX;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		if (rows->start_ns[i] > reach_ns &&
			!kwhy_ledger_is_unrecorded(
				&walk->ledger->devices[device], reach_ns, rows->start_ns[i]))
			take_gap(walk, reach_ns, rows->start_ns[i]);
		if (i == rows->first[device] || rows->end_ns[i] > reach_ns)
			reach_ns = rows->end_ns[i];
	}
}

static void add_device(
	struct kwhy_ledger *ledger, const struct kwhy_recording *recording, uint32_t device, bool *is_asked)
{
	struct meanwhile walk = {.ledger = ledger,
		.recording = recording,
		.is_asked = is_asked,
		.row = {.kind = KWHY_OVERHEAD_DEVICE, .device = device, .energy_nj = KWHY_UNKNOWN_NJ}};

	for (size_t i = 0; i < recording->process_count; i++)
		is_asked[i] = false;
	for (size_t i = 0; i < recording->stream_count; i++)
		if (recording->streams[i].device == device)
			is_asked[recording->streams[i].process] = true;
	walk_gaps(&walk);
	if (!walk.row.time_ns)
		return;
	if (walk.energy_nj >= 0 && walk.energy_nj < 0x1p62)
		walk.row.energy_nj = llround(walk.energy_nj);
	ledger->overheads[ledger->overhead_count++] = walk.row;
}

/* Adds a row for the time in which the performance counters of a device were enabled. */
static void add_counters(struct kwhy_ledger *ledger, uint32_t device)
{
	const struct kwhy_device_energy *energy = &ledger->devices[device].energy;
	struct kwhy_overhead_sum *row;

	if (energy->counting_ns <= 0)
		return;
	row = open_row(ledger, KWHY_OVERHEAD_COUNTERS);
	row->device = device;
	row->time_ns = energy->counting_ns;
	row->energy_nj = energy->counting_nj;
}

enum kwhy_status kwhy_sums_overhead(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	bool *is_asked = calloc(recording->process_count + 1, sizeof(*is_asked));

	(void)options;
	ledger->overheads = kwhy_arena_alloc(
		&ledger->arena, ROWS_OF_RUN + 2 * recording->device_count, sizeof(*ledger->overheads));
	if (!ledger->overheads || !is_asked) {
		free(is_asked);
		return kwhy_fail_memory(error, "what the recording took");
	}
	add_costs(ledger, recording);
	model_energies(ledger, recording);
	add_profiler(ledger, recording);
	for (uint32_t device = 0; recording->overhead_count && device < recording->device_count; device++)
		add_device(ledger, recording, device, is_asked);
	for (uint32_t device = 0; device < recording->device_count; device++)
		add_counters(ledger, device);
	free(is_asked);
	return KWHY_OK;
}
