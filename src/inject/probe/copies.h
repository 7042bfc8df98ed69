/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_COPIES_H
#define KWHY_INJECT_PROBE_COPIES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Copies to the device and memsets of the program. The prober repeats them after the program's own call;
 * since a repeat writes the same bytes again, no memory has to be restored. An account of the prober stands
 * for one kind of source memory, as in the ledger, and only for sizes from one power of two to below the
 * next.
 */
enum { KWHY_PROBE_COPY_BYTES_MIN = 65536, KWHY_PROBE_COPY_NAME_BYTES = 80 };

enum kwhy_probe_copy_origin {
	KWHY_PROBE_COPY_SET,
	KWHY_PROBE_COPY_FROM_DEVICE,
	KWHY_PROBE_COPY_FROM_PINNED,
	KWHY_PROBE_COPY_FROM_PAGEABLE
};

/*
 * Reads a copy or memset from the call's parameters that CUPTI reports. `width`: bytes of an element that a
 * memset sets; 0: it is a copy. False: it has less than KWHY_PROBE_COPY_BYTES_MIN bytes, too few to be
 * probed.
 */
bool kwhy_probe_copy_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	unsigned width, bool is_of_thread);

/*
 * Writes the name of a copy's account to `name`, and returns the shape by which kwhy_probe_account_of() finds
 * that account; the shape borrows `name`.
 */
struct kwhy_probe_shape kwhy_probe_copy_shape(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_copy *copy, char name[KWHY_PROBE_COPY_NAME_BYTES]);

/*
 * Adds the time of an activity record to the account of its copy. Records of the prober's own copies of that
 * size are added, too, because they hardly change the mean.
 */
void kwhy_probe_copy_add_busy(struct kwhy_probe_accounts *accounts, enum kwhy_probe_copy_origin origin,
	uint64_t bytes, int64_t busy_ns);

#endif
