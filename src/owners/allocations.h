/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_ALLOCATIONS_H
#define KWHY_OWNERS_ALLOCATIONS_H

#include "owners/owner.h"
#include "sensor/sensor.h"

/*
 * Which devices were allocated to which containers, whether or not their processes run on them. Plain data.
 */

enum { KWHY_ALLOCATION_DEVICE_BYTES = 80, KWHY_ALLOCATIONS_MAX = 4096 };

/* A container and one of the devices that were allocated to it. */
struct kwhy_allocation {
	struct kwhy_owner owner; /* of the kind KWHY_OWNER_KUBERNETES, without a user */
	/*
	 * The device plugin's id: the UUID of a device or MIG instance, or a PCI address; or, on nodes of
	 * Google's cloud, the name of a device file such as "nvidia2". "::N" may follow where several
	 * containers share the device.
	 */
	char device[KWHY_ALLOCATION_DEVICE_BYTES];
};

struct kwhy_allocations {
	struct kwhy_allocation *items;
	size_t count, capacity;
	uint64_t version; /* changes whenever the items change */
};

/* Frees the items. */
void kwhy_allocations_done(struct kwhy_allocations *allocations);

/* Whether `a` and `b` have the same items in the same order. */
bool kwhy_allocations_are_same(const struct kwhy_allocations *a, const struct kwhy_allocations *b);

bool kwhy_allocation_is_of(const struct kwhy_allocation *allocation, const struct kwhy_sensor_device *device);

/* Whether two owners are the same pod. Containers and users are not compared. */
bool kwhy_allocation_is_pod(const struct kwhy_owner *a, const struct kwhy_owner *b);

/*
 * Names a pod of which only the uid is known (owner->space is empty), if all allocations of the device are to
 * one pod: sets its name and namespace and, if only one of its containers has the device, the container.
 * False: the owner is unchanged.
 */
bool kwhy_allocations_name(const struct kwhy_allocations *allocations,
	const struct kwhy_sensor_device *device, struct kwhy_owner *owner);

#endif
