/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_VISIBLE_H
#define KWHY_SENSOR_VISIBLE_H

#include "base/status.h"
#include "sensor/sensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which of a machine's GPUs a CUDA program may see. Its rules, as the CUDA programming guide tells them
 * (environment variables, CUDA_VISIBLE_DEVICES): numbers, UUIDs or beginnings of UUIDs that fit one GPU
 * alone, and UUIDs of MIG instances, with commas between; what follows an entry that fits none is not seen;
 * an empty list shows nothing. Numbers are the driver's own where CUDA_DEVICE_ORDER is PCI_BUS_ID; else CUDA
 * numbers the fastest first, which is the same order where all GPUs are equal.
 */

/* A GPU, or an instance of one. */
struct kwhy_visible_unit {
	int32_t gpu;	  /* as the driver numbers it */
	bool is_instance; /* of that GPU, which is divided */
	char name[96];	  /* of the product; "": unknown */
	char uuid[96];	  /* "GPU-...", "MIG-..."; "": unknown */
};

/*
 * Marks the GPUs that the request's lists show, by number; `seen` is false throughout before. True: they are
 * known. False: the list has numbers that may mean other GPUs than the driver's, and nothing is marked.
 */
bool kwhy_visible_find(const struct kwhy_sensor_request *request, const struct kwhy_visible_unit *units,
	size_t unit_count, bool seen[KWHY_SENSOR_INDEX_MAX + 1]);

#endif
