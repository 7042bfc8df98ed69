/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/allocations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kwhy_allocations_done(struct kwhy_allocations *allocations)
{
	free(allocations->items);
	*allocations = (struct kwhy_allocations){.version = allocations->version};
}

bool kwhy_allocations_are_same(const struct kwhy_allocations *a, const struct kwhy_allocations *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i].device, b->items[i].device) != 0 ||
			!kwhy_owner_is_same(&a->items[i].owner, &b->items[i].owner))
			return false;
	return true;
}

static bool is_id(const char *id, size_t length, const char *device)
{
	return device && strlen(device) == length && memcmp(id, device, length) == 0;
}

bool kwhy_allocation_is_of(const struct kwhy_allocation *allocation, const struct kwhy_sensor_device *device)
{
	const char *copy = strstr(allocation->device, "::");
	const size_t length = copy ? (size_t)(copy - allocation->device) : strlen(allocation->device);
	char file[24];

	if (is_id(allocation->device, length, device->uuid))
		return true;
	if (device->mig_index >= 0)
		return false;
	snprintf(file, sizeof(file), "nvidia%" PRId32, device->index);
	return is_id(allocation->device, length, device->pci_address) ||
		is_id(allocation->device, length, file);
}

bool kwhy_allocation_is_pod(const struct kwhy_owner *a, const struct kwhy_owner *b)
{
	return a->kind == KWHY_OWNER_KUBERNETES && b->kind == KWHY_OWNER_KUBERNETES &&
		strcmp(a->name, b->name) == 0 && strcmp(a->space, b->space) == 0;
}

bool kwhy_allocations_name(const struct kwhy_allocations *allocations,
	const struct kwhy_sensor_device *device, struct kwhy_owner *owner)
{
	const struct kwhy_owner *only = NULL;
	bool has_one_container = true;

	if (owner->kind != KWHY_OWNER_KUBERNETES || *owner->space)
		return false;
	for (size_t i = 0; i < allocations->count; i++) {
		const struct kwhy_owner *holder = &allocations->items[i].owner;

		if (!kwhy_allocation_is_of(&allocations->items[i], device))
			continue;
		if (only && !kwhy_allocation_is_pod(only, holder))
			return false;
		has_one_container &= !only || strcmp(only->part, holder->part) == 0;
		only = holder;
	}
	if (!only)
		return false;
	memcpy(owner->name, only->name, sizeof(owner->name));
	memcpy(owner->space, only->space, sizeof(owner->space));
	if (has_one_container)
		memcpy(owner->part, only->part, sizeof(owner->part));
	return true;
}
