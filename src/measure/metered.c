/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/metered.h"

#include <stdio.h>
#include <string.h>

/*
 * Index in sensors->sources of the device's best meter that has one of the roles in the bit set `roles`;
 * KWHY_HISTORY_NO_SOURCE: it has none.
 */
static size_t find(const struct kwhy_sensors *sensors, unsigned roles, uint32_t device)
{
	const struct kwhy_source_channel *source = kwhy_sensors_best_meter(sensors, roles, device);

	return source ? (size_t)(source - sensors->sources) : KWHY_HISTORY_NO_SOURCE;
}

static size_t list_devices(const struct kwhy_sensors *sensors, struct kwhy_metered *out)
{
	size_t count = 0;

	for (uint32_t d = 0; d < sensors->device_count; d++) {
		struct kwhy_metered item = {.kind = KWHY_METERED_DEVICE, .device = d};

		item.counter = find(sensors, KWHY_METER_COUNTERS, d);
		item.power = find(sensors, KWHY_METER_POWERS, d);
		snprintf(item.name, sizeof(item.name), "gpu %d", (int)sensors->devices[d].index);
		if (item.counter != KWHY_HISTORY_NO_SOURCE || item.power != KWHY_HISTORY_NO_SOURCE)
			out[count++] = item;
	}
	return count;
}

/*
 * Names a host item. A sensor of a board (hwmon) gets its label, if it has one. All other meters get the name
 * of their source without the unit at its end: "rapl.package-0" for "rapl.package-0_uj".
 */
static void name_host(struct kwhy_metered *item, const struct kwhy_source_channel *source)
{
	char name[KWHY_METER_NAME_BYTES], *unit;

	kwhy_meter_source(name, source->meter, source->domain);
	unit = strrchr(name, '_');
	if (unit)
		*unit = '\0';
	if (source->label && kwhy_meter_row(source->meter)->owner == KWHY_METER_OWNER_BOARD)
		snprintf(item->name, sizeof(item->name), "%s", source->label);
	else
		snprintf(item->name, sizeof(item->name), "%s", name);
}

/*
 * Whether the meters `row` and `than` measure the same energy and `row` is the worse meter: it has the same
 * owner, the same name up to the '.' (as hwmon's energy and power), and a higher rank, which means a worse
 * meter.
 */
static bool is_lesser(const struct kwhy_meter_row *row, const struct kwhy_meter_row *than)
{
	return row->owner == than->owner && row->rank > than->rank &&
		!strncmp(row->name, than->name, strcspn(row->name, ".") + 1);
}

/*
 * Returns the listed item whose energy source `s` measures, too, but worse than the item's own source does;
 * NULL: there is none.
 */
static struct kwhy_metered *same_domain(
	struct kwhy_metered *items, size_t count, const struct kwhy_sensors *sensors, size_t s)
{
	const struct kwhy_source_channel *source = &sensors->sources[s];

	for (size_t i = 0; i < count; i++) {
		size_t other = items[i].counter != KWHY_HISTORY_NO_SOURCE ? items[i].counter : items[i].power;
		const struct kwhy_source_channel *have = &sensors->sources[other];

		if (is_lesser(kwhy_meter_row(source->meter), kwhy_meter_row(have->meter)) &&
			have->domain == source->domain)
			return &items[i];
	}
	return NULL;
}

static size_t list_host(const struct kwhy_sensors *sensors, struct kwhy_metered *out)
{
	size_t count = 0;

	for (size_t s = 0; s < sensors->source_count; s++) {
		const struct kwhy_source_channel *source = &sensors->sources[s];
		struct kwhy_metered item = {.kind = KWHY_METERED_HOST,
			.device = KWHY_SENSOR_NO_DEVICE,
			.counter = KWHY_HISTORY_NO_SOURCE,
			.power = KWHY_HISTORY_NO_SOURCE};

		if (source->kind != KWHY_SOURCE_METER || !kwhy_meter_is_of_host(source->meter))
			continue;
		if (same_domain(out, count, sensors, s))
			continue;
		*(kwhy_meter_is_counter(source->meter) ? &item.counter : &item.power) = s;
		name_host(&item, source);
		out[count++] = item;
	}
	return count;
}

static size_t list_walls(const struct kwhy_sensors *sensors, struct kwhy_metered *out)
{
	size_t count = 0;

	for (size_t s = 0; s < sensors->source_count; s++) {
		const struct kwhy_source_channel *source = &sensors->sources[s];
		struct kwhy_metered item = {.kind = KWHY_METERED_WALL,
			.device = KWHY_SENSOR_NO_DEVICE,
			.counter = KWHY_HISTORY_NO_SOURCE,
			.power = s};

		if (source->kind != KWHY_SOURCE_METER ||
			kwhy_meter_row(source->meter)->owner != KWHY_METER_OWNER_USER)
			continue;
		snprintf(item.name, sizeof(item.name), "%s", source->label ? source->label : "meter");
		out[count++] = item;
	}
	return count;
}

size_t kwhy_metered_list(const struct kwhy_sensors *sensors, struct kwhy_metered *out)
{
	size_t count = list_devices(sensors, out);

	count += list_host(sensors, out + count);
	return count + list_walls(sensors, out + count);
}
