/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_VISIBLE_H
#define KWHY_SENSOR_VISIBLE_H

#include "base/status.h"
#include "sensor/sensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Determines which of a machine's GPUs a CUDA program may see, by the rules of the CUDA programming guide
 * (environment variables, CUDA_VISIBLE_DEVICES). The list holds numbers, UUIDs, prefixes of UUIDs that match
 * exactly one GPU, and UUIDs of MIG instances, separated by commas. Entries after one that matches nothing
 * are ignored, and an empty list shows no GPU. Numbers are the driver's if CUDA_DEVICE_ORDER is PCI_BUS_ID.
 * Otherwise CUDA numbers the fastest GPU first, which is the same order where all GPUs are equal.
 */

/* A GPU, or an instance of one. */
struct kwhy_visible_unit {
	int32_t gpu;	  /* number in the driver */
	bool is_instance; /* it is an instance of that GPU */
	char name[96];	  /* product name; "": unknown */
	char uuid[96];	  /* "GPU-...", "MIG-..."; "": unknown */
};

/*
 * Marks the GPUs that the request's lists show, by number; all of `seen` must be false before. True: these
 * GPUs are known. False: the list has numbers that may mean other GPUs than the driver's numbers do, and no
 * GPU is marked.
 */
bool kwhy_visible_find(const struct kwhy_sensor_request *request, const struct kwhy_visible_unit *units,
	size_t unit_count, bool seen[KWHY_SENSOR_INDEX_MAX + 1]);

#endif
