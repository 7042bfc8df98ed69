/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TRANSLATE_H
#define KWHY_INJECT_TRANSLATE_H

#include "inject/labels.h"
#include "inject/probe/accounts.h"
#include "vendor/cupti.h"

#include <stdbool.h>

enum { KWHY_INJECT_CALLS_MAX = 2048 };

/* Converts CUPTI's records to ours. Only one thread at a time may use it. */
struct kwhy_inject_translate {
	struct kwhy_block_writer *writer;
	struct kwhy_inject_labels *labels;
	const struct kwhy_cupti *cupti;
	int64_t offset_ns;	  /* added to CUPTI's times to get CLOCK_MONOTONIC; 0 where CUPTI uses it */
	int64_t earliest_mono_ns; /* start of the earliest record since the caller last set it */
	struct kwhy_probe_accounts
		*accounts; /* accounts that receive the busy times of kernels; NULL: kernels are not probed */
	uint64_t records;  /* records converted */
	uint64_t launched; /* kernels that no graph launched */
	uint64_t called;   /* calls written */
	uint64_t incomplete; /* records without an end, as when the program ends while a kernel runs */
	struct {
		uint32_t number;
		uint8_t state;		   /* 0: not looked up, 1: recorded, 2: not recorded */
	} calls[2][KWHY_INJECT_CALLS_MAX]; /* index: domain, then the number that this version of CUPTI gives
					      the call */
};

/* Converts all records of a buffer. */
void kwhy_inject_translate_buffer(
	struct kwhy_inject_translate *translate, uint8_t *buffer, size_t valid_bytes);

#endif
