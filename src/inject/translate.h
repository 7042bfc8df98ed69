/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TRANSLATE_H
#define KWHY_INJECT_TRANSLATE_H

#include "inject/labels.h"
#include "inject/probe/accounts.h"
#include "vendor/cupti.h"

#include <stdbool.h>

enum { KWHY_INJECT_CALLS_MAX = 2048 };

/*
 * Converts CUPTI's activity records to records of a kwhy recording, and writes them. Only one thread at a
 * time may use it.
 */
struct kwhy_inject_translate {
	struct kwhy_block_writer *writer;
	struct kwhy_inject_labels *labels;
	const struct kwhy_cupti *cupti;
	int64_t offset_ns; /* added to CUPTI's times to get CLOCK_MONOTONIC; 0: CUPTI uses that clock itself
			    */
	int64_t earliest_mono_ns; /* start of the earliest record that was converted but is not in the file
				     yet; INT64_MAX: none. The caller resets it after a write. */
	struct kwhy_probe_accounts *accounts; /* accounts of the prober, to which the busy times of kernels
						 and copies are added; NULL: nothing is probed */
	uint64_t records;		      /* records converted */
	uint64_t launched;   /* kernels recorded that were launched one by one, not by a graph */
	uint64_t called;     /* CUDA calls written */
	uint64_t incomplete; /* records without a start or an end, such as that of a kernel that runs when the
				program ends */
	struct {
		uint32_t number;
		uint8_t state; /* 0: name not looked up yet, 1: the call is recorded, 2: it is not recorded */
	} calls[2][KWHY_INJECT_CALLS_MAX]; /* first index: driver or runtime; second index: the number that
					      CUPTI gives the call */
};

/* Converts all records of a buffer. */
void kwhy_inject_translate_buffer(
	struct kwhy_inject_translate *translate, uint8_t *buffer, size_t valid_bytes);

#endif
