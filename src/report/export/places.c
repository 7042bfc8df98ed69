/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/places.h"

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

/* Items in the order of their own numbers; of those that have the same, devices first. */
struct walk {
	struct kwhy_places *places;
	const uint32_t *order; /* NULL: as they stand */
	size_t count, at;      /* numbers below `next` lie before `at` */
	int64_t next;
};

static size_t item_at(const struct walk *walk, size_t at)
{
	return walk->order ? walk->order[at] : at;
}

static int64_t next_free(struct walk *walk)
{
	const struct kwhy_recording *recording = walk->places->recording;
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

static bool is_told_apart(const struct kwhy_places *places, size_t a, size_t b)
{
	const struct kwhy_recording *recording = places->recording;

	if (own_number(recording, a) != own_number(recording, b))
		return true;
	return !places->has_machines && (a < recording->device_count) != (b < recording->device_count);
}

static void number_items(struct walk *walk)
{
	struct kwhy_places *places = walk->places;
	int64_t unknown = KWHY_PLACES_HOST;

	for (size_t i = 0; i < walk->count; i++) {
		size_t item = item_at(walk, i), before = i ? item_at(walk, i - 1) : item;

		places->numbers[item] = is_unknown(places->recording, item)
			? --unknown
			: own_number(places->recording, item);
		if (item == before || is_told_apart(places, before, item))
			continue;
		places->is_shared[before] = places->is_shared[item] = true;
		if (!is_unknown(places->recording, item))
			places->numbers[item] = next_free(walk);
	}
}

static enum kwhy_status sort_items(struct kwhy_places *places, struct kwhy_error *error)
{
	struct walk walk = {.places = places, .count = item_count(places->recording)};
	uint32_t *order;
	enum kwhy_status status = kwhy_sort_order(
		walk.count, compare_items, places->recording, &order, error);

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

enum kwhy_status kwhy_places_init(
	struct kwhy_places *places, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const size_t count = item_count(recording) + 1;
	enum kwhy_status status;

	*places = (struct kwhy_places){.recording = recording,
		.has_machines = has_machines(recording),
		.numbers = calloc(count, sizeof(*places->numbers)),
		.is_shared = calloc(count, sizeof(*places->is_shared))};
	if (places->numbers && places->is_shared)
		status = sort_items(places, error);
	else
		status = kwhy_fail_memory(error, "the tracks of the export");
	if (status)
		kwhy_places_done(places);
	return status;
}

void kwhy_places_done(struct kwhy_places *places)
{
	free(places->numbers);
	free(places->is_shared);
}

int64_t kwhy_places_device(const struct kwhy_places *places, uint32_t device)
{
	return places->numbers[device];
}

int64_t kwhy_places_process(const struct kwhy_places *places, uint32_t process)
{
	return places->numbers[places->recording->device_count + process];
}

bool kwhy_places_is_device_ambiguous(const struct kwhy_places *places, uint32_t device)
{
	return places->has_machines || places->is_shared[device];
}

bool kwhy_places_is_process_ambiguous(const struct kwhy_places *places, uint32_t process)
{
	const size_t item = places->recording->device_count + process;

	return places->has_machines || places->is_shared[item] || is_unknown(places->recording, item);
}

static void add_machine(const struct kwhy_places *places, uint32_t machine, struct kwhy_text *out)
{
	const char *name = kwhy_recording_machine_name(places->recording, machine);

	if (places->has_machines && name)
		kwhy_text_addf(out, " on %s", name);
}

void kwhy_places_add_device(const struct kwhy_places *places, uint32_t device, struct kwhy_text *out)
{
	const uint32_t rank = places->recording->devices[device].rank;

	if (places->is_shared[device] && rank != KWHY_NONE)
		kwhy_text_addf(out, " of rank %" PRIu32, rank);
	add_machine(places, kwhy_recording_machine_of_device(places->recording, device), out);
}

void kwhy_places_add_process(const struct kwhy_places *places, uint32_t process, struct kwhy_text *out)
{
	const uint32_t rank = places->recording->processes[process].rank;

	if (places->is_shared[places->recording->device_count + process] && rank != KWHY_NONE)
		kwhy_text_addf(out, " of rank %" PRIu32, rank);
	add_machine(places, kwhy_recording_machine_of(places->recording, process), out);
}

void kwhy_places_add_meter(
	const struct kwhy_places *places, const struct kwhy_power_series *series, struct kwhy_text *out)
{
	if (series->device == KWHY_NONE)
		add_machine(places, kwhy_recording_machine_of_meter(places->recording, series), out);
}

void kwhy_places_name_device(const struct kwhy_places *places, uint32_t device, struct kwhy_text *out)
{
	const struct kwhy_device *row = &places->recording->devices[device];

	kwhy_text_addf(
		out, "GPU %" PRId32 "%s%s", row->index, row->name ? " " : "", row->name ? row->name : "");
	kwhy_places_add_device(places, device, out);
}
