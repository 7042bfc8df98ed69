/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_ALLOCATIONS_H
#define KWHY_OWNERS_ALLOCATIONS_H

#include "owners/owner.h"
#include "sensor/sensor.h"

/* Which containers were given which devices, whether or not a process of theirs runs there. Plain data. */

enum { KWHY_ALLOCATION_DEVICE_BYTES = 80, KWHY_ALLOCATIONS_MAX = 4096 };

/* A container and one of its devices. */
struct kwhy_allocation {
	struct kwhy_owner owner; /* of the kind KWHY_OWNER_KUBERNETES, without a user */
	/*
	 * the device plugin's id: a uuid of a device or MIG instance or a PCI address, which "::N" may follow
	 * where several containers share it, or "nvidia2" on Google's nodes
	 */
	char device[KWHY_ALLOCATION_DEVICE_BYTES];
};

struct kwhy_allocations {
	struct kwhy_allocation *items;
	size_t count, capacity;
	uint64_t version; /* changes with the items */
};

/* Frees the items. */
void kwhy_allocations_done(struct kwhy_allocations *allocations);

/* Whether the two have the same items in the same order. */
bool kwhy_allocations_are_same(const struct kwhy_allocations *a, const struct kwhy_allocations *b);

bool kwhy_allocation_is_of(const struct kwhy_allocation *allocation, const struct kwhy_sensor_device *device);

/* Whether two owners are the same pod, whatever their containers and users. */
bool kwhy_allocation_is_pod(const struct kwhy_owner *a, const struct kwhy_owner *b);

/*
 * Sets name, namespace and, if it has only one, the container of a pod that has no names yet, if all that was
 * given of the device was given to one pod. False: the owner is as before.
 */
bool kwhy_allocations_name(const struct kwhy_allocations *allocations,
	const struct kwhy_sensor_device *device, struct kwhy_owner *owner);

#endif
