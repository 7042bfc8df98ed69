/* SPDX-License-Identifier: Apache-2.0 */
#include "record/section.h"

#include "model/meter.h"
#include "record/section_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counter that gave no reading for this time is lost, and no section waits for it. */
#define LOST_NS INT64_C(30000000000)
#define NO_TIME INT64_MIN

/* State while a section is cut. */
struct cutting {
	struct kwhy_section_reading reading;
	int64_t newest_ns, end_ns; /* time of the newest record; time at which the section ends */
	int64_t *device_end_ns;	   /* [devices] where the activities of each device are cut */
	struct kwhy_error *error;
};

static bool is_activity(const struct kwhy_section_item *item)
{
	return item->kind <= KWHY_WIRE_MEMSET && item->kind != KWHY_WIRE_NAME;
}

/* Whether a record is a fact, which has no time and which each section needs. */
static bool is_fact(unsigned kind)
{
	return kind == KWHY_WIRE_PROCESS || kind == KWHY_WIRE_DEVICE || kind == KWHY_WIRE_SOURCE ||
		kind == KWHY_WIRE_CLOCK || kind == KWHY_WIRE_RUN || kind == KWHY_WIRE_SELECTION ||
		kind == KWHY_WIRE_FRAME;
}

/* Numbers the devices that a process describes by UUID, as processes may number them differently. */
static enum kwhy_status name_devices(struct cutting *cutting, struct kwhy_section_writer *writer)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < writer->item_count; i++) {
		const struct kwhy_wire_device *device = writer->items[i].record;
		const struct kwhy_section_name *uuid;
		struct kwhy_map_slot *slot, *own;

		if (writer->items[i].kind != KWHY_WIRE_DEVICE)
			continue;
		uuid = kwhy_section_name(writer, device->uuid);
		if (!uuid)
			continue;
		status = kwhy_map_add_bytes(&cutting->reading.devices, uuid->bytes, uuid->length,
			(uint32_t)cutting->reading.devices.count, &slot, cutting->error);
		if (!status)
			status = kwhy_map_add(
				&writer->devices, (uint32_t)device->index, slot->value, &own, cutting->error);
	}
	return status;
}

static uint16_t index_of(const struct kwhy_section_item *item)
{
	return item->kind == KWHY_WIRE_KERNEL  ? ((const struct kwhy_wire_kernel *)item->record)->device
		: item->kind == KWHY_WIRE_COPY ? ((const struct kwhy_wire_copy *)item->record)->device
					       : ((const struct kwhy_wire_memset *)item->record)->device;
}

/* The number of a device that no process described is that of its index in the process. */
static enum kwhy_status find_device(
	struct cutting *cutting, struct kwhy_section_writer *writer, struct kwhy_section_item *item)
{
	const struct kwhy_map_slot *known = kwhy_map_find(&writer->devices, index_of(item));
	struct kwhy_map_slot *slot;
	char name[16];
	enum kwhy_status status;

	if (known) {
		item->device = known->value;
		return KWHY_OK;
	}
	snprintf(name, sizeof(name), "#%d", index_of(item));
	status = kwhy_map_add_bytes(&cutting->reading.devices, name, strlen(name),
		(uint32_t)cutting->reading.devices.count, &slot, cutting->error);
	if (!status)
		item->device = slot->value;
	return status;
}

static enum kwhy_status find_devices(struct cutting *cutting)
{
	struct kwhy_section_reading *reading = &cutting->reading;
	enum kwhy_status status = KWHY_OK;

	for (size_t w = 0; !status && w < reading->writer_count; w++) {
		struct kwhy_section_writer *writer = &reading->writers[w];

		status = name_devices(cutting, writer);
		for (size_t i = 0; !status && i < writer->item_count; i++) {
			struct kwhy_section_item *item = &writer->items[i];

			if (is_activity(item))
				status = find_device(cutting, writer, item);
			if (item->kind <= KWHY_WIRE_READING && item->end_ns != INT64_MAX &&
				item->end_ns > cutting->newest_ns)
				cutting->newest_ns = item->end_ns;
		}
	}
	return status;
}

/* Whether a source's readings are those of a counter; *out_wrap: the value at which it starts again. */
static bool is_counter(const struct kwhy_section_writer *writer, uint32_t source, int64_t *out_wrap)
{
	for (size_t i = 0; i < writer->item_count; i++) {
		const struct kwhy_wire_source *row = writer->items[i].record;
		const struct kwhy_section_name *name;
		enum kwhy_meter meter;
		uint32_t domain;

		if (writer->items[i].kind != KWHY_WIRE_SOURCE || row->id != source)
			continue;
		name = kwhy_section_name(writer, row->meter);
		*out_wrap = row->wrap;
		return name && kwhy_meter_find(name->bytes, name->length, &meter, &domain) &&
			kwhy_meter_is_counter(meter);
	}
	return false;
}

/* The readings of one counter around the section's end. */
struct around {
	struct kwhy_wire_reading before, after;
	int64_t last_ns, wrap;
	bool is_counter, has_before, has_after;
};

static void take_around(struct around *row, const struct kwhy_wire_reading *reading, int64_t end_ns)
{
	if (reading->time_mono_ns > row->last_ns)
		row->last_ns = reading->time_mono_ns;
	if (reading->time_mono_ns <= end_ns) {
		if (!row->has_before || reading->time_mono_ns > row->before.time_mono_ns)
			row->before = *reading;
		row->has_before = true;
	} else {
		if (!row->has_after || reading->time_mono_ns < row->after.time_mono_ns)
			row->after = *reading;
		row->has_after = true;
	}
}

/* Finds the readings around `end_ns` of each source of a writer. Free *out by free(). */
static enum kwhy_status find_around(const struct kwhy_section_writer *writer, int64_t end_ns,
	struct around **out, size_t *out_count, struct kwhy_error *error)
{
	struct kwhy_map sources = {0};
	struct around *rows = calloc(writer->item_count + 1, sizeof(*rows));
	enum kwhy_status status = rows ? KWHY_OK : kwhy_fail_memory(error, "readings of a recording");

	for (size_t i = 0; !status && i < writer->item_count; i++) {
		const struct kwhy_wire_reading *reading = writer->items[i].record;
		const size_t known = sources.count;
		uint32_t number;

		if (writer->items[i].kind != KWHY_WIRE_READING)
			continue;
		status = kwhy_map_number(&sources, reading->source, &number, error);
		if (status)
			break;
		if (number == known) {
			rows[number].last_ns = NO_TIME;
			rows[number].is_counter = is_counter(writer, reading->source, &rows[number].wrap);
		}
		take_around(&rows[number], reading, end_ns);
	}
	*out = rows;
	*out_count = sources.count;
	kwhy_map_done(&sources);
	return status;
}

/* Ends the section at the last reading of each counter, so that each counter can be cut at the end. */
static enum kwhy_status end_at_readings(struct cutting *cutting, const struct kwhy_section_writer *writer)
{
	struct around *rows;
	size_t count;
	enum kwhy_status status = find_around(writer, cutting->end_ns, &rows, &count, cutting->error);

	for (size_t i = 0; !status && i < count; i++)
		if (rows[i].is_counter && rows[i].last_ns < cutting->end_ns &&
			rows[i].last_ns > cutting->newest_ns - LOST_NS)
			cutting->end_ns = rows[i].last_ns;
	free(rows);
	return status;
}

/* The value of a counter at a time between two readings. */
static int64_t value_at(const struct around *row, int64_t time_ns)
{
	int64_t rise = row->after.value - row->before.value;
	const __int128 passed_ns = time_ns - row->before.time_mono_ns;
	const int64_t whole_ns = row->after.time_mono_ns - row->before.time_mono_ns;
	int64_t value;

	if (rise < 0 && row->wrap > 0)
		rise += row->wrap;
	value = row->before.value + (int64_t)(rise * passed_ns / whole_ns);
	return row->wrap > 0 && value >= row->wrap ? value - row->wrap : value;
}

/*
 * Adds to both sections what each counter shows at the cut. If there is no later reading yet, the next
 * section begins with the last one.
 */
static enum kwhy_status cut_counters(struct cutting *cutting, struct kwhy_section_writer *writer)
{
	struct around *rows;
	size_t count;
	enum kwhy_status status = find_around(writer, cutting->end_ns, &rows, &count, cutting->error);

	for (size_t i = 0; !status && i < count; i++) {
		struct kwhy_wire_reading reading = rows[i].before;
		struct kwhy_section_item *item;

		if (!rows[i].is_counter || !rows[i].has_before)
			continue;
		if (rows[i].has_after) {
			reading.time_mono_ns = cutting->end_ns;
			reading.value = value_at(&rows[i], cutting->end_ns);
		}
		item = kwhy_section_add(&cutting->reading, writer, KWHY_WIRE_READING, &reading);
		if (!item)
			status = kwhy_fail_memory(cutting->error, "readings of a recording");
		else
			item->where = (uint8_t)((rows[i].has_after ? KWHY_SECTION_NOW : 0) |
				KWHY_SECTION_LATER);
	}
	free(rows);
	return status;
}

static int compare_starts(const void *a, const void *b)
{
	const struct kwhy_section_item *left = *(const struct kwhy_section_item *const *)a,
				       *right = *(const struct kwhy_section_item *const *)b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* The last time, up to the section's end, at which none of these activities of one device runs. */
static int64_t idle_time(struct kwhy_section_item *const *items, size_t count, int64_t end_ns)
{
	int64_t busy_until_ns = NO_TIME, idle_ns = end_ns;
	bool has_idle = false;

	for (size_t i = 0; i < count && items[i]->start_ns <= end_ns; i++) {
		if (busy_until_ns != NO_TIME && items[i]->start_ns >= busy_until_ns) {
			idle_ns = items[i]->start_ns;
			has_idle = true;
		}
		if (items[i]->end_ns > busy_until_ns)
			busy_until_ns = items[i]->end_ns;
	}
	return !has_idle || busy_until_ns <= end_ns ? end_ns : idle_ns;
}

/* Chooses for each device where its activities are cut. */
static enum kwhy_status cut_devices(struct cutting *cutting)
{
	const struct kwhy_section_reading *reading = &cutting->reading;
	struct kwhy_section_item **items;
	size_t count = 0;

	for (size_t w = 0; w < reading->writer_count; w++)
		count += reading->writers[w].item_count;
	items = calloc(count + 1, sizeof(struct kwhy_section_item *));
	cutting->device_end_ns = calloc(reading->devices.count + 1, sizeof(*cutting->device_end_ns));
	if (!items || !cutting->device_end_ns) {
		free(items);
		return kwhy_fail_memory(cutting->error, "a section of a recording");
	}
	count = 0;
	for (size_t w = 0; w < reading->writer_count; w++)
		for (size_t i = 0; i < reading->writers[w].item_count; i++)
			if (is_activity(&reading->writers[w].items[i]))
				items[count++] = &reading->writers[w].items[i];
	qsort(items, count, sizeof(*items), compare_starts);
	for (size_t i = 0, first; i < count;) {
		for (first = i; i < count && items[i]->device == items[first]->device; i++)
			;
		cutting->device_end_ns[items[first]->device] = idle_time(
			&items[first], i - first, cutting->end_ns);
	}
	free(items);
	return KWHY_OK;
}

static enum kwhy_status place_activities(struct cutting *cutting, struct kwhy_section_writer *writer)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < writer->item_count; i++) {
		struct kwhy_section_item *item = &writer->items[i];
		uint32_t number;

		if (!is_activity(item))
			continue;
		item->where = item->start_ns < cutting->device_end_ns[item->device] ? KWHY_SECTION_NOW
										    : KWHY_SECTION_LATER;
		if (item->where == KWHY_SECTION_LATER && item->correlation)
			status = kwhy_map_number(&writer->later, item->correlation, &number, cutting->error);
	}
	return status;
}

/* Where a record goes that is no activity. */
static uint8_t place_of(const struct cutting *cutting, const struct kwhy_section_writer *writer,
	const struct kwhy_section_item *item)
{
	const bool is_over = item->end_ns <= cutting->end_ns;

	if (is_fact(item->kind))
		return KWHY_SECTION_NOW | KWHY_SECTION_LATER;
	if (item->kind == KWHY_WIRE_COVERAGE)
		return (uint8_t)((item->start_ns < cutting->end_ns ? KWHY_SECTION_NOW : 0) |
			(is_over ? 0 : KWHY_SECTION_LATER));
	if (item->kind == KWHY_WIRE_CALL && item->correlation &&
		kwhy_map_find(&writer->later, item->correlation))
		return KWHY_SECTION_LATER;
	return is_over ? KWHY_SECTION_NOW : KWHY_SECTION_LATER;
}

/* Later sections need the allocations that are not freed yet, to know how much memory is in use. */
static enum kwhy_status keep_memory(struct kwhy_section_writer *writer, struct kwhy_error *error)
{
	struct kwhy_map held = {0};
	struct kwhy_map_slot *slot;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < writer->item_count; i++) {
		const struct kwhy_wire_memory *memory = writer->items[i].record;
		const bool is_memory = writer->items[i].kind == KWHY_WIRE_MEMORY &&
			writer->items[i].where == KWHY_SECTION_NOW;

		if (!is_memory)
			continue;
		status = kwhy_map_add(
			&held, memory->address ^ (uint64_t)memory->device << 56, 0, &slot, error);
		if (status)
			break;
		if (slot->value) /* an index plus 1: what is freed or allocated again is in use no longer */
			writer->items[slot->value - 1].where = KWHY_SECTION_NOW;
		slot->value = memory->is_free ? 0 : (uint32_t)i + 1;
		if (!memory->is_free)
			writer->items[i].where = KWHY_SECTION_NOW | KWHY_SECTION_LATER;
	}
	kwhy_map_done(&held);
	return status;
}

static enum kwhy_status place_records(struct cutting *cutting, struct kwhy_section_writer *writer)
{
	enum kwhy_status status = place_activities(cutting, writer);

	for (size_t i = 0; !status && i < writer->item_count; i++)
		if (!is_activity(&writer->items[i]))
			writer->items[i].where = place_of(cutting, writer, &writer->items[i]);
	if (!status)
		status = keep_memory(writer, cutting->error);
	return status ? status : cut_counters(cutting, writer);
}

/* The time at which the first activity ended; INT64_MIN: there is none. */
static int64_t oldest_end(const struct kwhy_section_reading *reading)
{
	int64_t oldest_ns = INT64_MAX;

	for (size_t w = 0; w < reading->writer_count; w++)
		for (size_t i = 0; i < reading->writers[w].item_count; i++)
			if (is_activity(&reading->writers[w].items[i]) &&
				reading->writers[w].items[i].end_ns < oldest_ns)
				oldest_ns = reading->writers[w].items[i].end_ns;
	return oldest_ns == INT64_MAX ? INT64_MIN : oldest_ns;
}

/* Whether the section would have anything that happened. */
static bool has_content(const struct kwhy_section_reading *reading)
{
	for (size_t w = 0; w < reading->writer_count; w++)
		for (size_t i = 0; i < reading->writers[w].item_count; i++) {
			const struct kwhy_section_item *item = &reading->writers[w].items[i];

			if ((is_activity(item) || item->kind == KWHY_WIRE_READING) &&
				item->where == KWHY_SECTION_NOW)
				return true;
		}
	return false;
}

static void leave_all(struct kwhy_section_reading *reading)
{
	for (size_t w = 0; w < reading->writer_count; w++)
		for (size_t i = 0; i < reading->writers[w].item_count; i++)
			reading->writers[w].items[i].where = KWHY_SECTION_LATER;
}

/* Chooses where the section ends, and where each record goes. */
static enum kwhy_status choose(struct cutting *cutting)
{
	struct kwhy_section_reading *reading = &cutting->reading;
	enum kwhy_status status = find_devices(cutting);

	if (status || cutting->newest_ns == NO_TIME)
		return status;
	cutting->end_ns = cutting->newest_ns - KWHY_RECORD_SECTION_GRACE_NS;
	for (size_t w = 0; !status && w < reading->writer_count; w++)
		status = end_at_readings(cutting, &reading->writers[w]);
	if (cutting->end_ns < oldest_end(reading))
		cutting->end_ns = cutting->newest_ns;
	if (!status)
		status = cut_devices(cutting);
	for (size_t w = 0; !status && w < reading->writer_count; w++)
		status = place_records(cutting, &reading->writers[w]);
	return status;
}

enum kwhy_status kwhy_record_section_cut(const struct kwhy_record_section_request *request,
	struct kwhy_record_section *out, struct kwhy_error *error)
{
	struct cutting cutting = {.newest_ns = NO_TIME, .end_ns = NO_TIME, .error = error};
	enum kwhy_status status = kwhy_section_read(
		&cutting.reading, request->recording, request->rest, error);

	if (!status)
		status = choose(&cutting);
	*out = (struct kwhy_record_section){.read_bytes = cutting.reading.read_bytes,
		.is_cut = has_content(&cutting.reading),
		.end_mono_ns = cutting.end_ns};
	if (!out->is_cut)
		leave_all(&cutting.reading);
	if (!status && out->is_cut)
		status = kwhy_section_write(&cutting.reading, request->out_section, KWHY_SECTION_NOW, error);
	if (!status)
		status = kwhy_section_write(&cutting.reading, request->out_rest, KWHY_SECTION_LATER, error);
	if (!status)
		status = kwhy_section_write_offsets(&cutting.reading, request->out_rest, error);
	free(cutting.device_end_ns);
	kwhy_section_reading_done(&cutting.reading);
	return status;
}
