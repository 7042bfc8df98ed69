/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_VISIBLE_H
#define KWHY_SENSOR_VISIBLE_H

#include "base/status.h"
#include "sensor/sensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds out which of a machine's GPUs a CUDA program can see, by the rules of the CUDA programming guide
 * (environment variables, CUDA_VISIBLE_DEVICES). The list has entries separated by commas: numbers, UUIDs,
 * prefixes of UUIDs that match exactly one GPU, and UUIDs of MIG instances. If an entry matches no GPU, it
 * and all entries after it are ignored. An empty list shows no GPU. If CUDA_DEVICE_ORDER is PCI_BUS_ID, the
 * numbers are those of the driver. Otherwise CUDA gives number 0 to the fastest GPU; if all GPUs are equal,
 * CUDA's numbers are the driver's, too.
 */

/* A GPU or a MIG instance of a GPU. */
struct kwhy_visible_unit {
	int32_t gpu;	  /* number of the GPU in the driver */
	bool is_instance; /* whether the unit is an instance of that GPU; false: it is the GPU */
	char name[96];	  /* name of the product; "": unknown */
	char uuid[96];	  /* beginning with "GPU-" or "MIG-"; "": unknown */
};

/*
 * Marks in `seen`, by number, the GPUs that request->visible shows; all of `seen` must be false before.
 * False: none is marked, because the list contains a number, and CUDA's numbers may differ from the driver's
 * on this machine or count MIG instances.
 */
bool kwhy_visible_find(const struct kwhy_sensor_request *request, const struct kwhy_visible_unit *units,
	size_t unit_count, bool seen[KWHY_SENSOR_INDEX_MAX + 1]);

#endif
