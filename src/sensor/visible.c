/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/visible.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * drivers before R470 write the UUID of a MIG instance as this prefix, the GPU's UUID without "GPU-", and the
 * numbers of its GPU instance and compute instance: MIG-GPU-.../1/0
 */
#define OLD_INSTANCE "MIG-GPU-"

/* One entry of CUDA_VISIBLE_DEVICES, without white space around it. */
struct entry {
	const char *text;
	size_t length;
};

struct look {
	const struct kwhy_visible_unit *units;
	size_t unit_count;
	bool numbers_are_known;
};

enum found { FOUND, FOUND_NONE, FOUND_UNKNOWN };

void kwhy_sensor_request_see(struct kwhy_sensor_request *request)
{
	const char *order = secure_getenv("CUDA_DEVICE_ORDER");

	request->visible = secure_getenv("CUDA_VISIBLE_DEVICES");
	request->visible_by_bus = order && strcmp(order, "PCI_BUS_ID") == 0;
}

/* Takes the next entry of the list. False: the list has ended. */
static bool take_entry(const char **list, struct entry *out)
{
	size_t length = strcspn(*list, ",");

	if (!**list)
		return false;
	*out = (struct entry){*list, length};
	*list += length + ((*list)[length] == ',');
	while (out->length && isspace((unsigned char)*out->text))
		*out = (struct entry){out->text + 1, out->length - 1};
	while (out->length && isspace((unsigned char)out->text[out->length - 1]))
		out->length--;
	return true;
}

/*
 * Whether all GPUs are the same product and none has MIG instances. CUDA's numbers are then the driver's,
 * whatever CUDA_DEVICE_ORDER says.
 */
static bool all_are_alike(const struct look *look)
{
	for (size_t i = 0; i < look->unit_count; i++)
		if (look->units[i].is_instance || strcmp(look->units[i].name, look->units[0].name) != 0)
			return false;
	return true;
}

static bool has_instances(const struct look *look)
{
	for (size_t i = 0; i < look->unit_count; i++)
		if (look->units[i].is_instance)
			return true;
	return false;
}

static enum found find_number(const struct look *look, const struct entry *entry, int32_t *out)
{
	int32_t number = 0;

	for (size_t i = 0; i < entry->length; i++) {
		if (!isdigit((unsigned char)entry->text[i]) || number > KWHY_SENSOR_INDEX_MAX)
			return FOUND_NONE;
		number = 10 * number + entry->text[i] - '0';
	}
	if (!look->numbers_are_known)
		return FOUND_UNKNOWN;
	*out = number;
	for (size_t i = 0; i < look->unit_count; i++)
		if (look->units[i].gpu == number)
			return FOUND;
	return FOUND_NONE;
}

static enum found find_uuid(const struct look *look, struct entry entry, int32_t *out)
{
	enum found found = FOUND_NONE;

	if (entry.length > strlen(OLD_INSTANCE) &&
		strncmp(entry.text, OLD_INSTANCE, strlen(OLD_INSTANCE)) == 0) {
		entry.text += strlen("MIG-");
		entry.length = strcspn(entry.text, "/,");
	}
	for (size_t i = 0; i < look->unit_count; i++) {
		if (strncmp(look->units[i].uuid, entry.text, entry.length) != 0)
			continue;
		if (found == FOUND)
			return FOUND_NONE; /* a prefix with which several UUIDs begin matches nothing */
		found = FOUND;
		*out = look->units[i].gpu;
	}
	return found;
}

static enum found find_entry(const struct look *look, const struct entry *entry, int32_t *out)
{
	if (entry->length && isdigit((unsigned char)*entry->text))
		return find_number(look, entry, out);
	if (entry->length > 4 &&
		(strncmp(entry->text, "GPU-", 4) == 0 || strncmp(entry->text, "MIG-", 4) == 0))
		return find_uuid(look, *entry, out);
	return FOUND_NONE;
}

bool kwhy_visible_find(const struct kwhy_sensor_request *request, const struct kwhy_visible_unit *units,
	size_t unit_count, bool seen[KWHY_SENSOR_INDEX_MAX + 1])
{
	struct look look = {.units = units, .unit_count = unit_count};
	const char *list = request->visible;
	enum found found = FOUND;
	struct entry entry;
	int32_t gpu = 0;

	look.numbers_are_known = all_are_alike(&look) || (request->visible_by_bus && !has_instances(&look));
	while (found == FOUND && take_entry(&list, &entry)) {
		found = find_entry(&look, &entry, &gpu);
		if (found == FOUND)
			seen[gpu] = true;
	}
	if (found == FOUND_UNKNOWN)
		memset(seen, 0, (KWHY_SENSOR_INDEX_MAX + 1) * sizeof(*seen));
	return found != FOUND_UNKNOWN;
}
