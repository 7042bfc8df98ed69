/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HELD_CAUSE_H
#define KWHY_MODEL_HELD_CAUSE_H

#include "model/recording.h"

/* What held a host thread while a device waited for it, as far as names of host ranges indicate it. */
enum kwhy_held_cause {
	KWHY_HELD_UNKNOWN,   /* no range indicates a cause */
	KWHY_HELD_LOADER,    /* waiting for input or preparing it */
	KWHY_HELD_READBACK,  /* reading values back from the device: .item(), .tolist(), print */
	KWHY_HELD_CACHE,     /* emptying the framework's memory cache */
	KWHY_HELD_OUTPUT,    /* tokenising, logging or writing checkpoints */
	KWHY_HELD_PARALLEL,  /* DDP's or FSDP's own work around the model */
	KWHY_HELD_COMPILED,  /* calling a compiled model */
	KWHY_HELD_MODEL,     /* running operators of forward, backward, optimiser */
	KWHY_HELD_COMPILING, /* compiling kernels or programs for the device */
	KWHY_HELD_SYSTEM,    /* calling the operating system */
	KWHY_HELD_CAUSE_COUNT
};

/*
 * Part of kwhy_host_ranges_finish(): searches each name of a host range once for the parts that indicate a
 * cause, and stores the result in `marks`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_held_mark_names(
	struct kwhy_recording *recording, struct kwhy_error *error);

/*
 * The cause that the names and kinds of a host range and of the ranges around it indicate. `row` is the row
 * of the host range.
 */
enum kwhy_held_cause kwhy_held_cause_of(const struct kwhy_recording *recording, uint32_t row);

/*
 * Whether the work that held the thread could be done ahead of time by another thread (prefetched); true
 * also if the cause is unknown.
 */
bool kwhy_held_is_ahead(enum kwhy_held_cause cause);

#endif
