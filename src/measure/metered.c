/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/metered.h"

#include <stdio.h>
#include <string.h>

/* Meters in order of preference for energy. */
static const enum kwhy_meter device_counters[] = {KWHY_METER_NVML_ENERGY, KWHY_METER_ROCM_ENERGY};
static const enum kwhy_meter device_powers[] = {
	KWHY_METER_NVML_SAMPLE, KWHY_METER_NVML_INSTANT, KWHY_METER_ROCM_POWER, KWHY_METER_NVML_AVERAGE};

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static size_t find(
	const struct kwhy_sensors *sensors, const enum kwhy_meter *meters, size_t count, uint32_t device)
{
	for (size_t m = 0; m < count; m++) {
		const struct kwhy_source_channel *source = kwhy_sensors_find_meter(
			sensors, meters[m], device);

		if (source)
			return (size_t)(source - sensors->sources);
	}
	return KWHY_HISTORY_NO_SOURCE;
}

static size_t list_devices(const struct kwhy_sensors *sensors, struct kwhy_metered *out)
{
	size_t count = 0;

	for (uint32_t d = 0; d < sensors->device_count; d++) {
		struct kwhy_metered item = {.kind = KWHY_METERED_DEVICE, .device = d};

		item.counter = find(sensors, device_counters, COUNT_OF(device_counters), d);
		item.power = find(sensors, device_powers, COUNT_OF(device_powers), d);
		snprintf(item.name, sizeof(item.name), "gpu %d", (int)sensors->devices[d].index);
		if (item.counter != KWHY_HISTORY_NO_SOURCE || item.power != KWHY_HISTORY_NO_SOURCE)
			out[count++] = item;
	}
	return count;
}

/*
 * Names a host item: by the system's name where there is one, else "rapl.package-0" for "rapl.package-0_uj".
 */
static void name_host(struct kwhy_metered *item, const struct kwhy_source_channel *source)
{
	char name[KWHY_METER_NAME_BYTES], *unit;

	kwhy_meter_source(name, source->meter, source->domain);
	unit = strrchr(name, '_');
	if (unit)
		*unit = '\0';
	if (source->label && source->meter >= KWHY_METER_HWMON_ENERGY)
		snprintf(item->name, sizeof(item->name), "%s", source->label);
	else
		snprintf(item->name, sizeof(item->name), "%s", name);
}

static struct kwhy_metered *same_domain(
	struct kwhy_metered *items, size_t count, const struct kwhy_sensors *sensors, size_t s)
{
	const struct kwhy_source_channel *source = &sensors->sources[s];

	for (size_t i = 0; i < count; i++) {
		size_t other = items[i].counter != KWHY_HISTORY_NO_SOURCE ? items[i].counter : items[i].power;
		const struct kwhy_source_channel *have = &sensors->sources[other];

		if (source->meter == KWHY_METER_HWMON_POWER && have->meter == KWHY_METER_HWMON_ENERGY &&
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

		if (source->kind != KWHY_SOURCE_METER || source->meter != KWHY_METER_WALL)
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
