/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export_names.h"

#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>

static size_t item_count(const struct kwhy_recording *recording)
{
	return recording->device_count + recording->process_count;
}

static int64_t own_number(const struct kwhy_recording *recording, size_t item)
{
	return item < recording->device_count ? recording->devices[item].index
					      : recording->processes[item - recording->device_count].pid;
}

static int compare_items(const void *context, uint32_t a, uint32_t b)
{
	const int64_t left = own_number(context, a), right = own_number(context, b);

	return (left > right) - (left < right);
}

/*
 * State of a walk over all devices and processes in ascending order of their own numbers (a device before a
 * process with the same number), which gives each of them a unique number.
 */
struct walk {
	struct kwhy_export_names *names;
	/* indices of devices, then of processes, sorted by own number; NULL: not sorted */
	const uint32_t *order;
	/*
	 * at: position in the order before which all own numbers are below `next`; next: lowest number that
	 * is not yet known to be used
	 */
	size_t count, at;
	int64_t next;
};

static size_t item_at(const struct walk *walk, size_t at)
{
	return walk->order ? walk->order[at] : at;
}

static int64_t next_free(struct walk *walk)
{
	const struct kwhy_recording *recording = walk->names->recording;
	int64_t number;

	for (; walk->at < walk->count; walk->at++) {
		number = own_number(recording, item_at(walk, walk->at));
		if (number > walk->next)
			break;
		walk->next += number == walk->next;
	}
	return walk->next++;
}

static bool is_unknown(const struct kwhy_recording *recording, size_t item)
{
	return item >= recording->device_count && own_number(recording, item) < 0;
}

static bool is_distinct(const struct kwhy_export_names *names, size_t a, size_t b)
{
	const struct kwhy_recording *recording = names->recording;

	if (own_number(recording, a) != own_number(recording, b))
		return true;
	return !names->has_machines && (a < recording->device_count) != (b < recording->device_count);
}

static void number_items(struct walk *walk)
{
	struct kwhy_export_names *names = walk->names;
	int64_t unknown = KWHY_EXPORT_NAMES_HOST;

	for (size_t i = 0; i < walk->count; i++) {
		size_t item = item_at(walk, i), before = i ? item_at(walk, i - 1) : item;

		names->numbers[item] = is_unknown(names->recording, item)
			? --unknown
			: own_number(names->recording, item);
		if (item == before || is_distinct(names, before, item))
			continue;
		names->is_shared[before] = names->is_shared[item] = true;
		if (!is_unknown(names->recording, item))
			names->numbers[item] = next_free(walk);
	}
}

static enum kwhy_status sort_items(struct kwhy_export_names *names, struct kwhy_error *error)
{
	struct walk walk = {.names = names, .count = item_count(names->recording)};
	uint32_t *order;
	enum kwhy_status status = kwhy_sort_order(walk.count, compare_items, names->recording, &order, error);

	if (status)
		return status;
	walk.order = order;
	number_items(&walk);
	free(order);
	return KWHY_OK;
}

static bool has_machines(const struct kwhy_recording *recording)
{
	size_t named = 0;

	for (uint32_t i = 0; i < recording->machine_count; i++)
		named += kwhy_recording_machine_name(recording, i) != NULL;
	return named > 1;
}

static bool has_operators(const struct kwhy_host_ranges *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->kind[i] >= KWHY_HOST_OPERATOR)
			return true;
	return false;
}

enum kwhy_status kwhy_export_names_init(
	struct kwhy_export_names *names, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const size_t count = item_count(recording) + 1;
	enum kwhy_status status;

	*names = (struct kwhy_export_names){.recording = recording,
		.has_operators = has_operators(&recording->host_ranges),
		.has_machines = has_machines(recording),
		.numbers = calloc(count, sizeof(*names->numbers)),
		.is_shared = calloc(count, sizeof(*names->is_shared))};
	if (names->numbers && names->is_shared)
		status = sort_items(names, error);
	else
		status = kwhy_fail_memory(error, "the tracks of the export");
	if (status)
		kwhy_export_names_done(names);
	return status;
}

void kwhy_export_names_done(struct kwhy_export_names *names)
{
	free(names->numbers);
	free(names->is_shared);
}

int64_t kwhy_export_names_device(const struct kwhy_export_names *names, uint32_t device)
{
	return names->numbers[device];
}

int64_t kwhy_export_names_process(const struct kwhy_export_names *names, uint32_t process)
{
	return names->numbers[names->recording->device_count + process];
}

bool kwhy_export_names_is_device_ambiguous(const struct kwhy_export_names *names, uint32_t device)
{
	return names->has_machines || names->is_shared[device];
}

bool kwhy_export_names_is_process_ambiguous(const struct kwhy_export_names *names, uint32_t process)
{
	const size_t item = names->recording->device_count + process;

	return names->has_machines || names->is_shared[item] || is_unknown(names->recording, item);
}

static void add_machine(const struct kwhy_export_names *names, uint32_t machine, struct kwhy_text *out)
{
	const char *name = kwhy_recording_machine_name(names->recording, machine);

	if (names->has_machines && name)
		kwhy_text_addf(out, " on %s", name);
}

void kwhy_export_names_add_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out)
{
	const uint32_t rank = names->recording->devices[device].rank;

	if (names->is_shared[device] && rank != KWHY_NONE)
		kwhy_text_addf(out, " of rank %" PRIu32, rank);
	add_machine(names, kwhy_recording_machine_of_device(names->recording, device), out);
}

void kwhy_export_names_add_process(
	const struct kwhy_export_names *names, uint32_t process, struct kwhy_text *out)
{
	const uint32_t rank = names->recording->processes[process].rank;

	if (names->is_shared[names->recording->device_count + process] && rank != KWHY_NONE)
		kwhy_text_addf(out, " of rank %" PRIu32, rank);
	add_machine(names, kwhy_recording_machine_of(names->recording, process), out);
}

void kwhy_export_names_add_meter(
	const struct kwhy_export_names *names, const struct kwhy_power_series *series, struct kwhy_text *out)
{
	if (series->device == KWHY_NONE)
		add_machine(names, kwhy_recording_machine_of_meter(names->recording, series), out);
}

void kwhy_export_names_name_device(
	const struct kwhy_export_names *names, uint32_t device, struct kwhy_text *out)
{
	const struct kwhy_device *row = &names->recording->devices[device];

	kwhy_text_addf(
		out, "GPU %" PRId32 "%s%s", row->index, row->name ? " " : "", row->name ? row->name : "");
	kwhy_export_names_add_device(names, device, out);
}
