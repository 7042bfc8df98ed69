/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TRANSLATE_H
#define KWHY_INJECT_TRANSLATE_H

#include "inject/labels.h"
#include "inject/probe/accounts.h"
#include "vendor/cupti.h"

#include <stdbool.h>

enum { KWHY_INJECT_CALLS_MAX = 2048 };

/* CUPTI's records to ours. One thread at a time. */
struct kwhy_inject_translate {
	struct kwhy_block_writer *writer;
	struct kwhy_inject_labels *labels;
	const struct kwhy_cupti *cupti;
	int64_t offset_ns;	  /* from CUPTI's clock to CLOCK_MONOTONIC: 0 where it uses ours */
	int64_t earliest_mono_ns; /* start of the earliest record since the caller last set it */
	struct kwhy_probe_accounts *accounts; /* where kernels are probed, or NULL: are told their times */
	uint64_t records;		      /* translated */
	uint64_t launched;		      /* the other kernels */
	uint64_t called;		      /* calls that were written */
	uint64_t incomplete;		      /* without an end, as when the program ends under a kernel */
	struct {
		uint32_t number;
		uint8_t state;		   /* 0: not asked, 1: recorded, 2: not recorded */
	} calls[2][KWHY_INJECT_CALLS_MAX]; /* by domain and CUPTI's number of this version */
};

/* All records of a buffer. */
void kwhy_inject_translate_buffer(
	struct kwhy_inject_translate *translate, uint8_t *buffer, size_t valid_bytes);

#endif
