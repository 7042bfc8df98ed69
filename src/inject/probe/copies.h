/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_COPIES_H
#define KWHY_INJECT_PROBE_COPIES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Copies to the device and memsets of the program. The prober repeats them after the program's own call;
 * since a repeat writes the same bytes again, no memory has to be restored. As in the ledger, an account
 * stands for one direction and one kind of source memory; here it also stands for sizes between two powers of
 * two only.
 */
enum { KWHY_PROBE_COPY_BYTES_MIN = 65536, KWHY_PROBE_COPY_NAME_BYTES = 80 };

enum kwhy_probe_copy_origin {
	KWHY_PROBE_COPY_SET,
	KWHY_PROBE_COPY_FROM_DEVICE,
	KWHY_PROBE_COPY_FROM_PINNED,
	KWHY_PROBE_COPY_FROM_PAGEABLE
};

/*
 * Reads a copy or memset from the call's parameters that CUPTI reports. `width` as in struct kwhy_probe_copy.
 * False: the copy is too small to be probed.
 */
bool kwhy_probe_copy_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	unsigned width, bool is_of_thread);

/*
 * Writes the account name of a copy to `name`, and returns what identifies the account; the result borrows
 * `name`.
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
