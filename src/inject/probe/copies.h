/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_COPIES_H
#define KWHY_INJECT_PROBE_COPIES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Copies to the device and memsets, which are repeated behind the program's own: nothing has to be put back.
 * Their accounts are those of the ledger: where the bytes come from, and the size to a power of two.
 */
enum { KWHY_PROBE_COPY_BYTES_MIN = 65536, KWHY_PROBE_COPY_NAME_BYTES = 80 };

/* From what CUPTI tells of the call; `width` as in struct kwhy_probe_copy. False: it is too small to be worth
 * it. */
bool kwhy_probe_copy_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	unsigned width, bool is_of_thread);

/* What its account is known by; `name` is borrowed to it. */
struct kwhy_probe_shape kwhy_probe_copy_shape(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_copy *copy, char name[KWHY_PROBE_COPY_NAME_BYTES]);

#endif
