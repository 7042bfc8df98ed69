/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_COPIES_H
#define KWHY_INJECT_PROBE_COPIES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Copies to the device and memsets. They are repeated after the program's own call, and no memory has to be
 * restored. Their accounts are those of the ledger: the memory that the bytes come from, and the size rounded
 * to a power of two.
 */
enum { KWHY_PROBE_COPY_BYTES_MIN = 65536, KWHY_PROBE_COPY_NAME_BYTES = 80 };

enum kwhy_probe_copy_origin {
	KWHY_PROBE_COPY_SET,
	KWHY_PROBE_COPY_FROM_DEVICE,
	KWHY_PROBE_COPY_FROM_PINNED,
	KWHY_PROBE_COPY_FROM_PAGEABLE
};

/*
 * Reads the call's parameters that CUPTI reports; `width` as in struct kwhy_probe_copy. False: the copy is
 * too small to be worth probing.
 */
bool kwhy_probe_copy_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	unsigned width, bool is_of_thread);

/* What identifies the account of a copy; the name is written to `name`, which the result borrows. */
struct kwhy_probe_shape kwhy_probe_copy_shape(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_copy *copy, char name[KWHY_PROBE_COPY_NAME_BYTES]);

/*
 * Adds the time of an activity record to its account. The prober's own copies of that size count, too: they
 * only add to the mean.
 */
void kwhy_probe_copy_add_busy(struct kwhy_probe_accounts *accounts, enum kwhy_probe_copy_origin origin,
	uint64_t bytes, int64_t busy_ns);

#endif
